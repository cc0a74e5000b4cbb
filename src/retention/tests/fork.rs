//! Fork points: what was forked from stays as long as the fork does.

use super::*;

/// A checkpoint of another series, forked from `origin`.
fn fork(name: &str, id: &str, origin: &str, days_ago: i64) -> Entry {
    Entry { series: series(name), parent: Some(as_id(origin)), ..taken(id, days_ago) }
}

#[test]
fn what_another_series_was_forked_from_is_kept() {
    let entries = saved([taken("1", 9), taken("2", 8), taken("3", 7), fork("b", "fork", "2", 6)]);
    for policy in [keep_last(0), max_age(1)] {
        let plan = plan(&entries, &policy, NOW);
        assert_eq!(removed(&plan), ["1"]);
        assert_eq!(reason(&plan, "2"), "another series was forked from it");
    }
}

#[test]
fn what_is_only_continued_in_its_series_is_no_fork_point() {
    let entries = saved([
        taken("1", 9),
        Entry { parent: Some(as_id("1")), ..taken("2", 8) },
        Entry { parent: Some(as_id("2")), ..taken("3", 7) },
        Entry { parent: Some(as_id("4")), ..taken("4", 6) },
    ]);
    assert_eq!(removed_by(&keep_last(0), &entries), ["1", "2", "3"]);
}

#[test]
fn a_parent_that_is_not_there_protects_nothing() {
    let entries = saved([taken("1", 9), taken("2", 8), fork("b", "fork", "gone", 7)]);
    assert_eq!(removed_by(&keep_last(0), &entries), ["1"]);
}

#[test]
fn a_fork_that_goes_itself_protects_nothing() {
    let entries = saved([
        taken("1", 9),
        taken("2", 8),
        fork("b", "fork", "1", 7),
        Entry { series: series("b"), ..taken("newest of b", 6) },
    ]);
    assert_eq!(removed_by(&keep_last(0), &entries), ["1", "fork"]);
}

#[test]
fn a_chain_of_forks_stays_and_goes_as_a_whole() {
    let chain = |end: Entry| {
        saved([
            taken("a1", 20),
            fork("b", "b1", "a1", 19),
            fork("c", "c1", "b1", 18),
            end,
            taken("a2", 9),
            Entry { series: series("b"), ..taken("b2", 8) },
            Entry { series: series("c"), ..taken("c2", 7) },
            Entry { series: series("d"), ..taken("d2", 6) },
        ])
    };
    let kept = chain(Entry { tags: tags(), ..fork("d", "d1", "c1", 17) });
    assert!(removed_by(&keep_last(0), &kept).is_empty());
    let gone = chain(fork("d", "d1", "c1", 17));
    assert_eq!(removed_by(&keep_last(0), &gone), ["a1", "b1", "c1", "d1"]);
}

#[test]
fn a_fork_protects_one_that_is_newer_by_the_clock() {
    let entries = saved([taken("1", 3), taken("2", 2), fork("b", "fork", "1", 30)]);
    assert!(removed_by(&keep_last(0), &entries).is_empty());
}

#[test]
fn what_is_protected_anyway_says_so() {
    let entries = saved([
        Entry { tags: tags(), ..taken("tagged", 9) },
        taken("newest", 8),
        fork("b", "fork 1", "tagged", 7),
        fork("c", "fork 2", "newest", 6),
    ]);
    let plan = plan(&entries, &keep_last(0), NOW);
    assert_eq!(reason(&plan, "tagged"), "has a tag");
    assert_eq!(reason(&plan, "newest"), "newest of its series");
}

/// What was to go with its fork went even if the fork was not meant: `prune` of one series
/// removed what another, which it left alone, had been forked from.
#[test]
fn what_is_kept_for_not_being_meant_protects_too() {
    let entries = saved([
        taken("a1", 9),
        taken("a2", 8),
        fork("b", "b1", "a1", 7),
        fork("c", "c1", "b1", 6),
        Entry { series: series("b"), ..taken("b2", 5) },
        Entry { series: series("c"), ..taken("c2", 4) },
    ]);
    let whole = plan(&entries, &keep_last(0), NOW);
    assert_eq!(removed(&whole), ["a1", "b1", "c1"]);
    let only_a = whole.clone().only(|entry| entry.series == series("a"));
    assert!(removed(&only_a).is_empty());
    assert_eq!(reason(&only_a, "a1"), "another series was forked from it");
    let only_c = whole.only(|entry| entry.series == series("c"));
    assert_eq!(removed(&only_c), ["c1"]);
}

#[test]
fn parents_that_lead_in_a_ring_hold_each_other() {
    let entries = saved([
        fork("a", "a1", "b1", 9),
        fork("b", "b1", "a1", 8),
        taken("a2", 7),
        Entry { series: series("b"), ..taken("b2", 6) },
    ]);
    for policy in [keep_last(0), Policy { store_bytes_max: Some(0), ..keep_last(9) }] {
        assert!(removed_by(&policy, &entries).is_empty());
    }
}
