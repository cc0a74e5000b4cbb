//! Compares captured files with earlier captures of the series.

use std::collections::BTreeMap;

use super::super::place::ancestors;
use super::{Capture, CaptureError, CaptureEvent, File};
use crate::checkpoint::{Artifact, ArtifactStatus, Hash, NewArtifact, NewEntry, Series};
use crate::error::{Error, Result};
use crate::key::Order;
use crate::query::Query;
use crate::store::Store;

// How far back earlier captures are looked for: a save must not cost more the longer a series is.
const CHECKPOINTS_MAX: usize = 10_000;
const CAPTURES_MAX: usize = 64;

/// Earlier captures: the newest per path.
type Earlier = BTreeMap<String, Artifact>;

impl Capture {
    /// Refuses a missing path for a store that does not exist yet, and so has no earlier captures.
    ///
    /// # Errors
    /// [`CaptureError::Refused`].
    pub fn check_new(&self) -> Result<(), CaptureError> {
        self.check_missing(&Earlier::new())
    }

    /// Compares the files with what the series of `about` has captured before, and returns them for
    /// [`Draft::with_artifacts`](crate::Draft::with_artifacts), with those that were deleted since.
    ///
    /// Looks at 64 earlier captures at most.
    ///
    /// # Errors
    /// [`CaptureError::Refused`] for a path that is missing and was never captured, or an error of
    /// reading the store.
    pub fn artifacts(
        self,
        store: &Store,
        about: &NewEntry,
        tell: &mut dyn FnMut(CaptureEvent<'_>),
    ) -> Result<Vec<NewArtifact>, CaptureError> {
        let earlier = self.earlier(store, about, tell)?;
        self.check_missing(&earlier)?;
        let deleted = self.deleted(&earlier).into_iter().map(|path| NewArtifact {
            path: path.to_owned(),
            content: None,
            mode: None,
            status: ArtifactStatus::Deleted,
        });
        let mut artifacts: Vec<NewArtifact> = deleted.collect();
        for (path, File { content, mode }) in self.files {
            let status = status(earlier.get(&path), &content);
            artifacts.push(NewArtifact { path, content: Some(content), mode, status });
        }
        Ok(artifacts)
    }

    fn check_missing(&self, earlier: &Earlier) -> Result<(), CaptureError> {
        for (kept, path) in &self.missing {
            let was_there = |earlier: &String| earlier == kept || is_below(earlier, kept);
            if !earlier.keys().any(was_there) {
                let reason = "it is not there, and was not captured before";
                return Err(CaptureError::refused(path, reason));
            }
        }
        Ok(())
    }

    fn earlier(
        &self,
        store: &Store,
        about: &NewEntry,
        tell: &mut dyn FnMut(CaptureEvent<'_>),
    ) -> Result<Earlier> {
        let mut earlier = Earlier::new();
        if self.files.is_empty() && self.missing.is_empty() && self.directories.is_empty() {
            return Ok(earlier);
        }
        let query =
            Query { series: Some(Series::of(about)), order: Order::Newest, ..Query::default() };
        let mut left = CAPTURES_MAX;
        for entry in store.entries(query).take(CHECKPOINTS_MAX) {
            let entry = entry?;
            // A retry is compared with the same captures as its first try.
            if entry.artifact_count == 0 || about.id.as_ref() == Some(&entry.id) {
                continue;
            }
            match store.artifacts(&entry.id) {
                Ok(artifacts) => artifacts.into_iter().for_each(|artifact| {
                    earlier.entry(artifact.path.clone()).or_insert(artifact);
                }),
                // Deleted since it was listed.
                Err(Error::NotFound { .. }) => continue,
                // Damage to an earlier checkpoint must not prevent a save.
                Err(error @ Error::Corrupt { .. }) => tell(CaptureEvent::NotCompared(&error)),
                Err(error) => return Err(error),
            }
            left -= 1;
            if left == 0 || self.is_all_in(&earlier) {
                break;
            }
        }
        Ok(earlier)
    }

    /// Whether the earlier captures are complete.
    fn is_all_in(&self, earlier: &Earlier) -> bool {
        self.directories.is_empty()
            && self.missing.iter().all(|(kept, _)| earlier.contains_key(kept))
            && self.files.keys().all(|path| earlier.contains_key(path))
    }

    /// The paths that were captured before, belong to this capture, and are gone.
    fn deleted<'e>(&self, earlier: &'e Earlier) -> Vec<&'e str> {
        let mut gone = Vec::new();
        for (path, earlier) in earlier.iter().filter(|(path, _)| !self.files.contains_key(*path)) {
            // A file whose path is now a directory is gone, and the reverse.
            let is_named = self.missing.iter().any(|(kept, _)| kept == path)
                || self.directories.contains(path);
            // A deletion is noted once, unless the path is named again.
            let was_there = earlier.status != ArtifactStatus::Deleted;
            let roots = self.directories.iter().chain(self.missing.iter().map(|(kept, _)| kept));
            let is_below_root = roots.into_iter().any(|root| is_below(path, root))
                || ancestors(path).any(|above| self.files.contains_key(above));
            if is_named || (was_there && is_below_root) {
                gone.push(path.as_str());
            }
        }
        gone
    }
}

fn status(earlier: Option<&Artifact>, content: &[u8]) -> ArtifactStatus {
    match earlier.map(|earlier| earlier.sha256) {
        None | Some(None) => ArtifactStatus::Created,
        Some(Some(hash)) if hash == Hash::of(content) => ArtifactStatus::Unchanged,
        Some(Some(_)) => ArtifactStatus::Modified,
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|below| below.starts_with('/'))
}
