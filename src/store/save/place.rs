//! The place of a checkpoint: its sequence, its order time, and its frame bound to both.

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::Placed;
use crate::error::Result;
use crate::store::chain::packed::Packed;
use crate::store::log::intake::Intake;
use crate::store::save::draft::Draft;
use crate::store::turn::open::Open;

impl Intake {
    /// Gives the draft at `at` its place; the clock shows `now`. The sequence is used up even if
    /// the save fails.
    pub(in crate::store) fn place(
        &mut self,
        (drafts, at): (&mut [Draft], usize),
        open: &Open,
        now: Timestamp,
    ) -> Result<Placed> {
        let sequence = self.give_out()?;
        let base = drafts[at].base().and_then(|base| base.sequence(|at| drafts[at].sequence));
        let draft = &mut drafts[at];
        // A draft whose base was refused has been packed again before.
        let packed = draft.packed.take().filter(|packed| packed.base.is_none() || base.is_some());
        let packed = packed.unwrap_or_else(|| Packed::alone(&open.frames, &draft.raw));
        let frame = open.bytes_of(&packed.frame, sequence, base)?;
        draft.packed = Some(packed);
        draft.sequence = Some(sequence);
        draft.follow(self.highest(), now);
        self.reach(draft.entry.order().0);
        let stored_bytes = frame.len() as u64;
        let entry = Entry { sequence, stored_bytes, ..draft.entry.clone() };
        Ok(Placed { entry, frame })
    }
}
