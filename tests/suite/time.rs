//! Clocks that are wrong: set back, ahead, standing still, at either end of the calendar.
//!
//! Checkpoints that the store dates are in the order of arrival, those with stated times at these
//! times; the order is total and the same in every listing. What a rule removes for its age comes
//! back as long as anything deleted does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use waypost::layouts::{Place as LayoutPlace, recognise};
use waypost::query::{Cursor, Position};
use waypost::recovery;
use waypost::retention::{Age, Rule};
use waypost::{
    Document, Entry, NewEntry, Options, Order, Policy, Query, Series, Settings, Store, Timestamp,
    plan,
};

use crate::store::{Place, named};

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// 2026-01-25, in microseconds.
const NOW: i64 = 1_769_299_200_000_000;

/// A store whose clock shows what the number says.
fn clocked(place: &Place) -> (Store, Arc<AtomicI64>) {
    let micros = Arc::new(AtomicI64::new(NOW));
    let clock = micros.clone();
    let clock = move || Timestamp::from_micros(clock.load(Ordering::Relaxed));
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    (Store::open_with(place.path(), options).unwrap(), micros)
}

fn of(series: &str) -> NewEntry {
    NewEntry { series: Some(Series::new(series).unwrap()), ..NewEntry::default() }
}

fn dated(series: &str, micros: i64) -> NewEntry {
    NewEntry { created_at: Some(Timestamp::from_micros(micros)), ..of(series) }
}

