//! Pruning on save, and what it must not do to concurrent savers.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use super::{about, links, state};
use crate::checkpoint::{Entry, Id, NewEntry, Status, Timestamp, Trigger};
use crate::key::Span;
use crate::retention::{Age, Per, Policy, Rule, plan};
use crate::store::{Durability, Hold, Options, Settings, Store};
use proptest::prelude::*;

/// Keeps the last few of each series.
fn keep_last(count: u32) -> Policy {
    let rule = Rule { keep_last: Some(count), ..Rule::default() };
    Policy { name: "ring".to_owned(), rules: vec![rule], ..Policy::default() }
}

fn prune_by(store: &Store, policy: Policy) {
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
}

fn open(dir: &tempfile::TempDir) -> Store {
    Store::open(dir.path().join("store.redb")).unwrap()
}

/// All entries, oldest first.
fn all(store: &Store) -> Vec<Entry> {
    store.read(|snapshot| snapshot.entries(Span::ALL)?.collect()).unwrap()
}

fn sequences(store: &Store) -> Vec<u64> {
    all(store).iter().map(|entry| entry.sequence).collect()
}

#[test]
fn whoever_looks_finds_what_the_rule_keeps_and_can_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    prune_by(&store, keep_last(5));
    let mut saved = Vec::new();
    for number in 0..700 {
        saved.push(store.save(about(0), &state(0, number)).unwrap());
        if number % 23 == 0 {
            let kept: Vec<u64> =
                saved.iter().rev().take(5).rev().map(|entry| entry.sequence).collect();
            assert_eq!(sequences(&store), kept);
            assert_eq!(links(&store).0.len(), kept.len(), "and no frames of others");
            for (entry, number) in saved.iter().rev().zip((0..=number).rev()).take(5) {
                let found = store.get(&entry.id).unwrap();
                assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
            }
        }
        if number % 100 == 0 {
            store.shared.let_go();
        }
    }
    let operations = store.operations(9).unwrap();
    let actions: Vec<&str> = operations.iter().map(|it| it.action.as_str()).collect();
    assert_eq!(actions, ["prune_on_save", "settings"], "added up");
    assert_eq!(operations[0].checkpoints, 695);
    assert_eq!(operations[0].policy.as_deref(), Some("ring"));
}

/// Each prune stored the newest alone, and the next save was one step from it. After a kill the
/// tables lacked the prunes, so there were hundreds of steps, and the newest could not be read.
#[test]
fn the_newest_is_read_after_a_kill_that_undid_many_prunes() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    prune_by(&store, keep_last(1));
    let after_kill = tempfile::tempdir().unwrap();
    for number in 0..300 {
        let saved = store.save(about(0), &state(0, number)).unwrap();
        // What is pending goes into the tables.
        all(&store);
        if !matches!(number, 20 | 100 | 299) {
            continue;
        }
        for found in fs::read_dir(dir.path()).unwrap() {
            let path = found.unwrap().path();
            fs::copy(&path, after_kill.path().join(path.file_name().unwrap())).unwrap();
        }
        let left = open(&after_kill);
        let found = left.get(&saved.id).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
        assert_eq!(all(&left).len(), 1, "the prunes are repeated");
    }
}

/// Setting a policy must not lose what was saved without one.
#[test]
fn what_was_saved_before_can_be_restored() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let before: Vec<Entry> =
        (0..300).map(|number| store.save(about(0), &state(0, number)).unwrap()).collect();
    prune_by(&store, keep_last(5));
    for number in 300..320 {
        store.save(about(0), &state(0, number)).unwrap();
        // Each transaction removes a part of it.
        all(&store);
    }
    assert_eq!(all(&store).len(), 5);
    let operation = store.operations(1).unwrap().remove(0);
    // Setting the same again changes nothing.
    prune_by(&store, keep_last(5));
    assert_eq!(store.undelete_operation(operation.number).unwrap().len(), before.len());
    for (entry, number) in before.iter().zip(0..) {
        let found = store.get(&entry.id).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
    }
}

#[test]
fn each_save_of_a_process_of_its_own_prunes_too() {
    let dir = tempfile::tempdir().unwrap();
    prune_by(&open(&dir), keep_last(3));
    for number in 0..20 {
        open(&dir).save(about(0), &state(0, number)).unwrap();
    }
    let store = open(&dir);
    let kept = all(&store);
    assert_eq!(kept.len(), 3);
    for (entry, number) in kept.iter().zip(17..) {
        let found = store.get(&entry.id).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
    }
}

#[test]
fn tags_and_forks_are_kept_and_other_series_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let other: Vec<u64> =
        (0..4).map(|it| store.save(about(1), &state(1, it)).unwrap().sequence).collect();
    let tagged = NewEntry { tags: ["keep".to_owned()].into(), ..about(0) };
    let tagged = store.save(tagged, &state(0, 0)).unwrap();
    let forked = store.save(about(0), &state(0, 1)).unwrap();
    let child = NewEntry { parent: Some(forked.id), ..about(2) };
    let child = store.save(child, &state(2, 0)).unwrap();
    prune_by(&store, keep_last(2));
    let last: Vec<u64> =
        (2..30).map(|it| store.save(about(0), &state(0, it)).unwrap().sequence).collect();
    let kept = [&other[..], &[tagged.sequence, forked.sequence, child.sequence], &last[26..]];
    assert_eq!(sequences(&store), kept.concat());
}

