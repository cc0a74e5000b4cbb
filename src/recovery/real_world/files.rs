//! Files and directories that documents name.
//!
//! Must never read a file outside the project, wherever a path or a link leads.

use std::cell::Cell;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::checkpoint::Hash;
use crate::recovery::FileNow;
use crate::recovery::normal_path::normal;

// Some seconds of reading. Files of agents are smaller, and larger ones were hardly hashed.
const BYTES_MAX: u64 = 1 << 30;
/// Of all files together.
pub(super) const ALL_BYTES_MAX: u64 = 4 << 30;
const OUTSIDE: &str = "it lies outside the directory in which the work goes on";

/// Whether there is a directory. An absolute path may lead anywhere, as worktrees do.
pub(super) fn has_directory(root: &Path, path: &str) -> Result<bool, String> {
    if leads_out(Path::new(path)) {
        return Err(OUTSIDE.to_owned());
    }
    match fs::metadata(root.join(path)) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(format!("it cannot be looked at: {error}")),
    }
}

/// The directories in which files must lie.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    /// Where relative paths start.
    pub(super) root: &'a Path,
    pub(super) worktree: &'a Path,
    /// How many bytes may still be read: a document may name one file in a thousand ways.
    pub(super) left: &'a Cell<u64>,
}

impl Bounds<'_> {
    /// Whether there is a file; does not read it.
    pub(super) fn has_file(&self, path: &str) -> Result<bool, String> {
        Ok(self.find(path)?.is_some())
    }

    /// The state of a file; reads all of it.
    pub(super) fn file(&self, path: &str) -> Result<Option<FileNow>, String> {
        let Some((path, found)) = self.find(path)? else { return Ok(None) };
        if found.len() > BYTES_MAX {
            return Err(too_long());
        }
        let Some(left) = self.left.get().checked_sub(found.len()) else {
            return Err("too much would have to be read".to_owned());
        };
        self.left.set(left);
        let sha256 = sha256_of(&path, BYTES_MAX).map_err(|error| unreadable(&error))?;
        let sha256 = sha256.ok_or_else(too_long)?;
        let modified_at = modified_at(&found).map_err(|error| unreadable(&error))?;
        Ok(Some(FileNow { sha256, modified_at }))
    }

    /// The content of a file.
    pub(super) fn content(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, String> {
        let Some((path, _)) = self.find(path)? else { return Ok(None) };
        let mut content = Vec::new();
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut content);
        match read.map_err(|error| unreadable(&error))? as u64 {
            length if length > bytes_max => Err(format!("it has more than {bytes_max} bytes")),
            _ => Ok(Some(content)),
        }
    }

    /// The path of a file with links resolved.
    pub(super) fn find(&self, path: &str) -> Result<Option<(PathBuf, Metadata)>, String> {
        let path = Path::new(path);
        if leads_out(path) {
            return Err(OUTSIDE.to_owned());
        }
        let path = self.root.join(path);
        let (real, found) =
            match fs::canonicalize(&path).and_then(|it| Ok((fs::metadata(&it)?, it))) {
                Ok((found, real)) => (real, found),
                // Existence of a file outside must not be revealed either.
                Err(error) if is_missing(&error) && self.would_have(&path) => return Ok(None),
                Err(error) if is_missing(&error) => return Err(OUTSIDE.to_owned()),
                Err(error) => return Err(unreadable(&error)),
            };
        if !self.has(&real) {
            return Err(OUTSIDE.to_owned());
        }
        // Reading a pipe or a device might never end.
        if !found.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        Ok(Some((real, found)))
    }

    fn has(&self, real: &Path) -> bool {
        [self.root, self.worktree]
            .into_iter()
            .filter_map(|it| fs::canonicalize(it).ok())
            .any(|bound| real.starts_with(bound))
    }

    /// Whether the path of a missing file is inside, by its spelling.
    fn would_have(&self, path: &Path) -> bool {
        let path = normal(path);
        let bounds = [self.root, self.worktree];
        let real = bounds.into_iter().filter_map(|it| fs::canonicalize(it).ok());
        real.chain(bounds.into_iter().map(Path::to_owned)).any(|bound| path.starts_with(bound))
    }
}

/// The SHA-256 of a file in lower-case hexadecimal digits; `None` if it has more than `bytes_max`.
fn sha256_of(path: &Path, bytes_max: u64) -> io::Result<Option<String>> {
    // One byte more shows that the file is longer.
    let mut file = File::open(path)?.take(bytes_max.saturating_add(1));
    let hash = Hash::of_reader(&mut file)?;
    Ok((file.limit() > 0).then(|| hash.to_string()))
}

/// Whether a relative path leaves its start, by its spelling.
fn leads_out(path: &Path) -> bool {
    !path.is_absolute() && {
        let path = normal(path);
        path.components().any(|part| !matches!(part, Component::Normal(_)))
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}

fn too_long() -> String {
    format!("it has more than {BYTES_MAX} bytes")
}

/// In whole seconds since 1970, rounded towards the past as `stat` does.
fn modified_at(found: &Metadata) -> io::Result<i64> {
    let seconds = match found.modified()?.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()),
        Err(error) => {
            let before = error.duration();
            let seconds = before.as_secs() + u64::from(before.subsec_nanos() > 0);
            i64::try_from(seconds).map(i64::wrapping_neg)
        }
    };
    seconds.map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_rounded_towards_the_past() {
        let file = tempfile::tempfile().unwrap();
        let half = Duration::from_millis(500);
        for (time, seconds) in [
            (UNIX_EPOCH + Duration::from_secs(9) + half, 9),
            (UNIX_EPOCH - half, -1),
            (UNIX_EPOCH - Duration::from_secs(1), -1),
        ] {
            file.set_modified(time).unwrap();
            assert_eq!(modified_at(&file.metadata().unwrap()).unwrap(), seconds);
        }
    }

    #[test]
    fn paths_lead_out_by_their_letters() {
        for path in ["a", "./a", "a/../b", "a/b/../../c", ".", "-a", "...", "/a", "/../a"] {
            assert!(!leads_out(Path::new(path)), "{path}");
        }
        for path in ["..", "../a", "a/../../b", "./.."] {
            assert!(leads_out(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_file_is_hashed_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for (content, sha256) in [
            (Vec::new(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                vec![b'a'; 1_000_000],
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            fs::write(&path, &content).unwrap();
            let length = content.len() as u64;
            assert_eq!(sha256_of(&path, length).unwrap().as_deref(), Some(sha256));
            if let Some(less) = length.checked_sub(1) {
                assert_eq!(sha256_of(&path, less).unwrap(), None);
            }
        }
    }
}
