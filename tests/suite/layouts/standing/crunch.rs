//! claude-crunch: batches, tasks, and the snapshot of the issue.

use serde_json::{Value, json};
use waypost::Layout;

use super::{bare, document, fixture_at, imported, of, printed, refusals, standing, value, with};

const PATH: &str = ".claude/crunch/42/checkpoints/CP-x.yaml";
const TEMPLATE: &str = "crunch/CP-template.yaml";

#[test]
fn the_template_is_told_in_both_forms() {
    insta::assert_snapshot!(fixture_at(TEMPLATE, PATH), @"
    description: Issue title
    version: 1.0
    progress: batch 2 of ?, then batch 3
    done: 2
    - batch 1
    - batch 2
    last_action: Spec created for JWT refresh token feature
    failures: 0
    next: Continue from batch_3_task_1.
    issue: 42
    branch: feature/issue-42-jwt-refresh
    body: Full issue body at checkpoint
    labels: 3
    - state:enrich
    - type:feature
    - domain:security
    file: src/auth/tokens.py ? modified
    ");
    assert_eq!(fixture_at("crunch/CP-template.json", PATH), fixture_at(TEMPLATE, PATH));
}

/// `graph_state` is the same in another template, and a model may leave out all but the word.
#[test]
fn tasks_are_done_or_remain_or_were_left_out() {
    let nodes = json!({
        "a": {"status": "complete"}, "b": {"status": "completed"}, "c": {"status": "running"},
        "d": {"status": "skipped"}, "e": "pending", "f": {}, "g": {"status": "failed"}, "h": "done",
    });
    for graph in ["execution_graph", "graph_state"] {
        let told = of(Layout::Crunch, &json!({graph: {"node_states": nodes, "current_batch": 2}}));
        assert_eq!(told.tasks_done.unwrap(), ["a", "b", "h"]);
        assert_eq!(told.tasks_remaining.unwrap(), ["c", "e", "f", "g"]);
        let progress = told.progress.unwrap();
        assert_eq!((progress.unit, progress.done, progress.total), ("task", 3, Some(7)));
        assert_eq!(progress.next.as_deref(), Some("c"));
    }
    let both = json!({"completed_batches": ["1"], "current_batch": "2", "node_states": nodes});
    let told = of(Layout::Crunch, &json!({"execution_graph": both}));
    assert_eq!(told.tasks_done.unwrap().len(), 3);
    let progress = told.progress.unwrap();
    assert_eq!((progress.unit, progress.next.as_deref()), ("batch", Some("batch 2")));
}

#[test]
fn the_last_output_is_the_newest() {
    let output =
        |time: Value, summary: &str| json!({"completed_at": time, "output_summary": summary});
    let told = |outputs: Value| of(Layout::Crunch, &json!({"agent_outputs": outputs})).last_action;
    let timed = json!({
        "a": {"x": output(json!("2025-01-14T11:00:00Z"), "new"), "y": output(json!(null), "none")},
        "b": {"z": output(json!("2025-01-14T10:00:00Z"), "old"), "w": 3},
        "c": "nothing",
    });
    assert_eq!(told(timed).as_deref(), Some("new"));
    let untimed =
        json!({"a": {"x": output(json!("ISO-8601"), "one"), "y": output(json!(1), "two")}});
    assert_eq!(told(untimed).as_deref(), Some("two"));
    assert_eq!(told(json!({"a": {"x": output(json!(null), " ")}})), None);
}

#[test]
fn the_first_attempt_is_no_failure() {
    for (attempt, expected) in [(json!(1), Some(0)), (json!("3"), Some(2)), (json!(0), Some(0))] {
        let document = with(&value(TEMPLATE), "/workflow_state/phase_attempt", Some(attempt));
        assert_eq!(of(Layout::Crunch, &document).failures, expected);
    }
}

#[test]
fn what_the_resume_algorithm_looks_at_is_required() {
    for pointer in [
        "/issue_number",
        "/workflow_state/current_phase",
        "/execution_graph",
        "/recovery_info/can_resume",
        "/recovery_info/resume_from",
    ] {
        let less = with(&value(TEMPLATE), pointer, None);
        let expected = [format!("{pointer}: is required to resume")];
        assert_eq!(refusals(Layout::Crunch, &less), expected);
    }
    let newer = with(&value(TEMPLATE), "/version", Some(json!(1.5)));
    let expected = ["/version: is newer than 1.0, the newest known version"];
    assert_eq!(refusals(Layout::Crunch, &newer), expected);
    for version in [json!(1), json!(1.0), json!("1.0"), json!("0.9")] {
        let known = with(&value(TEMPLATE), "/version", Some(version));
        assert_eq!(refusals(Layout::Crunch, &known), [""; 0]);
    }
}

/// The directory knows the issue, the id the phase, and the index whether work can go on.
#[test]
fn what_the_entry_knows_is_not_missed() {
    let mut less = value(TEMPLATE);
    less["issue_number"] = json!(null);
    less["workflow_state"] = json!(null);
    less["recovery_info"] = json!(null);
    let path = ".claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml";
    less["checkpoint_id"] = json!("CP-enrich-20250114-a3f2");
    let expected = ["recovery_info/can_resume", "recovery_info/resume_from"]
        .map(|field| format!("/{field}: is required to resume"));
    let told = imported(&document(&less), path);
    assert_eq!(printed(&told.refusals), expected);
    assert_eq!(told.snapshot.issue.unwrap().as_str(), "42");
    let mut entry = bare(Layout::Crunch);
    (entry.issue, entry.phase) = ("42".parse().ok(), Some("enrich".to_owned()));
    (entry.can_resume, entry.resume_from) = (Some(true), Some("batch_1".to_owned()));
    let told = standing(&entry, &document(&less));
    assert_eq!(printed(&told.refusals), [""; 0]);
    assert_eq!(told.next.as_deref(), Some("Continue from batch_1."));
}

/// That it cannot be resumed is said by the entry; nothing is missing.
#[test]
fn what_cannot_be_resumed_needs_no_place_to_go_on() {
    let mut document = value(TEMPLATE);
    document["recovery_info"] = json!({"can_resume": false, "warnings": ["x"]});
    assert_eq!(refusals(Layout::Crunch, &document), [""; 0]);
    assert_eq!(of(Layout::Crunch, &document).next, None);
}

/// Labels and body are compared, so a part of them is worse than none.
#[test]
fn what_is_compared_is_whole_or_absent() {
    let many: Vec<String> = (0..10_001).map(|number| number.to_string()).collect();
    let body = "x\n".repeat(100_000);
    let snapshot = json!({"labels": many, "body": body, "branch": "b".repeat(5000)});
    let told = of(Layout::Crunch, &json!({"issue_snapshot": snapshot})).snapshot;
    assert_eq!((told.labels, told.branch), (None, None));
    assert_eq!(told.body.as_deref(), Some(body.as_str()));
    let told = of(
        Layout::Crunch,
        &json!({"issue_snapshot": {"labels": [{"id": "LA_1", "name": "a"}, "b"]}}),
    );
    assert_eq!(told.snapshot.labels.unwrap(), ["a", "b"]);
}
