//! How much the checkpoints of an issue and of the store may take.

use super::*;

/// A checkpoint of an issue, ten bytes long.
fn of_issue(name: &str, id: &str, days_ago: i64) -> Entry {
    Entry { issue: Some(issue(name)), ..taken(id, days_ago) }
}

/// A checkpoint of another series.
fn of_b(id: &str, days_ago: i64) -> Entry {
    Entry { series: series("b"), ..taken(id, days_ago) }
}

fn issue_max(bytes: u64) -> Policy {
    Policy { issue_bytes_max: Some(bytes), ..keep_last(9) }
}

fn store_max(bytes: u64) -> Policy {
    Policy { store_bytes_max: Some(bytes), ..keep_last(9) }
}

#[test]
fn the_oldest_go_first_and_no_more_than_must() {
    let entries = saved([taken("1", 4), taken("2", 3), taken("3", 2), taken("4", 1)]);
    for (bytes, gone) in [
        (40, vec![]),
        (39, vec!["1"]),
        (30, vec!["1"]),
        (29, vec!["1", "2"]),
        (10, vec!["1", "2", "3"]),
        (0, vec!["1", "2", "3"]),
    ] {
        assert_eq!(removed_by(&store_max(bytes), &entries), gone, "{bytes}");
    }
}

#[test]
fn each_issue_has_its_own_limit() {
    let entries = saved([
        of_issue("1", "of 1", 9),
        of_issue("2", "of 2", 8),
        taken("of none", 7),
        of_issue("1", "of 1 too", 6),
        of_issue("1", "newest", 5),
    ]);
    let plan = plan(&entries, &issue_max(20), NOW);
    assert_eq!(removed(&plan), ["of 1"]);
    assert_eq!(reason(&plan, "of 1"), "its issue takes more than 20 bytes");
    assert_eq!(removed_by(&issue_max(0), &entries), ["of 1", "of 2", "of 1 too"]);
}

#[test]
fn an_issue_is_limited_across_its_series() {
    let other = |id, days| Entry { series: series("b"), ..of_issue("1", id, days) };
    let entries = saved([
        other("b1", 9),
        of_issue("1", "a1", 8),
        other("b2", 7),
        of_issue("1", "a2", 6),
        other("b3", 5),
    ]);
    assert_eq!(removed_by(&issue_max(30), &entries), ["b1", "a1"]);
}

#[test]
fn what_goes_for_its_issue_counts_for_the_store_too() {
    let entries = saved([
        taken("oldest", 9),
        of_issue("1", "of 1", 8),
        of_issue("1", "of 1 too", 7),
        taken("newest", 6),
    ]);
    let both = Policy { store_bytes_max: Some(30), ..issue_max(10) };
    let plan = plan(&entries, &both, NOW);
    assert_eq!(removed(&plan), ["oldest", "of 1"]);
    assert_eq!(reason(&plan, "oldest"), "the store takes more than 30 bytes");
    assert_eq!(reason(&plan, "of 1"), "its issue takes more than 10 bytes");
}

#[test]
fn what_a_rule_keeps_all_of_counts_but_never_goes() {
    let rules = [
        Rule { triggers: vec![Trigger::Manual], ..Rule::default() },
        Rule { triggers: vec![Trigger::Iteration], keep_last: Some(9), ..Rule::default() },
        Rule {
            triggers: vec![Trigger::Heartbeat],
            max_age: Some(Age::days(99)),
            ..Rule::default()
        },
    ];
    let by = |trigger: Trigger, days| Entry {
        trigger: trigger.clone(),
        ..taken(trigger.as_str(), days)
    };
    let entries = saved([
        by(Trigger::Manual, 9),
        by(Trigger::Unknown, 8),
        by(Trigger::Iteration, 7),
        by(Trigger::Heartbeat, 6),
        Entry { tags: tags(), ..by(Trigger::Iteration, 5) },
        by(Trigger::SessionEnd, 4),
    ]);
    let limited = Policy { store_bytes_max: Some(0), ..policy(rules) };
    assert_eq!(removed_by(&limited, &entries), ["iteration", "heartbeat"]);
}

#[test]
fn what_a_rule_removes_anyway_makes_room() {
    let entries = saved([taken("1", 4), taken("2", 3), taken("3", 2), taken("4", 1)]);
    let policy = Policy { store_bytes_max: Some(30), ..keep_last(3) };
    let plan = plan(&entries, &policy, NOW);
    assert_eq!(removed(&plan), ["1"]);
    assert_eq!(reason(&plan, "1"), "beyond the last 3");
}

#[test]
fn what_is_protected_stays_however_much_it_takes() {
    let entries = saved([
        Entry { tags: tags(), ..taken("tagged", 9) },
        taken("forked", 8),
        taken("1", 7),
        taken("resumable", 6),
        Entry { can_resume: Some(false), ..taken("newest", 5) },
        Entry { series: series("b"), parent: Some(as_id("forked")), ..taken("fork", 4) },
    ]);
    assert_eq!(removed_by(&store_max(0), &entries), ["1"]);
}

/// What a dropped fork had held still counted, so that more was removed than necessary.
#[test]
fn what_a_dropped_fork_held_makes_room() {
    let mut entries = saved([
        Entry { trigger: Trigger::Manual, stored_bytes: 100, ..taken("held", 9) },
        taken("newest of a", 8),
        of_b("oldest", 7),
        of_b("other", 6),
        of_b("newest of b", 5),
    ]);
    let manual = Rule { triggers: vec![Trigger::Manual], keep_last: Some(0), ..Rule::default() };
    let rules = [manual, Rule { keep_last: Some(9), ..Rule::default() }];
    entries[2].parent = Some(as_id("held"));
    let limited = Policy { store_bytes_max: Some(30), ..policy(rules) };
    assert_eq!(removed_by(&limited, &entries), ["held", "oldest"]);
}

/// A fork point that its last fork had set free went after younger ones.
#[test]
fn what_a_dropped_fork_sets_free_is_the_oldest_again() {
    let mut entries = saved([
        taken("forked", 9),
        taken("newest of a", 8),
        of_b("oldest", 7),
        of_b("other", 6),
        of_b("newest of b", 5),
    ]);
    entries[2].parent = Some(as_id("forked"));
    assert_eq!(removed_by(&store_max(30), &entries), ["forked", "oldest"]);
}

/// Each link took a pass over all checkpoints, which was hours for as many as here.
#[test]
fn a_long_chain_of_forks_unravels_at_once() {
    let mut entries = Vec::new();
    for number in 0..100_000_u64 {
        entries.push(Entry {
            series: series(["a", "b"][usize::from(number % 2 == 1)]),
            parent: number.checked_sub(1).map(|before| as_id(&before.to_string())),
            sequence: number,
            ..taken(&number.to_string(), 1)
        });
    }
    // The newest of each series, which stay.
    for (name, sequence) in ["a", "b"].into_iter().zip(100_000..) {
        entries.push(Entry { series: series(name), sequence, ..taken(name, 0) });
    }
    let limited = Policy { store_bytes_max: Some(20), ..keep_last(u32::MAX) };
    assert_eq!(removed_by(&limited, &entries).len(), 100_000);
}
