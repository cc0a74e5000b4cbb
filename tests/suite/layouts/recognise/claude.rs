//! `.claude/checkpoints`, through all versions of its schema.

use serde_json::json;
use waypost::Status;

use super::super::with;
use super::{described, entry, fixture_at, told, value};

const PATH: &str = ".claude/checkpoints/implement_dark_mode_20261116_021755.json";
const EXAMPLE: &str = "claude/schema-1.2.json";

#[test]
fn every_schema_is_read() {
    insta::assert_snapshot!(fixture_at("claude/schema-none.json", PATH), @"
    layout: claude
    id: orchestrate_auth_system_20261116_021755
    series: orchestrate:auth_system
    workflow_type: orchestrate
    trigger: unknown
    phase: 2
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:55Z
    updated_at: 2026-11-16T02:17:55Z
    ");
    insta::assert_snapshot!(fixture_at(EXAMPLE, PATH), @"
    layout: claude
    id: implement_dark_mode_20261116_021755
    series: implement:dark_mode
    workflow_type: implement
    trigger: unknown
    phase: 2
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:55Z
    updated_at: 2026-11-16T02:17:55Z
    ");
    insta::assert_snapshot!(fixture_at("claude/schema-1.2-replanned.json", PATH), @"
    layout: claude
    id: implement_dark_mode_20261116_021755
    series: implement:dark_mode
    workflow_type: implement
    trigger: unknown
    phase: 3
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:55Z
    updated_at: 2026-11-16T02:17:55Z
    ");
    insta::assert_snapshot!(fixture_at("claude/schema-2.1.json", PATH), @"
    layout: claude
    id: implement_dark_mode_20261116_021756
    series: implement:dark_mode
    workflow_type: implement
    trigger: unknown
    phase: 2
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:56Z
    updated_at: 2026-11-16T02:17:56Z
    ");
    insta::assert_snapshot!(fixture_at("claude/migrated-to-2.1.json", PATH), @"
    layout: claude
    id: orchestrate_auth_system_20261116_021755
    series: orchestrate:auth_system
    workflow_type: orchestrate
    trigger: unknown
    phase: plan
    step: 2
    iteration: 1
    status: in_progress
    created_at: 2026-11-16T02:17:55Z
    updated_at: 2026-11-16T02:17:55Z
    ");
}

/// A script writes the phase as a text.
#[test]
fn a_phase_in_quotes_is_a_phase() {
    let document = value("claude/schema-1.2-set-field.json");
    assert_eq!(document["current_phase"], json!("3"));
    assert_eq!(entry(&document, PATH).phase.as_deref(), Some("3"));
}

#[test]
fn its_relatives_are_read() {
    let path =
        ".claude/data/checkpoints/parallel_ops/parallel_expand_022_auth_20261116_021756.json";
    insta::assert_snapshot!(fixture_at("claude/parallel-operations.json", path), @"
    layout: claude
    id: parallel_expand_022_auth_20261116_021756
    series: parallel:022_auth
    trigger: pre_risky_op
    phase: pre_execution
    step: expand
    status: in_progress
    created_at: 2026-11-16T02:17:56Z
    ");
    let path = "home/.claude/data/checkpoints/build_build_1732212345_iteration_2.json";
    insta::assert_snapshot!(fixture_at("claude/build-iteration.json", path), @"
    layout: claude
    series: home/workflow:build_1732212345
    workflow_id: build_1732212345
    trigger: context_threshold
    iteration: 2
    status: in_progress
    created_at: 2026-11-16T02:17:56Z
    ");
}

#[test]
fn why_a_build_halted_is_its_trigger() {
    for (halted, left, trigger, status) in [
        (json!("completion"), json!(null), "completion", Status::Completed),
        (json!("error"), json!("Phase 3"), "error", Status::Failed),
        (json!("user_abort"), json!(["Phase 3"]), "user_abort", Status::InProgress),
        (json!("max_iterations"), json!([]), "max_iterations", Status::Unknown),
        (json!(null), json!(""), "unknown", Status::Unknown),
    ] {
        let document = value("claude/build-iteration.json");
        let document = with(&document, "/halt_reason", Some(halted));
        let entry = entry(&with(&document, "/work_remaining", Some(left)), PATH);
        assert_eq!((entry.trigger.as_str(), entry.status), (trigger, status));
    }
}

#[test]
fn every_spelling_of_a_status_is_known() {
    for (word, expected) in [
        ("running", Status::InProgress),
        ("in_progress", Status::InProgress),
        ("IN_PROGRESS", Status::InProgress),
        ("completed", Status::Completed),
        ("complete", Status::Completed),
        ("COMPLETED", Status::Completed),
        ("SUCCESS", Status::Completed),
        ("ABORTED", Status::Failed),
        ("whim", Status::Unknown),
    ] {
        let document = with(&value(EXAMPLE), "/status", Some(json!(word)));
        assert_eq!(entry(&document, PATH).status, expected, "{word}");
    }
    assert_eq!(entry(&with(&value(EXAMPLE), "/status", None), PATH).status, Status::Unknown);
}

/// It kept the status that it says, and was offered to go on from.
#[test]
fn what_lies_in_the_directory_of_failures_is_archived_whatever_it_says() {
    let path = ".claude/checkpoints/failed/implement_dark_mode_20261116_021755.json";
    for word in ["in_progress", "failed", "completed", "paused"] {
        let document = with(&value(EXAMPLE), "/status", Some(json!(word)));
        let entry = entry(&document, path);
        assert_eq!((entry.status, entry.warnings.len()), (Status::Archived, 0), "{word}");
    }
}

#[test]
fn project_and_time_come_from_the_next_best_place() {
    let bare = with(&with(&value(EXAMPLE), "/project_name", None), "/created_at", None);
    let bare = with(&bare, "/workflow_state", Some(json!({"project_name": "inner"})));
    let entry = entry(&bare, "a/b/.claude/checkpoints/x.json");
    assert_eq!(entry.series.unwrap().as_str(), "a/b/implement:inner");
    assert_eq!(entry.created_at, Some("2026-11-16T02:17:55Z".parse().unwrap()));
    let bare = with(&bare, "/workflow_state", Some(json!({})));
    assert_eq!(self::entry(&bare, "x.json").series.unwrap().as_str(), "implement:dark_mode");
    let bare = with(&bare, "/checkpoint_id", Some(json!("x")));
    assert_eq!(self::entry(&bare, "x.json").series.unwrap().as_str(), "implement");
    assert_eq!(self::entry(&bare, PATH).series.unwrap().as_str(), "implement:dark_mode");
}

#[test]
fn what_identifies_a_checkpoint_must_be_there() {
    for pointer in ["/checkpoint_id", "/workflow_type", "/workflow_state"] {
        assert_eq!(told(&with(&value(EXAMPLE), pointer, None), "x.json"), None, "{pointer}");
    }
    let newer = with(&value(EXAMPLE), "/schema_version", Some(json!(2.2)));
    assert!(
        described(&entry(&newer, PATH)).contains("warning: schema_version is none that is known")
    );
}
