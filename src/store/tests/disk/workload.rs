//! A workload: all changes of a store, in an order decided by a seed, with notes of what the store
//! must hold after each step.
//!
//! Covers saves, changes, care of the store (compaction, keys) and threads.

mod care;
mod change;
mod save;
mod threads;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::chance::Chance;
use super::keys;
use super::model::Model;
use super::simulated::SimulatedDisk;
use crate::checkpoint::Timestamp;
use crate::codec::KeyId;
use crate::error::Result;
use crate::store::engine::disk::StorePath;
use crate::store::{Durability, Hold, Options, Store};

/// Where the store is.
pub(super) const STORE: &str = "/disk/store.redb";
const JOURNAL: &str = "/disk/store.redb.journal";
/// Its lock file.
pub(super) const LOCK: &str = "/disk/store.redb.lock";
/// Microseconds of the first moment.
const START: i64 = 1_800_000_000_000_000;
/// Beyond this number, checkpoints are deleted rather than added.
const MANY: usize = 8;
/// How often the key changes, in percent of steps.
const REKEY_PERCENT: usize = 12;
/// How often the clock is set, in percent of ticks, and how far from the start at most: less than
/// the time that deleted checkpoints are kept.
const JUMP_PERCENT: usize = 20;
const JUMP_MILLIS: usize = 6 * 24 * 3_600_000;

/// One attempted step.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) name: &'static str,
    /// What the store may hold during the step; the last is what it holds afterwards.
    pub(super) states: Vec<Model>,
    /// Whether the last of these is durable when the step returns.
    pub(super) is_durable: bool,
    /// The number of disk changes when it returned.
    pub(super) end: usize,
}

/// The effects of a step, beside its call.
struct Attempt {
    name: &'static str,
    states: Vec<Model>,
    is_durable: bool,
    outcome: Result<()>,
}

/// A store at work on a simulated disk.
pub(super) struct Workload {
    pub(super) disk: SimulatedDisk,
    pub(super) store: Store,
    pub(super) model: Model,
    pub(super) done: Vec<Done>,
    /// The keys that the store was opened with.
    given: Vec<KeyId>,
    /// Whether the key of the store changes now and then.
    is_rekeyed: bool,
    /// Whether the clock is set now and then, back or ahead.
    has_jumps: bool,
    clock: Arc<AtomicI64>,
    chance: Chance,
    numbers: [u32; 3],
    made: u64,
    /// Whether some steps use several threads; then runs of the same seed differ.
    pub(super) has_threads: bool,
}

/// Opens the store of a simulated disk, without a keeper thread: the same seed must do the same at
/// the same time, except for random nonces.
pub(super) fn open(disk: &SimulatedDisk, clock: &Arc<AtomicI64>, given: &[KeyId]) -> Result<Store> {
    open_at(place(disk), clock, given)
}

