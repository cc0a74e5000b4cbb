//! Group commit: saves that arrive while another is being written share the next transaction.
//!
//! Whoever finds nobody writing leads: it writes its own save and all that wait, then hands over
//! to one that came meanwhile. A lone saver leads at once, with no thread to wake and no delay.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use redb::WriteTransaction;

use super::Shared;
use super::draft::Draft;
use super::options::Durability;
use super::table::In;
use super::turn::Open;
use super::write::{Unpacking, Writer};
use crate::checkpoint::Entry;
use crate::error::{Error, Result};

// Bounds the memory and the length of one transaction, not the rate: more savers than this lead
// a transaction of their own.
const GROUP_MAX: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Queue {
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
    Done(Box<Result<Entry>>),
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
    pub(super) fn save(&self, draft: Draft) -> Result<Entry> {
        let mut state = lock(&self.queue.state);
        if !state.is_led {
            state.is_led = true;
            let mut group = vec![draft];
            let others = take_waiting(&mut state, &mut group);
            drop(state);
            return self.lead(&group, &others);
        }
        let ticket = Arc::new(Ticket { thread: thread::current(), news: Mutex::new(None) });
        state.waiting.push_back(Waiting { draft, ticket: ticket.clone() });
        drop(state);
        match ticket.wait() {
            News::Done(outcome) => *outcome,
            News::Lead => {
                let mut group = Vec::new();
                let others = take_waiting(&mut lock(&self.queue.state), &mut group);
                // The first that waited is the one that was told to lead: this one.
                self.lead(&group, &others[1..])
            }
        }
    }

    /// Saves many drafts in one transaction. Each has an outcome of its own; the outer error
    /// means that none was saved.
    pub(super) fn save_all(&self, drafts: &[Draft]) -> Result<Vec<Result<Entry>>> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let is_relaxed = drafts.iter().all(|draft| draft.durability == Durability::Relaxed);
        let durability = if is_relaxed { Durability::Relaxed } else { Durability::Immediate };
        let unpacking =
            Unpacking { frames: &self.frames, limit: self.options.limits.document_bytes };
        self.write(durability, |writer| {
            drafts.iter().map(|draft| writer.save(draft, unpacking)).collect()
        })
    }

    /// Runs `work` in one transaction, which is committed if it succeeds.
    pub(super) fn write<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        self.turn.with(|open| self.write_in(open, durability, work))
    }

    fn write_in<T>(
        &self,
        open: &Open,
        durability: Durability,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        let path = self.turn.path();
        let mut next = lock(&open.next);
        let run = || {
            let transaction = begin(open, durability, path)?;
            let mut writer = Writer::new(open, path, &transaction, next.clone())?;
            let value = work(&mut writer)?;
            let written = writer.finish();
            transaction.commit().within(path)?;
            Ok((value, written))
        };
        match run() {
            Ok((value, written)) => {
                written.publish(&mut next, open);
                match durability {
                    Durability::Immediate => self.keeper.note_durable(),
                    Durability::Relaxed => self.keeper.note_relaxed(),
                }
                Ok(value)
            }
            Err(error) => {
                open.names.clear();
                Err(error)
            }
        }
    }

    /// Makes every save so far durable.
    pub(super) fn flush(&self) -> Result<()> {
        // Letting the file go makes everything durable; it need not be opened again for that.
        if !self.keeper.is_relaxed() {
            return Ok(());
        }
        self.turn.with(|open| self.flush_in(open))
    }

    pub(super) fn flush_in(&self, open: &Open) -> Result<()> {
        // Nothing is committed meanwhile, so what is noted as durable is all there is.
        let _next = lock(&open.next);
        if self.keeper.is_relaxed() {
            let path = self.turn.path();
            begin(open, Durability::Immediate, path)?.commit().within(path)?;
            self.keeper.note_durable();
        }
        Ok(())
    }

    /// Writes a group whose first draft is the caller's own.
    fn lead(&self, group: &[Draft], others: &[Arc<Ticket>]) -> Result<Entry> {
        let outcome = self.save_all(group);
        self.hand_over();
        let mut outcomes = match outcome {
            Ok(outcomes) => outcomes.into_iter(),
            Err(error) => {
                for ticket in others {
                    ticket.tell(News::Done(Box::new(Err(error.share()))));
                }
                return Err(error);
            }
        };
        let own = outcomes.next().unwrap_or_else(|| Err(no_outcome()));
        for (ticket, outcome) in others.iter().zip(outcomes) {
            ticket.tell(News::Done(Box::new(outcome)));
        }
        own
    }

    fn hand_over(&self) {
        let mut state = lock(&self.queue.state);
        match state.waiting.front() {
            Some(next) => next.ticket.tell(News::Lead),
            None => state.is_led = false,
        }
    }
}

fn begin(open: &Open, durability: Durability, path: &std::path::Path) -> Result<WriteTransaction> {
    let mut transaction = open.database.begin_write().within(path)?;
    let durability = match durability {
        Durability::Immediate => redb::Durability::Immediate,
        Durability::Relaxed => redb::Durability::None,
    };
    transaction.set_durability(durability).within(path)?;
    Ok(transaction)
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

fn no_outcome() -> Error {
    Error::corrupt("group commit", "a save has no outcome")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
