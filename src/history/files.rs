//! The captured files of two checkpoints: which of them differ, and how.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checkpoint::Artifact;
use crate::text::grouped;

/// Captured files that differ between two checkpoints.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::FileChanges;
/// # use waypost::artifact::ArtifactStatus;
/// # use waypost::{NewArtifact, NewEntry, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let mut saved = Vec::new();
/// for text in ["one", "two"] {
///     let file = NewArtifact {
///         path: "a.txt".to_owned(),
///         content: Some(text.into()),
///         mode: None,
///         status: ArtifactStatus::Created,
///     };
///     let draft = store.draft(NewEntry::default(), &1)?.with_artifacts(vec![file])?;
///     saved.push(store.artifacts(&store.save_draft(draft)?.id)?);
/// }
/// let changes = FileChanges::between(&saved[0], &saved[1]);
/// assert_eq!(changes.differing, [("a.txt".to_owned(), "modified".to_owned())]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileChanges {
    /// Paths in their order, and what became of each: `created`, `deleted`, `not captured`,
    /// `modified`, `mode 644 -> 755`.
    pub differing: Vec<(String, String)>,
    /// Set if only one of the two has captured files, so that they cannot be compared.
    pub alone: Option<Alone>,
}

/// Which of two checkpoints alone has captured files, and how many.
///
/// ```
/// use waypost::history::{Alone, FileChanges};
/// use waypost::artifact::ArtifactStatus;
/// use waypost::{NewArtifact, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let (path, content) = ("notes.md".to_owned(), Some(b"notes".to_vec()));
/// # let notes = NewArtifact { path, content, mode: None, status: ArtifactStatus::Created };
/// # let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
/// let saved = store.save_draft(draft)?; // With the file notes.md.
/// let changes = FileChanges::between(&[], &store.artifacts(&saved.id)?);
/// assert_eq!(changes.alone, Some(Alone::New(1)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Alone {
    /// The old one.
    Old(usize),
    /// The new one.
    New(usize),
}

impl FileChanges {
    /// Compares what was captured with two checkpoints.
    ///
    /// A checkpoint without captured files does not say which files there were.
    #[must_use]
    pub fn between(old: &[Artifact], new: &[Artifact]) -> Self {
        match (old.len(), new.len()) {
            (0, 0) => return Self::default(),
            (0, count) => return Self { alone: Some(Alone::New(count)), ..Self::default() },
            (count, 0) => return Self { alone: Some(Alone::Old(count)), ..Self::default() },
            _ => {}
        }
        let mut paths: BTreeMap<&str, [Option<&Artifact>; 2]> = BTreeMap::new();
        for (at, artifacts) in [old, new].into_iter().enumerate() {
            for artifact in artifacts {
                paths.entry(&artifact.path).or_default()[at] = Some(artifact);
            }
        }
        let differing = paths.into_iter().filter_map(|(path, [old, new])| {
            let words = difference(old, new)?;
            Some((path.to_owned(), words))
        });
        Self { differing: differing.collect(), alone: None }
    }

    /// Returns a summary in words, given the names of both; `None` if no file differs.
    #[must_use]
    pub fn words(&self, old: &str, new: &str) -> Option<String> {
        let counted = |count: usize| match count {
            1 => "1 file".to_owned(),
            count => format!("{} files", grouped(count as u64)),
        };
        let captured = |count, name| Some(format!("{} captured only with {name},", counted(count)));
        match (self.alone, self.differing.len()) {
            (Some(Alone::Old(count)), _) => captured(count, old),
            (Some(Alone::New(count)), _) => captured(count, new),
            (None, 0) => None,
            (None, 1) => Some("1 file differs".to_owned()),
            (None, count) => Some(format!("{} differ", counted(count))),
        }
    }
}

fn difference(old: Option<&Artifact>, new: Option<&Artifact>) -> Option<String> {
    // A deleted file counts as absent.
    let present = |it: &&Artifact| it.sha256.is_some();
    match (old.filter(present), new.filter(present)) {
        (None, None) => None,
        (None, Some(_)) => Some("created".to_owned()),
        (Some(_), None) if new.is_some() => Some("deleted".to_owned()),
        (Some(_), None) => Some("not captured".to_owned()),
        (Some(old), Some(new)) => {
            let content = (old.sha256 != new.sha256).then(|| "modified".to_owned());
            let parts: Vec<String> = content.into_iter().chain(modes(old, new)).collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
    }
}

fn modes(old: &Artifact, new: &Artifact) -> Option<String> {
    let (old, new) = old.mode.zip(new.mode)?;
    (old != new).then(|| format!("mode {old:o} -> {new:o}"))
}
