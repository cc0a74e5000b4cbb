//! What errors and panics of the engine mean to a caller.
//!
//! Must never let a panic of the engine through.

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
            sectors::failed_before(path, source)
        }
        other => Error::corrupt_store(Damage::Engine, path, other),
    }
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
