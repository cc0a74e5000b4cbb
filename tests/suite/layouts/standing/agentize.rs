//! `lol impl`: stages, iterations, and what a review said.

use serde_json::{Value, json};
use waypost::Layout;

use super::{fixture_at, of, refusals, value, with};

const PATH: &str = ".tmp/impl-checkpoint.json";
const REVIEW: &str = "agentize/v1-02-nonascii-review.json";

#[test]
fn a_run_is_told_from_its_start_to_its_end() {
    insta::assert_snapshot!(fixture_at("agentize/v1-00-initial.json", PATH), @"
    version: 1
    progress: iteration 0 of ?, then impl, iteration 1
    done: 0
    failures: 0
    next: The iteration was interrupted: it starts again.
    issue: 848
    worktree: /home/u/agentize-worktrees/issue-848
    ");
    insta::assert_snapshot!(fixture_at("agentize/v1-01-after-impl1.json", PATH), @"
    version: 1
    progress: iteration 1 of ?, then impl, iteration 2
    done: 1
    - impl, iteration 1: incomplete
    last_action: impl, iteration 1: incomplete
    score: 50
    failures: 0
    next: The iteration was interrupted: it starts again.
    issue: 848
    worktree: /home/u/agentize-worktrees/issue-848
    ");
    insta::assert_snapshot!(fixture_at(REVIEW, PATH), @"
    version: 1
    progress: iteration 1 of ?, then review, iteration 2
    done: 3
    - impl, iteration 1: incomplete
    - impl, iteration 2: success
    - parse, iteration 2: pass
    last_action: parse, iteration 2: pass
    score: 85
    failures: 0
    next: The saved feedback is used.
    issue: 848
    worktree: /home/u/agentize-worktrees/issue-848
    plan_file: /home/u/agentize-worktrees/issue-848/.tmp/plan.md
    ");
    insta::assert_snapshot!(fixture_at("agentize/v2-03-done.json", PATH), @"
    version: 2
    progress: iteration 2 of ?
    done: 4
    - impl, iteration 1: incomplete
    - impl, iteration 2: success
    - parse, iteration 2: pass
    - pr, iteration 2: pr_pass
    last_action: pr, iteration 2: pr_pass
    score: 85
    failures: 0
    next: The work is done.
    issue: 848
    worktree: /home/u/agentize-worktrees/issue-848
    plan_file: /home/u/agentize-worktrees/issue-848/.tmp/plan.md
    pull_request: https://github.com/Synthesys-Lab/agentize/pull/861
    ");
}

fn with_stage(stage: &str) -> Value {
    with(&value(REVIEW), "/state/current_stage", Some(json!(stage)))
}

#[test]
fn every_stage_goes_on_by_its_own_rule() {
    for (stage, next) in [
        ("impl", Some("The iteration was interrupted: it starts again.")),
        ("review", Some("The saved feedback is used.")),
        ("simp", Some("The stage starts again.")),
        ("pr", Some("Check first whether the pull request exists already.")),
        ("rebase", Some("The stage starts again.")),
        ("done", Some("The work is done.")),
        ("fatal", None),
        ("dancing", None),
    ] {
        assert_eq!(of(Layout::Agentize, &with_stage(stage)).next.as_deref(), next, "{stage}");
    }
    let silent = with(&value(REVIEW), "/state/last_feedback", Some(json!(" ")));
    let next = of(Layout::Agentize, &silent).next;
    assert_eq!(next.as_deref(), Some("The stage starts again."));
}

#[test]
fn only_a_run_that_failed_for_good_has_an_error() {
    let mut failed = with_stage("fatal");
    failed["state"]["last_feedback"] = json!("\n No convergence.\nThe score stayed at 40.");
    let told = of(Layout::Agentize, &failed);
    assert_eq!(told.error.as_deref(), Some("No convergence."));
    assert_eq!(told.progress.unwrap().next, None);
    assert_eq!(of(Layout::Agentize, &with_stage("impl")).error, None);
}

/// A run starts with 0, which is no score.
#[test]
fn a_score_is_one_that_was_given() {
    let scored = |score: Value, history: Value| {
        let state = json!({"last_score": score, "history": history});
        of(Layout::Agentize, &json!({"state": state})).score
    };
    assert_eq!(scored(json!(0), json!([])), None);
    assert_eq!(scored(json!(0), json!([{"stage": "pr", "score": null}])), None);
    assert_eq!(scored(json!(0), json!([{"stage": "review", "score": 0}])), Some(0.0));
    assert_eq!(scored(json!("85"), json!(null)), Some(85.0));
    assert_eq!(scored(json!({}), json!([{"score": 3}])), None);
}

#[test]
fn failures_are_those_at_the_end() {
    let failures = |results: &[&str]| {
        let history: Vec<Value> = results.iter().map(|result| json!({"result": result})).collect();
        of(Layout::Agentize, &json!({"state": {"history": history}})).failures
    };
    assert_eq!(failures(&[]), Some(0));
    assert_eq!(failures(&["fail", "success"]), Some(0));
    assert_eq!(failures(&["fail", "incomplete"]), Some(0));
    assert_eq!(failures(&["success", "retry", "fail", "failure"]), Some(3));
    assert_eq!(failures(&["ci_fix", "pr_fail_fixable", "pr_fail_need_rebase"]), Some(3));
    assert_eq!(failures(&["rebase_conflict", "rebase_ok", "rebase_conflict"]), Some(1));
    assert_eq!(of(Layout::Agentize, &json!({"state": {}})).failures, None);
}

#[test]
fn what_the_loader_needs_is_required() {
    for field in ["issue_no", "current_stage", "iteration", "worktree"] {
        let pointer = format!("/state/{field}");
        for none in [None, Some(json!(null))] {
            let expected = [format!("{pointer}: is required to resume")];
            assert_eq!(refusals(Layout::Agentize, &with(&value(REVIEW), &pointer, none)), expected);
        }
    }
    let bare = with(&value(REVIEW), "/state", None);
    assert_eq!(refusals(Layout::Agentize, &bare), ["/state: is required to resume"]);
    for field in ["plan_file", "last_feedback", "last_score", "history", "pr_number", "pr_url"] {
        let less = with(&value(REVIEW), &format!("/state/{field}"), None);
        assert_eq!(refusals(Layout::Agentize, &less), [""; 0], "{field}");
    }
}

#[test]
fn only_a_version_of_the_future_is_refused() {
    let newer = "/version: is newer than 2, the newest known version";
    for (version, expected) in [
        (json!(3), Some(newer)),
        (json!("3"), Some(newer)),
        (json!("99999999999999999999999"), Some(newer)),
        (json!("2.0"), None),
        (json!(1), None),
        (json!(0), None),
        (json!(-1), None),
        (json!("x"), None),
        (json!(null), None),
        (json!([3]), None),
    ] {
        let document = with(&value(REVIEW), "/version", Some(version.clone()));
        assert_eq!(refusals(Layout::Agentize, &document), Vec::from_iter(expected), "{version}");
    }
}