#[test]
fn a_window_of_time_is_pruned_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let minutes = Arc::new(AtomicI64::new(0));
    let clock = minutes.clone();
    let clock = move || Timestamp::from_micros(60_000_000 * clock.load(Ordering::Relaxed));
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    let rule = Rule {
        triggers: vec![Trigger::Heartbeat],
        keep_last: Some(2),
        keep_within: Some(Age::seconds(3600)),
        ..Rule::default()
    };
    prune_by(&store, Policy { rules: vec![rule], ..Policy::default() });
    for number in 0..300 {
        minutes.store(number, Ordering::Relaxed);
        let about = NewEntry { trigger: Trigger::Heartbeat, ..about(0) };
        store.save(about, &number).unwrap();
    }
    // Of the last hour, both ends included.
    assert_eq!(all(&store).len(), 61);
}

/// Each save that pruned also purged what had expired by then. So each wrote two operations, and
/// after 5,000 saves the log had forgotten everything else.
#[test]
fn what_expires_with_every_save_is_one_operation() {
    let dir = tempfile::tempdir().unwrap();
    let minutes = Arc::new(AtomicI64::new(0));
    let clock = minutes.clone();
    let clock = move || Timestamp::from_micros(60_000_000 * clock.load(Ordering::Relaxed));
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    let rule = Rule { max_age: Some(Age::seconds(3600)), ..Rule::default() };
    let policy = Some(Policy { rules: vec![rule], ..Policy::default() });
    let keep_deleted = Age::seconds(3600);
    store.set_settings(&Settings { policy, prune_on_save: true, keep_deleted }).unwrap();
    for number in 0..300 {
        minutes.store(number, Ordering::Relaxed);
        store.save(about(0), &number).unwrap();
        store.shared.let_go();
    }
    let operations = store.operations(99).unwrap();
    let mut actions: Vec<&str> = operations.iter().map(|it| it.action.as_str()).collect();
    actions.sort_unstable();
    assert_eq!(actions, ["prune_on_save", "purge", "settings"]);
    let purged = operations.iter().find(|it| it.action.as_str() == "purge").unwrap();
    assert!(purged.checkpoints > 100, "{purged:?}");
}

/// A save dated before others by a clock that was set back is the newest all the same.
#[test]
fn a_clock_that_is_set_back_costs_nothing_that_was_saved_since() {
    let dir = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicI64::new(1_000_000));
    let clock = seconds.clone();
    let clock = move || Timestamp::from_micros(1_000_000 * clock.fetch_add(1, Ordering::Relaxed));
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    prune_by(&store, keep_last(3));
    for number in 0..10 {
        store.save(about(0), &number).unwrap();
    }
    seconds.store(10, Ordering::Relaxed);
    let mut saved = Vec::new();
    for number in 10..20 {
        saved.push(store.save(about(0), &number).unwrap());
        let newest = saved.iter().rev().take(3);
        for entry in newest {
            assert!(store.entry(&entry.id).is_ok(), "{number}");
        }
    }
}

/// Savers of three series and a reader, each in a thread, while the file changes hands.
#[test]
fn whatever_is_pruned_at_once_all_that_stays_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = &open(&dir);
    prune_by(store, keep_last(4));
    thread::scope(|scope| {
        for thread in 0..6_u32 {
            scope.spawn(move || {
                let series = u8::try_from(thread % 3).unwrap();
                for number in 0..150 {
                    let durability =
                        if number % 3 == 0 { Durability::Immediate } else { Durability::Relaxed };
                    let number = thread * 60 + number;
                    let draft = store.draft(about(series), &state(series, number)).unwrap();
                    store.save_draft(draft.with_durability(durability)).unwrap();
                }
            });
        }
        scope.spawn(move || {
            for round in 0..80 {
                for entry in all(store) {
                    // It may have been pruned since.
                    if let Ok(found) = store.get(&entry.id) {
                        assert_eq!(found.state::<Vec<String>>().unwrap().len(), 20);
                    }
                }
                if round % 10 == 0 {
                    store.shared.let_go();
                }
            }
        });
    });
    store.shared.let_go();
    let kept = all(store);
    let count = kept.len();
    assert_eq!(count, 12);
    assert_eq!(plan(&kept, &keep_last(4), Timestamp::now()).removed().count(), 0);
    for entry in kept {
        assert_eq!(store.get(&entry.id).unwrap().state::<Vec<String>>().unwrap().len(), 20);
    }
    let (bases, rows) = links(store);
    assert_eq!(bases.len(), count);
    let of_frames = bases.iter().filter_map(|(sequence, base)| Some(((*base)?, *sequence)));
    assert_eq!(of_frames.collect::<std::collections::BTreeSet<_>>(), rows);
}

