//! The bytes of one file, as they were at one moment.

use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use waypost::{Limits, Timestamp, opening};

// A file that changes ever again is one that somebody is writing.
const TRIES: usize = 3;

/// A file that was read.
pub(in crate::command) struct Content {
    pub(in crate::command) bytes: Vec<u8>,
    pub(super) mode: Option<u32>,
    pub(super) modified_at: Option<Timestamp>,
}

/// The length that a file may have.
pub(in crate::command) fn bytes_max() -> u64 {
    Limits::default().document_bytes as u64
}

/// Reads a file, or says why it cannot be had.
pub(in crate::command) fn read(path: &Path) -> Result<Content, String> {
    for _ in 0..TRIES {
        let before = fs::symlink_metadata(path).map_err(|error| reason(&error))?;
        // Whatever stood here when the directory was read: opening a FIFO would wait for ever.
        if !before.is_file() {
            return Err("not a file".to_owned());
        }
        if before.len() > bytes_max() {
            return Err(format!("longer than {} bytes", bytes_max()));
        }
        let mut file = opening::read(path).map_err(|error| reason(&error))?;
        let opened = file.metadata().map_err(|error| reason(&error))?;
        let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default());
        file.by_ref()
            .take(bytes_max() + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| reason(&error))?;
        let after = file.metadata().map_err(|error| reason(&error))?;
        let is_whole = bytes.len() as u64 == after.len();
        if is_whole && stamp(&opened) == stamp(&after) && opened.is_file() {
            return Ok(Content { bytes, mode: mode(&after), modified_at: modified_at(&after) });
        }
    }
    Err("it changed while it was read; import it again".to_owned())
}

/// What changes when somebody writes to a file, replaces it or lets others read it.
pub(super) fn stamp(metadata: &Metadata) -> (u64, i128, [i64; 3]) {
    #[cfg(unix)]
    let unix = {
        use std::os::unix::fs::MetadataExt as _;
        [metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()]
    };
    #[cfg(not(unix))]
    let unix = [0; 3];
    (metadata.len(), nanos(metadata).unwrap_or_default(), unix)
}

fn nanos(metadata: &Metadata) -> Option<i128> {
    let modified = metadata.modified().ok()?;
    let nanos = |duration: std::time::Duration| i128::try_from(duration.as_nanos()).ok();
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => nanos(before.duration()).map(|nanos| -nanos),
    }
}

fn modified_at(metadata: &Metadata) -> Option<Timestamp> {
    let micros = nanos(metadata)?.div_euclid(1000);
    i64::try_from(micros).ok().map(Timestamp::from_micros)
}

#[cfg(unix)]
// Only Unix has modes.
#[allow(clippy::unnecessary_wraps)]
fn mode(metadata: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::mode(metadata) & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Without the path, which whoever reports it knows.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        io::ErrorKind::NotFound => "it is gone".to_owned(),
        _ => error.to_string(),
    }
}
