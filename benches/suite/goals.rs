//! The goals of the design, measured in one go and printed as a table.
//!
//! Comes at the end of `cargo bench`, and alone with `cargo bench --bench suite -- goals`. With
//! `WAYPOST_BENCH_SMALL=1` a store of 100,000 checkpoints stands in for the million.
//! Medians of few rounds: the groups of criterion tell more about a goal that is missed.

use std::time::Duration;

use waypost::retention::Rule;
use waypost::{Durability, Id, Order, Policy, Query, Settings, Store};

use crate::cost::{median, processor_time, steady_time, time};
use crate::place::Scratch;
use crate::save::{DOCUMENT_BYTES, Floor, Saver, THREADS, crowd};
use crate::{files, list, plan, population};

// Rounds that do not count.
const WARM_UP: usize = 50;
const ROUNDS: usize = 400 + WARM_UP;
const CROWD_ROUNDS: u32 = 3;
const CROWD_SAVES: u32 = 100 * THREADS;
// Long beside the few milliseconds after which the kernel brings its books up to date.
const PROCESSOR_SAVES: u32 = 500;
const LARGE_BYTES: usize = 64 << 10;
const SIZED: u32 = 3_000;
const DELETED: u32 = 5_000;
const RING_SAVES: u32 = 100_000;
const RING_WINDOW: u32 = 5_000;
// Long beside these milliseconds, too: the quickest list takes 5 us.
const LISTS: u32 = 10_000;
const PLANS: u32 = 5;
const TRANSFERS: u32 = 5;

struct Goal {
    what: String,
    measured: f64,
    limit: Limit,
    /// How it was measured.
    from: String,
}

#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

pub(crate) fn print() {
    println!("\n{:<38} {:>9} {:>9}", "goal", "measured", "limit");
    let parts: [fn() -> Vec<Goal>; 9] =
        [durable, processor, sizes, deletion, ring, lists, plans, transfer, growth];
    for goal in parts.into_iter().flat_map(|part| part()) {
        let (sign, limit, is_met) = match goal.limit {
            Limit::AtMost(limit) => ("<=", limit, goal.measured <= limit),
            Limit::AtLeast(limit) => (">=", limit, goal.measured >= limit),
        };
        let verdict = if is_met { "met" } else { "MISSED" };
        let Goal { what, measured, from, .. } = goal;
        println!("{what:<38} {measured:>9.2} {sign} {limit:>6} {verdict:<6}  {from}");
    }
}

fn durable() -> Vec<Goal> {
    let (floor, scratch, mut saver) = (Floor::new(), Scratch::empty(), Saver::new(0));
    let mut save = || time(|| drop(saver.save(&scratch.store, Durability::Immediate)));
    // In turns, since a disk is faster at one moment than at another.
    let rounds = (0..ROUNDS).map(|_| (time(|| floor.append()), save()));
    let (bare, lone) = rounds.skip(WARM_UP).unzip();
    let (append, lone) = (micros(median(bare)), micros(median(lone)));

    let crowds = (0..CROWD_ROUNDS).map(|_| crowd(&scratch.store, CROWD_SAVES.into()));
    let crowded = micros(median(crowds.collect())) / f64::from(CROWD_SAVES);
    vec![
        Goal {
            what: "durable save / append + fdatasync".to_owned(),
            measured: lone / append,
            limit: Limit::AtMost(1.3),
            from: format!("{lone:.0} us / {append:.0} us"),
        },
        Goal {
            what: format!("saves per second, {THREADS} threads / 1"),
            measured: lone / crowded,
            limit: Limit::AtLeast(15.0),
            from: format!("{:.0} / {:.0}", 1e6 / crowded, 1e6 / lone),
        },
    ]
}

fn processor() -> Vec<Goal> {
    let durabilities = [("durable", Durability::Immediate), ("relaxed", Durability::Relaxed)];
    let sizes = [(DOCUMENT_BYTES, 150.0), (LARGE_BYTES, 300.0)];
    let cases =
        sizes.into_iter().flat_map(|size| durabilities.map(|durability| (size, durability)));
    cases.filter_map(|(size, durability)| processor_goal(size, durability)).collect()
}

