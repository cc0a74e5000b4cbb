//! Files that came after a checkpoint: later ones of its series captured them, and it did not.
//!
//! Says nothing about a checkpoint that captured no files: it does not tell which there were.
//!
//! Looks from the newest checkpoint of the series down, at 1,024 captures at most, and notes if
//! that was not all.

use std::collections::{BTreeMap, HashSet};
use std::iter::once;

use super::look::{There, look};
use crate::checkpoint::{Artifact, ArtifactStatus, Entry};
use crate::error::{Error, Result};
use crate::layouts::NamedFile;
use crate::query::{Cursor, Query};
use crate::store::Store;
use crate::transfer::directory::Directory;
use crate::transfer::place::refusal;

// A restore must not cost more and more the longer a series is.
const CHECKPOINTS_LOOKED_AT: usize = 10_000;
const CAPTURES_LOOKED_AT: usize = 1_024;
// As far back as a save looks.
const CAPTURES_BEFORE_LOOKED_AT: usize = 64;

/// A file that is there and was captured later.
#[derive(Debug, Clone)]
pub(super) struct Later {
    pub(super) artifact: Artifact,
    /// Whether it was there before the checkpoint, too, as far as is known.
    pub(super) was_before: bool,
}

impl Later {
    /// The file as one that the checkpoint says is gone.
    pub(super) fn as_deleted(&self) -> Artifact {
        let mut artifact = self.artifact.clone();
        (artifact.sha256, artifact.mode, artifact.bytes) = (None, None, 0);
        artifact.status = ArtifactStatus::Deleted;
        artifact
    }
}

/// Where files that came after a checkpoint are looked for.
pub(super) struct Search<'a> {
    pub(super) store: &'a Store,
    pub(super) entry: &'a Entry,
    /// What was captured with it.
    pub(super) artifacts: &'a [Artifact],
    /// What its document names.
    pub(super) named: &'a [NamedFile],
    pub(super) directory: &'a Directory,
    /// What the user should know of the search.
    pub(super) notes: &'a mut Vec<String>,
}

impl Search<'_> {
    /// All that are there, in the order of their paths.
    pub(super) fn run(mut self) -> Result<Vec<Later>> {
        if self.artifacts.is_empty() {
            return Ok(Vec::new());
        }
        let start = self.start()?;
        let mut later = self.captured_since(&start)?;
        later.retain(|path, _| refusal(path).is_none() && self.is_file(path));
        if later.is_empty() {
            return Ok(Vec::new());
        }
        let before = self.captured_until(&start)?;
        let was_before =
            |path: &str| before.get(path).copied().unwrap_or_else(|| self.is_named(path));
        let later = later.into_values();
        Ok(later
            .map(|artifact| Later { was_before: was_before(&artifact.path), artifact })
            .collect())
    }

    /// After a rollback, what came after the checkpoint that was gone back to is later, too.
    fn start(&self) -> Result<Entry> {
        let Some(parent) = &self.entry.parent else { return Ok(self.entry.clone()) };
        match self.store.entry(parent) {
            Ok(parent) if parent.series == self.entry.series => Ok(parent),
            Ok(_) | Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Ok(self.entry.clone()),
            Err(error) => Err(error),
        }
    }

    /// From the newest on: what is there now is most likely as that says.
    fn captured_since(&mut self, start: &Entry) -> Result<BTreeMap<String, Artifact>> {
        let own: HashSet<&str> = self.artifacts.iter().map(|it| it.path.as_str()).collect();
        let mut later = BTreeMap::new();
        let is_later = |found: &Result<Entry>| {
            let is_earlier = |it: &Entry| it.id == start.id || it.order() < start.order();
            !found.as_ref().is_ok_and(is_earlier)
        };
        let entries = self.store.entries(self.query(None)).take_while(is_later);
        let is_all = self.captures(entries, CAPTURES_LOOKED_AT, |artifact| {
            if artifact.sha256.is_some() && !own.contains(artifact.path.as_str()) {
                later.entry(artifact.path.clone()).or_insert(artifact);
            }
        })?;
        if !is_all {
            let note = "only the newest checkpoints were looked at for later files";
            self.notes.push(note.to_owned());
        }
        Ok(later)
    }

    /// Whether files were there, by their paths, as the newest up to the start says.
    fn captured_until(&mut self, start: &Entry) -> Result<BTreeMap<String, bool>> {
        let mut before = BTreeMap::new();
        let earlier = self.store.entries(self.query(Some(Cursor::from(start))));
        let entries = once(Ok(start.clone())).chain(earlier);
        self.captures(entries, CAPTURES_BEFORE_LOOKED_AT, |artifact| {
            before.entry(artifact.path).or_insert(artifact.sha256.is_some());
        })?;
        Ok(before)
    }

    fn query(&self, after: Option<Cursor>) -> Query {
        Query { series: Some(self.entry.series.clone()), after, ..Query::default() }
    }

    /// Hands out the files of as many others as are `left`. Returns whether these were all.
    fn captures(
        &mut self,
        entries: impl Iterator<Item = Result<Entry>>,
        mut left: usize,
        mut take: impl FnMut(Artifact),
    ) -> Result<bool> {
        for (entry, number) in entries.zip(0..) {
            let found = entry.and_then(|entry| {
                let has_none = entry.artifact_count == 0 || entry.id == self.entry.id;
                if has_none { Ok(Vec::new()) } else { self.store.artifacts(&entry.id) }
            });
            let artifacts = match found {
                Ok(artifacts) => artifacts,
                // Deleted since it was listed.
                Err(Error::NotFound { .. }) => continue,
                // Damage to others is no reason not to restore this one.
                Err(error @ Error::Corrupt { .. }) => {
                    self.notes.push(format!("not compared: {error}"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            if artifacts.is_empty() {
                continue;
            }
            if left == 0 || number >= CHECKPOINTS_LOOKED_AT {
                return Ok(false);
            }
            left -= 1;
            artifacts.into_iter().for_each(&mut take);
        }
        Ok(true)
    }

    fn is_file(&self, path: &str) -> bool {
        matches!(look(self.directory, path), Ok(There::File { .. }))
    }

    fn is_named(&self, path: &str) -> bool {
        let is_it = |it: &NamedFile| it.path == path && it.status.as_deref() != Some("deleted");
        self.named.iter().any(is_it)
    }
}