/// A checkpoint that may be of any group.
fn any_about() -> impl Strategy<Value = NewEntry> {
    let place = (0..2_u8, prop::option::of(prop::sample::select(vec!["x", "y"])));
    let triggers = vec![Trigger::Manual, Trigger::Iteration, Trigger::Heartbeat];
    let kind = (prop::sample::select(triggers), prop::sample::select(&Status::ALL[..]));
    let rest = (prop::bool::weighted(0.1), prop::option::weighted(0.3, any::<bool>()));
    let time = prop::option::weighted(0.2, 0..40_i64);
    (place, kind, rest, time, prop::bool::weighted(0.1)).prop_map(
        |((series, phase), (trigger, status), (is_tagged, can_resume), time, is_forked)| NewEntry {
            phase: phase.map(str::to_owned),
            trigger,
            status,
            can_resume,
            tags: is_tagged.then(|| "keep".to_owned()).into_iter().collect(),
            created_at: time.map(|hours| Timestamp::from_micros(hours * 3_600_000_000)),
            // Stands for the checkpoint saved last, whose id is not known yet.
            parent: is_forked.then(|| Id::new("last").unwrap()),
            ..about(series)
        },
    )
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let triggers = prop::sample::subsequence(vec![Trigger::Manual, Trigger::Iteration], 0..2);
    let statuses = prop::sample::subsequence(&Status::ALL[..], 0..3);
    let series_statuses = prop::sample::subsequence(&Status::ALL[..], 0..3);
    let hours = || prop::option::of((0..30_u64).prop_map(|hours| Age::seconds(hours * 3600)));
    let kept = (prop::option::of(0..4_u32), hours(), hours());
    (triggers, statuses, series_statuses, any::<bool>(), kept).prop_map(
        |(triggers, statuses, series_statuses, is_per_phase, kept)| Rule {
            triggers,
            statuses,
            series_statuses,
            per: if is_per_phase { Per::Phase } else { Per::Series },
            keep_last: kept.0,
            keep_within: kept.1,
            max_age: kept.2,
            ..Rule::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The clock goes back at times, and callers date some checkpoints themselves.
    #[test]
    fn nothing_goes_on_save_that_a_plan_of_everything_would_keep(
        abouts in prop::collection::vec((any_about(), 0..40_i64), 1..40),
        rules in prop::collection::vec(any_rule(), 1..4),
        is_set_back in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let hours = Arc::new(AtomicI64::new(0));
        let clock = hours.clone();
        let clock = move || Timestamp::from_micros(3_600_000_000 * clock.load(Ordering::Relaxed));
        let options = Options { clock: Arc::new(clock), ..Options::default() };
        let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
        let policy = Policy { rules, ..Policy::default() };
        prune_by(&store, policy.clone());
        let mut before: Vec<Entry> = Vec::new();
        let mut last_hour = 0;
        for (number, (about, hour)) in (0..).zip(abouts) {
            last_hour = if is_set_back { hour } else { hour.max(last_hour) };
            let hour = last_hour;
            hours.store(hour, Ordering::Relaxed);
            let last = before.last().map(|entry| entry.id.clone());
            let about = NewEntry { parent: about.parent.and(last), ..about };
            before.push(store.save(about, &state(0, number)).unwrap());
            let after = all(&store);
            let now = Timestamp::from_micros(hour * 3_600_000_000);
            for planned in plan(&before, &policy, now).iter() {
                let is_there = after.iter().any(|it| it.sequence == planned.entry.sequence);
                prop_assert!(is_there || planned.verdict.removes(), "{}", planned.verdict);
            }
            for entry in &after {
                prop_assert!(store.get(&entry.id).is_ok());
            }
            before = after;
        }
    }
}

/// The holder ordered its own save before earlier spooled saves. It took a series for completed
/// that had gone on since, and pruned what the series still needed.
#[test]
fn what_was_spooled_before_a_save_arrived_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let (store, other) = (open(&dir), open(&dir));
    let completed =
        Rule { series_statuses: vec![Status::Completed], keep_last: Some(1), ..Rule::default() };
    prune_by(&store, Policy { rules: vec![completed], ..Policy::default() });
    other.shared.turn.with(|_| Ok(())).unwrap();
    other.shared.let_go();
    // Only a saving call takes in spooled files here.
    store.shared.keeper.stop();
    (0..2).for_each(|number| drop(store.save(about(0), &number).unwrap()));
    let done = NewEntry { status: Status::Completed, ..about(0) };
    let mut drafts = [other.draft(done, &2).unwrap()];
    let spooled = other.shared.spool(&mut drafts).remove(0).unwrap();
    let saved = store.save(about(0), &3).unwrap();
    assert!(spooled.created_at <= saved.created_at);
    assert!(store.entry(&spooled.id).unwrap().sequence < saved.sequence);
    assert_eq!(store.count().unwrap(), 4);
}
