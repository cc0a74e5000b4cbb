//! Files that a document names and whose content was not captured: are they as it says?

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;
use waypost::layouts::NamedFile;
use waypost::{Artifact, Hash};

use super::look::{IS_DIRECTORY, There, look};
use waypost::transfer::directory::Directory;
use waypost::transfer::place::refusal;

/// How a file compares with what the document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Likeness {
    Equal,
    Differs,
    Missing,
    /// There, but the document does not say what it should hold in a way that can be checked.
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

/// One file, compared.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    pub(super) path: String,
    #[serde(rename = "compared")]
    pub(super) likeness: Likeness,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// All files that the document names beside those that were captured.
#[derive(Debug, Default)]
pub(super) struct Comparison(pub(super) Vec<Compared>);

impl Comparison {
    pub(super) fn of(directory: &Directory, named: &[NamedFile], captured: &[Artifact]) -> Self {
        let captured: HashSet<&str> = captured.iter().map(|it| it.path.as_str()).collect();
        let named = named.iter().filter(|named| !captured.contains(named.path.as_str()));
        Self(named.map(|named| compare(directory, named)).collect())
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// How many are not as they should be; what cannot be told is not.
    pub(super) fn differing(&self) -> u64 {
        let is_known = |it: &&Compared| {
            matches!(it.likeness, Likeness::Differs | Likeness::Missing | Likeness::Unreadable)
        };
        self.0.iter().filter(is_known).count() as u64
    }
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
