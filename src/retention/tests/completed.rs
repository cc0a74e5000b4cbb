//! Plans for a series that is done.

use super::super::OnSuccess;
use super::*;

fn work() -> [Entry; 6] {
    saved([
        taken("1", 9),
        Entry { tags: tags(), ..taken("tagged", 8) },
        taken("forked", 7),
        taken("resumable", 6),
        Entry { can_resume: Some(false), ..taken("newest", 5) },
        // Its tag keeps it, and that keeps what it was forked from.
        Entry {
            series: series("b"),
            parent: Some(as_id("forked")),
            tags: tags(),
            ..taken("fork", 4)
        },
    ])
}

fn gone(policy: &Policy, on_success: OnSuccess) -> Vec<String> {
    let (entries, policy) = (work(), Policy { on_success, ..policy.clone() });
    removed(&plan_done(&entries, &policy, NOW)).into_iter().map(str::to_owned).collect()
}

#[test]
fn the_rules_go_on_if_the_policy_says_nothing_else() {
    assert_eq!(gone(&keep_last(0), OnSuccess::Rules), ["1"]);
    assert!(gone(&keep_last(9), OnSuccess::Rules).is_empty());
}

#[test]
fn the_newest_is_left_and_what_has_a_tag_or_a_fork() {
    for policy in [keep_last(9), max_age(1), policy([])] {
        assert_eq!(gone(&policy, OnSuccess::KeepNewest), ["1", "resumable"]);
    }
}

#[test]
fn nothing_is_left_but_what_has_a_tag_or_a_fork() {
    for policy in [keep_last(9), max_age(1), policy([])] {
        assert_eq!(gone(&policy, OnSuccess::Remove), ["1", "resumable", "newest"]);
    }
}

/// All forks of the series counted as done with it.
#[test]
fn no_other_series_is_done() {
    let mut entries = work();
    entries[5].tags.clear();
    let policy = Policy { on_success: OnSuccess::Remove, ..keep_last(9) };
    assert_eq!(removed(&plan_done(&entries, &policy, NOW)), ["1", "resumable", "newest"]);
}

#[test]
fn the_reason_is_that_it_is_done() {
    let entries = work();
    let policy = Policy { on_success: OnSuccess::Remove, ..keep_last(9) };
    let plan = plan_done(&entries, &policy, NOW);
    assert_eq!(reason(&plan, "newest"), "its series is done");
    assert_eq!(reason(&plan, "forked"), "another series was forked from it");
    assert_eq!(plan.anew(&entries), plan);
}

#[test]
fn a_plan_of_what_is_not_done_goes_by_the_rules() {
    let entries = work();
    for on_success in [OnSuccess::Rules, OnSuccess::KeepNewest, OnSuccess::Remove] {
        let policy = Policy { on_success, ..keep_last(9) };
        assert!(removed_by(&policy, &entries).is_empty());
    }
}

#[test]
fn each_preset_ends_a_series_in_its_own_way() {
    let entries = saved([taken("1", 2), taken("2", 1), taken("3", 0)]);
    for (name, gone) in [
        ("crunch", vec![]),
        ("claude", vec!["1", "2", "3"]),
        ("aiwg", vec!["1", "2"]),
        ("keep-all", vec![]),
    ] {
        let policy = Policy::preset(name).unwrap();
        assert_eq!(removed(&plan_done(&entries, &policy, NOW)), gone, "{name}");
    }
}
