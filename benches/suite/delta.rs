//! Documents as differences: saving them, reading them back, and where they are of no use.

use std::cell::LazyCell;

use criterion::{BenchmarkId, Criterion};
use waypost::{Durability, Id, NewEntry, Query, Store};

use crate::document::{AgentLoop, Shape};
use crate::place::Scratch;
use crate::random::Random;
use crate::save::Saver;

const SIZES_KB: [usize; 4] = [4, 16, 64, 256];
// More than one chain has.
const CHECKPOINTS: u32 = 1_000;
const UNRELATED: u32 = 64;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("delta");
    for size_kb in SIZES_KB {
        let name = |what: &str| BenchmarkId::new(what, format!("{size_kb}KB"));
        let scratch = LazyCell::new(Scratch::empty);
        let mut saver = Saver::of(0, size_kb << 10);
        group.bench_function(name("relaxed save"), |bencher| {
            bencher.iter(|| saver.save(&scratch.store, Durability::Relaxed));
        });
        let scratch = LazyCell::new(Scratch::empty);
        let unrelated = LazyCell::new(|| unrelated(size_kb << 10));
        let mut turn = (0..unrelated.len()).cycle();
        group.bench_function(name("relaxed save, unrelated"), |bencher| {
            bencher.iter(|| save(&scratch.store, &unrelated[turn.next().unwrap_or_default()]));
        });

        let filled = LazyCell::new(|| filled(size_kb << 10));
        let mut random = Random::new(1);
        group.bench_function(name("get any"), |bencher| {
            let (scratch, ids) = &*filled;
            bencher.iter(|| scratch.store.get(random.choose(ids)).expect("it was saved"));
        });
        group.bench_function(name("latest"), |bencher| {
            let (scratch, _) = &*filled;
            bencher.iter(|| scratch.store.latest(&Query::default()).expect("it was saved"));
        });
        group.bench_function(name("open, latest, close"), |bencher| {
            let (scratch, _) = &*filled;
            bencher.iter(|| {
                // Another handle has the file after the first lets go.
                let store = Store::open(scratch.store.path()).expect("the file is there");
                store.latest(&Query::default()).expect("it was saved")
            });
        });
    }
    group.finish();
}

/// Loops that have nothing to do with each other.
fn unrelated(json_bytes: usize) -> Vec<AgentLoop> {
    (0..UNRELATED).map(|seed| AgentLoop::new(seed, Shape::of(json_bytes))).collect()
}

/// Saves the states of all loops as if they were of one.
fn save(store: &Store, agent_loop: &AgentLoop) {
    let draft = store.draft(NewEntry::default(), &agent_loop.state).expect("it is a document");
    store.save_draft(draft.with_durability(Durability::Relaxed)).expect("the store takes it");
}

fn filled(json_bytes: usize) -> (Scratch, Vec<Id>) {
    let (scratch, mut saver) = (Scratch::empty(), Saver::of(0, json_bytes));
    let save = |_| saver.save(&scratch.store, Durability::Relaxed).id;
    let ids = (0..CHECKPOINTS).map(save).collect();
    (scratch, ids)
}
