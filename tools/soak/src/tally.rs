//! What all workers did, in numbers, and what went wrong.

use std::collections::BTreeMap;
use std::mem;

use crate::latency::Latency;
use crate::note::{Note, Refusal, Work};

/// Counts of a whole run, and times since the last sample.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: u64,
    pub(crate) done: BTreeMap<Work, u64>,
    pub(crate) refused: BTreeMap<(Work, Refusal), u64>,
    /// What must never happen.
    pub(crate) wrong: Vec<String>,
    pub(crate) kills: u64,
    /// How often the store was compared with what must be in it.
    pub(crate) checks: u64,
    /// How many documents were read and compared.
    pub(crate) compared: u64,
    micros: BTreeMap<Work, Vec<u64>>,
}

impl Tally {
    /// Takes what a worker noted.
    pub(crate) fn take(&mut self, worker: u32, note: &Note) {
        match note {
            Note::Saved { .. } => self.acknowledged += 1,
            Note::Did { work, micros } => {
                *self.done.entry(*work).or_default() += 1;
                self.micros.entry(*work).or_default().push(*micros);
            }
            Note::Refused { work, reason } => {
                *self.refused.entry((*work, *reason)).or_default() += 1;
            }
            Note::Wrong(what) => self.wrong.push(format!("worker {worker}: {what}")),
            Note::Deleting { .. }
            | Note::Deleted { .. }
            | Note::Restored { .. }
            | Note::Tagged { .. }
            | Note::Untagging { .. } => {}
        }
    }

    /// Returns what calls took since the last time this was asked.
    pub(crate) fn latencies(&mut self) -> BTreeMap<Work, Latency> {
        let micros = mem::take(&mut self.micros).into_iter();
        micros.filter_map(|(work, micros)| Some((work, Latency::of(micros)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_since_the_last_time() {
        let mut tally = Tally::default();
        tally.take(0, &Note::Did { work: Work::List, micros: 5 });
        assert_eq!(tally.latencies()[&Work::List].max, 5);
        assert!(tally.latencies().is_empty());
        tally.take(1, &Note::Did { work: Work::List, micros: 7 });
        assert_eq!(tally.latencies()[&Work::List].max, 7);
        assert_eq!(tally.done[&Work::List], 2);
    }
}