fn sequences(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

fn listed(store: &Store, query: &Query) -> Vec<u64> {
    store.entries(query.clone()).map(|entry| entry.unwrap().sequence).collect()
}

/// The same listing, with this many per page.
fn paged(store: &Store, query: &Query, size: usize) -> Vec<u64> {
    let mut query = Query { limit: Some(size), ..query.clone() };
    let mut found = Vec::new();
    loop {
        let page = store.list(&query).unwrap();
        found.extend(sequences(&page.entries));
        let Some(next) = page.next else { return found };
        // As it travels through a command line.
        query.after = Some(next.to_string().parse::<Cursor>().unwrap());
    }
}

#[test]
fn equal_stamps_are_in_the_order_of_arrival_whatever_the_series_and_the_page() {
    let place = Place::new();
    let (store, _) = clocked(&place);
    for number in 0..30 {
        store.save(of(["a", "b", "c"][number % 3]), &number).unwrap();
    }
    let oldest = Query { order: Order::Oldest, ..Query::default() };
    let newest = Query::default();
    assert_eq!(listed(&store, &oldest), (1..=30).collect::<Vec<u64>>());
    assert_eq!(listed(&store, &newest), (1..=30).rev().collect::<Vec<u64>>());
    for size in [1, 2, 7, 29, 30, 31] {
        assert_eq!(paged(&store, &oldest, size), (1..=30).collect::<Vec<u64>>());
        assert_eq!(paged(&store, &newest, size), (1..=30).rev().collect::<Vec<u64>>());
    }
    let series = Query { series: Some(Series::new("b").unwrap()), ..Query::default() };
    assert_eq!(
        paged(&store, &series, 3),
        (1..=30).rev().filter(|it| it % 3 == 2).collect::<Vec<_>>()
    );
}

#[test]
fn work_goes_on_from_the_last_that_arrived_of_equal_stamps() {
    let place = Place::new();
    let (store, _) = clocked(&place);
    let saved: Vec<Entry> = (0..9).map(|it| store.save(of("a"), &it).unwrap()).collect();
    let query = Query { series: Some(saved[0].series.clone()), ..Query::default() };
    let last = saved.last().unwrap();
    assert_eq!(store.latest(&query).unwrap().unwrap().entry, *last);
    assert_eq!(store.resolve("a@0").unwrap(), *last);
    assert_eq!(store.resolve("a@3").unwrap(), saved[5]);
    for strategy in [recovery::Strategy::Last, recovery::Strategy::Smart] {
        let offer = store.propose(&last.series, strategy).unwrap().offer.unwrap();
        assert_eq!(offer.checkpoint.entry, *last);
    }
}

/// A loop that saves at each step, after the clock was set as `clock_at` says, and then asks in
/// every way for the newest checkpoint.
fn goes_on_from_its_last_save(store: &Store, clock: &AtomicI64, clock_at: &[i64]) {
    for (step, micros) in clock_at.iter().enumerate() {
        clock.store(*micros, Ordering::Relaxed);
        let saved = store.save(of("loop"), &step).unwrap();
        assert_eq!(saved.created_at.as_micros(), *micros, "a date is what the clock said");
        let query = Query { series: Some(saved.series.clone()), ..Query::default() };
        assert_eq!(store.latest(&query).unwrap().unwrap().entry, saved, "step {step}");
        assert_eq!(store.resolve("loop@0").unwrap(), saved);
        assert_eq!(store.list(&query).unwrap().entries[0], saved);
        for strategy in [recovery::Strategy::Last, recovery::Strategy::Smart] {
            let proposal = store.propose(&saved.series, strategy).unwrap();
            assert_eq!(proposal.offer.unwrap().checkpoint.entry, saved);
            assert!(proposal.passed_over.is_empty());
        }
        assert_eq!(store.entry(&saved.id).unwrap(), saved, "found by its id");
        assert_eq!(store.resolve(&saved.id.as_str()[..23]).unwrap(), saved);
    }
}

/// A loop whose clock stepped back ten minutes after step 5 resumed with step 5 three times.
#[test]
fn a_loop_whose_clock_steps_back_goes_on_from_its_last_save() {
    const MINUTE: i64 = 60_000_000;
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let before = (0..6).map(|step| NOW + step * MINUTE);
    let after = (6..9).map(|step| NOW + (step - 10) * MINUTE);
    let clock_at: Vec<i64> = before.chain(after).collect();
    goes_on_from_its_last_save(&store, &clock, &clock_at);
    let steps = store.entries(Query::default()).map(|it| store.get(&it.unwrap().id).unwrap());
    let steps: Vec<usize> = steps.map(|it| it.state().unwrap()).collect();
    assert_eq!(steps, [8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

/// A checkpoint that was dated a day ahead stayed the newest after five later saves.
#[test]
fn the_next_save_is_newer_than_a_date_ahead() {
    for stated in [true, false] {
        let place = Place::new();
        let (store, clock) = clocked(&place);
        let ahead = if stated { dated("loop", NOW + DAY) } else { of("loop") };
        clock.store(NOW + DAY, Ordering::Relaxed);
        store.save(ahead, &"ahead").unwrap();
        let clock_at: Vec<i64> = (0..5).map(|step| NOW + step * HOUR).collect();
        goes_on_from_its_last_save(&store, &clock, &clock_at);
    }
}

#[test]
fn a_loop_goes_on_with_any_clock() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let year_9999 = 253_402_300_799_999_999;
    let clock_at =
        [NOW, year_9999, NOW, 0, year_9999 + 1, -1, i64::MAX, NOW, i64::MIN, i64::MAX - 1, NOW + 1];
    goes_on_from_its_last_save(&store, &clock, &clock_at);
    let keep = plan(
        &store.inventory(None).unwrap(),
        &rule(Rule { keep_last: Some(3), ..Rule::default() }),
        Timestamp::from_micros(NOW),
    )
    .removed()
    .map(|it| it.entry.sequence)
    .collect::<Vec<_>>();
    assert_eq!(keep, (1..=8).collect::<Vec<u64>>());
    drop(store);
    assert!(Store::verify(place.path(), Duration::from_mins(1)).unwrap().is_clean());
}

/// Even if the checkpoint that is dated ahead is deleted for a while, and the store reopened
/// meanwhile.
#[test]
fn a_restored_checkpoint_keeps_its_place() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    clock.store(NOW + DAY, Ordering::Relaxed);
    let ahead = store.save(of("loop"), &0).unwrap();
    store.delete(std::slice::from_ref(&ahead.id)).unwrap();
    drop(store);
    let (store, _) = clocked(&place);
    let last = store.save(of("loop"), &1).unwrap();
    store.undelete(std::slice::from_ref(&ahead.id)).unwrap();
    assert_eq!(store.resolve("loop@0").unwrap(), last);
    assert_eq!(store.resolve("loop@1").unwrap(), ahead);
}

/// The highest order time was noted only if its own checkpoint was deleted. If an older one was
/// deleted and the newest then removed for good, the older one came back as the newest.
#[test]
fn a_restored_checkpoint_keeps_its_place_if_a_newer_one_is_gone_for_good() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let [ahead, further] = [DAY, 2 * DAY].map(|from_now| {
        clock.store(NOW + from_now, Ordering::Relaxed);
        store.save(of("loop"), &from_now).unwrap()
    });
    store.delete(std::slice::from_ref(&ahead.id)).unwrap();
    store.delete_now(std::slice::from_ref(&further.id)).unwrap();
    drop(store);
    let (store, _) = clocked(&place);
    let last = store.save(of("loop"), &"last").unwrap();
    store.undelete(std::slice::from_ref(&ahead.id)).unwrap();
    assert_eq!(store.resolve("loop@0").unwrap(), last);
    assert_eq!(store.resolve("loop@1").unwrap(), ahead);
}

/// Savers that overtake each other do not make dates lag.
#[test]
fn a_draft_that_others_overtake_is_dated_when_it_is_saved() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let waits = store.draft(of("a"), &1).unwrap();
    let known = store.draft(of("a"), &2).unwrap();
    let id = known.id().clone();
    clock.store(NOW + HOUR, Ordering::Relaxed);
    store.save(of("a"), &0).unwrap();
    clock.store(NOW + DAY, Ordering::Relaxed);
    for (draft, id) in [(waits, None), (known, Some(id))] {
        let saved = store.save_draft(draft).unwrap();
        assert_eq!((saved.created_at.as_micros(), saved.ordered_at), (NOW + HOUR, None));
        assert_eq!(id.unwrap_or_else(|| saved.id.clone()), saved.id, "as it was told");
        assert_eq!(store.resolve("a@0").unwrap(), saved);
        assert_eq!(store.entry(&saved.id).unwrap(), saved);
    }
}

