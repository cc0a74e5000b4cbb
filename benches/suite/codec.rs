//! Documents to bytes and back: encoding, compression and their opposites, without a disk.

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use waypost::source::JsonStyle;
use waypost::{Checkpoint, NewEntry, Query, Store};

use crate::document::{AgentLoop, LoopState, Shape};
use crate::place::Scratch;

const SIZES_KB: [usize; 4] = [4, 16, 64, 256];

pub(crate) fn bench(criterion: &mut Criterion) {
    let scratch = LazyCell::new(Scratch::empty);
    for (name, routine) in [("draft", draft as Routine), ("draft_json", draft_json)] {
        each_size(criterion.benchmark_group(format!("codec/{name}")), |state, bencher| {
            routine(&scratch.store, state, bencher);
        });
    }
    for (name, routine) in
        [("state", typed as Decoding), ("document", document), ("to_json", to_json)]
    {
        each_size(criterion.benchmark_group(format!("codec/{name}")), |state, bencher| {
            routine(&saved(&scratch.store, state), bencher);
        });
    }
}

type Routine = fn(&Store, &LoopState, &mut criterion::Bencher<'_>);
type Decoding = fn(&Checkpoint, &mut criterion::Bencher<'_>);

fn each_size(
    mut group: BenchmarkGroup<'_, WallTime>,
    mut routine: impl FnMut(&LoopState, &mut criterion::Bencher<'_>),
) {
    for size_kb in SIZES_KB {
        let state = AgentLoop::new(1, Shape::of(size_kb << 10)).state;
        group.throughput(Throughput::Bytes(state.to_json().len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("{size_kb}KB")), |bencher| {
            routine(&state, bencher);
        });
    }
    group.finish();
}

fn draft(store: &Store, state: &LoopState, bencher: &mut criterion::Bencher<'_>) {
    bencher.iter(|| store.draft(NewEntry::default(), black_box(state)));
}

fn draft_json(store: &Store, state: &LoopState, bencher: &mut criterion::Bencher<'_>) {
    let json = state.to_json();
    bencher.iter(|| store.draft_json(NewEntry::default(), black_box(json.as_bytes())));
}

fn typed(checkpoint: &Checkpoint, bencher: &mut criterion::Bencher<'_>) {
    bencher.iter(|| black_box(checkpoint).state::<LoopState>());
}

fn document(checkpoint: &Checkpoint, bencher: &mut criterion::Bencher<'_>) {
    bencher.iter(|| black_box(checkpoint).document());
}

fn to_json(checkpoint: &Checkpoint, bencher: &mut criterion::Bencher<'_>) {
    bencher.iter(|| black_box(checkpoint).to_json(JsonStyle::Compact));
}

fn saved(store: &Store, state: &LoopState) -> Checkpoint {
    store.save(NewEntry::default(), state).expect("it is a document");
    let newest = store.latest(&Query::default()).expect("the store can be read");
    newest.expect("one was just saved")
}
