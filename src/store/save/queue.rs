//! The queue of savers: who leads, who waits, and where each finds the outcome of its save.
//!
//! Its lock is held for a moment, before the turn is entered.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};

use crate::checkpoint::Entry;
use crate::error::Result;
use crate::store::save::draft::Draft;
use crate::sync::lock;

// Bounds the length of one write, not the rate: more savers than this wait for the next write.
pub(super) const GROUP_MAX: usize = 512;

#[derive(Debug, Default)]
pub(in crate::store) struct Queue {
    pub(super) state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
pub(super) struct QueueState {
    pub(super) is_led: bool,
    pub(super) waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) draft: Draft,
    pub(super) ticket: Arc<Ticket>,
}

/// Where a saver finds the outcome of its save.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) thread: Thread,
    pub(super) news: Mutex<Option<News>>,
}

#[derive(Debug)]
pub(super) enum News {
    /// The save is next: its saver writes the group.
    Lead,
    Ended(Outcome),
}

/// What became of a save.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Box<Result<Entry>>),
    /// No outcome yet: the save has to wait for the store, and its own thread waits.
    Again(Box<Draft>),
}

impl Outcome {
    pub(super) fn done(result: Result<Entry>) -> Self {
        Self::Done(Box::new(result))
    }
}

impl Ticket {
    pub(super) fn tell(&self, news: News) {
        *lock(&self.news) = Some(news);
        self.thread.unpark();
    }

    pub(super) fn wait(&self) -> News {
        loop {
            if let Some(news) = lock(&self.news).take() {
                return news;
            }
            thread::park();
        }
    }
}

pub(super) fn take_waiting(state: &mut QueueState, group: &mut Vec<Draft>) -> Vec<Arc<Ticket>> {
    let count = state.waiting.len().min(GROUP_MAX);
    let mut tickets = Vec::with_capacity(count);
    for Waiting { draft, ticket } in state.waiting.drain(..count) {
        group.push(draft);
        tickets.push(ticket);
    }
    tickets
}
