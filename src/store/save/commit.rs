//! Group commit: saves that arrive while another is being written share the next write.
//!
//! A saver leads if no other saver is writing. It writes its own save and all that wait, then hands
//! the lead to one that came meanwhile. A lone saver leads at once, with no thread to wake and no
//! delay.
//!
//! A relaxed save is written to the journal but not synced. It reaches the disk with the next
//! durable save, with `flush`, at closing, or after `flush_within` by the keeper. The order stays,
//! so a power loss costs a suffix of the relaxed saves and nothing else. A kill of the process
//! costs none.

use std::collections::VecDeque;
use std::slice;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::Placed;
use crate::error::{Error, Result};
use crate::store::Shared;
use crate::store::chain::pack::Reach;
use crate::store::engine::fault::without_panics;
use crate::store::log::journal::Journal;
use crate::store::log::spool::Gathered;
use crate::store::options::Durability;
use crate::store::save::draft::{Draft, Packed};
use crate::store::save::order::any_lags;
use crate::store::save::write::{Writer, transact};
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::sync::lock;

// Bounds the length of one write, not the rate: more savers than this have a write of their own.
const GROUP_MAX: usize = 512;
// Beyond this the savers put what they saved into the tables themselves: memory is bounded.
const PENDING_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Default)]
pub(in crate::store) struct Queue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_led: bool,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    draft: Draft,
    ticket: Arc<Ticket>,
}

/// Where a saver finds the outcome of its save.
#[derive(Debug)]
struct Ticket {
    thread: Thread,
    news: Mutex<Option<News>>,
}

#[derive(Debug)]
enum News {
    /// The save is next, and its saver writes the transaction.
    Lead,
    Ended(Outcome),
}

/// What became of a save.
#[derive(Debug)]
enum Outcome {
    Done(Box<Result<Entry>>),
    /// Nothing yet: it has to wait for the store, and nobody waits in its place.
    Again(Box<Draft>),
}

impl Outcome {
    fn done(result: Result<Entry>) -> Self {
        Self::Done(Box::new(result))
    }
}

impl Ticket {
    fn tell(&self, news: News) {
        *lock(&self.news) = Some(news);
        self.thread.unpark();
    }

    fn wait(&self) -> News {
        loop {
            if let Some(news) = lock(&self.news).take() {
                return news;
            }
            thread::park();
        }
    }
}

impl Shared {
    /// Saves a draft; returns once it is as durable as it asks to be.
    pub(in crate::store) fn save(&self, mut draft: Draft) -> Result<Entry> {
        let arrived = Instant::now();
        loop {
            let spools_at = self.spools_at(arrived).filter(|_| draft.can_be_spooled());
            let patience = spools_at.map_or(Patience::Usual, Patience::Until);
            match self.pack_by(slice::from_mut(&mut draft), Reach::Turn(patience)) {
                // Whoever leads has a last try, and then spools it.
                Err(Error::Locked { .. }) if spools_at.is_some() => {
                    draft.packed = Some(Packed::alone(&self.frames, &draft.raw));
                }
                packed => packed?,
            }
            match self.save_with_others(draft, spools_at) {
                Outcome::Done(outcome) => return *outcome,
                Outcome::Again(_) if arrived.elapsed() >= self.options.wait => {
                    return Err(self.turn.locked(arrived));
                }
                Outcome::Again(back) => draft = *back,
            }
        }
    }

    /// Saves a packed draft together with those of others, or leaves that to one of them.
    fn save_with_others(&self, draft: Draft, spools_at: Option<Instant>) -> Outcome {
        let mut state = lock(&self.queue.state);
        if !state.is_led {
            state.is_led = true;
            let mut group = vec![draft];
            let others = take_waiting(&mut state, &mut group);
            drop(state);
            return self.lead(group, &others, spools_at);
        }
        let ticket = Arc::new(Ticket { thread: thread::current(), news: Mutex::new(None) });
        state.waiting.push_back(Waiting { draft, ticket: ticket.clone() });
        drop(state);
        match ticket.wait() {
            News::Ended(outcome) => outcome,
            News::Lead => {
                let mut group = Vec::new();
                let others = take_waiting(&mut lock(&self.queue.state), &mut group);
                // The first that waited is the one that was told to lead: this one.
                self.lead(group, &others[1..], spools_at)
            }
        }
    }

