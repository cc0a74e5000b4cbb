//! A full disk: how its errors differ from others.
//!
//! Opening a store may write: the engine repairs what a crash left, and the journal and the spool
//! go into the tables. If there is no room for that (`StorageFull`, `QuotaExceeded`) and the call
//! only reads, the file is opened in memory. The rules:
//!
//! - Nothing that was written to an overlay reaches the disk. The journal and the files of the
//!   spool stay. An overlay notes which of them it has read, but only the tables on disk decide
//!   which may be removed.
//! - A call that writes closes a file that is open in memory, and tries to open it on disk.
//! - A call that removes something continues without the spool if there is no room to take it in.
//!   It may not see the spooled saves; they are taken in later.
//! - `backup` copies the closed overlay if the file cannot be closed cleanly, because the disk is
//!   full or other processes are killed with the store time and again.
//!
//! A store that was closed properly has no reserve: the engine trims its file, and every commit
//! takes some new pages. So removing anything from it needs some free space.

use std::io;
use std::path::Path;

use crate::error::Error;

/// Whether the disk is full, or the quota of the user.
pub(in crate::store) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::QuotaExceeded | io::ErrorKind::StorageFull)
}

/// As [`is_full`], for an error of this crate.
pub(in crate::store) fn lacks_room(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_full(source))
}

/// The error for a journal that cannot be put into the tables.
pub(in crate::store) fn no_room(path: &Path, bytes: u64) -> Error {
    let mebibytes = bytes.div_ceil(1 << 20);
    let reason = format!(
        "the disk is full: putting the journal into the store needs about {mebibytes} MiB of free \
         space"
    );
    let source = io::Error::new(io::ErrorKind::StorageFull, reason);
    Error::Io { path: path.to_owned(), source }
}
