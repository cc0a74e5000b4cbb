//! Pruning through the public interface: plans applied, second thoughts, and how work ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use waypost::keep::Action;
use waypost::retention::{Age, Rule, plan_completed};
use waypost::{
    Entry, Error, Id, NewEntry, Options, Policy, Query, Series, Settings, Status, Store, Timestamp,
    Trigger, plan,
};

use crate::store::{Place, named};

/// Keeps the last N of each series.
fn keep_last(count: u32) -> Policy {
    let rule = Rule { keep_last: Some(count), ..Rule::default() };
    Policy { name: "ours".to_owned(), rules: vec![rule], ..Policy::default() }
}

/// Six checkpoints of one series, `0` to `5`.
fn filled(store: &Store) -> Vec<Entry> {
    let names = ["0", "1", "2", "3", "4", "5"];
    names.map(|id| store.save(of_series("a", id), &vec![id; 40]).unwrap()).into()
}

fn of_series(series: &str, id: &str) -> NewEntry {
    NewEntry { series: Some(Series::new(series).unwrap()), ..named(id) }
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// The ids of all that is there.
fn ids(store: &Store) -> BTreeSet<String> {
    let entries = store.entries(Query::default());
    entries.map(|entry| entry.unwrap().id.to_string()).collect()
}

fn set<const N: usize>(ids: [&str; N]) -> BTreeSet<String> {
    ids.map(str::to_owned).into()
}

#[test]
fn a_plan_removes_what_it_says_and_nothing_more_when_applied_again() {
    let place = Place::new();
    let store = place.open();
    filled(&store);
    let entries = store.inventory(None).unwrap();
    let plan = plan(&entries, &keep_last(2), Timestamp::now());
    let removed = store.apply(&plan).unwrap();
    assert_eq!(removed.checkpoints, 4);
    assert!(removed.stored_bytes > 0);
    assert_eq!(ids(&store), set(["4", "5"]));
    assert_eq!(store.count().unwrap(), 2);
    assert_eq!(store.apply(&plan).unwrap().checkpoints, 0);
    assert_eq!(ids(&store), set(["4", "5"]));
}

#[test]
fn a_plan_that_no_longer_fits_is_refused_and_nothing_is_removed() {
    type Change = fn(&Store);
    let changes: [(&str, Change); 4] = [
        ("tagged", |store| drop(store.tag(&id("1"), &["keep".to_owned()]).unwrap())),
        ("marked", |store| drop(store.mark(&[id("1")], Status::Failed).unwrap())),
        ("forked", |store| {
            let child = NewEntry { parent: Some(id("1")), ..of_series("b", "child") };
            store.save(child, &1).unwrap();
        }),
        ("what was to stay deleted", |store| {
            store.delete(&[id("5"), id("4")]).unwrap();
        }),
    ];
    for (what, change) in changes {
        let place = Place::new();
        let store = place.open();
        filled(&store);
        let entries = store.inventory(None).unwrap();
        let plan = plan(&entries, &keep_last(2), Timestamp::now());
        change(&store);
        let before = ids(&store);
        let refused = store.apply(&plan);
        assert!(matches!(refused, Err(Error::Outdated { removed: 0, .. })), "{what}: {refused:?}");
        assert_eq!(ids(&store), before, "{what}");
    }
}

#[test]
fn a_plan_fits_though_others_saved_meanwhile() {
    let place = Place::new();
    let store = place.open();
    filled(&store);
    let entries = store.inventory(None).unwrap();
    let plan = plan(&entries, &keep_last(2), Timestamp::now());
    store.save(of_series("a", "6"), &6).unwrap();
    store.delete(&[id("0")]).unwrap();
    assert_eq!(store.apply(&plan).unwrap().checkpoints, 3, "one was gone already");
    assert_eq!(ids(&store), set(["4", "5", "6"]));
}

/// A fork that was saved after planning, and that the plan is not about, protects all the same.
#[test]
fn a_plan_for_one_series_leaves_what_another_was_forked_from() {
    for is_done in [false, true] {
        let place = Place::new();
        let store = place.open();
        filled(&store);
        let entries = store.inventory(None).unwrap();
        let series = Series::new("a").unwrap();
        let (policy, now) = (Policy::preset("claude").unwrap(), Timestamp::now());
        let plan = if is_done {
            plan_completed(&entries, &series, &policy, now)
        } else {
            plan(&entries, &keep_last(1), now).only(|entry| entry.series == series)
        };
        let child = NewEntry { parent: Some(id("1")), ..of_series("b", "child") };
        store.save(child, &1).unwrap();
        store.save(of_series("b", "child2"), &1).unwrap();
        assert!(matches!(store.apply(&plan), Err(Error::Outdated { removed: 0, .. })));
        assert_eq!(store.count().unwrap(), 8);
    }
}

/// A series that is completed may be cut down; not if it goes on.
#[test]
fn a_plan_for_a_series_that_goes_on_again_is_refused() {
    let place = Place::new();
    let store = place.open();
    filled(&store);
    let last = NewEntry { status: Status::Completed, ..of_series("a", "end") };
    store.save(last, &1).unwrap();
    let entries = store.inventory(None).unwrap();
    let plan = plan(&entries, &Policy::preset("aiwg").unwrap(), Timestamp::now());
    assert_eq!(plan.removed().count(), 6);
    store.save(of_series("a", "again"), &1).unwrap();
    assert!(matches!(store.apply(&plan), Err(Error::Outdated { removed: 0, .. })));
    assert_eq!(store.count().unwrap(), 8);
}

#[test]
fn the_inventory_of_a_series_has_what_was_forked_from_it() {
    let place = Place::new();
    let store = place.open();
    filled(&store);
    let child = NewEntry { parent: Some(id("1")), ..of_series("b", "child") };
    store.save(child, &1).unwrap();
    store.save(of_series("c", "other"), &1).unwrap();
    let series = Series::new("a").unwrap();
    let entries = store.inventory(Some(&series)).unwrap();
    assert_eq!(entries.len(), 7);
    store.apply(&plan(&entries, &keep_last(2), Timestamp::now())).unwrap();
    assert_eq!(ids(&store), set(["1", "4", "5", "child", "other"]));
}

#[test]
fn many_are_pruned_in_several_transactions_and_as_one_operation() {
    let place = Place::new();
    let store = place.open();
    let about = |number: u32| NewEntry {
        series: Some(Series::new(format!("series {}", number % 40)).unwrap()),
        ..NewEntry::default()
    };
    let drafts = (0..10_000).map(|number| store.draft(about(number), &number).unwrap());
    store.batch(drafts.collect()).unwrap();
    let entries = store.inventory(None).unwrap();
    let plan = plan(&entries, &keep_last(3), Timestamp::now());
    let removed = store.apply(&plan).unwrap();
    assert_eq!((removed.checkpoints, store.count().unwrap()), (9_880, 120));
    let operations = store.operations(9).unwrap();
    assert_eq!(operations.len(), 1);
    assert_eq!((operations[0].action, operations[0].checkpoints), (Action::Prune, 9_880));
    assert_eq!(operations[0].policy.as_deref(), Some("ours"));
    assert_eq!(operations[0].triggers[&Trigger::Unknown], 9_880);
    let of_it = store.deleted(&Query::default()).unwrap();
    assert!(of_it.iter().all(|it| it.operation == operations[0].number));
    assert_eq!(of_it.len(), 9_880);
}

/// The first part of a plan was checked without the series of a fork that was to go later.
#[test]
fn a_large_plan_fits_though_what_goes_first_was_forked_from() {
    let place = Place::new();
    let store = place.open();
    let about = |series: &str, parent| NewEntry {
        series: Some(Series::new(series).unwrap()),
        parent,
        ..NewEntry::default()
    };
    let drafts = (0..5_000).map(|number| store.draft(about("a", None), &number).unwrap());
    let origins = store.batch(drafts.collect()).unwrap();
    let origin = origins[2_500].as_ref().unwrap().id.clone();
    let parent = |number| (number == 0).then(|| origin.clone());
    let drafts = (0..5_000).map(|number| store.draft(about("b", parent(number)), &number).unwrap());
    store.batch(drafts.collect()).unwrap();
    let entries = store.inventory(None).unwrap();
    let policy = Policy { store_bytes_max: Some(60), ..keep_last(5) };
    for policy in [keep_last(5), policy] {
        let plan = plan(&entries, &policy, Timestamp::now());
        store.apply(&plan).unwrap();
    }
    assert!(store.count().unwrap() < 10);
}

#[test]
fn what_was_deleted_is_restored_as_it_was() {
    let place = Place::new();
    let store = place.open();
    let saved = filled(&store);
    let child = NewEntry { parent: Some(id("2")), ..of_series("b", "child") };
    let child = store.save(child, &1).unwrap();
    let before: Vec<_> = saved.iter().map(|entry| store.get(&entry.id).unwrap()).collect();
    store.delete(&[id("0"), id("3"), id("5"), child.id.clone()]).unwrap();
    assert_eq!(ids(&store), set(["1", "2", "4"]));
    assert!(matches!(store.get(&id("3")), Err(Error::NotFound { .. })));
    assert!(matches!(store.undelete(&[id("3"), id("4")]), Err(Error::NotFound { .. })));
    assert_eq!(ids(&store), set(["1", "2", "4"]), "all or none");
    store.undelete(&[id("0"), id("3"), id("5"), child.id.clone()]).unwrap();
    drop(store);
    let store = place.open();
    let after: Vec<_> = saved.iter().map(|entry| store.get(&entry.id).unwrap()).collect();
    assert_eq!(after, before);
    assert_eq!(store.resolve("a@0").unwrap().id, id("5"));
    assert!(store.deleted(&Query::default()).unwrap().is_empty());
    // The parent is known again, so the fork point is protected again.
    let plan_of =
        |entries: &[Entry]| plan(entries, &keep_last(1), Timestamp::now()).removed().count();
    assert_eq!(plan_of(&store.inventory(Some(&Series::new("a").unwrap())).unwrap()), 4);
}

#[test]
fn an_id_that_is_taken_again_cannot_be_restored() {
    let place = Place::new();
    let store = place.open();
    store.save(named("x"), &1).unwrap();
    store.delete(&[id("x")]).unwrap();
    store.save(named("x"), &2).unwrap();
    assert!(matches!(store.undelete(&[id("x")]), Err(Error::Exists { .. })));
    store.delete(&[id("x")]).unwrap();
    store.undelete(&[id("x")]).unwrap();
    assert_eq!(store.get(&id("x")).unwrap().state::<u8>().unwrap(), 2, "the last deleted");
    store.delete(&[id("x")]).unwrap();
    let first = store.operations(9).unwrap().last().unwrap().number;
    store.undelete_operation(first).unwrap();
    assert_eq!(store.get(&id("x")).unwrap().state::<u8>().unwrap(), 1, "of that operation");
}

#[test]
fn compacting_ends_second_thoughts() {
    let place = Place::new();
    let store = place.open();
    filled(&store);
    store.delete(&[id("0"), id("5")]).unwrap();
    store.delete_now(&[id("1")]).unwrap();
    assert_eq!(store.stats().unwrap().deleted, 2);
    assert!(matches!(store.undelete(&[id("1")]), Err(Error::NotFound { .. })));
    store.compact().unwrap();
    assert_eq!(store.stats().unwrap().deleted, 0);
    assert!(matches!(store.undelete(&[id("0")]), Err(Error::NotFound { .. })));
    for (number, text) in [(2, "2"), (3, "3"), (4, "4")] {
        let found = store.get(&id(text)).unwrap().state::<Vec<String>>().unwrap();
        assert_eq!(found, vec![number.to_string(); 40]);
    }
}

/// A store whose clock is a number of days.
fn dated(place: &Place) -> (Store, Arc<AtomicI64>) {
    let days = Arc::new(AtomicI64::new(0));
    let clock = days.clone();
    let clock = move || Timestamp::from_micros(clock.load(Ordering::Relaxed) * 86_400_000_000);
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    (Store::open_with(place.path(), options).unwrap(), days)
}

#[test]
fn after_the_set_time_the_next_delete_ends_second_thoughts() {
    let place = Place::new();
    let (store, days) = dated(&place);
    let settings = Settings { keep_deleted: Age::days(3), ..Settings::default() };
    store.set_settings(&settings).unwrap();
    filled(&store);
    store.delete(&[id("0")]).unwrap();
    days.store(3, Ordering::Relaxed);
    store.delete(&[id("1")]).unwrap();
    assert_eq!(store.deleted(&Query::default()).unwrap().len(), 2, "three days are not over");
    days.store(4, Ordering::Relaxed);
    store.delete(&[id("2")]).unwrap();
    let left = store.deleted(&Query::default()).unwrap();
    let left: Vec<_> = left.iter().map(|it| it.entry.id.as_str()).collect();
    assert_eq!(left, ["2", "1"], "the last deleted first");
}

#[test]
fn settings_stay_with_the_store() {
    let place = Place::new();
    let store = place.open();
    assert_eq!(store.settings().unwrap(), Settings::default());
    let nothing = Settings { prune_on_save: true, ..Settings::default() };
    assert!(matches!(store.set_settings(&nothing), Err(Error::Invalid { .. })));
    for name in Policy::PRESETS {
        let settings = Settings {
            policy: Some(Policy::preset(name).unwrap()),
            prune_on_save: true,
            keep_deleted: Age::days(30),
        };
        store.set_settings(&settings).unwrap();
        assert_eq!(store.settings().unwrap(), settings);
        // Another handle knows them too.
        assert_eq!(place.open().settings().unwrap(), settings);
    }
    assert_eq!(store.operations(9).unwrap().len(), Policy::PRESETS.len());
}

#[test]
fn a_series_that_ends_keeps_what_ended_before_as_it_was() {
    let place = Place::new();
    let (store, days) = dated(&place);
    filled(&store);
    days.store(9, Ordering::Relaxed);
    store.mark(&[id("1")], Status::Failed).unwrap();
    let series = Series::new("a").unwrap();
    let changed = store.mark_series(&series, Status::Completed).unwrap();
    assert_eq!(changed.len(), 5);
    let entry = |text: &str| store.entry(&id(text)).unwrap();
    assert_eq!((entry("1").status, entry("2").status), (Status::Failed, Status::Completed));
    assert_eq!(entry("2").updated_at, Some(Timestamp::from_micros(9 * 86_400_000_000)));
    let failed = Query { status: Some(Status::Failed), ..Query::default() };
    assert_eq!(store.list(&failed).unwrap().entries.len(), 1, "the index knows");
    assert_eq!(store.mark_series(&series, Status::Archived).unwrap().len(), 6);
    let nobody = Series::new("b").unwrap();
    assert!(matches!(store.mark_series(&nobody, Status::Failed), Err(Error::NotFound { .. })));
}

#[test]
fn success_removes_a_series_or_keeps_its_newest_and_failure_keeps_it_for_a_month() {
    let series = Series::new("a").unwrap();
    for (preset, left) in [("claude", 0), ("aiwg", 1), ("crunch", 6), ("keep-all", 6)] {
        let place = Place::new();
        let store = place.open();
        filled(&store);
        store.mark_series(&series, Status::Completed).unwrap();
        let entries = store.inventory(Some(&series)).unwrap();
        let policy = Policy::preset(preset).unwrap();
        store.apply(&plan_completed(&entries, &series, &policy, Timestamp::now())).unwrap();
        assert_eq!(store.count().unwrap(), left, "{preset}");
    }
    for preset in ["claude", "aiwg"] {
        let place = Place::new();
        let (store, days) = dated(&place);
        filled(&store);
        // Age counts from the end of the work.
        days.store(20, Ordering::Relaxed);
        store.mark_series(&series, Status::Failed).unwrap();
        let policy = Policy::preset(preset).unwrap();
        let removed = |day: i64| {
            let entries = store.inventory(None).unwrap();
            let now = Timestamp::from_micros(day * 86_400_000_000);
            plan(&entries, &policy, now).removed().count()
        };
        assert_eq!((removed(50), removed(51)), (0, 5), "{preset}: but the newest");
    }
}

/// A clock that a test moves by hand, at noon of the first day.
fn days() -> (Arc<AtomicI64>, Options) {
    let clock = Arc::new(AtomicI64::new(12 * 3_600_000_000));
    let told = clock.clone();
    let now = move || Timestamp::from_micros(told.load(Ordering::Relaxed));
    (clock, Options { clock: Arc::new(now), ..Options::default() })
}

#[test]
fn a_daily_prune_is_done_once_a_day_by_whichever_handle_comes_first() {
    let place = Place::new();
    let (clock, options) = days();
    let store = place.open_with(options.clone());
    filled(&store);
    let pruned = store.prune_daily(&keep_last(2)).unwrap().map(|deleted| deleted.checkpoints);
    assert_eq!(pruned, Some(4));
    store.save(of_series("a", "6"), &1).unwrap();
    assert_eq!(store.prune_daily(&keep_last(2)).unwrap(), None);
    store.close().unwrap();
    let store = place.open_with(options);
    assert_eq!(store.prune_daily(&keep_last(2)).unwrap(), None);
    clock.fetch_add(12 * 3_600_000_000, Ordering::Relaxed);
    let pruned = store.prune_daily(&keep_last(2)).unwrap().map(|deleted| deleted.checkpoints);
    assert_eq!(pruned, Some(1));
}

#[test]
fn a_policy_of_the_handle_prunes_on_save_restorably_while_the_store_has_none() {
    let place = Place::new();
    let prune_on_save = Some(keep_last(2));
    let store = place.open_with(Options { prune_on_save, ..Options::default() });
    filled(&store);
    assert_eq!(ids(&store), set(["4", "5"]));
    store.undelete(&[id("3")]).unwrap();
    store.set_settings(&Settings { policy: Some(keep_last(9)), ..Settings::default() }).unwrap();
    store.save(of_series("a", "6"), &1).unwrap();
    assert_eq!(ids(&store), set(["3", "4", "5", "6"]));
}