    /// Saves many drafts together, or spools all of them if the store cannot be had in time.
    pub(in crate::store) fn save_batch(
        &self,
        mut drafts: Vec<Draft>,
    ) -> Result<Vec<Result<Entry>>> {
        let until = self.spools_at(Instant::now());
        let until = until.filter(|_| drafts.iter().all(Draft::can_be_spooled));
        let patience = until.map_or(Patience::Usual, Patience::Until);
        let packed = self.pack_by(&mut drafts, Reach::Turn(patience));
        match packed.and_then(|()| self.save_within(patience, &mut drafts)) {
            Err(Error::Locked { .. }) if until.is_some() => {}
            saved => return saved,
        }
        let entries = self.spool(&mut drafts);
        let left = entries.iter().zip(drafts).filter(|(entry, _)| entry.is_none());
        let mut left: Vec<Draft> = left.map(|(_, draft)| draft).collect();
        // Some are saved, so that what fails now is told of each of the others.
        let count = left.len();
        let saved = self.pack(&mut left).and_then(|()| self.save_all(&mut left));
        let saved: Vec<Result<Entry>> = match saved {
            Ok(saved) => saved,
            Err(error) => (0..count).map(|_| Err(error.share())).collect(),
        };
        let mut saved = saved.into_iter();
        let outcome = |entry: Option<Entry>| match entry {
            Some(entry) => Ok(entry),
            None => saved.next().expect("every draft that was left has an outcome"),
        };
        Ok(entries.into_iter().map(outcome).collect())
    }

    /// Saves many packed drafts together. Each has an outcome of its own, unless the store fails.
    ///
    /// What was spooled before is taken in first.
    pub(in crate::store) fn save_all(&self, drafts: &mut [Draft]) -> Result<Vec<Result<Entry>>> {
        self.save_within(Patience::Usual, drafts)
    }

    /// As [`Shared::save_all`], but waits as long as `patience` says. `None` if the store was moved
    /// meanwhile: then nothing is acknowledged.
    pub(in crate::store) fn try_save(
        &self,
        patience: Patience,
        drafts: &mut [Draft],
    ) -> Result<Option<Vec<Result<Entry>>>> {
        if drafts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.within(patience, |open| {
            // What was acknowledged before this save began has a lower sequence than it.
            let mut spooled = self.take_in_most(open)?;
            let mut journal = lock(&open.journal);
            open.check_key()?;
            let now = (self.options.clock)();
            // Starting over may prune, so not after bases have been looked at.
            if journal.is_full() && suits_journal(open, &journal, (drafts, now)) {
                self.write_durably(open, &mut journal, |_| Ok(()))?;
            }
            self.drop_lost_bases(open, drafts)?;
            self.drop_lost_bases(open, spooled.drafts())?;
            let outcomes = self.save_while(open, &mut journal, (drafts, now), &mut spooled)?;
            open.bases.learn(drafts);
            if self.turn.is_replaced(open) {
                return Ok(None);
            }
            self.keep_journal(open, &mut journal)?;
            // Nor before what was saved is known: what is pruned must be forgotten, not learnt.
            if lock(&open.intake).pending_bytes() > PENDING_BYTES_MAX {
                // The saves are durable whatever comes of this; the next reader tries it again.
                self.keeper.note_failure(self.settle_and_prune(open));
            }
            Ok(Some(outcomes))
        })
    }