#[test]
fn since_and_until_go_by_date() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    for (number, micros) in [NOW, NOW + 9 * DAY, NOW + HOUR, NOW + DAY].into_iter().enumerate() {
        clock.store(micros, Ordering::Relaxed);
        store.save(of("a"), &number).unwrap();
    }
    let time = |micros| Some(Timestamp::from_micros(micros));
    let asked = |since, until| {
        listed(&store, &Query { since, until, order: Order::Oldest, ..Query::default() })
    };
    assert_eq!(asked(time(NOW + HOUR), None), [2, 3, 4]);
    assert_eq!(asked(None, time(NOW + DAY)), [1, 3]);
    assert_eq!(asked(time(NOW + HOUR), time(NOW + DAY + 1)), [3, 4]);
}

#[test]
fn what_arrived_is_told_in_its_order_whatever_the_clock_did() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let start = store.position().unwrap();
    for (number, micros) in [NOW, 0, i64::MAX, i64::MIN, NOW, -1, NOW - DAY].into_iter().enumerate()
    {
        clock.store(micros, Ordering::Relaxed);
        store.save(of("a"), &number).unwrap();
    }
    assert_eq!(sequences(&store.arrivals(start).unwrap().entries), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(store.arrivals(Position::default()).unwrap().entries.len(), 7);
}

