//! Saving documents of 16 KB, and the least that any durable write costs on the same disk.

use std::cell::LazyCell;
use std::fs::File;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput};
use tempfile::TempDir;
use waypost::{Draft, Durability, Entry, Store};

use crate::document::{AgentLoop, Shape};
use crate::place::{self, Scratch};

pub(crate) const THREADS: u32 = 64;
pub(crate) const DOCUMENT_BYTES: usize = 16 << 10;
const BATCH: u32 = 100;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("save");
    // Syncs vary more from one moment to the next than within one; few long samples do.
    group.sample_size(20).sampling_mode(SamplingMode::Flat);

    let floor = LazyCell::new(Floor::new);
    group.bench_function("floor: append 4 KB, fdatasync", |bencher| {
        bencher.iter(|| floor.append());
    });

    let scratch = LazyCell::new(Scratch::empty);
    let mut saver = Saver::new(0);
    group.bench_function("durable, 1 thread", |bencher| {
        bencher.iter(|| saver.save(&scratch.store, Durability::Immediate));
    });
    group.bench_function("durable, 64 threads", |bencher| {
        bencher.iter_custom(|count| crowd(&scratch.store, count));
    });
    group.bench_function("relaxed, 1 thread", |bencher| {
        bencher.iter(|| saver.save(&scratch.store, Durability::Relaxed));
    });
    group.throughput(Throughput::Elements(BATCH.into()));
    group.bench_function("batch of 100", |bencher| {
        bencher.iter(|| saver.save_batch(&scratch.store));
    });
    group.finish();
}

/// A loop that saves each of its iterations.
#[derive(Debug)]
pub(crate) struct Saver {
    agent_loop: AgentLoop,
}

impl Saver {
    pub(crate) fn new(seed: u32) -> Self {
        Self::of(seed, DOCUMENT_BYTES)
    }

    pub(crate) fn of(seed: u32, json_bytes: usize) -> Self {
        Self { agent_loop: AgentLoop::new(seed, Shape::of(json_bytes)) }
    }

    pub(crate) fn save(&mut self, store: &Store, durability: Durability) -> Entry {
        let draft = self.draft(store).with_durability(durability);
        store.save_draft(draft).expect("the store takes a checkpoint")
    }

    fn save_batch(&mut self, store: &Store) {
        let drafts: Vec<Draft> = (0..BATCH).map(|_| self.draft(store)).collect();
        store.batch(drafts).expect("the store takes a batch");
    }

    fn draft(&mut self, store: &Store) -> Draft {
        self.agent_loop.advance();
        let about = self.agent_loop.about();
        store.draft(about, &self.agent_loop.state).expect("it is a document")
    }
}

/// Saves from 64 threads at once, and returns how long `count` saves took in all.
pub(crate) fn crowd(store: &Store, count: u64) -> Duration {
    // Each thread saves as often, so a few more may be saved than asked for.
    let each = count.div_ceil(THREADS.into());
    let savers: Vec<Saver> = (0..THREADS).map(Saver::new).collect();
    let start = Instant::now();
    thread::scope(|scope| {
        for mut saver in savers {
            scope.spawn(move || {
                for _ in 0..each {
                    saver.save(store, Durability::Immediate);
                }
            });
        }
    });
    let nanos =
        start.elapsed().as_nanos() * u128::from(count) / u128::from(each * u64::from(THREADS));
    Duration::from_nanos(u64::try_from(nanos).expect("no run takes centuries"))
}

/// A bare append that is as durable as a save.
#[derive(Debug)]
pub(crate) struct Floor {
    file: File,
    _directory: TempDir,
}

impl Floor {
    pub(crate) fn new() -> Self {
        let directory = place::temporary();
        let file = File::create(directory.path().join("log")).expect("the directory is new");
        Self { file, _directory: directory }
    }

    pub(crate) fn append(&self) {
        (&self.file).write_all(&[7; 4096]).expect("there is room for a page");
        self.file.sync_data().expect("the disk takes a page");
    }
}
