//! Listing 20 checkpoints, and finding out that a filter matches none.

use std::cell::LazyCell;

use criterion::{BenchmarkId, Criterion};
use waypost::{Issue, Query, Status, Trigger};

use crate::population;

const SERIES: u32 = 7;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("list");
    for count in population::sizes() {
        let full = LazyCell::new(|| population::open(*count));
        for (name, query) in filled().into_iter().chain(empty()) {
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| full.list(&query).expect("the store can be read"));
            });
        }
    }
    group.finish();
}

/// Queries that have an answer.
pub(crate) fn filled() -> [(&'static str, Query); 3] {
    let page = Query { limit: Some(20), ..Query::default() };
    let series = Some(population::series(SERIES));
    let issue = Some(population::issue(SERIES));
    [
        ("20 newest", page.clone()),
        ("20 of a series", Query { series, ..page.clone() }),
        ("20 of issue, trigger", Query { issue, triggers: vec![Trigger::Iteration], ..page }),
    ]
}

/// Queries that have none.
pub(crate) fn empty() -> [(&'static str, Query); 4] {
    let page = Query { limit: Some(20), ..Query::default() };
    let issue = Some(Issue::new("nobody's").expect("it is not empty"));
    let series = Some(population::series(SERIES));
    let triggers = vec![population::absent_trigger(SERIES)];
    [
        ("none: issue", Query { issue, ..page.clone() }),
        ("none: series, trigger", Query { series, triggers, ..page.clone() }),
        ("none: status", Query { status: Some(Status::Archived), ..page.clone() }),
        ("none: tag", Query { tag: Some("nobody's".to_owned()), ..page }),
    ]
}