/// Some of these are beyond what a calendar can write.
#[test]
fn any_time_at_all_is_kept_found_and_printed() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let times = [i64::MIN, -377_705_116_800_000_001, -1, 0, NOW, 253_402_300_799_999_999, i64::MAX];
    for micros in times {
        clock.store(micros, Ordering::Relaxed);
        let by_clock = store.save(of("a"), &micros).unwrap();
        let by_caller = store.save(dated("a", micros), &micros).unwrap();
        for saved in [by_clock, by_caller] {
            assert_eq!(saved.created_at.as_micros(), micros);
            assert_eq!(store.get(&saved.id).unwrap().state::<i64>().unwrap(), micros);
            assert_eq!(
                saved.created_at.to_string().parse::<Timestamp>().unwrap(),
                saved.created_at
            );
        }
        // What is done at such a time can be read again.
        store.log_import(&format!("import at {micros}"), 1).unwrap();
        assert_eq!(store.operations(1).unwrap()[0].at.as_micros(), micros);
    }
    assert_eq!(store.count().unwrap(), 2 * times.len() as u64);
}

/// What a file says of its time is taken, or else the time of the file; it is kept in any case.
#[test]
fn a_file_with_an_odd_time_is_kept_with_the_one_it_means() {
    let file = Timestamp::from_micros(NOW);
    for (text, expected) in [
        ("9999-12-31T23:59:59.999999Z", Some("9999-12-31T23:59:59.999999Z")),
        ("9999-12-31", Some("9999-12-31T00:00:00.000000Z")),
        ("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00.000000Z")),
        ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00.000000Z")),
        ("2016-12-31T23:59:60Z", Some("2016-12-31T23:59:59.000000Z")),
        ("2016-12-31T23:59:60", Some("2016-12-31T23:59:59.000000Z")),
        ("2026-01-25T01:00:00+23:59", Some("2026-01-24T01:01:00.000000Z")),
        ("2026-01-25T15:00:00.123456789Z", Some("2026-01-25T15:00:00.123456Z")),
        ("2026-01-25T24:00:00Z", None),
        ("2026-02-30T00:00:00Z", None),
        ("10000-01-01T00:00:00Z", None),
        ("never", None),
    ] {
        let json = format!(
            r#"{{"version":1,"timestamp":{text:?},"state":{{"issue_no":7,
            "current_stage":"impl","iteration":1,"worktree":"/w","plan_file":null,
            "last_feedback":"","last_score":null,"history":[],"pr_number":null,"pr_url":null}}}}"#
        );
        let document = Document::from_json(json.as_bytes()).unwrap();
        let path = ".tmp/impl-checkpoint.json";
        let place = LayoutPlace { path, modified_at: Some(file), ..LayoutPlace::default() };
        let entry = recognise(&document, &place).expect(text);
        let time = entry.created_at.unwrap();
        assert_eq!(time, expected.map_or(file, |it| it.parse().unwrap()), "{text}");
        let is_told = expected.is_none() || !text.contains(['Z', '+']);
        assert_eq!(is_told, !entry.warnings.is_empty(), "{text}: {:?}", entry.warnings);
    }
}

fn rule(rule: Rule) -> Policy {
    Policy { name: "ours".to_owned(), rules: vec![rule], ..Policy::default() }
}

fn removed(entries: &[Entry], policy: &Policy, micros: i64) -> usize {
    plan(entries, policy, Timestamp::from_micros(micros)).removed().count()
}

#[test]
fn a_plan_at_any_time_removes_nothing_for_an_age_that_nobody_has() {
    let place = Place::new();
    let (store, _) = clocked(&place);
    for hours in 1..11 {
        store.save(dated("a", NOW + hours * HOUR), &hours).unwrap();
    }
    let entries = store.inventory(None).unwrap();
    let short = rule(Rule { max_age: Some(Age::seconds(60)), ..Rule::default() });
    for before in [i64::MIN, -1, 0, NOW - DAY, NOW] {
        assert_eq!(removed(&entries, &short, before), 0, "{before}");
    }
    let within =
        Rule { keep_last: Some(1), keep_within: Some(Age::seconds(60)), ..Rule::default() };
    assert_eq!(removed(&entries, &rule(within), NOW - DAY), 0, "what is dated ahead is young");
    // Ages that no number of microseconds holds.
    for age in [Age::seconds(u64::MAX), Age::days(u32::MAX), Age::seconds(i64::MAX as u64)] {
        let long = rule(Rule { max_age: Some(age), ..Rule::default() });
        for now in [i64::MIN, 0, NOW, i64::MAX] {
            assert_eq!(removed(&entries, &long, now), 0, "{age} at {now}");
        }
    }
    // However late it is, the newest stays.
    assert_eq!(removed(&entries, &short, i64::MAX), 9);
}

