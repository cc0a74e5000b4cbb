//! Group commit: saves that arrive while another is being written share the next write.
//!
//! A saver leads if no other saver is writing. It writes its own save and all that wait, then hands
//! the lead to one that came meanwhile. A lone saver leads at once, with no thread to wake and no
//! delay.

use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{slice, thread};

use crate::checkpoint::Entry;
use crate::error::{Error, Result};
use crate::store::chain::packed::Packed;
use crate::store::engine::fault::without_panics;
use crate::store::save::draft::Draft;
use crate::store::save::pack::Reach;
use crate::store::save::queue::{News, Outcome, Ticket, Waiting, take_waiting};
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::sync::lock;

impl Shared {
    /// Saves a draft; returns once it has the durability that it asks for.
    pub(in crate::store) fn save_one(&self, mut draft: Draft) -> Result<Entry> {
        let arrived = Instant::now();
        loop {
            let spools_at = self.spools_at(arrived).filter(|_| draft.can_be_spooled());
            let patience = spools_at.map_or(Patience::Usual, Patience::Until);
            let is_beside = spools_at.is_some() && self.saves_beside();
            if is_beside {
                draft.packed = Some(Packed::alone(&self.frames, &draft.raw));
            } else {
                match self.pack_by(slice::from_mut(&mut draft), Reach::Turn(patience)) {
                    // The leader tries a last time, and then spools its group.
                    Err(Error::Locked { .. }) if spools_at.is_some() => {
                        draft.packed = Some(Packed::alone(&self.frames, &draft.raw));
                    }
                    packed => packed?,
                }
            }
            match self.join_group(draft, spools_at) {
                Outcome::Done(outcome) => return *outcome,
                Outcome::Again(_) if arrived.elapsed() >= self.options.wait => {
                    return Err(self.turn.locked(arrived));
                }
                Outcome::Again(back) => draft = *back,
            }
        }
    }

    /// Saves a packed draft together with those of other savers, or lets one of them save it.
    fn join_group(&self, draft: Draft, spools_at: Option<Instant>) -> Outcome {
        let mut state = lock(&self.queue.state);
        if !state.is_led {
            state.is_led = true;
            let mut group = vec![draft];
            let others = take_waiting(&mut state, &mut group);
            drop(state);
            return self.lead_group(group, &others, spools_at);
        }
        let ticket = Arc::new(Ticket { thread: thread::current(), news: Mutex::new(None) });
        state.waiting.push_back(Waiting { draft, ticket: ticket.clone() });
        drop(state);
        match ticket.wait() {
            News::Ended(outcome) => outcome,
            News::Lead => {
                let mut group = Vec::new();
                let others = take_waiting(&mut lock(&self.queue.state), &mut group);
                // The first waiting saver is the one that was told to lead: this one.
                self.lead_group(group, &others[1..], spools_at)
            }
        }
    }

    /// Writes a group whose first draft is the caller's own.
    ///
    /// A leader never waits long, since others wait for the lead.
    fn lead_group(
        &self,
        mut group: Vec<Draft>,
        others: &[Arc<Ticket>],
        spools_at: Option<Instant>,
    ) -> Outcome {
        let until = spools_at.or_else(|| self.spools_at(Instant::now()));
        let patience = until.map_or(Patience::Usual, Patience::Until);
        // In any case the lead is handed over, and every saver gets its outcome.
        let is_beside = until.is_some() && group.iter().all(Draft::can_be_spooled);
        let saved = if is_beside && self.saves_beside() {
            Err(self.turn.locked(Instant::now()))
        } else {
            without_panics(self.turn.path(), || self.write_group(patience, &mut group))
        };
        let mut outcomes: Vec<Outcome> = match saved {
            Ok(outcomes) => outcomes.into_iter().map(Outcome::done).collect(),
            Err(Error::Locked { .. }) if until.is_some() => self.put_off(group),
            Err(error) => group.iter().map(|_| Outcome::done(Err(error.share()))).collect(),
        };
        self.hand_over();
        for ticket in others.iter().rev() {
            let outcome = outcomes.pop().expect("every draft has an outcome");
            ticket.tell(News::Ended(outcome));
        }
        outcomes.pop().expect("every draft has an outcome")
    }

    /// Spools what can be spooled; the rest has to wait for the store.
    fn put_off(&self, mut group: Vec<Draft>) -> Vec<Outcome> {
        let entries = self.spool(&mut group);
        let outcomes = entries.into_iter().zip(group).map(|(entry, draft)| match entry {
            Some(entry) => Outcome::done(Ok(entry)),
            None => Outcome::Again(Box::new(draft)),
        });
        outcomes.collect()
    }

    fn hand_over(&self) {
        let mut state = lock(&self.queue.state);
        match state.waiting.front() {
            Some(next) => next.ticket.tell(News::Lead),
            None => state.is_led = false,
        }
    }
}
