//! Comparing two documents, without a store.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use waypost::{Document, diff};

use crate::document::{AgentLoop, Shape};
use crate::invocation;

const SIZES_KB: [usize; 2] = [16, 1024];
const LENGTHS: [u64; 2] = [187, 100_000];
/// As many as a document of 64 MB can hold with some content each.
const LENGTH_MAX: u64 = 1_000_000;
// For a run that only sees whether it works.
const LENGTH_UNMEASURED: u64 = 1_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diff");
    for size_kb in SIZES_KB {
        let mut agent = AgentLoop::new(1, Shape::of(size_kb << 10));
        let old = agent.state.to_json();
        agent.advance();
        let new = agent.state.to_json();
        group.throughput(Throughput::Bytes(old.len() as u64));
        let [old, new] =
            [old, new].map(|it| Document::from_json(it.as_bytes()).expect("it is JSON"));
        measure(&mut group, BenchmarkId::new("next state", format!("{size_kb}KB")), &old, &new);
    }
    for length in LENGTHS {
        let old = elements(0, length);
        let mut new = old.clone();
        new.insert(0, element(length));
        group.throughput(Throughput::Elements(length));
        let (old, new) = (Document::Array(old), Document::Array(new));
        measure(&mut group, BenchmarkId::new("insert in front", length), &old, &new);
    }
    let length = if invocation::is_measured() { LENGTH_MAX } else { LENGTH_UNMEASURED };
    group.sample_size(10).throughput(Throughput::Elements(length));
    let old = Document::Array(elements(0, length));
    let new = Document::Array(elements(length, length));
    measure(&mut group, BenchmarkId::new("nothing in common", length), &old, &new);
    group.finish();
}

fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    old: &Document,
    new: &Document,
) {
    group.bench_function(id, |bencher| {
        bencher.iter(|| diff(black_box(old), black_box(new)).to_patch());
    });
}

fn elements(first: u64, count: u64) -> Vec<Document> {
    (first..first + count).map(element).collect()
}

fn element(number: u64) -> Document {
    let field = |key: &str, value| (key.to_owned(), value);
    Document::Object(vec![
        field("step", Document::Uint(number)),
        field("result", Document::Text(format!("what step {number} found"))),
    ])
}