#[test]
fn from_the_first_time_there_is_to_the_last_is_no_negative_age() {
    let place = Place::new();
    let (store, _) = clocked(&place);
    for micros in [i64::MIN, 0, i64::MAX] {
        store.save(dated("a", micros), &micros).unwrap();
    }
    let entries = store.inventory(None).unwrap();
    let week = rule(Rule { max_age: Some(Age::days(7)), ..Rule::default() });
    assert_eq!(removed(&entries, &week, i64::MIN), 0);
    assert_eq!(removed(&entries, &week, 0), 1);
    assert_eq!(removed(&entries, &week, i64::MAX), 2);
}

fn prune_by(store: &Store, policy: Policy) {
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
}

/// One save at a wrong time removed all of a series but the newest, for good.
#[test]
fn what_a_clock_ahead_made_look_old_can_be_restored() {
    for kept in [
        Rule { max_age: Some(Age::days(30)), ..Rule::default() },
        Rule { keep_last: Some(2), keep_within: Some(Age::days(30)), ..Rule::default() },
    ] {
        let place = Place::new();
        let (store, clock) = clocked(&place);
        prune_by(&store, rule(kept));
        let saved: Vec<Entry> = (0..20)
            .map(|number| {
                clock.store(NOW + number * HOUR, Ordering::Relaxed);
                store.save(of("a"), &number).unwrap()
            })
            .collect();
        assert_eq!(store.count().unwrap(), 20);
        clock.store(NOW + 70 * 365 * DAY, Ordering::Relaxed);
        store.save(of("a"), &20).unwrap();
        store.save(of("a"), &21).unwrap();
        assert!(store.count().unwrap() < 20, "they look old");
        clock.store(NOW + 21 * HOUR, Ordering::Relaxed);
        store.save(of("a"), &22).unwrap();
        let lost: Vec<_> = saved.iter().filter(|it| store.entry(&it.id).is_err()).collect();
        let ids: Vec<_> = lost.iter().map(|entry| entry.id.clone()).collect();
        store.undelete(&ids).unwrap();
        for (number, entry) in saved.iter().enumerate() {
            assert_eq!(store.get(&entry.id).unwrap().state::<usize>().unwrap(), number);
        }
    }
}

/// What is counted and not dated goes as ever, so that a ring does not grow.
#[test]
fn what_goes_by_count_leaves_nothing_behind() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    prune_by(&store, rule(Rule { keep_last: Some(3), ..Rule::default() }));
    let jumps = [0, 70 * 365 * DAY, -NOW, HOUR].into_iter().cycle();
    for (number, jump) in (0..40_i64).zip(jumps) {
        clock.store(NOW + jump + number, Ordering::Relaxed);
        let saved = store.save(of("a"), &number).unwrap();
        assert_eq!(store.get(&saved.id).unwrap().state::<i64>().unwrap(), number);
        assert!(store.count().unwrap() <= 3);
    }
    assert_eq!(store.deleted(&Query::default()).unwrap(), []);
}

#[test]
fn a_clock_that_jumps_never_costs_what_was_saved_last() {
    let place = Place::new();
    let (store, clock) = clocked(&place);
    let kept = Rule { keep_last: Some(2), max_age: Some(Age::days(1)), ..Rule::default() };
    prune_by(&store, rule(kept));
    let jumps = [0, -NOW, 365 * DAY, HOUR, i64::MAX - NOW, -365 * DAY, 2 * HOUR, i64::MIN + NOW];
    for (number, jump) in jumps.into_iter().cycle().take(64).enumerate() {
        clock.store(NOW.wrapping_add(jump), Ordering::Relaxed);
        let saved = store.save(of("a"), &number).unwrap();
        assert!(store.get(&saved.id).is_ok(), "{number}");
        let series = Query { series: Some(saved.series.clone()), ..Query::default() };
        assert_eq!(store.latest(&series).unwrap().unwrap().entry, saved);
    }
}

