//! Which of two checkpoints is newer: clocks that are set back, times of the caller's own.

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

/// After the clock was set back, the last save looked old and was pruned.
#[test]
fn what_was_saved_later_is_newer_though_the_clock_was_set_back() {
    let entries = saved([
        taken_at("0", at(100)),
        taken_at("1", at(110)),
        behind("2", at(50), at(110)),
        behind("3", at(60), at(110)),
        behind("4", at(50), at(110)),
    ]);
    for count in 1..=5_u32 {
        let last: Vec<u64> = (5 - u64::from(count)..5).collect();
        assert_eq!(kept(&keep_last(count), &entries), last);
    }
}

#[test]
fn age_counts_from_the_date_and_not_from_the_place_in_the_order() {
    let days = |days: i64| at(days * DAY_MICROS / SECOND_MICROS);
    let entries = saved([
        taken_at("ahead", days(300)),
        behind("old", days(-9), days(300)),
        behind("young", days(-1), days(300)),
        behind("newest", days(-9), days(300)),
    ]);
    assert_eq!(removed_by(&max_age(7), &entries), ["old"]);
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
fn a_time_to_come_is_new_and_not_old() {
    let entries = saved([taken("0", 9), taken("1", -3000), taken("2", 8)]);
    assert_eq!(removed_by(&max_age(7), &entries), ["0", "2"]);
}

#[test]
fn the_status_of_a_series_is_that_of_the_last_one_saved() {
    let done = Entry { status: Status::Completed, ..behind("2", at(50), at(110)) };
    let entries = saved([taken_at("0", at(100)), taken_at("1", at(110)), done]);
    assert_eq!(kept(&Policy::preset("aiwg").unwrap(), &entries), [2]);
}
