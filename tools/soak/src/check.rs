//! The store against what must be in it.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use waypost::{Entry, Error, Query, Store};

use crate::document::{CAPTURED, captured, is_intact};
use crate::kind::{Kind, Spot};
use crate::ledger::{Ledger, Suspect};
use crate::tally::Tally;
use crate::worker::TAGGED_MAX;

// More than any series has, even without pruning for a while.
const ALL: usize = 1 << 16;

/// Whether workers go on meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// They do: what was listed may be gone when it is read.
    During,
    /// They have ended, so everything is for certain.
    After,
}

/// Compares a store with the notes of its workers.
pub(crate) struct Check<'a> {
    pub(crate) store: &'a Store,
    pub(crate) seed: u64,
    pub(crate) when: When,
}

/// What was found of one worker and kind.
pub(crate) struct Found {
    pub(crate) worker: u32,
    pub(crate) kind: Kind,
    numbers: BTreeSet<u64>,
    suspects: Vec<Suspect>,
}

impl Check<'_> {
    /// Lists and reads everything of a worker. What seems to be missing is judged by
    /// [`judge`] once the notes have been read again.
    pub(crate) fn look(
        &self,
        worker: u32,
        ledger: &mut Ledger,
        tally: &mut Tally,
    ) -> Result<Vec<Found>> {
        Kind::ALL.into_iter().map(|kind| self.look_at((worker, kind), ledger, tally)).collect()
    }

    fn look_at(
        &self,
        (worker, kind): (u32, Kind),
        ledger: &mut Ledger,
        tally: &mut Tally,
    ) -> Result<Found> {
        let series = Some(kind.series(worker));
        let query = Query { series, limit: Some(ALL), ..Query::default() };
        let entries = self.store.list(&query).context("cannot list a series")?.entries;
        let line = ledger.line(worker, kind);
        let numbers: BTreeSet<u64> = entries.iter().filter_map(|entry| entry.iteration).collect();
        let suspects = line.missing(&numbers, kind.keep_last());
        for entry in &entries {
            let Some(spot) = Spot::of(entry) else {
                tally.wrong.push(format!("nobody saved {}", entry.id));
                continue;
            };
            if line.id(spot.number).is_some_and(|id| *id != entry.id) {
                tally.wrong.push(format!("{spot} is there as {}, not as acknowledged", entry.id));
            }
            tally.compared += 1;
            tally.wrong.extend(self.read(spot, entry)?);
        }
        if self.when == When::After && kind == Kind::Ring {
            tally.wrong.extend(overfull(worker, &entries));
        }
        Ok(Found { worker, kind, numbers, suspects })
    }

    /// Reads a checkpoint; what is wrong with it, if anything is.
    fn read(&self, spot: Spot, entry: &Entry) -> Result<Option<String>> {
        let found = match self.store.get(&entry.id) {
            Ok(found) => found,
            Err(Error::NotFound { .. }) if self.when == When::During => return Ok(None),
            Err(error @ (Error::NotFound { .. } | Error::Corrupt { .. })) => {
                return Ok(Some(format!("{spot} cannot be read: {error}")));
            }
            Err(error) => return Err(error).context("cannot read a checkpoint"),
        };
        match is_intact(self.seed, spot, &found) {
            Ok(true) => Ok(self.read_file(spot, entry)),
            Ok(false) => Ok(Some(format!("{spot} is not what was saved: {}", entry.id))),
            Err(error) => Ok(Some(format!("{spot} cannot be read: {error}"))),
        }
    }

    fn read_file(&self, spot: Spot, entry: &Entry) -> Option<String> {
        if spot.kind != Kind::Kept {
            return None;
        }
        match self.store.artifact(&entry.id, CAPTURED) {
            Ok(content) if Some(&content) == captured(self.seed, spot).content.as_ref() => None,
            Ok(_) => Some(format!("the file of {spot} is not what was captured")),
            Err(Error::NotFound { .. }) if self.when == When::During => None,
            Err(error) => Some(format!("the file of {spot} cannot be read: {error}")),
        }
    }
}

/// Counts what is missing for certain, and forgets what may be.
pub(crate) fn judge(found: &Found, ledger: &mut Ledger, tally: &mut Tally) {
    let Found { worker, kind, numbers, suspects } = found;
    let line = ledger.line(*worker, *kind);
    for suspect in suspects.iter().filter(|suspect| line.confirms(suspect)) {
        let spot = Spot { worker: *worker, kind: *kind, number: suspect.number };
        tally.wrong.push(format!("{spot} was acknowledged and is missing"));
    }
    line.forget(numbers, kind.keep_last());
}

/// A ring that is larger than it may be: what has just lost its tag goes with the next save.
fn overfull(worker: u32, entries: &[Entry]) -> Option<String> {
    let count = entries.iter().filter(|entry| entry.tags.is_empty()).count();
    let most = Kind::Ring.keep_last()? as usize + TAGGED_MAX;
    (count > most).then(|| format!("the ring of {worker} has {count}, more than {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::state;
    use crate::note::Note;

    const SEED: u64 = 7;

    /// Checks a store with numbers 1 and 2 of a worker, after `notes` were taken.
    fn wrong(when: When, notes: impl Fn(&[Entry]) -> Vec<Note>) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("store.redb")).unwrap();
        let entries = [1, 2].map(|number| {
            let spot = Spot { worker: 0, kind: Kind::Ring, number };
            store.save(spot.about(), &state(SEED, spot)).unwrap()
        });
        let (mut ledger, mut tally) = (Ledger::default(), Tally::default());
        for note in notes(&entries) {
            ledger.take(0, &note);
        }
        let check = Check { store: &store, seed: SEED, when };
        for found in check.look(0, &mut ledger, &mut tally).unwrap() {
            judge(&found, &mut ledger, &mut tally);
        }
        tally.wrong
    }

    fn saved(number: u64, id: &waypost::Id) -> Note {
        Note::Saved { kind: Kind::Ring, number, id: id.clone() }
    }

    #[test]
    fn a_store_that_has_what_was_acknowledged_and_more_is_right() {
        for when in [When::During, When::After] {
            assert!(wrong(when, |it| vec![saved(1, &it[0].id)]).is_empty());
        }
    }

    #[test]
    fn what_was_acknowledged_and_is_not_there_is_told() {
        let wrong = wrong(When::During, |it| vec![saved(2, &it[1].id), saved(3, &it[1].id)]);
        assert_eq!(wrong, ["ring-0 number 3 was acknowledged and is missing"]);
    }

    #[test]
    fn what_is_there_under_another_id_is_told() {
        let wrong = wrong(When::After, |it| vec![saved(1, &it[1].id)]);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].ends_with("not as acknowledged"), "{wrong:?}");
    }

    #[test]
    fn another_document_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("store.redb")).unwrap();
        let spot = Spot { worker: 0, kind: Kind::Ring, number: 1 };
        store.save(spot.about(), &state(SEED + 1, spot)).unwrap();
        let (mut ledger, mut tally) = (Ledger::default(), Tally::default());
        let check = Check { store: &store, seed: SEED, when: When::During };
        check.look(0, &mut ledger, &mut tally).unwrap();
        assert_eq!(tally.wrong.len(), 1, "{:?}", tally.wrong);
        assert!(tally.wrong[0].contains("is not what was saved"), "{:?}", tally.wrong);
    }
}
