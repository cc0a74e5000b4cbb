//! The words of each verdict.

use super::super::{Kept, Per, Removed, Verdict};
use super::*;

#[test]
fn every_reason_to_keep_has_its_words() {
    let of_phase = Kept::Last { count: 3, per: Per::Phase };
    for (kept, words) in [
        (Kept::Tagged, "has a tag"),
        (Kept::Newest, "newest of its series"),
        (Kept::NewestResumable, "newest of its series that can be resumed"),
        (Kept::ForkPoint, "another series was forked from it"),
        (Kept::NoRule, "no rule is about it"),
        (Kept::NotMeant, "not among those asked for"),
        (Kept::All, "its rule keeps all"),
        (Kept::Last { count: 5, per: Per::Series }, "of the last 5"),
        (of_phase, "of the last 3 of its phase"),
        (Kept::Within(Age::days(30)), "not older than 30d"),
    ] {
        assert_eq!(kept.to_string(), words);
        assert_eq!(Verdict::Keep(kept).to_string(), words);
        assert!(!Verdict::Keep(kept).removes());
    }
}

#[test]
fn every_reason_to_remove_has_its_words() {
    let week = Some(Age::days(7));
    let beyond = |count, per, within| Removed::Beyond { count, per, within };
    for (removed, words) in [
        (Removed::TooOld(Age::seconds(90)), "older than 90s"),
        (beyond(0, Per::Series, None), "its rule keeps none"),
        (beyond(0, Per::Phase, None), "its rule keeps none"),
        (beyond(0, Per::Phase, week), "older than 7d"),
        (beyond(5, Per::Series, None), "beyond the last 5"),
        (beyond(1, Per::Phase, None), "beyond the last 1 of its phase"),
        (beyond(5, Per::Series, week), "beyond the last 5 and older than 7d"),
        (beyond(2, Per::Phase, week), "beyond the last 2 of its phase and older than 7d"),
        (Removed::Done, "its series is done"),
        (Removed::IssueTooLarge(50 << 20), "its issue takes more than 50 MiB"),
        (Removed::StoreTooLarge(1000), "the store takes more than 1000 bytes"),
        (Removed::StoreTooLarge(0), "the store takes more than 0 bytes"),
    ] {
        assert_eq!(removed.to_string(), words);
        assert_eq!(Verdict::Remove(removed).to_string(), words);
        assert!(Verdict::Remove(removed).removes());
    }
}

#[test]
fn a_plan_says_of_each_checkpoint_why() {
    let entries = saved([
        Entry { tags: tags(), ..taken("tagged", 9) },
        taken("old", 8),
        Entry { status: Status::Paused, ..taken("paused", 7) },
        taken("last", 3),
        Entry { can_resume: Some(false), ..taken("newest", 1) },
    ]);
    let rules = [
        Rule { statuses: vec![Status::Paused], ..Rule::default() },
        Rule { keep_last: Some(2), keep_within: Some(Age::days(2)), ..Rule::default() },
    ];
    let plan = plan(&entries, &policy(rules), NOW);
    let said = plan.iter().map(|it| format!("{}: {}", it.entry.id, it.verdict));
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r"
    tagged: has a tag
    old: beyond the last 2 and older than 2d
    paused: its rule keeps all
    last: newest of its series that can be resumed
    newest: newest of its series
    ");
}
