//! Paths as text: what is not Unicode is replaced, and nothing fails because of it.

use std::path::{Path, PathBuf};

use serde::Serializer;

pub(crate) fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[expect(clippy::ref_option, reason = "so it is called for a field")]
pub(crate) fn option<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.collect_str(&path.display()),
        None => serializer.serialize_none(),
    }
}