fn processor_goal(
    (json_bytes, limit): (usize, f64),
    (name, durability): (&str, Durability),
) -> Option<Goal> {
    let (scratch, mut saver) = (Scratch::empty(), Saver::of(0, json_bytes));
    saver.save(&scratch.store, durability);
    let spent = processor_time(|| {
        for _ in 0..PROCESSOR_SAVES {
            saver.save(&scratch.store, durability);
        }
        // What relaxed saves leave to be written is part of their cost.
        scratch.store.flush().expect("the disk takes what was saved");
    })?;
    Some(Goal {
        what: format!("us of processor, {name} save of {} KB", json_bytes >> 10),
        measured: micros(spent) / f64::from(PROCESSOR_SAVES),
        limit: Limit::AtMost(limit),
        from: format!("mean of {PROCESSOR_SAVES}, encoding and kernel included"),
    })
}

fn sizes() -> Vec<Goal> {
    // By what the documents take as text: a row of a database or a file holds at least that.
    let goal = |(json_bytes, part): (usize, u32)| {
        let scratch = filled(json_bytes, SIZED);
        let compacted = scratch.store.compact().expect("nobody else uses the store");
        let each = compacted.after_bytes / u64::from(SIZED);
        Goal {
            what: format!("bytes of a checkpoint of {} KB", json_bytes >> 10),
            measured: f64::from(u32::try_from(each).expect("a checkpoint is small")),
            limit: Limit::AtMost(f64::from(u32::try_from(json_bytes).expect("it is small") / part)),
            from: format!("1/{part} of the document, {SIZED} compacted"),
        }
    };
    [(DOCUMENT_BYTES, 18), (LARGE_BYTES, 64)].map(goal).into()
}

fn deletion() -> Vec<Goal> {
    let scratch = filled(LARGE_BYTES, DELETED + DELETED / 5);
    let oldest = Query { order: Order::Oldest, ..Query::default() };
    let entries = scratch.store.entries(oldest).take(DELETED as usize);
    let ids: Vec<Id> = entries.map(|entry| entry.expect("the store can be read").id).collect();
    let spent = time(|| {
        scratch.store.delete_now(&ids).expect("all of them are there");
    });
    vec![Goal {
        what: format!("ms, delete {DELETED} of 64 KB"),
        measured: micros(spent) / 1e3,
        limit: Limit::AtMost(150.0),
        from: "the oldest of one loop".to_owned(),
    }]
}

/// A loop that keeps its last five, however long it runs.
fn ring() -> Vec<Goal> {
    let (scratch, mut saver) = (keeping_five(), Saver::new(0));
    let mut window = || {
        let spent = steady_time(|| {
            (0..RING_WINDOW).for_each(|_| drop(saver.save(&scratch.store, Durability::Relaxed)));
        });
        scratch.store.flush().expect("the disk takes what was saved");
        let bytes = scratch.store.stats().expect("the store can be read").file_bytes;
        (micros(spent) / f64::from(RING_WINDOW), bytes)
    };
    // The file grows to what the journal and two states of the tables take, and stays so.
    let windows: Vec<(f64, u64)> = (0..RING_SAVES / RING_WINDOW).map(|_| window()).collect();
    let (first, last) = (windows[1], windows[windows.len() - 1]);
    let kept = scratch.store.count().expect("the store can be read");
    let kib = |bytes: u64| f64::from(u32::try_from(bytes >> 10).expect("the file is small"));
    let bare = Scratch::empty();
    let mut other = Saver::new(0);
    let mut save = |store| time(|| drop(other.save(store, Durability::Immediate)));
    let rounds = (0..ROUNDS).map(|_| (save(&bare.store), save(&scratch.store)));
    let (without, with) = rounds.skip(WARM_UP).unzip();
    let (without, with) = (micros(median(without)), micros(median(with)));
    vec![
        Goal {
            what: "file of a ring, last / second window".to_owned(),
            measured: kib(last.1) / kib(first.1),
            limit: Limit::AtMost(1.1),
            from: format!("{} KiB, {kept} of {RING_SAVES} kept", kib(last.1)),
        },
        Goal {
            what: "save to a ring, last / second window".to_owned(),
            measured: last.0 / first.0,
            limit: Limit::AtMost(1.3),
            from: format!("{:.0} us / {:.0} us of processor, relaxed", last.0, first.0),
        },
        Goal {
            what: "durable save, to a ring / to keep all".to_owned(),
            measured: with / without,
            limit: Limit::AtMost(1.3),
            from: format!("{with:.0} us / {without:.0} us"),
        },
    ]
}

