//! How many deltas in a row lead to each item of a journal, from the first that is in it.
//!
//! After a crash the tables are as the last durable commit left them, and a reader gets to an item
//! through all of these steps. The tables of the writer may have fewer: a prune on save removes
//! bases and stores what depends on them anew, and a crash undoes that.

use crate::codec::{FoundFrame, Placed};

/// The lengths of the runs that end at the items.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The sequence of the first item.
    first: u64,
    /// By the sequences from the first on.
    steps: Vec<u8>,
}

impl Runs {
    /// Adds the next item.
    pub(super) fn add(&mut self, Placed { entry, frame }: &Placed) {
        let base = FoundFrame::parse(frame).and_then(|found| found.base(entry.sequence));
        let steps = match base.ok().flatten() {
            Some(base) => u8::try_from(self.to(base) + 1).unwrap_or(u8::MAX),
            None => 0,
        };
        if self.steps.is_empty() {
            self.first = entry.sequence;
        }
        // A sequence may be missing: that of a save that failed.
        let at = usize::try_from(entry.sequence - self.first).expect("a journal has few items");
        self.steps.resize(at, 0);
        self.steps.push(steps);
    }

    /// The steps of the run that ends at a sequence; none if that is not in the journal.
    pub(super) fn to(&self, sequence: u64) -> usize {
        let at = sequence.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.steps.get(at)).map_or(0, |steps| usize::from(*steps))
    }

    /// The tables have all items durably.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }
}
