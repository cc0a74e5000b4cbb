//! What is kept: presets, rows and rules.

use super::*;
use crate::checkpoint::{Layout, Status};
use crate::retention::{Per, Rule};

fn policy(lines: &str) -> Policy {
    config(lines).policy().unwrap().clone()
}

/// A rule about one trigger, which keeps this number.
fn keeps(trigger: Trigger, keep_last: Option<u32>) -> Rule {
    Rule { triggers: vec![trigger], keep_last, ..Rule::default() }
}

/// The rules of a policy that are about a trigger.
fn about<'a>(policy: &'a Policy, trigger: &Trigger) -> Vec<&'a Rule> {
    policy.rules.iter().filter(|rule| rule.triggers.contains(trigger)).collect()
}

#[test]
fn a_number_means_all_none_or_the_last_few_for_every_trigger() {
    for trigger in Trigger::ALL.into_iter().chain([custom("deploy")]) {
        for (number, keep_last) in
            [("-1", None), ("-7", None), ("0", Some(0)), ("1", Some(1)), ("12", Some(12))]
        {
            for name in Policy::PRESETS {
                let policy = policy(&format!("retention: {{preset: {name}, {trigger}: {number}}}"));
                let [rule] = about(&policy, &trigger)[..] else { panic!("{policy:?}") };
                assert_eq!(rule.keep_last, keep_last, "{trigger} {number} {name}");
            }
        }
    }
}

#[test]
fn a_row_takes_the_place_of_the_presets_rule_and_counts_as_it_does() {
    let policy = policy("retention:\n  preset: crunch\n  batch_complete: 7\n  user_interrupt: 2");
    let mut expected = preset("crunch");
    expected.rules[1].keep_last = Some(7);
    expected.rules[4].keep_last = Some(2);
    assert_eq!(policy, expected);
    assert_eq!(policy.rules[1].per, Per::Phase);
}

#[test]
fn a_row_in_full_says_everything_anew_but_what_it_counts_within() {
    let policy = policy(
        "retention:\n  preset: crunch\n  batch_complete: {keep_last: 2, keep_within: 12h}\n  \
         agent_complete: {max_age: 30d, per: series}",
    );
    let expected = Rule {
        per: Per::Phase,
        keep_within: Some(Age::seconds(43_200)),
        ..keeps(Trigger::BatchComplete, Some(2))
    };
    assert_eq!(policy.rules[1], expected);
    let expected = Rule { max_age: Some(Age::days(30)), ..keeps(Trigger::AgentComplete, None) };
    assert_eq!(policy.rules[2], expected);
}

#[test]
fn rules_come_first_then_rows_then_what_a_preset_says_of_the_rest() {
    let policy = policy(
        "retention:
  default: {keep_last: 10}
  preset: aiwg
  heartbeat: 1
  deploy: -1
rules:
  - {trigger: iteration, keep_last: 5}
  - {status: failed, max_age: 90d}",
    );
    let aiwg = preset("aiwg");
    let expected = [
        keeps(Trigger::Iteration, Some(5)),
        Rule { statuses: vec![Status::Failed], max_age: Some(Age::days(90)), ..Rule::default() },
        keeps(Trigger::Heartbeat, Some(1)),
        keeps(custom("deploy"), None),
        aiwg.rules[0].clone(),
        aiwg.rules[1].clone(),
        Rule { keep_last: Some(10), ..Rule::default() },
    ];
    assert_eq!(policy.rules, expected);
    assert_eq!(policy.on_success, aiwg.on_success);
}

#[test]
fn the_default_is_about_what_no_row_is_about() {
    let crunch = policy("retention: {preset: crunch, default: 4, iteration: 2}");
    let mut expected = preset("crunch").rules;
    expected.push(keeps(Trigger::Iteration, Some(2)));
    expected.push(Rule { keep_last: Some(4), ..Rule::default() });
    assert_eq!(crunch.rules, expected);

    let claude = policy("retention: {preset: claude, default: {max_age: 1d}}");
    let mut expected = preset("claude").rules;
    expected[2] = Rule { max_age: Some(Age::days(1)), ..Rule::default() };
    assert_eq!(claude.rules, expected, "what it says of done and failed ones stays");

    let keep_all = policy("retention: {preset: keep-all, default: 0}");
    assert_eq!(keep_all.rules, [Rule { keep_last: Some(0), ..Rule::default() }]);
}