fn keeping_five() -> Scratch {
    let scratch = Scratch::empty();
    let rule = Rule { keep_last: Some(5), ..Rule::default() };
    let policy = Policy { name: "ring".to_owned(), rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    scratch.store.set_settings(&settings).expect("the store can be written");
    scratch
}

/// A store with this many checkpoints of one loop.
fn filled(json_bytes: usize, count: u32) -> Scratch {
    let (scratch, mut saver) = (Scratch::empty(), Saver::of(0, json_bytes));
    for _ in 0..count {
        saver.save(&scratch.store, Durability::Relaxed);
    }
    scratch.store.flush().expect("the disk takes what was saved");
    scratch
}

fn lists() -> Vec<Goal> {
    let count = largest();
    let full = population::open(count);
    let goal = |(name, query): (&str, Query)| Goal {
        what: format!("us of processor, list {name}"),
        measured: list_micros(&full, &query),
        limit: Limit::AtMost(200.0),
        from: format!("at {count} checkpoints"),
    };
    list::filled().into_iter().chain(list::empty()).map(goal).collect()
}

fn list_micros(store: &Store, query: &Query) -> f64 {
    let list = || drop(store.list(query).expect("the store can be read"));
    (0..WARM_UP).for_each(|_| list());
    micros(steady_time(|| (0..LISTS).for_each(|_| list()))) / f64::from(LISTS)
}

fn plans() -> Vec<Goal> {
    let (entries, count) = (plan::entries(), plan::count());
    let goal = |(name, policy): (&str, Policy)| {
        let make = || steady_time(|| drop(waypost::plan(&entries, &policy, plan::now())));
        Goal {
            what: format!("ms of processor, plan {name}"),
            measured: micros(median((0..PLANS).map(|_| make()).collect())) / 1e3,
            limit: Limit::AtMost(1000.0),
            from: format!("of {count} checkpoints"),
        }
    };
    plan::policies().map(goal).into()
}

/// Import and export, each in turns with the least that any program must do for it.
fn transfer() -> Vec<Goal> {
    let project = files::Project::new();
    let rates = |(_, work): files::Measured, (_, floor): files::Measured| {
        let rounds = (0..TRANSFERS).map(|_| (work(&project), floor(&project)));
        let (own, least): (Vec<_>, Vec<_>) = rounds.unzip();
        let rate = |times| f64::from(files::FILES) / median(times).as_secs_f64();
        (rate(own), rate(least))
    };
    let goal = |what: &str, work: files::Measured, floor: files::Measured| {
        let (own, least) = rates(work, floor);
        Goal {
            what: what.to_owned(),
            measured: own / least,
            limit: Limit::AtLeast(0.6),
            from: format!("{own:.0} / {least:.0} files of 16 KB a second"),
        }
    };
    vec![
        goal("import / reading and parsing alone", files::IMPORT, files::READ),
        goal("export, synced / writing alone", files::EXPORT, files::WRITE),
        goal("export, gzip / gzip and writing alone", files::EXPORT_GZIP, files::WRITE_GZIP),
    ]
}

fn growth() -> Vec<Goal> {
    let (few, many) = (population::sizes()[0], largest());
    let (small, large) = (population::copy(few), population::copy(many));
    let mut saver = Saver::new(0);
    let mut save = |store| time(|| drop(saver.save(store, Durability::Immediate)));
    let rounds = (0..ROUNDS).map(|_| (save(&small.store), save(&large.store)));
    let (at_few, at_many) = rounds.skip(WARM_UP).unzip();
    let (at_few, at_many) = (micros(median(at_few)), micros(median(at_many)));
    vec![Goal {
        what: format!("durable save at {many} / at {few}"),
        measured: at_many / at_few,
        limit: Limit::AtMost(1.3),
        from: format!("{at_many:.0} us / {at_few:.0} us"),
    }]
}

fn largest() -> u32 {
    population::sizes().last().copied().expect("there is a size")
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
