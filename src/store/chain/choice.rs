//! Chains: which earlier checkpoint of its series the next one is compressed against.
//!
//! Mostly against the one before. If all were, the newest would be many steps from a frame that
//! stands alone. So every eighth goes back eight at once, every sixty-fourth sixty-four, and one in
//! 512 stands alone. The *rank* of a step says which of these it is. From any checkpoint it takes
//! at most 21 steps to one that stands alone: as many as the digits of its number in base 8 add up
//! to.

use std::collections::HashSet;

/// How many steps of a rank make one of the next.
const STEPS: usize = 8;
/// How many ranks there are.
const RANKS: u8 = 3;
/// The most steps that a reader takes: more than this writer makes, and few enough to end.
pub(in crate::store) const STEPS_MAX: usize = 64;
/// The most steps to a base, and the most in a row within a journal: after a crash the one may
/// follow the other.
pub(in crate::store) const CHAIN_STEPS_MAX: usize = STEPS_MAX / 2;
const _: () = assert!((STEPS - 1) * (RANKS as usize) < CHAIN_STEPS_MAX);

// A base that is this many times as long as a document costs more to read than it saves.
const LONGER_MAX: usize = 4;
const SHORT_BYTES: usize = 4096;
// A delta pays if a frame that stands alone is this many times as long.
const PAYS_BY: usize = 2;
// Documents stored without trying a delta, after many deltas that did not pay.
const PAUSE_MAX: u32 = 32;

/// Identifies a document, saved or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum DocumentRef {
    /// Its sequence.
    Saved(u64),
    /// Its index in a batch that is not saved yet.
    Draft(usize),
}

/// The steps from a frame that stands alone to the newest of a series.
#[derive(Debug, Clone)]
pub(in crate::store) struct Chain {
    steps: Vec<Step>,
    /// Length of the first one's payload.
    whole_bytes: usize,
    /// Number of deltas in a row that did not pay.
    misses: u32,
    /// Number of documents still to store alone without trying a delta.
    pause: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    place: DocumentRef,
    /// `None` if it stands alone.
    rank: Option<u8>,
}

/// The result of compressing a checkpoint against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Attempt {
    /// Not tried.
    None,
    Paid,
    Failed,
}

impl Chain {
    /// A chain of one that stands alone.
    pub(in crate::store) fn new(place: DocumentRef, whole_bytes: usize) -> Self {
        Self { steps: vec![Step { place, rank: None }], whole_bytes, misses: 0, pause: 0 }
    }

    /// A chain as found in the tables, from the frame that stands alone; each step with its rank.
    ///
    /// Its history is unknown, so a delta that does not pay is not taken for a single leap.
    pub(in crate::store) fn found(
        whole: u64,
        whole_bytes: usize,
        steps: impl IntoIterator<Item = (u64, u8)>,
    ) -> Self {
        let mut chain = Self::new(DocumentRef::Saved(whole), whole_bytes);
        let step =
            |(sequence, rank)| Step { place: DocumentRef::Saved(sequence), rank: Some(rank) };
        chain.steps.extend(steps.into_iter().map(step));
        chain.misses = 1;
        chain
    }

    /// The base of the next checkpoint, and the rank of that step.
    pub(in crate::store) fn base(&self) -> Option<(DocumentRef, u8)> {
        if self.pause > 0 {
            return None;
        }
        let mut steps = self.steps.as_slice();
        for rank in 0..RANKS {
            let same = count_last(steps, rank);
            if same < STEPS - 1 {
                let base = steps.last().filter(|_| steps.len() < CHAIN_STEPS_MAX)?;
                return Some((base.place, rank));
            }
            steps = &steps[..steps.len() - same];
        }
        None
    }

    /// Whether a delta is worth a step, compared with the last frame that stood alone.
    pub(in crate::store) fn pays(&self, delta_bytes: usize, raw_bytes: usize) -> bool {
        pays(delta_bytes, self.whole_bytes.min(raw_bytes))
    }