/// As [`open`], for a store with another name.
pub(super) fn open_at(place: StorePath, clock: &Arc<AtomicI64>, given: &[KeyId]) -> Result<Store> {
    let clock = clock.clone();
    let options = Options {
        hold: Hold::Forever,
        cache_bytes: 1 << 20,
        clock: Arc::new(move || Timestamp::from_micros(clock.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let store = Store::open_at(place, keys::given(given, options))?;
    store.shared.keeper.stop();
    Ok(store)
}

/// The path of the store on a simulated disk.
pub(super) fn place(disk: &SimulatedDisk) -> StorePath {
    StorePath { path: PathBuf::from(STORE), disk: Arc::new(disk.clone()) }
}

/// A clock for a store that was recovered, ahead of all others.
pub(super) fn later() -> Arc<AtomicI64> {
    Arc::new(AtomicI64::new(START * 2))
}

impl Workload {
    /// Creates a store on `disk`; the fault of the disk may prevent that.
    ///
    /// Every third seed has keys: half of these stores begin in plain, the others with a key.
    pub(super) fn start(seed: u64, disk: SimulatedDisk) -> Result<Self> {
        let clock = Arc::new(AtomicI64::new(START));
        let keys = if seed % 3 == 1 { keys::all() } else { Vec::new() };
        let key = keys.first().copied().filter(|_| seed % 2 == 1);
        let given: Vec<KeyId> = key.into_iter().collect();
        let store = open(&disk, &clock, &given)?;
        let model = Model { key, ..Model::default() };
        let first = Done {
            name: "create",
            states: vec![model.clone()],
            is_durable: true,
            end: disk.changed(),
        };
        let chance = Chance::new(&[seed]);
        let (done, numbers, is_rekeyed) = (vec![first], [0; 3], !keys.is_empty());
        Ok(Self {
            disk,
            store,
            model,
            done,
            given,
            is_rekeyed,
            has_jumps: seed % 5 < 2,
            has_threads: false,
            clock,
            chance,
            numbers,
            made: 0,
        })
    }

    /// Does one step, and notes its effects whether it succeeds or not.
    pub(super) fn step(&mut self) -> Result<()> {
        self.tick();
        let Attempt { name, states, is_durable, outcome } = self.attempt();
        let is_durable = is_durable && outcome.is_ok();
        if outcome.is_ok() {
            self.model = states.last().cloned().unwrap_or_else(|| self.model.clone());
        }
        let states = if outcome.is_ok() { with_last(states, &self.model) } else { states };
        self.done.push(Done { name, states, is_durable, end: self.disk.changed() });
        outcome
    }

    /// Closes the store and opens it anew, as another process with the right keys would.
    pub(super) fn reopen(&mut self) -> Result<()> {
        self.reopen_with(self.model.keys())
    }

    fn reopen_with(&mut self, given: Vec<KeyId>) -> Result<()> {
        self.given = given;
        let store = open(&SimulatedDisk::default(), &self.clock, &[])?;
        let closed = std::mem::replace(&mut self.store, store).close();
        let opened = open(&self.disk, &self.clock, &self.given).or_else(|error| {
            self.disk.free_space();
            self.store = open(&self.disk, &self.clock, &self.given)?;
            Err(error)
        });
        self.store = opened?;
        closed
    }

    /// The possible contents of a store found after this many disk changes.
    pub(super) fn candidates(&self, changes: usize) -> Vec<&Model> {
        let begun = self.done.iter().position(|it| it.end > changes);
        let returned = &self.done[..begun.unwrap_or(self.done.len())];
        let Some(floor) = returned.iter().rposition(|it| it.is_durable) else {
            // The store was not created yet.
            return self.done[..1].iter().flat_map(|it| &it.states).collect();
        };
        let last = self.done[floor].states.last();
        let since = self.done[floor + 1..].iter().take(begun.map_or(usize::MAX, |it| it - floor));
        last.into_iter().chain(since.flat_map(|it| &it.states)).collect()
    }

    /// The contents that a read may find if it begins after `begin` changes of the disk and ends
    /// after `end`, while the writer lives.
    pub(super) fn visible(&self, begin: usize, end: usize) -> Vec<&Model> {
        let floor = self.done.iter().rposition(|it| it.end <= begin);
        let last = floor.and_then(|floor| self.done[floor].states.last());
        let after = floor.map_or(0, |floor| floor + 1);
        let under_way = self.done.iter().position(|it| it.end > end);
        let since = &self.done[after..under_way.map_or(self.done.len(), |it| it + 1)];
        last.into_iter().chain(since.iter().flat_map(|it| &it.states)).collect()
    }

    /// The step under way after this many disk changes, or else the last one.
    pub(super) fn under_way(&self, changes: usize) -> &'static str {
        let step = self.done.iter().find(|it| it.end > changes).or(self.done.last());
        step.map_or("nothing", |it| it.name)
    }

    fn tick(&mut self) {
        self.clock.fetch_add(1_000, Ordering::Relaxed);
        if self.has_jumps && self.chance.happens(JUMP_PERCENT) {
            let millis = i64::try_from(self.chance.below(JUMP_MILLIS)).unwrap_or(0);
            self.clock.store(START + 1_000 * millis, Ordering::Relaxed);
        }
    }

    fn attempt(&mut self) -> Attempt {
        if self.done.len() == 1 {
            return self.set_ring();
        }
        if let Some(attempt) = self.attempt_with_keys() {
            return attempt;
        }
        if self.model.present.len() > MANY && self.chance.happens(50) {
            return if self.chance.happens(50) { self.prune() } else { self.delete(true) };
        }
        if self.has_threads && self.chance.happens(25) {
            return self.threads();
        }
        match self.chance.below(27) {
            0..=4 => self.save(Durability::Immediate),
            5..=7 => self.save(Durability::Relaxed),
            8 | 9 => self.batch(),
            10 => self.import(),
            11 => self.save_own(),
            12 | 13 => self.capture(),
            14 => self.delete(false),
            15 => self.delete(true),
            16 => self.undelete(),
            17 => self.tag(),
            18 => self.mark(),
            19 => self.fork(),
            20 => self.look(),
            21 => self.let_go(),
            22 => self.flush(),
            23 | 24 => self.spool(),
            25 => self.lose_journal(),
            _ => self.rare(),
        }
    }

    /// The keys that a store needs, if any.
    fn attempt_with_keys(&mut self) -> Option<Attempt> {
        let Model { key, is_mixed, .. } = self.model;
        if is_mixed && key.is_none() {
            // With keys, no process can save into a plain store; without them, none can read a
            // sealed one.
            return Some(self.rekey(key, usize::MAX));
        }
        if self.given != self.model.keys() {
            return Some(self.close());
        }
        if !self.is_rekeyed || !self.chance.happens(REKEY_PERCENT) {
            return None;
        }
        let choices: Vec<Option<KeyId>> =
            [None].into_iter().chain(keys::all().into_iter().map(Some)).collect();
        let to = choices[self.chance.below(choices.len())];
        let steps = if self.chance.happens(30) { self.chance.below(4) } else { usize::MAX };
        Some(self.rekey(to, steps))
    }

    fn rare(&mut self) -> Attempt {
        match self.chance.below(3) {
            0 => self.compact(),
            1 => self.close(),
            _ => self.prune(),
        }
    }
}

/// A step that is durable when it returns.
fn attempted(name: &'static str, states: Vec<Model>, outcome: Result<()>) -> Attempt {
    Attempt { name, states, is_durable: true, outcome }
}

fn with_last(mut states: Vec<Model>, last: &Model) -> Vec<Model> {
    if states.is_empty() {
        states.push(last.clone());
    }
    states
}
