//! What holds for any entries, any policy and any time.

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::{OnSuccess, Per, Planned};
use super::reference::Reference;
use super::*;

const ENTRIES_MAX: usize = 24;
const SERIES: usize = 3;
const TRIGGERS: [Trigger; 3] = [Trigger::Manual, Trigger::Iteration, Trigger::BatchComplete];
const LAYOUTS: [Layout; 2] = [Layout::Native, Layout::Aiwg];

/// Around quarters of days, so that times are often equal and ages often at their limit.
fn time() -> impl Strategy<Value = Timestamp> {
    (0..12_i64, -1..2_i64).prop_map(|(quarters, micros)| {
        Timestamp::from_micros(NOW.as_micros() + quarters * DAY_MICROS / 4 + micros)
    })
}

fn entry() -> impl Strategy<Value = Entry> {
    let place = (0..SERIES, weighted(0.7, select(vec!["1", "2"])), of(select(vec!["x", "y"])));
    let kind = (select(&TRIGGERS), select(&Status::ALL), select(&LAYOUTS));
    let times = (time(), weighted(0.2, time()), weighted(0.2, 0..4_u32));
    (place, kind, times, weighted(0.1, Just(())), weighted(0.5, any::<bool>()), 0..40_u64).prop_map(
        |((number, on_issue, phase), (trigger, status, layout), times, tag, can_resume, bytes)| {
            Entry {
                series: series(["a", "b", "c"][number]),
                issue: on_issue.map(issue),
                phase: phase.map(str::to_owned),
                trigger,
                status,
                layout,
                updated_at: times.1,
                retention_days: times.2,
                tags: tag.map(|()| tags()).unwrap_or_default(),
                can_resume,
                stored_bytes: bytes,
                ..taken_at("later", times.0)
            }
        },
    )
}

/// Any entries of a store, in any order, some of them forked from any others.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let one = (entry(), weighted(0.3, time()), weighted(0.4, 0..ENTRIES_MAX));
    let made = vec(one, 0..ENTRIES_MAX).prop_map(move |made| {
        let (mut entries, mut parents) = (Vec::new(), Vec::new());
        for (number, (entry, ordered_at, parent)) in (0_u8..).zip(made) {
            let ordered_at = ordered_at.filter(|time| *time > entry.created_at);
            let id = Id::new(format!("id {number}")).unwrap();
            entries.push(Entry { id, sequence: number.into(), ordered_at, ..entry });
            parents.push(parent);
        }
        let ids: Vec<Id> = entries.iter().map(|entry| entry.id.clone()).collect();
        for (entry, parent) in entries.iter_mut().zip(parents) {
            entry.parent = parent.and_then(|at| ids.get(at).cloned());
        }
        entries
    });
    made.prop_shuffle()
}

fn age() -> impl Strategy<Value = Age> {
    (0..4_u32).prop_map(Age::days)
}

fn rule() -> impl Strategy<Value = Rule> {
    let any_or_some = |all: &'static [Status]| prop_oneof![Just(vec![]), subsequence(all, 1..4)];
    let layouts = prop_oneof![4 => Just(vec![]), 1 => subsequence(&LAYOUTS[..], 1)];
    let matched = (
        prop_oneof![Just(vec![]), subsequence(&TRIGGERS[..], 1..3)],
        any_or_some(&Status::ALL),
        any_or_some(&Status::ALL),
        layouts,
    );
    let per = select(vec![Per::Series, Per::Phase]);
    (matched, per, weighted(0.8, 0..4_u32), of(age()), weighted(0.3, age())).prop_map(
        |((triggers, statuses, series_statuses, layouts), per, keep_last, keep_within, max_age)| {
            Rule {
                triggers,
                statuses,
                series_statuses,
                layouts,
                per,
                keep_last,
                keep_within,
                max_age,
            }
        },
    )
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let ours = (vec(rule(), 0..4), of(0..150_u64), of(0..300_u64)).prop_map(
        |(rules, issue_bytes_max, store_bytes_max)| Policy {
            issue_bytes_max,
            store_bytes_max,
            ..policy(rules)
        },
    );
    let preset = select(&Policy::PRESETS).prop_map(|name| Policy::preset(name).unwrap());
    let endings = select(vec![OnSuccess::Rules, OnSuccess::KeepNewest, OnSuccess::Remove]);
    (prop_oneof![9 => ours, 1 => preset], endings)
        .prop_map(|(policy, on_success)| Policy { on_success, ..policy })
}