    /// Forgets the steps if one of these is among them, but not how compressing went.
    pub(in crate::store) fn lose(&mut self, removed: &HashSet<u64>) {
        let is_removed =
            |step: &Step| matches!(step.place, DocumentRef::Saved(it) if removed.contains(&it));
        if self.steps.iter().any(is_removed) {
            self.steps.clear();
        }
    }

    /// Whether the steps are unknown.
    pub(in crate::store) fn is_lost(&self) -> bool {
        self.steps.is_empty()
    }

    /// Takes over the compression results of another chain of the series.
    pub(in crate::store) fn recall(&mut self, other: &Self) {
        (self.misses, self.pause) = (other.misses, other.pause);
    }

    /// Whether a single delta that does not pay is kept all the same.
    pub(in crate::store) fn may_leap(&self) -> bool {
        self.misses == 0
    }

    /// Notes the result of compressing the next checkpoint.
    pub(in crate::store) fn note(&mut self, attempt: Attempt) {
        match attempt {
            Attempt::None => self.pause = self.pause.saturating_sub(1),
            Attempt::Paid => self.misses = 0,
            Attempt::Failed => {
                // A single leap costs no pause. Each failure after it costs a pause four times as
                // long.
                self.pause = (4_u32.saturating_pow(self.misses) - 1).min(PAUSE_MAX);
                self.misses = self.misses.saturating_add(1);
            }
        }
    }

    /// Adds a step from `base`, if that is still part of the chain; returns whether it was.
    ///
    /// Calls `forget` with what no later step can start from.
    pub(in crate::store) fn step(
        &mut self,
        place: DocumentRef,
        base: DocumentRef,
        rank: u8,
        mut forget: impl FnMut(DocumentRef),
    ) -> bool {
        let Some(at) = self.steps.iter().rposition(|step| step.place == base) else {
            return false;
        };
        self.steps.drain(at + 1..).for_each(|step| forget(step.place));
        if self.steps[at].rank == Some(rank) {
            forget(base);
        }
        self.steps.push(Step { place, rank: Some(rank) });
        true
    }

    /// Starts over with a frame that stands alone.
    pub(in crate::store) fn restart(
        &mut self,
        place: DocumentRef,
        whole_bytes: usize,
        mut forget: impl FnMut(DocumentRef),
    ) {
        self.steps.drain(..).for_each(|step| forget(step.place));
        self.steps.push(Step { place, rank: None });
        self.whole_bytes = whole_bytes;
    }
}

/// Whether a base is too long to be read for this document.
pub(in crate::store) fn is_too_long(base_bytes: usize, raw_bytes: usize) -> bool {
    base_bytes > raw_bytes.saturating_mul(LONGER_MAX).saturating_add(SHORT_BYTES)
}

/// Whether a delta is worth a step, compared with a frame that stands alone.
pub(in crate::store) fn pays(delta_bytes: usize, whole_bytes: usize) -> bool {
    delta_bytes * PAYS_BY < whole_bytes
}

