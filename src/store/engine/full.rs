//! A full disk: how its errors differ from others.

use std::io;
use std::path::Path;

use crate::error::Error;

/// Whether the disk is full, or the user's quota.
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
