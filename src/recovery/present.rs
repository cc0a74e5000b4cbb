//! Which revision of a file is in it now, among the checkpoints of a series.
//!
//! A file holds its newest revision; the others were overwritten. A file that was moved to where
//! its system does not look took all its revisions along.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, Hurdle};
use crate::checkpoint::{Entry, Id, Status};
use crate::layouts::claude::counterpart;

type File = (String, Option<u64>);

/// The files of the candidates so far, which come newest first.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Per file, the newest readable revision if it cannot be resumed.
    blocked: HashMap<File, Option<Id>>,
    gone: HashSet<String>,
}

impl Present {
    /// Takes the next candidate. It is set aside if a newer revision of its file was.
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
    /// damaged revision does not count: then the last good state is wanted.
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
}

fn file(entry: &Entry) -> Option<File> {
    Some((entry.source_path.clone()?, entry.source?.line))
}
