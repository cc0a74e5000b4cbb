//! A file that is replaced as a whole, or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use uuid::Uuid;

use crate::error::{At, Result};
use crate::store::{opening, sync_parent};

/// Puts a file with `bytes` in the place of `path`.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).at(directory)?;
    }
    // The names that Python's tempfile gives, which who cleans up knows.
    let [a, b, c, d, ..] = Uuid::new_v4().into_bytes();
    let aside = path.with_file_name(format!("tmp{a:02x}{b:02x}{c:02x}{d:02x}.json"));
    let outcome = write_new(&aside, bytes).and_then(|()| fs::rename(&aside, path).at(path));
    if outcome.is_err() {
        let _ = fs::remove_file(&aside);
    }
    outcome.and_then(|()| sync_parent(path).at(path))
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = opening::make(path).at(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).at(path)
}
