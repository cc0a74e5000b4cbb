//! Ages: exact limits, what a checkpoint says of its own, and the ends of time.

use super::*;

fn ago(id: &str, micros: i64) -> Entry {
    taken_at(id, Timestamp::from_micros(NOW.as_micros() - micros))
}

#[test]
fn what_is_exactly_as_old_as_allowed_is_kept() {
    let entries = saved([
        ago("beyond", DAY_MICROS + 1),
        ago("at", DAY_MICROS),
        ago("below", DAY_MICROS - 1),
        ago("newest", 0),
    ]);
    let within = Rule { keep_last: Some(0), keep_within: Some(Age::days(1)), ..Rule::default() };
    for policy in [max_age(1), policy([within])] {
        assert_eq!(removed_by(&policy, &entries), ["beyond"]);
    }
}

#[test]
fn what_is_beyond_the_last_goes_only_when_it_is_older_too() {
    let entries = saved([taken("1", 9), taken("2", 8), taken("3", 2), taken("4", 1)]);
    let keep = |count, days| {
        let keep_within = Some(Age::days(days));
        policy([Rule { keep_last: Some(count), keep_within, ..Rule::default() }])
    };
    assert_eq!(removed_by(&keep(1, 3), &entries), ["1", "2"]);
    assert_eq!(removed_by(&keep(3, 1), &entries), ["1"]);
    assert!(removed_by(&keep(1, 10), &entries).is_empty());
}

#[test]
fn what_is_too_old_goes_even_as_one_of_the_last() {
    let entries = saved([taken("1", 9), taken("2", 8), taken("3", 1)]);
    let rule = Rule { keep_last: Some(9), max_age: Some(Age::days(8)), ..Rule::default() };
    assert_eq!(removed_by(&policy([rule]), &entries), ["1"]);
}

#[test]
fn an_age_to_keep_within_removes_nothing_where_all_are_kept() {
    let rule = Rule { keep_within: Some(Age::days(1)), ..Rule::default() };
    assert!(removed_by(&policy([rule]), &saved([taken("1", 9), taken("2", 8)])).is_empty());
}

#[test]
fn a_checkpoint_may_ask_for_more_days_or_for_fewer() {
    let asking = |id, days, days_ago| Entry { retention_days: Some(days), ..taken(id, days_ago) };
    let entries = saved([
        asking("long", 90, 50),
        taken("plain", 49),
        asking("short", 1, 2),
        asking("none", 0, 1),
        asking("today", 0, 0),
        taken("newest", 0),
    ]);
    let month = Some(Age::days(30));
    let within = Rule { keep_last: Some(0), keep_within: month, ..Rule::default() };
    for policy in [max_age(30), policy([within])] {
        assert_eq!(removed_by(&policy, &entries), ["plain", "short", "none"]);
    }
    let plan = plan(&entries, &max_age(30), NOW);
    assert_eq!(reason(&plan, "long"), "not older than 90d");
    assert_eq!(reason(&plan, "short"), "older than 1d");
}

#[test]
fn what_a_checkpoint_asks_for_does_not_end_what_is_kept_for_ever() {
    let asking = Entry { retention_days: Some(1), ..taken("asking", 9) };
    let entries = saved([asking, taken("newest", 0)]);
    for policy in [Policy::preset("keep-all").unwrap(), policy([]), keep_last(2)] {
        assert!(removed_by(&policy, &entries).is_empty());
    }
}

#[test]
fn age_counts_from_the_end_of_the_work() {
    let updated = |id, days_ago: i64, updated_ago: i64| {
        let updated_at = Timestamp::from_micros(NOW.as_micros() - updated_ago * DAY_MICROS);
        Entry { updated_at: Some(updated_at), ..taken(id, days_ago) }
    };
    let entries = saved([
        updated("worked on", 20, 3),
        updated("left alone", 19, 18),
        // Of two clocks the one that keeps longer.
        updated("wrong", 5, 40),
        taken("newest", 0),
    ]);
    assert_eq!(removed_by(&max_age(7), &entries), ["left alone"]);
}

#[test]
fn the_order_is_that_of_saving_whatever_was_worked_on_later() {
    let updated = Entry { updated_at: Some(NOW), ..taken("updated", 20) };
    let entries = saved([updated, taken("newest", 10)]);
    assert_eq!(removed_by(&keep_last(1), &entries), ["updated"]);
}

#[test]
fn the_ends_of_time_are_only_old_or_new() {
    let [early, epoch, late] = [i64::MIN, 0, i64::MAX].map(Timestamp::from_micros);
    let year_9999 = "9999-12-30T00:00:00Z".parse().unwrap();
    let entries = saved([
        taken_at("early", early),
        taken_at("epoch", epoch),
        taken_at("year 9999", year_9999),
        taken_at("late 1", late),
        taken_at("late 2", late),
    ]);
    let gone = |policy: &Policy, now| removed(&plan(&entries, policy, now));
    assert!(gone(&max_age(1), early).is_empty());
    assert_eq!(gone(&max_age(1), epoch), ["early"]);
    assert_eq!(gone(&max_age(1), NOW), ["early", "epoch"]);
    assert_eq!(gone(&max_age(1), late), ["early", "epoch", "year 9999"]);
    for now in [early, epoch, NOW, year_9999, late] {
        assert!(gone(&max_age(u32::MAX), now).is_empty());
        assert_eq!(gone(&keep_last(2), now), ["early", "epoch", "year 9999"]);
    }
}
