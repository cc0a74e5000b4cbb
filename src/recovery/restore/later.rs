//! Files that only later checkpoints of the series captured.
//!
//! Finds none for a checkpoint without captured files: it does not say which files existed.
//!
//! Searches from the newest checkpoint of the series back, 1,024 captures at most, and notes if
//! there were more.

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

// The cost of a restore must not grow with the series.
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

/// The search for files that came after a checkpoint.
pub(super) struct Search<'a> {
    pub(super) store: &'a Store,
    pub(super) entry: &'a Entry,
    /// The files captured with it.
    pub(super) artifacts: &'a [Artifact],
    /// The files that its document names.
    pub(super) named: &'a [NamedFile],
    pub(super) directory: &'a Directory,
    /// Notes of the search for the user.
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

    /// After a rollback, everything after the checkpoint that was rolled back to counts as later,
    /// too.
    fn start(&self) -> Result<Entry> {
        let Some(parent) = &self.entry.parent else { return Ok(self.entry.clone()) };
        match self.store.entry(parent) {
            Ok(parent) if parent.series == self.entry.series => Ok(parent),
            Ok(_) | Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Ok(self.entry.clone()),
            Err(error) => Err(error),
        }
    }

    /// From the newest on, which most likely matches the present files.
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

    /// Whether each file existed, by the newest capture up to the start.
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

    /// Passes on the files of at most `left` other captures. Returns whether these were all.
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
                // Damage to other checkpoints must not prevent this restore.
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
