//! Checkpoints and loops of AIWG.

use serde_json::{Value, json};
use waypost::{Status, Trigger};

use super::super::with;
use super::{described, entry, fixture_at, told, value};

const MULTI: &str = "aiwg/multi-loop.json";
const MULTI_PATH: &str =
    ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz";
const SINGLE: &str = "aiwg/single-loop.json";
const SINGLE_PATH: &str =
    ".aiwg/checkpoints/ralph-research-impl-2026-01-25T15-00-00Z-iteration.json.gz";
const LOOP: &str = ".aiwg/ralph/current-loop.json";

fn warnings(document: &Value, path: &str) -> Vec<String> {
    entry(document, path).warnings
}

#[test]
fn both_versions_of_the_schema_are_read() {
    insta::assert_snapshot!(fixture_at(MULTI, MULTI_PATH), @"
    layout: aiwg
    id: cp-001-multi-loop
    series: loop:ralph-fix-tests-a1b2c3d4
    issue: 268
    loop_id: ralph-fix-tests-a1b2c3d4
    workflow_id: ralph-fix-tests-a1b2c3d4
    workflow_type: ralph_loop
    agent: Software Implementer
    trigger: iteration
    phase: construction
    step: implement_issue
    iteration: 5
    status: in_progress
    created_at: 2026-02-02T21:05:00Z
    retention_days: 30
    ");
    insta::assert_snapshot!(fixture_at(SINGLE, SINGLE_PATH), @"
    layout: aiwg
    id: cp-002-legacy
    series: workflow:ralph-research-impl
    issue: 112
    workflow_id: ralph-research-impl
    workflow_type: ralph_loop
    agent: Software Implementer
    trigger: iteration
    phase: construction
    step: implement_issue
    iteration: 5
    status: in_progress
    created_at: 2026-01-25T15:00:00Z
    retention_days: 30
    ");
}

#[test]
fn what_a_checkpoint_lacks_comes_from_its_name() {
    let bare = with(&value(SINGLE), "/trigger", None);
    let bare = with(&bare, "/created_at", Some(json!("ISO")));
    let entry = entry(&bare, SINGLE_PATH);
    assert_eq!(entry.trigger, Trigger::Iteration);
    assert_eq!(entry.created_at, Some("2026-01-25T15:00:00Z".parse().unwrap()));
    assert_eq!(entry.warnings, ["created_at is no time and is left out"]);
    let bare = with(&bare, "/created_at", None);
    assert_eq!(self::entry(&bare, SINGLE_PATH).created_at, entry.created_at);
    let bare = with(&value(MULTI), "/state/iteration", None);
    assert_eq!(self::entry(&bare, MULTI_PATH).iteration, Some(5));
    let plain = with(&value(MULTI), "/state/iteration", Some(json!("7")));
    assert_eq!(self::entry(&plain, MULTI_PATH).iteration, Some(7));
}

#[test]
fn triggers_of_the_lifecycle_are_known_by_their_own_names() {
    for (word, expected) in [
        ("phase_start", Trigger::PhaseStart),
        ("iteration_boundary", Trigger::IterationBoundary),
        ("before_external_call", Trigger::BeforeExternalCall),
        ("artifact_complete", Trigger::ArtifactComplete),
        ("error_recovery", Trigger::ErrorRecovery),
        ("whim", "whim".parse().unwrap()),
    ] {
        let document = with(&value(MULTI), "/trigger", Some(json!(word)));
        assert_eq!(entry(&document, MULTI_PATH).trigger, expected, "{word}");
    }
    let none = with(&value(MULTI), "/trigger", None);
    assert_eq!(entry(&none, MULTI_PATH).trigger, Trigger::Unknown);
}

#[test]
fn a_loop_id_that_does_not_fit_is_kept_and_flagged() {
    for odd in ["my-custom-loop-id", "ralph--a1b2c3d4", "../../etc"] {
        let document = with(&value(MULTI), "/loop_id", Some(json!(odd)));
        let path = format!(".aiwg/ralph/loops/{odd}/checkpoints/iteration-005.json.gz");
        let entry = entry(&document, "x.json");
        assert_eq!(entry.loop_id.unwrap().as_str(), odd);
        assert_eq!(entry.series.unwrap().as_str(), format!("loop:{odd}"));
        assert!(
            warnings(&document, &path)
                .contains(&"loop_id is not like ralph-SLUG-0123abcd".to_owned())
        );
    }
    let other = ".aiwg/ralph/loops/ralph-other-a1b2c3d4/checkpoints/iteration-005.json.gz";
    assert_eq!(warnings(&value(MULTI), other), ["loop_id is not the name of the loop's directory"]);
    assert_eq!(warnings(&value(MULTI), MULTI_PATH), [""; 0]);
}

#[test]
fn without_a_loop_the_directory_names_it() {
    for none in [Some(json!(null)), None] {
        let document = with(&value(MULTI), "/loop_id", none);
        let entry = entry(&document, MULTI_PATH);
        assert_eq!(entry.series.unwrap().as_str(), "loop:ralph-fix-tests-a1b2c3d4");
        let warning = "loop_id is missing: it is taken from the directory of the loop";
        assert_eq!(entry.warnings, [warning]);
        assert_eq!(self::entry(&document, "x.json").loop_id, None);
        assert_eq!(warnings(&document, "x.json"), [""; 0]);
    }
}

#[test]
fn only_a_number_is_an_issue() {
    for (issue, expected) in [("#268", Some("268")), ("268", None), ("#TBD", None), ("#", None)] {
        let document = with(&value(MULTI), "/state/variables/current_issue", Some(json!(issue)));
        let issue = entry(&document, MULTI_PATH).issue;
        assert_eq!(issue.as_ref().map(waypost::Issue::as_str), expected);
    }
}

#[test]
fn what_identifies_a_checkpoint_must_be_there() {
    for pointer in ["/checkpoint_id", "/workflow_id", "/state/phase", "/state"] {
        assert_eq!(told(&with(&value(MULTI), pointer, None), "x.json"), None, "{pointer}");
    }
    let bare = with(&value(MULTI), "/state/progress", None);
    assert_eq!(entry(&bare, MULTI_PATH).status, Status::Unknown);
    assert_eq!(told(&with(&bare, "/state/artifacts", None), "x.json"), None);
}

#[test]
fn tags_and_days_are_kept() {
    let mut document = value(MULTI);
    document["metadata"]["tags"] = json!(["keep", "a\u{7}b", 3, {}]);
    document["metadata"]["retention_days"] = json!(u64::MAX);
    let entry = entry(&document, MULTI_PATH);
    assert_eq!(entry.tags.into_iter().collect::<Vec<_>>(), ["3", "keep"]);
    assert_eq!(entry.retention_days, Some(u32::MAX));
    assert_eq!(entry.warnings, ["metadata.tags has a control character and is left out"]);
}

#[test]
fn a_capture_of_the_external_loop_is_periodic() {
    let path = "p/.aiwg/ralph-external/iterations/007/checkpoints/003-checkpoint.json";
    insta::assert_snapshot!(fixture_at("aiwg/loops/003-checkpoint.json", path), @"
    layout: aiwg
    series: p/ralph-external
    session_id: 6f0c2f7a-1111-4222-8333-944445555666
    trigger: periodic
    step: 3
    iteration: 7
    status: unknown
    created_at: 2026-11-16T02:19:08.874000Z
    ");
}

#[test]
fn loops_are_read_in_both_spellings() {
    insta::assert_snapshot!(fixture_at("aiwg/loops/current-loop.json", LOOP), @"
    layout: aiwg
    series: current-loop
    trigger: unknown
    iteration: 0
    status: in_progress
    created_at: 2026-11-30T00:00:00Z
    ");
    insta::assert_snapshot!(fixture_at("aiwg/loops/current-loop-issue.json", LOOP), @"
    layout: aiwg
    series: loop:ralph-regression-testing-2026-01-28
    issue: 254
    loop_id: ralph-regression-testing-2026-01-28
    trigger: unknown
    iteration: 2
    status: in_progress
    created_at: 2026-11-30T00:00:00Z
    warning: id is not like ralph-SLUG-0123abcd
    ");
    let camel = json!({
        "loopId": "ralph-fix-a1b2c3d4", "task": "Fix", "currentIteration": 3, "status": "running",
        "startTime": "2026-01-25T12:00:00.000Z", "lastUpdate": "2026-01-25T13:00:00.000Z",
        "currentPhase": "build", "sessionId": "s",
    });
    let path = ".aiwg/ralph/loops/ralph-fix-a1b2c3d4/state.json";
    insta::assert_snapshot!(described(&entry(&camel, path)), @"
    layout: aiwg
    series: loop:ralph-fix-a1b2c3d4
    loop_id: ralph-fix-a1b2c3d4
    session_id: s
    trigger: unknown
    phase: build
    iteration: 3
    status: in_progress
    created_at: 2026-01-25T13:00:00Z
    updated_at: 2026-01-25T13:00:00Z
    ");
    let session = json!({"loopId": "0d6f7f5e", "objective": "Fix", "status": "ABORTED"});
    let path = ".aiwg/ralph-external/session-state.json";
    insta::assert_snapshot!(described(&entry(&session, path)), @"
    layout: aiwg
    series: loop:0d6f7f5e
    loop_id: 0d6f7f5e
    trigger: unknown
    status: failed
    created_at: 2026-11-30T00:00:00Z
    warning: loopId is not like ralph-SLUG-0123abcd
    ");
}

/// AIWG's recovery reads only this form, which is the state of a loop.
#[test]
fn the_form_of_the_reader_tells_iteration_and_time_by_its_name() {
    let state = json!({"loopId": "ralph-fix-a1b2c3d4", "currentIteration": 3, "status": "running"});
    let path =
        ".aiwg/ralph/loops/ralph-fix-a1b2c3d4/checkpoints/checkpoint-3-1771079400123.json.gz";
    insta::assert_snapshot!(described(&entry(&state, path)), @"
    layout: aiwg
    series: loop:ralph-fix-a1b2c3d4
    loop_id: ralph-fix-a1b2c3d4
    trigger: iteration
    phase: running
    iteration: 3
    status: in_progress
    created_at: 2026-02-14T14:30:00.123000Z
    ");
}

/// The start of a loop is not the time of its state.
#[test]
fn the_time_of_a_loop_is_that_of_its_last_change() {
    let mut document = value("aiwg/loops/current-loop.json");
    document["completed_at"] = json!("2026-01-25T04:15:00Z");
    let ended = entry(&document, LOOP);
    assert_eq!(ended.created_at, Some("2026-01-25T04:15:00Z".parse().unwrap()));
    assert_eq!(ended.updated_at, None);
    document["lastUpdate"] = json!("2026-01-25T04:20:00Z");
    let updated = entry(&document, LOOP);
    assert_eq!(updated.created_at, Some("2026-01-25T04:20:00Z".parse().unwrap()));
    assert_eq!(updated.updated_at, updated.created_at);
}

#[test]
fn a_loop_is_active_or_nobody_knows() {
    let bare = with(&value("aiwg/loops/current-loop.json"), "/status", None);
    assert_eq!(entry(&bare, LOOP).status, Status::Unknown);
    assert_eq!(entry(&with(&bare, "/active", Some(json!(true))), LOOP).status, Status::InProgress);
    let other = with(&bare, "/issue", Some(json!("#TBD")));
    assert_eq!(entry(&other, LOOP).issue, None);
    // In the directory of a loop the file needs no id of its own.
    let path = ".aiwg/ralph/loops/ralph-fix-a1b2c3d4/state.json";
    assert_eq!(entry(&bare, path).series.unwrap().as_str(), "loop:ralph-fix-a1b2c3d4");
    let other = with(&bare, "/id", Some(json!("ralph-other-a1b2c3d4")));
    assert_eq!(warnings(&other, path), ["loop_id is not the name of the loop's directory"]);
    assert_eq!(told(&with(&bare, "/task", None), LOOP), None);
}
