//! A process that uses the store, and notes what it did.
//!
//! It may be killed at any moment, so it knows nothing that the store or its orders do not tell.

mod read;
mod save;
mod tend;

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use waypost::{Entry, Error, Id, Options, Store};

use crate::arguments::Orders;
use crate::kind::{Kind, Spot};
use crate::note::{Note, Refusal, Work};
use crate::random::Random;
pub(crate) use tend::TAGGED_MAX;

/// A process that uses the store.
struct Worker {
    orders: Orders,
    store: Store,
    notes: File,
    random: Random,
    /// The next number of each kind.
    next: BTreeMap<Kind, u64>,
    /// The last one of the ring that was acknowledged.
    last: Option<(u64, Id)>,
    kept: Vec<(u64, Id)>,
    tagged: VecDeque<(u64, Id)>,
    /// What was listed last.
    listed: Vec<Entry>,
}

/// Works until the input ends: with the run, or with the process that started this one.
pub(crate) fn work(orders: Orders) -> Result<()> {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = is_over.clone();
    thread::spawn(move || {
        let _ = stdin().read_to_end(&mut Vec::new());
        flag.store(true, Ordering::Relaxed);
    });
    let Some(mut worker) = Worker::start(orders, &is_over)? else { return Ok(()) };
    worker.recall()?;
    while !is_over.load(Ordering::Relaxed) {
        worker.step()?;
        thread::sleep(worker.rest());
    }
    let Worker { store, notes, .. } = worker;
    match store.close() {
        Ok(()) => Ok(()),
        Err(error) => write(&notes, &Note::Wrong(format!("close: {}", in_full(&error)))),
    }
}

impl Worker {
    /// Opens the store; `None` if the run is over before that.
    fn start(orders: Orders, is_over: &AtomicBool) -> Result<Option<Self>> {
        let notes = OpenOptions::new().append(true).open(&orders.notes);
        let notes = notes.with_context(|| orders.notes.display().to_string())?;
        let label = format!("worker {}", orders.worker);
        let options = Options { create: false, label, ..Options::default() };
        while !is_over.load(Ordering::Relaxed) {
            let opened =
                timed(&notes, Work::Open, || Store::open_with(&orders.store, options.clone()))?;
            let Some(store) = opened else { continue };
            let seeds = [orders.seed, u64::from(orders.worker), orders.start];
            // A save that was not acknowledged may be there under the next number.
            let next = Kind::ALL.into_iter().zip(orders.highest.iter().map(|number| number + 2));
            return Ok(Some(Self {
                random: Random::of(&seeds),
                next: next.collect(),
                last: None,
                kept: Vec::new(),
                tagged: VecDeque::new(),
                listed: Vec::new(),
                orders,
                store,
                notes,
            }));
        }
        Ok(None)
    }

    /// Does one thing, mostly saving or reading.
    fn step(&mut self) -> Result<()> {
        match self.random.below(1000) {
            0..400 => self.save_to_ring(),
            400..520 => self.save_to_be_pruned(),
            520..560 => self.save_to_keep(),
            560..575 => self.import(),
            575..725 => self.latest(),
            725..850 => self.list(),
            850..930 => self.get(),
            930..935 => self.export(),
            935..955 => self.tag(),
            955..990 => self.delete(),
            990..998 => self.prune(),
            // Several times a minute, of all processes together.
            998.. if self.random.one_in(4) => self.compact(),
            998.. => Ok(()),
        }
    }

    /// The next pause: random, with the given average.
    fn rest(&mut self) -> Duration {
        let micros = u32::try_from(self.orders.pause.as_micros()).unwrap_or(u32::MAX);
        let rest = self.random.below(micros.saturating_mul(2).max(1));
        Duration::from_micros(rest.into())
    }

    fn spot(&self, kind: Kind) -> Spot {
        Spot { worker: self.orders.worker, kind, number: self.next[&kind] }
    }

    /// Takes the next number as used.
    fn advance(&mut self, kind: Kind) {
        *self.next.entry(kind).or_default() += 1;
    }

    /// Some worker, this one included.
    fn anybody(&mut self) -> u32 {
        self.random.below(self.orders.processes)
    }

    /// Calls the store and notes how long that took; `None` if it was refused.
    fn call<T>(
        &self,
        work: Work,
        call: impl FnOnce(&Store) -> waypost::Result<T>,
    ) -> Result<Option<T>> {
        timed(&self.notes, work, || call(&self.store))
    }

    fn note(&self, note: &Note) -> Result<()> {
        write(&self.notes, note)
    }
}

fn timed<T>(
    notes: &File,
    work: Work,
    call: impl FnOnce() -> waypost::Result<T>,
) -> Result<Option<T>> {
    let start = Instant::now();
    match call() {
        Ok(value) => {
            let micros = u64::try_from(start.elapsed().as_micros())?;
            write(notes, &Note::Did { work, micros })?;
            Ok(Some(value))
        }
        Err(error) => {
            let note = match refusal(work, &error) {
                Some(reason) => Note::Refused { work, reason },
                None => Note::Wrong(format!("{}: {}", work.name(), in_full(&error))),
            };
            write(notes, &note)?;
            Ok(None)
        }
    }
}

/// Why a call may be refused, by its documentation.
fn refusal(work: Work, error: &Error) -> Option<Refusal> {
    match (work, error) {
        (_, Error::Locked { .. }) => Some(Refusal::Locked),
        (Work::Prune, Error::Outdated { .. }) => Some(Refusal::Outdated),
        // What was listed may be pruned since, and what was deleted be purged.
        (Work::Get | Work::Export | Work::Undelete, Error::NotFound { .. }) => Some(Refusal::Gone),
        _ => None,
    }
}

/// Writes a note in one piece: a kill comes before it or after it.
fn write(mut notes: &File, note: &Note) -> Result<()> {
    notes.write_all(format!("{note}\n").as_bytes()).context("cannot write a note")
}

/// An error and all that led to it.
fn in_full(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
