//! What must be in the store, by what workers noted.
//!
//! Knows neither the store nor the clock, so that what it demands can be tested.

use std::collections::{BTreeMap, BTreeSet};

use waypost::Id;

use crate::kind::Kind;
use crate::note::Note;

/// Everything that was acknowledged and may still be asked for.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    lines: BTreeMap<(u32, Kind), Line>,
}

/// What one worker saved of one kind.
#[derive(Debug, Default)]
pub(crate) struct Line {
    saved: BTreeMap<u64, Saved>,
    highest: u64,
}

#[derive(Debug)]
struct Saved {
    id: Id,
    standing: Standing,
    /// How often its standing changed.
    changes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// There, unless the policy of its kind removed it.
    Saved,
    /// There, whatever the policy says.
    Tagged,
    /// There or not: it is being deleted.
    Uncertain,
}

/// An acknowledged checkpoint that was not found, unless something was noted of it meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) number: u64,
    changes: u32,
}

impl Ledger {
    pub(crate) fn line(&mut self, worker: u32, kind: Kind) -> &mut Line {
        self.lines.entry((worker, kind)).or_default()
    }

    /// Takes what a worker noted.
    pub(crate) fn take(&mut self, worker: u32, note: &Note) {
        match note {
            Note::Saved { kind, number, id } => self.line(worker, *kind).add(*number, id.clone()),
            Note::Deleting { number } => self.kept(worker).set(*number, Standing::Uncertain),
            Note::Restored { number } => self.kept(worker).set(*number, Standing::Saved),
            Note::Deleted { number } => {
                self.kept(worker).saved.remove(number);
            }
            Note::Tagged { number } => self.ring(worker).set(*number, Standing::Tagged),
            Note::Untagging { number } => self.ring(worker).set(*number, Standing::Saved),
            Note::Did { .. } | Note::Refused { .. } | Note::Wrong(_) => {}
        }
    }

    /// A worker was killed, so it will not report what it was about to delete.
    pub(crate) fn give_up(&mut self, worker: u32) {
        self.kept(worker).saved.retain(|_, saved| saved.standing != Standing::Uncertain);
    }

    fn kept(&mut self, worker: u32) -> &mut Line {
        self.line(worker, Kind::Kept)
    }

    fn ring(&mut self, worker: u32) -> &mut Line {
        self.line(worker, Kind::Ring)
    }
}

impl Line {
    /// The highest number that was acknowledged; zero if none was.
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    /// The id that was acknowledged for a number.
    pub(crate) fn id(&self, number: u64) -> Option<&Id> {
        self.saved.get(&number).map(|saved| &saved.id)
    }

    /// What must be there and is not among the numbers that were found.
    pub(crate) fn missing(&self, found: &BTreeSet<u64>, keep_last: Option<u32>) -> Vec<Suspect> {
        let oldest = oldest_safe(found, keep_last);
        let is_due = |number: u64, saved: &Saved| match saved.standing {
            Standing::Saved => number >= oldest,
            Standing::Tagged => true,
            Standing::Uncertain => false,
        };
        let missing = self.saved.iter().filter(|(number, _)| !found.contains(number));
        missing
            .filter(|(number, saved)| is_due(**number, saved))
            .map(|(number, saved)| Suspect { number: *number, changes: saved.changes })
            .collect()
    }

    /// Whether nothing was noted of a suspect since it was one.
    pub(crate) fn confirms(&self, suspect: &Suspect) -> bool {
        self.saved.get(&suspect.number).is_some_and(|saved| saved.changes == suspect.changes)
    }

    /// Forgets what the policy may have removed by now.
    pub(crate) fn forget(&mut self, found: &BTreeSet<u64>, keep_last: Option<u32>) {
        let oldest = oldest_safe(found, keep_last);
        self.saved.retain(|number, saved| *number >= oldest || saved.standing == Standing::Tagged);
    }

    fn add(&mut self, number: u64, id: Id) {
        self.highest = self.highest.max(number);
        self.saved.insert(number, Saved { id, standing: Standing::Saved, changes: 0 });
    }

    fn set(&mut self, number: u64, standing: Standing) {
        // A save that was not acknowledged may be missing.
        if let Some(saved) = self.saved.get_mut(&number) {
            saved.standing = standing;
            saved.changes += 1;
        }
    }
}

