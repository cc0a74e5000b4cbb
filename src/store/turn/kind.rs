//! The kind of a file that the engine does not take for a store: a damaged store, or something
//! else.
//!
//! A user who reads that it is something else may move it away. Must never write, or wait for a
//! file that is not regular.

use std::path::Path;

use redb::TableHandle as _;

use crate::error::{Damage, Error};
use crate::store::engine::disk::StorePath;
use crate::store::engine::pages::{Commit, Pages, Table, Visited};
use crate::store::engine::table::{FRAMES, RECORDS};
use crate::store::turn::lock::LockFile;

/// Why a file is refused: as damaged, if it is or was a store.
pub(in crate::store) fn refused(path: &Path, reason: &str) -> Error {
    let place = StorePath::real(path.to_owned());
    if is_store(&place) || was_opened(&place) {
        let reason = format!("it was a store, and now {reason}");
        return Error::corrupt_store(Damage::Engine, path, reason);
    }
    Error::NotAStore { path: path.to_owned(), reason: reason.to_owned() }
}

/// Whether a file has the tables of a store, whatever its first bytes are.
///
/// If its first page leads to no tables, every page is read: one of them may be the list of tables
/// that a commit left.
pub(in crate::store) fn is_store(place: &StorePath) -> bool {
    let Ok(pages) = place.disk.open(&place.path).and_then(Pages::open) else { return false };
    let commits = [Commit::Last, Commit::Before].into_iter();
    let mut led_to = commits.map(|commit| pages.tables(commit, &mut Visited::default()));
    led_to.any(|tables| are_of_store(&tables))
        || pages.masters().iter().any(|tables| are_of_store(tables))
}

fn are_of_store(tables: &[Table]) -> bool {
    let has = |name: &str| tables.iter().any(|table| table.name == name);
    has(RECORDS.name()) && has(FRAMES.name())
}

/// Whether a store was ever opened under this name: opening writes down its identity.
fn was_opened(place: &StorePath) -> bool {
    LockFile::of(place).known().is_some()
}
