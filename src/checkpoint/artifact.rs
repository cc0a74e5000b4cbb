//! Artifacts: the files that a checkpoint was saved with.
//!
//! A path never leads out of the directory that it starts from, even if the input is hostile.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result, Subject};

// The limit of common file systems.
const PATH_BYTES: usize = 4096;
const PART_BYTES: usize = 255;

/// A file that was captured with a checkpoint, without its content.
///
/// ```
/// use waypost::artifact::{ArtifactStatus, Hash};
/// use waypost::{NewArtifact, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let (path, content) = ("notes.md".to_owned(), Some(b"# Notes".to_vec()));
/// let notes = NewArtifact { path, content, mode: None, status: ArtifactStatus::Created };
/// let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
/// let saved = store.save_draft(draft)?;
///
/// let files = store.artifacts(&saved.id)?;
/// assert_eq!((files[0].path.as_str(), files[0].bytes), ("notes.md", 7));
/// assert_eq!(files[0].sha256, Some(Hash::of(b"# Notes")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Artifact {
    /// Where it is, with `/` between the parts, from the directory that paths start from.
    pub path: String,
    /// The hash of its content; `None` if it was deleted.
    pub sha256: Option<Hash>,
    /// Its permissions, such as `0o644`, if known.
    pub mode: Option<u32>,
    /// What had become of it.
    pub status: ArtifactStatus,
    /// Length of its content.
    pub bytes: u64,
}

/// A file to be captured with a checkpoint.
///
/// ```
/// use waypost::artifact::ArtifactStatus;
/// use waypost::NewArtifact;
///
/// let file = NewArtifact {
///     path: "src/main.rs".to_owned(),
///     content: Some(b"fn main() {}".to_vec()),
///     mode: Some(0o644),
///     status: ArtifactStatus::Created,
/// };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewArtifact {
    /// See [`Artifact::path`].
    pub path: String,
    /// `None` if it was deleted, and only then.
    pub content: Option<Vec<u8>>,
    /// See [`Artifact::mode`].
    pub mode: Option<u32>,
    /// See [`Artifact::status`].
    pub status: ArtifactStatus,
}

/// How a file changed since its last capture.
///
/// See [`Artifact`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactStatus {
    /// It was not there.
    Created,
    /// It had other content.
    Modified,
    /// It is gone.
    Deleted,
    /// It has not changed.
    Unchanged,
}

impl ArtifactStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Created, Self::Modified, Self::Deleted, Self::Unchanged];

    /// The name in commands and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Unchanged => "unchanged",
        }
    }
}

impl fmt::Display for ArtifactStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ArtifactStatus {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid("artifact status", format_args!("{text:?} is none of {known}"))
        })
    }
}

/// A SHA-256; as text 64 hexadecimal digits in lower case.
///
/// ```
/// use waypost::artifact::Hash;
///
/// # fn main() -> waypost::Result<()> {
/// let hash = Hash::of(b"abc");
/// assert!(hash.to_string().starts_with("ba7816bf"));
/// assert_eq!(hash.to_string().parse::<Hash>()?, hash);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Wraps the bytes of a hash; [`Hash::of`] makes one of a content.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid("hash", "not 64 hexadecimal digits in lower case");
        let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if text.len() != 64 || !text.as_bytes().iter().all(is_digit) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = &text[2 * at..2 * at + 2];
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl NewArtifact {
    /// Refuses a file that could not be written back.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(reason) = path_refusal(&self.path) {
            return Err(Error::invalid(
                Subject::Artifact(format!("artifact path {:?}", self.path)),
                reason,
            ));
        }
        let is_deleted = self.status == ArtifactStatus::Deleted;
        if is_deleted == self.content.is_some() {
            let reason = "a deleted file has no content, and every other one has";
            return Err(Error::invalid(
                Subject::Artifact(format!("artifact {:?}", self.path)),
                reason,
            ));
        }
        Ok(())
    }
}

/// Says what keeps a path from naming a file below the directory it starts from, on any system.
pub(crate) fn path_refusal(path: &str) -> Option<&'static str> {
    if path.len() > PATH_BYTES {
        return Some("is longer than 4096 bytes");
    }
    // On systems with drive letters this names another drive.
    if path.as_bytes().get(1) == Some(&b':') {
        return Some("starts with a drive");
    }
    path.split('/').find_map(part_refusal)
}

/// Says what keeps a part of a path from being the name of a file or directory.
pub(crate) fn part_refusal(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("has an empty part, or starts at the root"),
        "." | ".." => Some("has . or .. as a part"),
        _ if part.len() > PART_BYTES => Some("has a part of more than 255 bytes"),
        _ if part.contains(char::is_control) => Some("has a control character"),
        // It separates parts on Windows.
        _ if part.contains('\\') => Some("has a backslash"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_where_it_starts() {
        let long = ["a".repeat(256), "a/".repeat(2048) + "a"];
        for right in ["a", "src/main.rs", ".env", "a b/c", "...", "ab:c", "\u{e9}"] {
            assert_eq!(path_refusal(right), None, "{right:?}");
        }
        for wrong in [
            "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "./a", "a\\b",
            "..\\a", "c:", "c:/a", "C:a", "a\0", "a\nb", "\u{85}", &long[0], &long[1],
        ] {
            assert!(path_refusal(wrong).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = Hash::from_bytes(std::array::from_fn(|at| u8::try_from(at * 8).unwrap()));
        assert_eq!(hash.to_string().parse::<Hash>().unwrap(), hash);
        let text = hash.to_string();
        let wrong = [&text[1..], &text.to_uppercase(), &text.replace("08", "+8"), ""];
        for wrong in wrong {
            assert!(wrong.parse::<Hash>().is_err(), "{wrong}");
        }
        for wide in ["\u{e9}".repeat(32), format!("0{}1", "\u{e9}".repeat(31))] {
            assert!(wide.parse::<Hash>().is_err(), "a pair may lie within a character");
        }
    }

    #[test]
    fn every_status_is_read_as_it_is_written() {
        for status in ArtifactStatus::ALL {
            assert_eq!(status.to_string().parse::<ArtifactStatus>().unwrap(), status);
        }
        assert!("moved".parse::<ArtifactStatus>().is_err());
    }
}
