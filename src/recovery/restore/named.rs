//! Compares files that a document names, but that were not captured, with what it says.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use super::look::{IS_DIRECTORY, There, look};
use crate::checkpoint::{Artifact, Hash};
use crate::layouts::NamedFile;
use crate::transfer::directory::Directory;
use crate::transfer::place::refusal;

/// How a file compares with what the document says.
///
/// See [`Compared`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// It has that content; or it should be gone, and is.
    Equal,
    /// It has another content; or it should be gone, and exists.
    Differs,
    /// It is not there.
    Missing,
    /// It exists, but the document has no hash that can be checked.
    UnknownHash,
    /// The path leads elsewhere, or it cannot be read.
    Unreadable,
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Equal => "equal",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::UnknownHash => "hash of unknown kind",
            Self::Unreadable => "not readable",
        })
    }
}

/// A file that the document names and that was not captured, compared with what is there.
///
/// ```
/// use waypost::recovery::restore::{Likeness, Restore};
/// use waypost::{Layout, NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let state = serde_json::json!({"files_modified": [{"path": "a.txt", "status": "modified"}]});
/// let about = NewEntry { layout: Layout::Crunch, ..NewEntry::issue("42")? };
/// let saved = store.save(about, &state)?;
/// let into = dir.path().to_owned();
/// let how = Restore { into, dry_run: true, force: true, ..Restore::default() };
/// let restored = store.restore(&saved, &how)?;
/// assert_eq!(restored.compared[0].path, "a.txt");
/// assert_eq!(restored.compared[0].likeness, Likeness::Missing);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The path, as the document has it.
    pub path: String,
    /// The result.
    #[serde(rename = "compared")]
    pub likeness: Likeness,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Compared {
    /// Whether it is known to differ from the document; an unknown hash does not count.
    #[must_use]
    pub fn differs(&self) -> bool {
        match self.likeness {
            Likeness::Differs | Likeness::Missing | Likeness::Unreadable => true,
            Likeness::Equal | Likeness::UnknownHash => false,
        }
    }
}

/// Compares all files that the document names and that were not captured.
pub(super) fn compare_all(
    directory: &Directory,
    named: &[NamedFile],
    captured: &[Artifact],
) -> Vec<Compared> {
    let captured: HashSet<&str> = captured.iter().map(|it| it.path.as_str()).collect();
    let named = named.iter().filter(|named| !captured.contains(named.path.as_str()));
    named.map(|named| compare(directory, named)).collect()
}

fn compare(directory: &Directory, named: &NamedFile) -> Compared {
    let compared = |likeness, reason| Compared { path: named.path.clone(), likeness, reason };
    if let Some(reason) = refusal(&named.path) {
        return compared(Likeness::Unreadable, Some(format!("it {reason}")));
    }
    let there = match look(directory, &named.path) {
        Ok(There::Obstacle(why)) => {
            return compared(Likeness::Unreadable, Some(format!("it {why}")));
        }
        Ok(there) => there,
        Err(error) => return compared(Likeness::Unreadable, Some(error.to_string())),
    };
    let likeness = match (there, named.status.as_deref() == Some("deleted")) {
        (There::Nothing | There::BelowFile | There::Directory, true) => Likeness::Equal,
        (There::Directory, false) => {
            return compared(Likeness::Unreadable, Some(format!("it {IS_DIRECTORY}")));
        }
        (There::Nothing | There::BelowFile, false) => Likeness::Missing,
        (There::File { sha256, .. }, false) => match named.hash.as_deref().and_then(sha256_of) {
            Some(hash) if hash == sha256 => Likeness::Equal,
            Some(_) => Likeness::Differs,
            None => Likeness::UnknownHash,
        },
        (There::File { .. } | There::Other | There::Obstacle(_), _) => Likeness::Differs,
    };
    compared(likeness, None)
}

fn sha256_of(text: &str) -> Option<Hash> {
    text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase().parse().ok()
}
