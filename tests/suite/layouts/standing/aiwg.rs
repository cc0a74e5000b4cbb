//! AIWG: checkpoints of workflows, states of loops, and what is captured every half hour.

use serde_json::{Value, json};
use waypost::Layout;

use super::{document, fixture_at, imported, of, refusals, value, with};

const MULTI: &str = "aiwg/multi-loop.json";
const PATH: &str = ".aiwg/ralph/loops/l/checkpoints/iteration-005.json.gz";
const LOOP: &str = ".aiwg/ralph/current-loop.json";

#[test]
fn checkpoints_are_told() {
    insta::assert_snapshot!(fixture_at(MULTI, PATH), @"
    version: 2.0
    progress: step 5 of 200, then implement_issue
    failures: 0
    issue: 268
    file: src/auth/login.ts abc123... modified
    ");
    insta::assert_snapshot!(fixture_at("aiwg/single-loop.json", PATH), @"
    version: 1.0
    progress: step 3 of 10, then implement_issue
    failures: 0
    issue: 112
    file: agentic/code/frameworks/sdlc-complete/schemas/research/checkpoint.yaml abc123... created
    ");
}

#[test]
fn loops_and_captures_are_told() {
    insta::assert_snapshot!(fixture_at("aiwg/loops/current-loop.json", LOOP), @"
    description: Execute Construction phase for matric-eval
    progress: iteration 0 of 50, then iteration 1
    done: 0
    ");
    insta::assert_snapshot!(fixture_at("aiwg/loops/current-loop-issue.json", LOOP), @"
    description: Implement comprehensive regression testing capability for AIWG (Issue #254)
    progress: phase 2 of 4, then phase-3
    done: 2
    - phase-1
    - phase-2
    remaining: 2
    - phase-3
    - phase-4
    issue: 254
    ");
    let path = ".aiwg/ralph-external/iterations/001/checkpoints/003-checkpoint.json";
    insta::assert_snapshot!(fixture_at("aiwg/loops/003-checkpoint.json", path), @"
    branch: master
    file: src/a.ts ? ?
    ");
}

/// As the code of the external loop writes it.
#[test]
fn the_state_of_an_external_loop_is_told() {
    let session = json!({
        "version": "1.0.0", "loopId": "0d6f7f5e", "objective": "Fix the tests",
        "status": "running", "maxIterations": 10, "currentIteration": 3,
        "iterations": [
            {"number": 1, "status": "completed", "progress": "Half of them pass"},
            {"number": 2, "status": "crashed", "progress": "Two are left", "learnings": ["x"]},
        ],
        "filesModified": ["src/a.ts"], "giteaIntegration": {"issueNumber": 7},
        "lastError": {"message": "exit 137"},
    });
    let told = imported(&document(&session), ".aiwg/ralph-external/session-state.json");
    insta::assert_snapshot!(super::described(&told), @"
    description: Fix the tests
    version: 1.0.0
    progress: iteration 2 of 10, then iteration 3
    last_action: Two are left
    failures: 1
    error: exit 137
    issue: 7
    file: src/a.ts ? ?
    ");
}

#[test]
fn a_loop_has_done_what_it_wrote_down() {
    let progress = |loop_state: Value| {
        let progress = of(Layout::Aiwg, &loop_state).progress.unwrap();
        (progress.unit, progress.done, progress.total, progress.next.unwrap_or_default())
    };
    let iteration = |current: Value, records: Value| {
        progress(json!({"task": "t", "current_iteration": current, "iterations": records}))
    };
    assert_eq!(iteration(json!(1), json!([])), ("iteration", 0, None, "iteration 1".into()));
    assert_eq!(iteration(json!("2"), json!(null)), ("iteration", 2, None, "iteration 3".into()));
    assert_eq!(
        iteration(json!(3), json!([{}, {}, {}])),
        ("iteration", 3, None, "iteration 4".into())
    );
    let last = json!({"loopId": "l", "currentIteration": 5, "maxIterations": 5});
    assert_eq!(progress(last), ("iteration", 5, Some(5), String::new()));
    let phases = json!({"a": "completed", "b": {"status": "pending"}, "c": "pending", "d": 3});
    let phases = json!({"task": "t", "currentIteration": 5, "phases": phases});
    assert_eq!(progress(phases.clone()), ("phase", 1, Some(3), "b".into()));
    let told = of(Layout::Aiwg, &phases);
    assert_eq!(told.tasks_done.unwrap(), ["a"]);
    assert_eq!(told.tasks_remaining.unwrap(), ["b", "c"]);
}

#[test]
fn what_was_done_last_is_said_in_many_words() {
    for (loop_state, expected) in [
        (json!({"lastAction": "a", "learnings": ["l"]}), Some("a")),
        (json!({"last_result": {"summary": "r"}}), Some("r")),
        (json!({"iterations": [{"progress": "p"}], "learnings": ["l"]}), Some("p")),
        (json!({"learnings": ["first", "last"]}), Some("last")),
        (json!({"learnings": "text", "iterations": [3]}), None),
    ] {
        let document = with(&loop_state, "/currentIteration", Some(json!(1)));
        assert_eq!(of(Layout::Aiwg, &document).last_action.as_deref(), expected, "{loop_state}");
    }
}

#[test]
fn iterations_count_where_there_are_no_steps() {
    let mut document = value(MULTI);
    document["state"]["progress"] = json!({"percentage": 2.5});
    document["state"]["agent_state"] = json!({"pending_actions": ["test", "commit"]});
    document["state"]["iteration"]["failures"] = json!("2");
    let told = of(Layout::Aiwg, &document);
    let progress = told.progress.unwrap();
    assert_eq!((progress.unit, progress.done, progress.total), ("iteration", 5, Some(200)));
    assert_eq!(progress.next.as_deref(), Some("iteration 6"));
    assert_eq!(told.tasks_remaining.unwrap(), ["test", "commit"]);
    assert_eq!(told.failures, Some(2));
    document["state"]["iteration"] = json!(4);
    assert_eq!(of(Layout::Aiwg, &document).progress.unwrap().done, 4);
}

#[test]
fn what_the_schema_requires_is_required() {
    for pointer in [
        "/checkpoint_id",
        "/workflow_id",
        "/created_at",
        "/state",
        "/state/phase",
        "/state/progress",
        "/state/artifacts",
    ] {
        let less = with(&value(MULTI), pointer, None);
        let expected = [format!("{pointer}: is required to resume")];
        assert_eq!(refusals(Layout::Aiwg, &less), expected);
    }
    for pointer in ["/loop_id", "/trigger", "/state/step", "/state/iteration", "/metadata"] {
        let less = with(&value(MULTI), pointer, None);
        assert_eq!(refusals(Layout::Aiwg, &less), [""; 0], "{pointer}");
    }
    let newer = with(&value(MULTI), "/metadata/schema_version", Some(json!("2.1")));
    let expected = ["/metadata/schema_version: is newer than 2.0, the newest known version"];
    assert_eq!(refusals(Layout::Aiwg, &newer), expected);
}

/// Models put into the state of a loop what they like, and no code looks at it.
#[test]
fn a_loop_is_never_refused() {
    for extra in ["version", "checkpoint_id", "state", "gitStatus"] {
        let loop_state = json!({"task": "t", "current_iteration": 1, extra: "99"});
        assert_eq!(refusals(Layout::Aiwg, &loop_state), [""; 0], "{extra}");
    }
}

#[test]
fn only_a_number_is_an_issue() {
    for (issue, expected) in [("#268", Some("268")), ("268", None), ("#TBD", None)] {
        let document = with(&value(MULTI), "/state/variables/current_issue", Some(json!(issue)));
        let told = of(Layout::Aiwg, &document).snapshot.issue;
        assert_eq!(told.as_ref().map(waypost::Issue::as_str), expected);
    }
}
