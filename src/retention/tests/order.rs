//! Which of two checkpoints is newer: clocks that are set back, times of the caller's own.

use std::collections::BTreeSet;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() + seconds * SECOND_MICROS)
}

/// The sequence numbers of what a policy keeps, much later.
fn kept(policy: &Policy, entries: &[Entry]) -> Vec<u64> {
    let plan = plan(entries, policy, at(DAY_MICROS));
    let kept = plan.iter().filter(|planned| !planned.verdict.removes());
    kept.map(|planned| planned.entry.sequence).collect()
}

#[test]
fn of_equal_times_what_was_saved_later_is_newer() {
    let entries = saved([taken("0", 1), taken("1", 1), taken("2", 1), taken("3", 1)]);
    assert_eq!(kept(&keep_last(2), &entries), [2, 3]);
}

#[test]
fn where_the_clock_is_set_back_what_was_saved_later_counts_as_new() {
    let times = [100, 110, 50, 60, 50];
    let entries = saved(
        [0, 1, 2, 3, 4].map(|number: u8| dated_by_store(number, at(times[usize::from(number)]))),
    );
    // By time, the latest first; by arrival, from the end.
    let by_time = [1, 0, 3, 4, 2];
    for count in 1..=5 {
        let last = by_time[..count].iter().copied();
        let last: BTreeSet<u64> = last.chain((0..5).rev().take(count)).collect();
        let policy = keep_last(u32::try_from(count).unwrap());
        assert_eq!(kept(&policy, &entries), Vec::from_iter(last), "of either order");
    }
}

#[test]
fn a_clock_that_is_set_back_is_that_of_one_series() {
    let other = Entry { series: series("b"), ..dated_by_store(2, at(10)) };
    let of_one = [dated_by_store(0, at(90)), dated_by_store(3, at(100)), dated_by_store(1, at(50))];
    let [one, latest, newest] = of_one;
    let entries = saved([one, latest, newest, other]);
    let limited = Policy { store_bytes_max: Some(20), ..keep_last(9) };
    // The newest of both series stay, and the latest.
    assert_eq!(kept(&limited, &entries), [1, 2, 3]);
}

#[test]
fn times_of_the_callers_own_may_come_in_any_order() {
    let times = [100, 110, 50, 120, 60];
    let entries = saved(
        [0, 1, 2, 3, 4]
            .map(|number: usize| taken_at(&format!("import {number}"), at(times[number]))),
    );
    assert_eq!(kept(&keep_last(3), &entries), [0, 1, 3]);
}

#[test]
fn a_time_of_the_callers_own_counts_even_if_the_store_made_the_id() {
    let past = Entry { created_at: at(10), ..dated_by_store(1, at(200)) };
    let entries = saved([dated_by_store(0, at(100)), past, dated_by_store(2, at(90))]);
    assert_eq!(kept(&keep_last(2), &entries), [0, 2]);
}

#[test]
fn a_time_to_come_is_new_and_not_old() {
    let entries = saved([taken("0", 9), taken("1", -3000), taken("2", 8)]);
    assert_eq!(removed_by(&max_age(7), &entries), ["0", "2"]);
}

#[test]
fn the_status_of_a_series_is_that_of_the_last_one_saved() {
    let done = Entry { status: Status::Completed, ..dated_by_store(2, at(50)) };
    let entries = saved([dated_by_store(0, at(100)), dated_by_store(1, at(110)), done]);
    assert_eq!(kept(&Policy::preset("aiwg").unwrap(), &entries), [1, 2], "and the latest");
}