    fn save_while(
        &self,
        open: &Open,
        journal: &mut Journal,
        (drafts, now): (&mut [Draft], Timestamp),
        spooled: &mut Gathered<'_>,
    ) -> Result<Vec<Result<Entry>>> {
        if spooled.is_empty()
            && suits_journal(open, journal, (drafts, now))
            && journal.prepare(bytes_of(drafts))
        {
            return self.save_to_journal(open, journal, (drafts, now));
        }
        if !spooled.is_empty() {
            let outcomes = self.write_durably(open, journal, |writer| {
                writer.take_in(spooled)?;
                writer.save_each(drafts, now)
            });
            open.has_saved.store(true, Ordering::Relaxed);
            match outcomes {
                Ok(outcomes) => {
                    self.discard(open, spooled);
                    return Ok(outcomes);
                }
                // Damage that others' saves meet with is no reason not to save.
                Err(error) => {
                    self.pass_over(error)?;
                    spooled.rest();
                }
            }
        }
        let outcomes = self.write_durably(open, journal, |writer| writer.save_each(drafts, now));
        open.has_saved.store(true, Ordering::Relaxed);
        outcomes
    }

    /// Runs `work` in one transaction, which is on disk when this returns.
    pub(in crate::store) fn write<T>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        let takes_in = self.take_in_if_room()?;
        let (value, is_moved) = self.with(|open| {
            if takes_in {
                self.take_in(open)?;
            }
            let value = self.write_durably(open, &mut lock(&open.journal), work)?;
            Ok((value, self.turn.is_replaced(open)))
        })?;
        self.check_moved(is_moved).map(|()| value)
    }

    /// Makes every save so far durable.
    pub(in crate::store) fn flush(&self) -> Result<()> {
        if !self.keeper.is_relaxed() {
            return Ok(());
        }
        // Relaxed saves are in the journal. If the file had to be closed, opening it puts what the
        // journal has into the tables for good. Called by `tend`, so it must not end with it.
        self.turn.with(|open| {
            let mut journal = lock(&open.journal);
            journal.sync()?;
            self.keep_journal(open, &mut journal)?;
            self.keeper.note_durable();
            Ok(())
        })
    }

    /// Puts into the tables what was saved so far, by whomever, for all to see.
    pub(in crate::store) fn settle(&self, open: &Open) -> Result<()> {
        self.take_in(open)?;
        if open.unsettled.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        if open.on_save().is_none() {
            return transact(open, self.turn.path(), redb::Durability::None, |_| Ok(()));
        }
        // Pruning removes bases, and whoever has the journal relies on those it has seen.
        let _journal = lock(&open.journal);
        self.settle_and_prune(open)
    }

    /// As [`Shared::settle`], for whoever has the journal.
    fn settle_and_prune(&self, open: &Open) -> Result<()> {
        let now = (self.options.clock)();
        transact(open, self.turn.path(), redb::Durability::None, |it| it.prune_on_save(now))
    }

    /// Puts everything into the tables for good, and has no journal any more.
    pub(in crate::store) fn settle_for_good(&self, open: &Open) -> Result<()> {
        let mut journal = lock(&open.journal);
        if !journal.is_open() {
            return Ok(());
        }
        match self.write_durably(open, &mut journal, |_| Ok(())) {
            Ok(()) => journal.remove(),
            Err(error) => {
                // The journal stays, so relaxed saves must be durable in it.
                let _ = journal.sync();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Runs `work` in one transaction for whoever has the journal; it is then on disk.
    pub(in crate::store) fn write_durably<T>(
        &self,
        open: &Open,
        journal: &mut Journal,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        let now = (self.options.clock)();
        let value = transact(open, self.turn.path(), redb::Durability::Immediate, |writer| {
            let value = work(writer)?;
            writer.prune_on_save(now)?;
            Ok(value)
        })?;
        journal.reset();
        // In memory, relaxed saves are still in a journal that was not synced.
        if !open.is_in_memory() {
            self.keeper.note_durable();
        }
        Ok(value)
    }

    fn save_to_journal(
        &self,
        open: &Open,
        journal: &mut Journal,
        (drafts, now): (&mut [Draft], Timestamp),
    ) -> Result<Vec<Result<Entry>>> {
        let placed: Vec<Result<Placed>> = {
            let mut intake = lock(&open.intake);
            (0..drafts.len()).map(|at| intake.place((drafts, at), open, now)).collect()
        };
        let outcomes = placed.iter().map(|placed| match placed {
            Ok(placed) => Ok(placed.entry.clone()),
            Err(error) => Err(error.share()),
        });
        let outcomes = outcomes.collect();
        let placed: Vec<Placed> = placed.into_iter().filter_map(Result::ok).collect();
        self.tell_aside(journal);
        journal.append(&placed)?;
        if is_relaxed(drafts) {
            self.keeper.note_relaxed();
        } else {
            journal.sync()?;
            self.keeper.note_durable();
        }
        open.unsettled.fetch_add(placed.len(), Ordering::Release);
        lock(&open.intake).push(placed);
        self.keeper.note_pending();
        Ok(outcomes)
    }

    /// Writes a group whose first draft is the caller's own.
    ///
    /// Nobody who leads waits for long, since others wait for the lead.
    fn lead(
        &self,
        mut group: Vec<Draft>,
        others: &[Arc<Ticket>],
        spools_at: Option<Instant>,
    ) -> Outcome {
        let until = spools_at.or_else(|| self.spools_at(Instant::now()));
        let patience = until.map_or(Patience::Usual, Patience::Until);
        // Whatever happens, the lead is handed over and everybody hears of it.
        let saved = without_panics(self.turn.path(), || self.save_within(patience, &mut group));
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

/// A journal pays for saves that follow each other, and cannot tell whether an id is taken, nor
/// which content is there already, nor that the store has a newer format from now on, which dates
/// that lag and checkpoints from files need.
fn suits_journal(open: &Open, journal: &Journal, (drafts, now): (&[Draft], Timestamp)) -> bool {
    // So many names of the greatest length still fit into what is read of a journal.
    drafts.len() <= GROUP_MAX
        && drafts.iter().all(|draft| !draft.has_own_id && draft.artifacts.is_empty())
        && !Journal::is_too_much(bytes_of(drafts))
        && (open.has_sources.load(Ordering::Relaxed) || !drafts.iter().any(Draft::is_of_file))
        && (open.may_lag() || !any_lags(drafts, lock(&open.intake).highest(), now))
        && (open.has_saved.load(Ordering::Relaxed) || journal.is_open() || is_relaxed(drafts))
}

/// About what drafts take in the journal.
fn bytes_of(drafts: &[Draft]) -> u64 {
    // Names, and what else an entry has.
    const ENTRY_BYTES: usize = 512;
    let texts = |Draft { entry, .. }: &Draft| {
        let lists = entry.warnings.iter().chain(&entry.tags).map(String::len);
        lists.sum::<usize>() + entry.source_path.as_ref().map_or(0, String::len)
    };
    let payload = |draft: &Draft| draft.packed.as_ref().map_or(0, |it| it.frame.payload_bytes());
    let bytes = |draft: &Draft| ENTRY_BYTES + texts(draft) + payload(draft);
    drafts.iter().map(|draft| bytes(draft) as u64).sum()
}

fn is_relaxed(drafts: &[Draft]) -> bool {
    drafts.iter().all(|draft| draft.durability == Durability::Relaxed)
}

fn take_waiting(state: &mut State, group: &mut Vec<Draft>) -> Vec<Arc<Ticket>> {
    let count = state.waiting.len().min(GROUP_MAX);
    let mut tickets = Vec::with_capacity(count);
    for Waiting { draft, ticket } in state.waiting.drain(..count) {
        group.push(draft);
        tickets.push(ticket);
    }
    tickets
}
