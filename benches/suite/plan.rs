//! Deciding what a policy keeps of a million checkpoints, without a store.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use waypost::{Entry, Id, Issue, NewEntry, Policy, Series, Status, Timestamp, Trigger, plan};

use crate::invocation;
use crate::place::Scratch;
use crate::random::Random;

const COUNT: u32 = 1_000_000;
// For a run that only sees whether it works.
const COUNT_UNMEASURED: u32 = 1_000;
const SERIES: u32 = 5_000;
const ISSUES: u32 = 500;
const PHASES: [&str; 4] = ["plan", "implement", "test", "review"];
const STORED_BYTES_MAX: u32 = 50_000;
const FIRST_MICROS: i64 = 1_735_689_600_000_000;
const SECOND_MICROS: i64 = 1_000_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(count().into()));
    let entries = LazyCell::new(entries);
    for (name, policy) in policies() {
        group.bench_function(BenchmarkId::new(name, count()), |bencher| {
            bencher.iter(|| plan(black_box(&entries), &policy, now()));
        });
    }
    group.finish();
}

/// How many checkpoints are planned for.
pub(crate) fn count() -> u32 {
    if invocation::is_measured() { COUNT } else { COUNT_UNMEASURED }
}

/// A policy of counts and sizes, one of counts and ages, and one that drops half for their size.
pub(crate) fn policies() -> [(&'static str, Policy); 3] {
    let preset = |name| Policy::preset(name).expect("it is one of the presets");
    let half = u64::from(count()) * u64::from(STORED_BYTES_MAX) / 4;
    let small = Policy { store_bytes_max: Some(half), ..preset("aiwg") };
    [("crunch", preset("crunch")), ("aiwg", preset("aiwg")), ("aiwg, half the size", small)]
}

/// Some weeks after the last checkpoint was saved, when the oldest are more than a month old.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_micros(time(count()).as_micros() + 25 * 86_400 * SECOND_MICROS)
}

/// Series that take turns; each checkpoint continues the one before, and every hundredth is a fork.
pub(crate) fn entries() -> Vec<Entry> {
    let scratch = Scratch::empty();
    let any = scratch.store.save(NewEntry::default(), &()).expect("it is a document");
    let mut random = Random::new(5);
    let mut entries: Vec<Entry> = Vec::new();
    for number in 0..count() {
        let mut entry = any.clone();
        entry.id = Id::generate(time(number));
        entry.created_at = time(number);
        entry.sequence = number.into();
        describe(&mut entry, number % SERIES, &mut random);
        let before = if random.below(100) == 0 { random.below(number.max(1)) } else { number };
        let before = before.checked_sub(SERIES).and_then(|at| entries.get(at as usize));
        entry.parent = before.map(|before| before.id.clone());
        entries.push(entry);
    }
    entries
}

fn describe(entry: &mut Entry, series: u32, random: &mut Random) {
    entry.series = Series::new(format!("loop:ralph-plan-{series:08x}")).expect("it has a name");
    entry.issue = Some(Issue::new((series % ISSUES).to_string()).expect("it is a number"));
    entry.trigger = random.choose(&Trigger::ALL).clone();
    entry.phase = Some((*random.choose(&PHASES)).to_owned());
    entry.status = *random.choose(&Status::ALL);
    entry.stored_bytes = random.below(STORED_BYTES_MAX).into();
    if random.below(200) == 0 {
        entry.tags = BTreeSet::from(["release".to_owned()]);
    }
}

fn time(number: u32) -> Timestamp {
    Timestamp::from_micros(FIRST_MICROS + i64::from(number) * SECOND_MICROS)
}
