//! The one reader of a file that may change while it is read.
//!
//! Must never return bytes of two versions of a file, follow a link, or block on a FIFO.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::checkpoint::Timestamp;
use crate::store::opening;

// A file that still changes at the third try has a writer that does not pause.
const TRIES: usize = 3;

/// A file as it was at one moment.
///
/// ```
/// use waypost::transfer::steady::read;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("state.json");
/// std::fs::write(&path, "{}")?;
/// let content = read(&path, 1 << 20)?;
/// assert_eq!(content.bytes, b"{}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Content {
    /// All bytes of the file.
    pub bytes: Vec<u8>,
    /// Its permissions and special bits; `None` on systems without them.
    pub mode: Option<u32>,
    /// When it was last written.
    pub modified_at: Option<Timestamp>,
}

/// Why a file could not be read. The message does not name the file.
///
/// ```
/// use std::path::Path;
/// use waypost::transfer::steady::{Unread, read};
///
/// assert!(matches!(read(Path::new("."), 100), Err(Unread::NoFile)));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// It is a directory, a link, a FIFO or a device.
    #[error("not a file")]
    NoFile,
    /// It has more than `bytes_max` bytes.
    #[error("longer than {bytes_max} bytes")]
    TooLong {
        /// The limit.
        bytes_max: u64,
    },
    /// It changed during each try.
    #[error("it changed while it was read; import it again")]
    Changed,
    /// The system refused.
    #[error("{}", reason(.0))]
    Io(#[source] io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a file of at most `bytes_max` bytes. If the file changes meanwhile, tries again, at most
/// twice.
///
/// # Errors
/// [`Unread`].
pub fn read(path: &Path, bytes_max: u64) -> Result<Content, Unread> {
    for _ in 0..TRIES {
        if let Some(content) = read_once(path, bytes_max)? {
            return Ok(content);
        }
    }
    Err(Unread::Changed)
}

/// As [`read`], of a file that a listing of its directory calls a regular one. Spares a look at its
/// name: what took its place since is refused, but opened.
pub(super) fn read_listed(path: &Path, bytes_max: u64) -> Result<Content, Unread> {
    for _ in 0..TRIES {
        if let Some(content) = read_opened(path, bytes_max)? {
            return Ok(content);
        }
    }
    Err(Unread::Changed)
}

/// `None` if the file changed meanwhile.
fn read_once(path: &Path, bytes_max: u64) -> Result<Option<Content>, Unread> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(Unread::NoFile);
    }
    read_opened(path, bytes_max)
}

fn read_opened(path: &Path, bytes_max: u64) -> Result<Option<Content>, Unread> {
    let (mut file, before) = match opening::read_found(path) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Err(Unread::NoFile),
        opened => opened?,
    };
    if before.len() > bytes_max {
        return Err(Unread::TooLong { bytes_max });
    }
    let bytes = read_all(&mut file, usize::try_from(before.len()).unwrap_or(usize::MAX))?;
    let after = file.metadata()?;
    if bytes.len() as u64 != after.len() || stamp(&before) != stamp(&after) {
        return Ok(None);
    }
    Ok(Some(Content { bytes, mode: mode(&after), modified_at: modified_at(&after) }))
}

/// Reads `expected` bytes, or one more if that many come at once, or less if the file ends.
///
/// A file that grows meanwhile has another stamp afterwards, so its end is not looked for.
fn read_all(file: &mut File, expected: usize) -> io::Result<Vec<u8>> {
    let (mut bytes, mut filled) = (vec![0; expected.saturating_add(1)], 0);
    loop {
        match file.read(&mut bytes[filled..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(length) => filled += length,
        }
        if filled >= expected {
            break;
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Changes when the file is written to or replaced, or its permissions change.
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

/// Nanoseconds since 1970 of the last write.
fn nanos(metadata: &Metadata) -> Option<i128> {
    let modified = metadata.modified().ok()?;
    let nanos = |duration: Duration| i128::try_from(duration.as_nanos()).ok();
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

/// What is wrong, for a message that names the file itself.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        ErrorKind::NotFound => "it is gone".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_up_to_the_limit_is_read_and_a_longer_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, 4).unwrap().bytes, b"1234");
        assert!(matches!(read(&path, 3), Err(Unread::TooLong { bytes_max: 3 })));
        let missing = read(&dir.path().join("b"), 4).unwrap_err();
        assert_eq!(missing.to_string(), "it is gone");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_without_opening_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(matches!(read(&path, 4), Err(Unread::NoFile)));
    }
}