fn count_last(steps: &[Step], rank: u8) -> usize {
    steps.iter().rev().take_while(|step| step.rank == Some(rank)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bases of the first checkpoints of a series, by their numbers.
    fn bases(count: u64) -> Vec<Option<u64>> {
        let mut chain: Option<Chain> = None;
        let base = |number| {
            let place = DocumentRef::Saved(number);
            let base = chain.as_ref().and_then(Chain::base);
            match (&mut chain, base) {
                (Some(chain), Some((base, rank))) => {
                    assert!(chain.step(place, base, rank, |_| {}));
                }
                (Some(chain), None) => chain.restart(place, 100, |_| {}),
                (none, _) => *none = Some(Chain::new(place, 100)),
            }
            match base {
                Some((DocumentRef::Saved(base), _)) => Some(base),
                _ => None,
            }
        };
        (0..count).map(base).collect()
    }

    #[test]
    fn the_base_is_the_number_less_the_last_digit_that_is_not_zero() {
        for (number, base) in bases(1100).into_iter().enumerate() {
            let in_chain = number as u64 % 512;
            let digit =
                (0..3).map(|rank| 8_u64.pow(rank)).find(|unit| !in_chain.is_multiple_of(unit * 8));
            assert_eq!(base, digit.map(|unit| number as u64 - unit), "{number}");
        }
    }

    #[test]
    fn no_checkpoint_is_far_from_one_that_stands_alone() {
        let bases = bases(2000);
        let steps = |number: usize| {
            std::iter::successors(bases[number], |base| bases[usize::try_from(*base).unwrap()])
                .count()
        };
        assert_eq!((0..2000).map(steps).max(), Some(21));
    }

    #[test]
    fn whatever_a_later_step_starts_from_is_not_forgotten() {
        let mut chain = Chain::new(DocumentRef::Saved(0), 100);
        let mut kept = std::collections::BTreeSet::from([0]);
        let mut most = 0;
        for number in 1..2000 {
            let mut forgotten = Vec::new();
            match chain.base() {
                Some((base, rank)) => {
                    let DocumentRef::Saved(sequence) = base else { panic!("it has no drafts") };
                    assert!(kept.contains(&sequence), "{sequence} for {number}");
                    chain.step(DocumentRef::Saved(number), base, rank, |place| {
                        forgotten.push(place);
                    });
                }
                None => {
                    chain.restart(DocumentRef::Saved(number), 100, |place| forgotten.push(place));
                }
            }
            for place in forgotten {
                let DocumentRef::Saved(sequence) = place else { panic!("it has no drafts") };
                kept.remove(&sequence);
            }
            kept.insert(number);
            most = most.max(kept.len());
        }
        assert_eq!(most, 4);
    }

    #[test]
    fn a_chain_that_was_found_goes_on_where_it_was() {
        let mut chain = Chain::new(DocumentRef::Saved(0), 100);
        let mut steps = Vec::new();
        for number in 1..=75 {
            let (base, rank) = chain.base().unwrap();
            let DocumentRef::Saved(base) = base else { panic!("it has no drafts") };
            chain.step(DocumentRef::Saved(number), DocumentRef::Saved(base), rank, |_| {});
            steps.truncate(steps.iter().position(|(it, _)| *it == base).map_or(0, |at| at + 1));
            steps.push((number, rank));
        }
        let mut found = Chain::found(0, 100, steps);
        assert_eq!(found.steps, chain.steps);
        assert!(!found.may_leap());
        found.lose(&HashSet::from([5, 70]));
        assert_eq!(found.base(), chain.base(), "neither is on the way");
        found.lose(&HashSet::from([64]));
        assert!(found.is_lost() && found.base().is_none());
    }

    #[test]
    fn what_was_learnt_outlasts_the_way() {
        let mut chain = Chain::new(DocumentRef::Saved(0), 100);
        (0..3).for_each(|_| chain.note(Attempt::Failed));
        let mut found = Chain::found(0, 100, []);
        found.recall(&chain);
        assert!(found.base().is_none(), "there is a pause");
    }

    #[test]
    fn savers_at_the_same_time_start_from_the_same_base() {
        let mut chain = Chain::new(DocumentRef::Saved(1), 100);
        let (base, rank) = chain.base().unwrap();
        assert!(chain.step(DocumentRef::Saved(2), base, rank, |_| {}));
        assert!(chain.step(DocumentRef::Saved(3), base, rank, |_| {}));
        assert_eq!(chain.base(), Some((DocumentRef::Saved(3), 0)));
        assert!(
            !chain.step(DocumentRef::Saved(4), DocumentRef::Saved(2), 0, |_| {}),
            "2 is a side branch"
        );
    }

    #[test]
    fn deltas_that_never_pay_are_seldom_tried() {
        let mut chain = Chain::new(DocumentRef::Saved(0), 100);
        let mut tries = 0;
        for number in 1..=1000 {
            let is_tried = chain.base().is_some();
            tries += u32::from(is_tried);
            chain.note(if is_tried { Attempt::Failed } else { Attempt::None });
            chain.restart(DocumentRef::Saved(number), 100, |_| {});
        }
        assert!((30..=34).contains(&tries), "{tries}");
        while chain.base().is_none() {
            chain.note(Attempt::None);
        }
        chain.note(Attempt::Paid);
        chain.note(Attempt::Failed);
        assert!(chain.base().is_some(), "a single leap costs no pause");
    }
}
