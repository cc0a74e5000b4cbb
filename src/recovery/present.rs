//! Finds the revision that a file now has, among the checkpoints of a series.
//!
//! A file holds its newest revision; the others were overwritten. If a file was moved to where its
//! system does not look, that applies to all its revisions.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Hurdle};
use crate::checkpoint::{Entry, Id, Layout, Status};
use crate::error::{Error, Result};
use crate::layouts::claude::counterpart;
use crate::store::Store;

type File = (String, Option<u64>);

/// The files of the candidates so far, which come newest first.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Per file, the newest readable revision if it cannot be resumed.
    blocked: HashMap<File, Option<Id>>,
    /// For each file its newest revision, if that is of no known system or could not be read.
    unknown: HashMap<File, Option<Entry>>,
    gone: HashSet<String>,
}

impl Present {
    /// Takes the next candidate. It counts as set aside if a newer revision of its file is.
    pub(super) fn take(&mut self, candidate: &mut Candidate) {
        let Some(path) = &candidate.entry.source_path else { return };
        if candidate.is_set_aside {
            self.gone.extend([path.clone()].into_iter().chain(counterpart(path)));
        } else if self.gone.contains(path) {
            candidate.is_set_aside = true;
            candidate.hurdles.push(Hurdle::Ended { status: Status::Archived });
        }
    }

    /// Adds a hurdle if the file of this candidate now has a revision that cannot be resumed. A
    /// damaged revision does not count: then the last good state is offered.
    pub(super) fn check(&mut self, candidate: &mut Candidate) {
        let Some(file) = file(&candidate.entry) else { return };
        match self.blocked.get(&file) {
            Some(Some(by)) => candidate.hurdles.push(Hurdle::Overwritten { by: by.clone() }),
            None if candidate.is_readable() => {
                let id = Some(candidate.entry.id.clone());
                self.blocked.insert(file, id.filter(|_| !candidate.hurdles.is_empty()));
            }
            Some(None) | None => {}
        }
    }

    /// Adds a hurdle if the file of this candidate now has a content of no known system, such as
    /// `{}`, or one that could not be read. The checkpoint with that content may be in another
    /// series.
    ///
    /// Returns the entry of that content. Reads one entry per file. Without an index of files it
    /// does nothing, since it would have to read the whole store.
    pub(super) fn check_content(
        &mut self,
        store: &Store,
        candidate: &mut Candidate,
    ) -> Result<Option<Entry>> {
        if !candidate.hurdles.is_empty() {
            return Ok(None);
        }
        let Some(file) = file(&candidate.entry) else { return Ok(None) };
        let unknown = if let Some(unknown) = self.unknown.get(&file) {
            unknown.clone()
        } else {
            let unknown = unknown_content(store, &candidate.entry)?;
            self.unknown.insert(file, unknown.clone());
            unknown
        };
        let by = unknown.as_ref().map(|it| it.id.clone());
        candidate.hurdles.extend(by.map(|by| Hurdle::Overwritten { by }));
        Ok(unknown)
    }
}

/// Returns the newest revision of the file of an imported checkpoint, if that revision could not be
/// read or is of no known system.
pub(super) fn unknown_content(store: &Store, entry: &Entry) -> Result<Option<Entry>> {
    let Some((path, line)) = file(entry).filter(|_| entry.layout != Layout::Native) else {
        return Ok(None);
    };
    if !store.has_file_index()? {
        return Ok(None);
    }
    match store.newest_of_file(&path, line) {
        Ok(newest) => Ok(newest.filter(|it| it.layout == Layout::Native || it.is_unreadable())),
        // A damaged revision does not count: then the last good state is offered.
        Err(Error::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn file(entry: &Entry) -> Option<File> {
    Some((entry.source_path.clone()?, entry.source?.line))
}
