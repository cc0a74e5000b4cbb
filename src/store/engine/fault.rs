//! What errors and panics of the engine mean to a caller.
//!
//! Must never let a panic of the engine through.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::{Damage, Error, Result};
use crate::store::engine::sectors;

/// The reason for keys that lead back.
pub(in crate::store) const OUT_OF_ORDER: &str = "its keys are out of order";

/// Names the store that an error of redb is about.
pub(in crate::store) trait In<T> {
    fn within(self, path: &Path) -> Result<T>;
}

impl<T, E: Into<redb::Error>> In<T> for Result<T, E> {
    fn within(self, path: &Path) -> Result<T> {
        self.map_err(|error| engine_error(error.into(), path))
    }
}

pub(in crate::store) fn engine_error(error: redb::Error, path: &Path) -> Error {
    match error {
        redb::Error::Io(source) => sectors::failed(path, source),
        redb::Error::PreviousIo => {
            let source = io::Error::other("an earlier read or write failed; it is opened anew");
            if IS_VIEW.get() {
                return Error::Io { path: path.to_owned(), source };
            }
            sectors::failed_before(path, source)
        }
        other => Error::corrupt_store(Damage::Engine, path, other),
    }
}

thread_local! {
    /// Whether this thread reads a view.
    static IS_VIEW: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which reads a view. There an earlier failure mostly means that another process has
/// committed, and another read follows, so nobody looks through the file for bad sectors.
pub(in crate::store) fn in_view<T>(work: impl FnOnce() -> T) -> T {
    let before = IS_VIEW.replace(true);
    let outcome = work();
    IS_VIEW.set(before);
    outcome
}

/// Runs `work`, and turns a panic of the engine over damaged pages into an error.
///
/// The text of the panic is about the engine's own code, and would not help the user.
pub(in crate::store) fn without_panics<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::corrupt_store(Damage::Engine, path, "a page that it takes is damaged"))
    })
}
