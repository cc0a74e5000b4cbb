//! Errors of a full disk: telling them from others, making them, and adding to them.

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

/// Adds to an error of a full disk how much was done before it.
pub(in crate::store) fn after(error: Error, done: u64, total: usize, verb: &str) -> Error {
    match error {
        Error::Io { path, source } if is_full(&source) && done > 0 => {
            let reason =
                format!("{source}; before that, {done} of {total} checkpoints were {verb}");
            Error::Io { path, source: io::Error::new(source.kind(), reason) }
        }
        error => error,
    }
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

#[test]
fn an_error_of_a_full_disk_says_what_was_done_before_it() {
    let full = || Error::Io { path: "s.redb".into(), source: io::ErrorKind::StorageFull.into() };
    let Error::Io { source, .. } = after(full(), 7, 30, "deleted") else { panic!() };
    assert!(source.to_string().ends_with("; before that, 7 of 30 checkpoints were deleted"));
    assert!(is_full(&source));
    let Error::Io { source, .. } = after(full(), 0, 30, "deleted") else { panic!() };
    assert!(!source.to_string().contains("before"));
}
