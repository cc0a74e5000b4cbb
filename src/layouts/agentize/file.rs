//! Replaces a file atomically.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use uuid::Uuid;

use crate::error::{At, Result};
use crate::store::whole::WholeFile;

/// Replaces the file at `path` by one with `bytes`.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).at(directory)?;
    }
    // As Python's tempfile names it, so that the system's own cleanup knows it.
    let [a, b, c, d, ..] = Uuid::new_v4().into_bytes();
    let aside = path.with_file_name(format!("tmp{a:02x}{b:02x}{c:02x}{d:02x}.json"));
    let mut file = WholeFile::drafted(path, aside.clone(), true, 0o600).at(&aside)?;
    file.write_all(bytes).at(&aside)?;
    file.finish().at(path)
}