/// Few times, so that equal ones meet, and both ends.
fn any_time() -> impl Strategy<Value = i64> {
    select(vec![i64::MIN, -1, 0, 1, NOW, NOW + 1, 253_402_300_799_999_999, i64::MAX])
}

/// How a checkpoint gets its time.
#[derive(Debug, Clone)]
enum Save {
    ByClock(i64),
    ByCaller(i64),
}

fn any_save() -> impl Strategy<Value = (u8, Save)> {
    let save =
        prop_oneof![any_time().prop_map(Save::ByClock), any_time().prop_map(Save::ByCaller),];
    (0..3_u8, save)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_checkpoint_that_the_store_dates_stays_after_all_before_it(
        saves in prop::collection::vec(any_save(), 1..40),
        size in 1..9_usize,
        (since, until) in (any_time(), any_time()),
    ) {
        let place = Place::new();
        let (store, clock) = clocked(&place);
        // Place in the order, sequence, date and series.
        let mut model: Vec<(i64, u64, i64, u8)> = Vec::new();
        for (number, (series, save)) in saves.iter().enumerate() {
            let (about, date, place) = match save {
                Save::ByClock(micros) => {
                    clock.store(*micros, Ordering::Relaxed);
                    let highest = model.iter().map(|it| it.0).max().unwrap_or(i64::MIN);
                    (of(&series.to_string()), *micros, highest.max(*micros))
                }
                Save::ByCaller(micros) => (dated(&series.to_string(), *micros), *micros, *micros),
            };
            let saved = store.save(about, &number).unwrap();
            prop_assert_eq!(saved.created_at.as_micros(), date);
            prop_assert_eq!(saved.order().0.as_micros(), place);
            model.push((place, saved.sequence, date, *series));
        }
        let arrived: Vec<u64> = model.iter().map(|it| it.1).collect();
        prop_assert_eq!(sequences(&store.arrivals(Position::default()).unwrap().entries), arrived);
        model.sort_unstable();
        drop(store);
        let store = place.open();
        let time = |micros| Some(Timestamp::from_micros(micros));
        let queries = [
            Query::default(),
            Query { series: Some(Series::new("1").unwrap()), ..Query::default() },
            Query { since: time(since), until: time(until), ..Query::default() },
        ];
        for query in queries {
            let admits = |it: &&(i64, u64, i64, u8)| {
                query.series.as_ref().is_none_or(|series| series.as_str() == it.3.to_string())
                    && query.since.is_none_or(|since| it.2 >= since.as_micros())
                    && query.until.is_none_or(|until| it.2 < until.as_micros())
            };
            let oldest: Vec<u64> = model.iter().filter(admits).map(|it| it.1).collect();
            let newest: Vec<u64> = oldest.iter().rev().copied().collect();
            let reversed = Query { order: Order::Oldest, ..query.clone() };
            prop_assert_eq!(&listed(&store, &query), &newest);
            prop_assert_eq!(&listed(&store, &reversed), &oldest);
            prop_assert_eq!(&paged(&store, &query, size), &newest);
            prop_assert_eq!(&paged(&store, &reversed, size), &oldest);
            let latest = store.latest(&query).unwrap().map(|found| found.entry.sequence);
            prop_assert_eq!(latest, newest.first().copied());
            for (number, sequence) in newest.iter().enumerate().filter(|_| query.series.is_some()) {
                let found = store.resolve(&format!("1@{number}")).unwrap();
                prop_assert_eq!(found.sequence, *sequence);
            }
        }
        drop(store);
        prop_assert!(Store::verify(place.path(), Duration::from_mins(1)).unwrap().is_clean());
        let store = place.open();
        prop_assert!(store.save(named("after"), &0).is_ok());
    }
}
