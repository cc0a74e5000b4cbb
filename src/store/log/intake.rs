//! Checkpoints between the journal and the tables, and their order: each gets a sequence. One that
//! the store dates gets an order time that no earlier checkpoint exceeds.

use crate::checkpoint::Timestamp;
use crate::codec::Placed;
use crate::error::{Error, Result};
use crate::key::SEQUENCE_MAX;

/// Saves that wait for the tables, in the order of sequences.
#[derive(Debug)]
pub(in crate::store) struct Intake {
    next_sequence: u64,
    /// The latest time in the order of checkpoints. Never goes back, even if a save fails.
    highest: Timestamp,
    pending: Vec<Placed>,
    pending_bytes: usize,
}

impl Intake {
    /// Starts at the first sequence that the tables do not have, and at their latest time.
    pub(in crate::store) fn new(
        next_sequence: u64,
        highest: Timestamp,
        pending: Vec<Placed>,
    ) -> Self {
        let mut intake = Self { next_sequence, highest, pending: Vec::new(), pending_bytes: 0 };
        intake.follow(pending);
        intake
    }

    pub(in crate::store) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    pub(in crate::store) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// The latest time in the order of checkpoints.
    pub(in crate::store) fn highest(&self) -> Timestamp {
        self.highest
    }

    /// Notes the order time of a record that already has its place.
    pub(in crate::store) fn reach(&mut self, time: Timestamp) {
        self.highest = self.highest.max(time);
    }

    /// Gives out the next sequence. It is used up even if the save fails.
    pub(in crate::store) fn give_out(&mut self) -> Result<u64> {
        let sequence = self.next_sequence;
        if sequence > SEQUENCE_MAX {
            let what = "number of checkpoints ever saved".to_owned();
            return Err(Error::Limit { what, limit: SEQUENCE_MAX });
        }
        self.next_sequence += 1;
        Ok(sequence)
    }

    pub(in crate::store) fn push(&mut self, placed: Vec<Placed>) {
        self.pending_bytes += bytes_of(&placed);
        self.pending.extend(placed);
    }

    /// Adds saves of another process, which have their places.
    pub(in crate::store) fn follow(&mut self, placed: Vec<Placed>) {
        for Placed { entry, .. } in &placed {
            self.next_sequence = self.next_sequence.max(entry.sequence + 1);
            self.reach(entry.order().0);
        }
        self.push(placed);
    }

    pub(in crate::store) fn take(&mut self) -> Vec<Placed> {
        self.pending_bytes = 0;
        std::mem::take(&mut self.pending)
    }

    /// Undoes [`Intake::take`].
    pub(in crate::store) fn put_back(&mut self, mut placed: Vec<Placed>) {
        placed.append(&mut self.pending);
        self.pending_bytes = bytes_of(&placed);
        self.pending = placed;
    }
}

fn bytes_of(placed: &[Placed]) -> usize {
    placed.iter().map(|placed| placed.frame.len()).sum()
}
