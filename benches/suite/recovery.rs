//! The morning after: choosing a checkpoint, going back to one, and files that are saved along.
//!
//! Each beside what it cannot do without: reading the newest, decoding what is analysed, saving.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use waypost::artifact::ArtifactStatus;
use waypost::recovery::Strategy;
use waypost::{Id, NewArtifact, NewEntry, Query, Series, Trigger};

use crate::document::{AgentLoop, Shape};
use crate::place::Scratch;

const SIZE_BYTES: usize = 16 << 10;
/// Of one series; the entries read do not grow with it.
const SAVED: [usize; 2] = [300, 10_000];
const DEPTH: usize = 256;
const FILES: usize = 10;

pub(crate) fn bench(criterion: &mut Criterion) {
    for saved in SAVED {
        choose(criterion, saved);
    }
    capture(criterion);
}

fn series() -> Series {
    Series::new("work").expect("it is a name")
}

fn about() -> NewEntry {
    let series = Some(series());
    NewEntry { series, trigger: Trigger::Iteration, ..NewEntry::default() }
}

fn choose(criterion: &mut Criterion, saved: usize) {
    let scratch = Scratch::empty();
    let store = &scratch.store;
    let mut agent = AgentLoop::new(1, Shape::of(SIZE_BYTES));
    let mut left = saved;
    while left > 0 {
        let count = left.min(1000);
        let drafts = (0..count).map(|_| {
            agent.advance();
            store.draft_json(about(), agent.state.to_json().as_bytes()).expect("a draft")
        });
        let outcomes = store.batch(drafts.collect()).expect("they are saved");
        assert!(outcomes.iter().all(Result::is_ok));
        left -= count;
    }
    let query = Query { series: Some(series()), ..Query::default() };
    let mut group = criterion.benchmark_group("recovery");
    group.bench_function(BenchmarkId::new("latest, as a tree", saved), |bencher| {
        bencher.iter(|| store.latest(&query).expect("it reads").expect("one").document());
    });
    group.bench_function(BenchmarkId::new("propose last", saved), |bencher| {
        bencher.iter(|| store.propose(&series(), Strategy::Last).expect("it reads"));
    });
    group.sample_size(10).throughput(Throughput::Elements(DEPTH as u64));
    group.bench_function(BenchmarkId::new("decode 256", saved), |bencher| {
        bencher.iter(|| {
            let query = Query { limit: Some(DEPTH), ..query.clone() };
            for entry in store.list(&query).expect("it lists").entries {
                black_box(store.get(&entry.id).expect("it reads").document().expect("a tree"));
            }
        });
    });
    group.bench_function(BenchmarkId::new("propose smart of 256", saved), |bencher| {
        bencher.iter(|| store.propose(&series(), Strategy::Smart).expect("it reads"));
    });
    group.finish();
}

fn capture(criterion: &mut Criterion) {
    let scratch = Scratch::empty();
    let store = &scratch.store;
    let mut agent = AgentLoop::new(1, Shape::of(SIZE_BYTES));
    let files: Vec<NewArtifact> = (0..FILES)
        .map(|number| {
            agent.advance();
            NewArtifact {
                path: format!("src/{number}.json"),
                content: Some(agent.state.to_json().into_bytes()),
                mode: Some(0o644),
                status: ArtifactStatus::Unchanged,
            }
        })
        .collect();
    let mut group = criterion.benchmark_group("recovery");
    group.sample_size(20);
    let mut number = 0_u64;
    let mut save = |name: &str, has_id: bool, files: &[NewArtifact]| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                agent.advance();
                number += 1;
                let id = has_id.then(|| Id::new(format!("n{number}")).expect("it is an id"));
                let about = NewEntry { id, ..about() };
                let draft = store.draft_json(about, agent.state.to_json().as_bytes());
                let draft = draft.expect("a draft").with_artifacts(files.to_vec());
                store.save_draft(draft.expect("files")).expect("it is saved")
            });
        });
    };
    save("save", false, &[]);
    // Goes the way that captures go.
    save("save under an own id", true, &[]);
    save("save with 10 unchanged files", false, &files);
    group.finish();
}