/// The lowest number that has fewer than `keep_last` above it.
fn oldest_safe(found: &BTreeSet<u64>, keep_last: Option<u32>) -> u64 {
    let Some(keep_last) = keep_last else { return 0 };
    let last = found.iter().rev().nth((keep_last as usize).saturating_sub(1));
    last.copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(kind: Kind, numbers: std::ops::RangeInclusive<u64>) -> Ledger {
        let mut ledger = Ledger::default();
        for number in numbers {
            let id = Id::new(format!("it-{number}")).unwrap();
            ledger.take(0, &Note::Saved { kind, number, id });
        }
        ledger
    }

    fn missing(line: &Line, found: &[u64], keep_last: Option<u32>) -> Vec<u64> {
        let found = found.iter().copied().collect();
        line.missing(&found, keep_last).iter().map(|suspect| suspect.number).collect()
    }

    #[test]
    fn what_no_policy_removes_must_be_there() {
        let mut ledger = ledger(Kind::Kept, 1..=4);
        assert_eq!(missing(ledger.line(0, Kind::Kept), &[1, 3], None), [2, 4]);
        assert!(missing(ledger.line(1, Kind::Kept), &[], None).is_empty());
    }

    #[test]
    fn only_what_has_enough_newer_ones_may_be_gone() {
        let mut ledger = ledger(Kind::Ring, 1..=6);
        let line = ledger.line(0, Kind::Ring);
        assert!(missing(line, &[4, 5, 6], Some(3)).is_empty());
        assert_eq!(missing(line, &[3, 5, 6], Some(3)), [4]);
        assert_eq!(missing(line, &[5, 6], Some(3)), [1, 2, 3, 4]);
        // One that was not acknowledged counts as well: 7, while its worker was killed.
        assert!(missing(line, &[5, 6, 7], Some(3)).is_empty());
    }

    #[test]
    fn what_has_a_tag_must_be_there_until_it_is_taken_away() {
        let mut ledger = ledger(Kind::Ring, 1..=6);
        ledger.take(0, &Note::Tagged { number: 2 });
        assert_eq!(missing(ledger.line(0, Kind::Ring), &[4, 5, 6], Some(3)), [2]);
        ledger.line(0, Kind::Ring).forget(&[4, 5, 6].into(), Some(3));
        assert_eq!(missing(ledger.line(0, Kind::Ring), &[4, 5, 6], Some(3)), [2]);
        ledger.take(0, &Note::Untagging { number: 2 });
        assert!(missing(ledger.line(0, Kind::Ring), &[4, 5, 6], Some(3)).is_empty());
    }

    #[test]
    fn what_is_being_deleted_may_be_there_or_not_until_it_is_restored() {
        let mut ledger = ledger(Kind::Kept, 1..=2);
        ledger.take(0, &Note::Deleting { number: 1 });
        assert!(missing(ledger.line(0, Kind::Kept), &[2], None).is_empty());
        ledger.take(0, &Note::Restored { number: 1 });
        assert_eq!(missing(ledger.line(0, Kind::Kept), &[2], None), [1]);
        ledger.take(0, &Note::Deleting { number: 1 });
        ledger.give_up(0);
        assert_eq!(ledger.line(0, Kind::Kept).id(1), None);
        ledger.take(0, &Note::Deleting { number: 2 });
        ledger.take(0, &Note::Deleted { number: 2 });
        assert_eq!(ledger.line(0, Kind::Kept).id(2), None);
        assert_eq!(ledger.line(0, Kind::Kept).highest(), 2);
    }

    /// Between a listing and the notes that were read before it, a worker goes on.
    #[test]
    fn a_suspect_of_which_something_was_noted_since_is_none() {
        let mut ledger = ledger(Kind::Kept, 1..=2);
        let suspects = ledger.line(0, Kind::Kept).missing(&BTreeSet::new(), None);
        ledger.take(0, &Note::Deleting { number: 1 });
        ledger.take(0, &Note::Restored { number: 1 });
        let line = ledger.line(0, Kind::Kept);
        let confirmed = suspects.iter().map(|suspect| line.confirms(suspect));
        assert_eq!(confirmed.collect::<Vec<_>>(), [false, true]);
    }
}
