//! What no rule removes: what has a tag, and the newest of a series.

use super::*;

#[test]
fn what_has_a_tag_is_kept_however_old_it_is() {
    let entries =
        saved([Entry { tags: tags(), ..taken("tagged", 900) }, taken("old", 899), taken("new", 0)]);
    for policy in [keep_last(0), max_age(1)] {
        assert_eq!(removed_by(&policy, &entries), ["old"]);
    }
}

#[test]
fn the_newest_of_each_series_is_kept() {
    let of = |name, id, days| Entry { series: series(name), ..taken(id, days) };
    let entries =
        saved([of("b", "b1", 30), of("a", "a1", 20), of("b", "b2", 15), of("a", "a2", 9)]);
    for policy in [keep_last(0), max_age(1)] {
        assert_eq!(removed_by(&policy, &entries), ["b1", "a1"]);
    }
}

#[test]
fn the_newest_that_can_be_resumed_is_kept_beside_the_newest() {
    let with = |can_resume, id, days| Entry { can_resume, ..taken(id, days) };
    let entries = saved([
        with(Some(true), "resumable 1", 9),
        with(Some(true), "resumable 2", 8),
        with(Some(false), "stuck", 7),
        with(Some(false), "newest", 6),
    ]);
    let plan = plan(&entries, &keep_last(0), NOW);
    assert_eq!(removed(&plan), ["resumable 1", "stuck"]);
    assert_eq!(reason(&plan, "resumable 2"), "newest of its series that can be resumed");
}

#[test]
fn what_does_not_say_whether_it_can_be_resumed_can_be() {
    let stuck = Entry { can_resume: Some(false), ..taken("newest", 1) };
    let entries = saved([taken("1", 3), taken("2", 2), stuck]);
    assert_eq!(removed_by(&keep_last(0), &entries), ["1"]);
}

#[test]
fn what_is_protected_counts_as_one_of_the_last() {
    let entries = saved([
        taken("1", 4),
        taken("2", 3),
        Entry { tags: tags(), ..taken("3", 2) },
        taken("4", 1),
    ]);
    assert_eq!(removed_by(&keep_last(2), &entries), ["1", "2"]);
}

#[test]
fn the_first_rule_that_matches_governs() {
    let statuses = vec![Status::Paused];
    let layouts = vec![Layout::Aiwg];
    let rules = [
        Rule { triggers: vec![Trigger::Manual], ..Rule::default() },
        Rule { statuses, layouts, keep_last: Some(0), ..Rule::default() },
        Rule { triggers: vec![Trigger::Manual], keep_last: Some(0), ..Rule::default() },
    ];
    let paused = |id, layout| Entry { status: Status::Paused, layout, ..taken(id, 3) };
    let manual = Entry { trigger: Trigger::Manual, ..paused("manual", Layout::Aiwg) };
    let entries = saved([
        manual,
        paused("aiwg", Layout::Aiwg),
        paused("claude", Layout::Claude),
        taken("new", 0),
    ]);
    let plan = plan(&entries, &policy(rules), NOW);
    assert_eq!(removed(&plan), ["aiwg"]);
    assert_eq!(reason(&plan, "manual"), "its rule keeps all");
    assert_eq!(reason(&plan, "claude"), "no rule is about it");
}

#[test]
fn nothing_is_planned_for_nothing() {
    for policy in Policy::PRESETS.map(|name| Policy::preset(name).unwrap()) {
        let plan = plan(&[], &policy, NOW);
        assert_eq!(plan.iter().count(), 0);
        assert_eq!(plan.policy(), &policy);
    }
}

#[test]
fn only_what_is_meant_goes() {
    let of = |name, id, days| Entry { series: series(name), ..taken(id, days) };
    let entries = saved([of("a", "a1", 9), of("b", "b1", 8), of("a", "a2", 7), of("b", "b2", 6)]);
    let only_b = plan(&entries, &keep_last(1), NOW).only(|entry| entry.series == series("b"));
    assert_eq!(removed(&only_b), ["b1"]);
    assert_eq!(reason(&only_b, "a1"), "not among those asked for");
    assert_eq!(reason(&only_b, "a2"), "newest of its series");
}

#[test]
fn the_same_policy_is_followed_anew_at_the_same_time() {
    let before = saved([taken("1", 9), taken("2", 8)]);
    let after = saved([taken("1", 9), taken("2", 8), taken("3", 0)]);
    let first = plan(&before, &max_age(8), NOW);
    assert_eq!(removed(&first), ["1"]);
    assert_eq!(removed(&first.anew(&after)), ["1"]);
    assert_eq!(first.anew(&after), plan(&after, &max_age(8), NOW));
}
