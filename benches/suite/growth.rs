//! What a durable save costs in a store that holds little, and in one that holds much.

use std::cell::LazyCell;

use criterion::{BenchmarkId, Criterion, SamplingMode};
use waypost::Durability;

use crate::population;
use crate::save::Saver;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("growth");
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    for count in population::sizes() {
        let full = LazyCell::new(|| population::copy(*count));
        let mut saver = Saver::new(0);
        group.bench_function(BenchmarkId::new("durable save", count), |bencher| {
            bencher.iter(|| saver.save(&full.store, Durability::Immediate));
        });
    }
    group.finish();
}
