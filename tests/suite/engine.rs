//! The file of a store as its engine sees it, for what a store does not show or do.

use std::path::Path;
use std::thread;
use std::time::Duration;

use redb::{Database, DatabaseError};
use waypost::{Error, Options, Store};

/// Opens a file that no process holds any more.
///
/// A process that another test starts has a copy of all locks for a moment, and longer if there
/// is much to do; so a file that was just closed may seem to be open.
pub(crate) fn open(path: &Path) -> Database {
    loop {
        match Database::open(path) {
            Err(DatabaseError::DatabaseAlreadyOpen) => thread::sleep(Duration::from_millis(1)),
            opened => return opened.unwrap(),
        }
    }
}

/// Opens a store that no process holds any more, however short its handle waits later.
pub(crate) fn opened(path: &Path, options: &Options) -> Store {
    loop {
        match Store::open_with(path, options.clone()) {
            Err(Error::Locked { .. }) => {}
            opened => return opened.unwrap(),
        }
    }
}