#[test]
fn without_a_preset_only_the_rows_of_the_file_remove_anything() {
    let policy = policy("retention: {iteration: 2}");
    assert_eq!(policy.rules, [keeps(Trigger::Iteration, Some(2))]);
    assert_eq!(policy.issue_bytes_max, None);
}

#[test]
fn conflict_events_are_both_ends_unless_one_has_a_row_of_its_own() {
    let both = policy("retention: {conflict_events: 2}");
    let one = policy("retention: {conflict_resolved: 9, conflict_events: 2}");
    let count = |policy: &Policy, trigger| about(policy, &trigger)[0].keep_last;
    assert_eq!(count(&both, Trigger::ConflictStart), Some(2));
    assert_eq!(count(&both, Trigger::ConflictResolved), Some(2));
    assert_eq!(count(&one, Trigger::ConflictStart), Some(2));
    assert_eq!(count(&one, Trigger::ConflictResolved), Some(9));
    assert_eq!(about(&both, &Trigger::ConflictStart)[0].per, Per::Phase, "as in the preset");
    assert_eq!(about(&both, &Trigger::ConflictResolved)[0].per, Per::Series);
}

#[test]
fn a_rule_may_be_about_one_or_several_of_everything() {
    let policy = policy(
        "rules:
  - trigger: [iteration, conflict_events, my_own]
    status: [failed, archived]
    series_status: completed
    layout: aiwg
    per: phase
    keep_last: 5
    keep_within: 30d
    max_age: 90d
  - trigger: manual
    keep_last: all",
    );
    let expected = Rule {
        triggers: vec![
            Trigger::Iteration,
            Trigger::ConflictStart,
            Trigger::ConflictResolved,
            custom("my_own"),
        ],
        statuses: vec![Status::Failed, Status::Archived],
        series_statuses: vec![Status::Completed],
        layouts: vec![Layout::Aiwg],
        per: Per::Phase,
        keep_last: Some(5),
        keep_within: Some(Age::days(30)),
        max_age: Some(Age::days(90)),
    };
    assert_eq!(policy.rules[0], expected);
    assert_eq!(policy.rules[1], keeps(Trigger::Manual, None));
    assert_eq!(policy.rules[2..], preset("crunch").rules);
}

#[test]
fn every_status_and_layout_can_be_named() {
    for status in Status::ALL {
        let policy = policy(&format!("rules: [{{series_status: {status}, keep_last: 1}}]"));
        assert_eq!(policy.rules[0].series_statuses, [status]);
    }
    for layout in Layout::ALL {
        let policy = policy(&format!("rules: [{{layout: {layout}, keep_last: 1}}]"));
        assert_eq!(policy.rules[0].layouts, [layout]);
    }
}

#[test]
fn sizes_are_in_mebibytes_and_negative_ones_are_none() {
    let none = [("-1", None), ("-0.5", None)];
    let some = [("0", Some(0)), ("50", Some(50 << 20)), ("0.5", Some(1 << 19))];
    for (size, bytes) in none.into_iter().chain(some) {
        let both = policy(&format!("storage: {{max_size_mb: {size}, max_store_size_mb: {size}}}"));
        assert_eq!(both.issue_bytes_max, bytes, "{size}");
        assert_eq!(both.store_bytes_max, bytes, "{size}");
        assert_eq!(both.rules, preset("crunch").rules);
    }
}

#[test]
fn any_word_about_what_is_kept_makes_a_policy() {
    for lines in ["retention: {manual: 1}", "rules: [{keep_last: 1}]", "on_success: keep_newest"] {
        assert!(config(lines).policy().is_some(), "{lines}");
    }
    for lines in ["enabled: true", "prune_on_save: true", "storage: {compress: false}"] {
        assert!(config(lines).policy().is_none(), "{lines}");
    }
    let named = config("on_success: remove").named(".waypost/config.yaml");
    assert_eq!(named.policy().unwrap().name, ".waypost/config.yaml");
    assert_eq!(named.policy().unwrap().on_success, OnSuccess::Remove);
}
