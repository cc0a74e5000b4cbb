//! Reading one checkpoint, by its id or as the newest of its series.

use std::cell::LazyCell;

use criterion::{BenchmarkId, Criterion};
use waypost::{Id, Order, Query, Store};

use crate::population;
use crate::random::Random;

// More than the pages that one batch of reads would keep warm.
const IDS: u32 = 1_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for count in population::sizes().iter().filter(|count| **count <= 100_000) {
        let full = LazyCell::new(|| population::open(*count));
        let ids = LazyCell::new(|| some_ids(&full, *count));
        let mut random = Random::new(2);
        group.bench_function(BenchmarkId::new("get", count), |bencher| {
            bencher.iter(|| full.get(random.choose(&ids)).expect("the id was listed"));
        });
        group.bench_function(BenchmarkId::new("latest of a series", count), |bencher| {
            let query = Query { series: Some(population::series(7)), ..Query::default() };
            bencher.iter(|| full.latest(&query).expect("the store can be read"));
        });
    }
    group.finish();
}

fn some_ids(store: &Store, count: u32) -> Vec<Id> {
    let mut random = Random::new(1);
    let mut id = || {
        let since = Some(population::time(random.below(count)));
        let query = Query { since, order: Order::Oldest, limit: Some(1), ..Query::default() };
        let page = store.list(&query).expect("the store can be read");
        page.entries[0].id.clone()
    };
    (0..IDS).map(|_| id()).collect()
}
