//! Paths that a copy of a store must not have: one of the two stores would take it for its own.
//!
//! Must never access the file at such a path.

use std::path::Path;

use crate::error::{Error, Result};
use crate::store::engine::unfinished;

// Suffixes of the files beside a store, except for unfinished ones.
const BESIDE: [&str; 3] = [".journal", ".lock", ".spool"];

/// Refuses a path for a copy that either store would take for its own file.
pub(in crate::store) fn check_apart(path: &Path, store: &Path) -> Result<()> {
    let refused = |reason| Err(Error::invalid("path", reason));
    if path == store {
        return refused("it is the store itself");
    }
    if is_beside(path, store) {
        return refused("the store uses this name, and would take in or remove the file");
    }
    if is_beside(store, path) {
        return refused("the copy would use the name of the store for a file beside itself");
    }
    // Any store, whether it exists now or not.
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_named =
        [".journal", ".lock", unfinished::ENDING].iter().any(|it| name.ends_with(it.as_bytes()));
    let is_spooled =
        path.ancestors().skip(1).any(|it| it.extension().is_some_and(|it| it == "spool"));
    if is_named || is_spooled {
        return refused("stores use such names, and would take in or remove the file");
    }
    Ok(())
}

/// Whether a file has a name, or lies in a folder, that a store creates beside itself.
fn is_beside(path: &Path, store: &Path) -> bool {
    if unfinished::is_swept(path, store) {
        return true;
    }
    let (path, store) = (path.as_os_str().as_encoded_bytes(), store.as_os_str());
    let Some(rest) = path.strip_prefix(store.as_encoded_bytes()) else { return false };
    let separators = [None, Some(&b'.'), Some(&b'/'), Some(&b'\\')];
    BESIDE.iter().any(|suffix| {
        rest.strip_prefix(suffix.as_bytes()).is_some_and(|rest| separators.contains(&rest.first()))
    })
}