fn kept(plan: &Plan<'_>) -> Vec<Entry> {
    let kept = plan.iter().filter(|planned| !planned.verdict.removes());
    kept.map(|planned| planned.entry.clone()).collect()
}

fn verdict_of<'a>(plan: &Plan<'a>, id: &Id) -> Planned<'a> {
    plan.iter().find(|planned| planned.entry.id == *id).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_plan_is_what_the_definition_says(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        let reference = Reference::new(&entries, &policy, now);
        for (plan, done) in [
            (plan(&entries, &policy, now), None),
            (plan_done(&entries, &policy, now), Some(&series("a"))),
        ] {
            let verdicts: Vec<_> = plan.iter().map(|planned| planned.verdict).collect();
            prop_assert_eq!(verdicts, reference.verdicts(done));
        }
    }

    #[test]
    fn what_a_plan_keeps_the_same_plan_keeps_again(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        for make in [plan, plan_done] {
            let once = kept(&make(&entries, &policy, now));
            prop_assert_eq!(removed(&make(&once, &policy, now)), Vec::<&str>::new());
        }
    }

    #[test]
    fn what_is_protected_never_goes(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        let reference = Reference::new(&entries, &policy, now);
        let plan = plan(&entries, &policy, now);
        for planned in plan.removed() {
            let entry = planned.entry;
            prop_assert!(entry.tags.is_empty());
            prop_assert!(!reference.is_newest(entry, |_| true));
            prop_assert!(!reference.is_newest(entry, |it| it.can_resume != Some(false)));
        }
        prop_assert!(no_fork_is_left_without_its_origin(&plan));
    }

    #[test]
    fn a_part_of_a_plan_leaves_no_fork_without_its_origin(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        for make in [plan, plan_done] {
            let whole = make(&entries, &policy, now);
            let part = whole.clone().only(|entry| entry.series == series("a"));
            prop_assert!(no_fork_is_left_without_its_origin(&part));
            for (in_part, in_whole) in part.iter().zip(whole.iter()) {
                prop_assert!(!in_part.verdict.removes() || in_part.verdict == in_whole.verdict);
                prop_assert!(!in_part.verdict.removes() || in_part.entry.series == series("a"));
            }
        }
    }

    #[test]
    fn of_each_group_as_many_stay_as_its_rule_keeps(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        let mut policy = Policy { issue_bytes_max: None, store_bytes_max: None, ..policy };
        for rule in &mut policy.rules {
            rule.max_age = None;
        }
        let reference = Reference::new(&entries, &policy, now);
        let plan = plan(&entries, &policy, now);
        for entry in &entries {
            let Some(rule) = reference.rule(entry) else { continue };
            let group = || plan.iter().filter(|it| reference.is_same_group(entry, it.entry));
            let stay = group().filter(|planned| !planned.verdict.removes()).count();
            let count = rule.keep_last.map_or(usize::MAX, |count| count as usize);
            prop_assert!(stay >= count.min(group().count()));
        }
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter(
        entries in entries(), policy in any_policy(), now in time(),
    ) {
        let mut sorted = entries.clone();
        sorted.sort_by_key(|entry| entry.sequence);
        for make in [plan, plan_done] {
            let (one, other) = (make(&entries, &policy, now), make(&sorted, &policy, now));
            prop_assert_eq!(one.iter().count(), entries.len());
            for planned in one.iter() {
                prop_assert_eq!(planned, verdict_of(&other, &planned.entry.id));
            }
        }
    }
}

fn no_fork_is_left_without_its_origin(plan: &Plan<'_>) -> bool {
    let kept = kept(plan);
    plan.removed().all(|origin| {
        let is_fork = |fork: &Entry| {
            fork.parent.as_ref() == Some(&origin.entry.id) && fork.series != origin.entry.series
        };
        !kept.iter().any(is_fork)
    })
}
