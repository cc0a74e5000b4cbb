//! What is written as `.claude/data/checkpoints`, judged as the scripts do before they resume.

use serde_json::{Value, json};
use waypost::layouts::{LayoutFile, Schema, Writing, file_as, file_with};
use waypost::{Entry, Layout, Status};

use super::{complaints, document, entry, printed, state};

fn with(more: &Value) -> Value {
    let (mut state, Value::Object(more)) = (state(), more.clone()) else { unreachable!() };
    state.as_object_mut().unwrap().extend(more);
    state
}

fn value(file: &LayoutFile) -> Value {
    serde_json::to_value(&file.document).unwrap()
}

/// Why the scripts would ask before they resume. They read these fields at the top and nowhere
/// else; a missing test result counts as passed, a missing or false error as none.
fn unsafe_because(file: &LayoutFile) -> Option<&'static str> {
    let value = value(file);
    let tests = match &value["tests_passing"] {
        Value::Null => "true".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if tests != "true" {
        return Some("tests");
    }
    if !matches!(value["last_error"], Value::Null | Value::Bool(false)) {
        return Some("error");
    }
    (value["status"] != "in_progress").then_some("status")
}

fn native(entry: &Entry, more: &Value) -> LayoutFile {
    let file = file_as(Layout::Claude, entry, &document(&with(more))).unwrap();
    assert_eq!(printed(&complaints(Layout::Claude, &file)), [""; 0]);
    file
}

/// Each of these was exported so that the scripts resumed it without asking.
#[test]
fn what_has_failed_does_not_look_safe() {
    let entry = entry(Layout::Claude);
    assert_eq!(unsafe_because(&native(&entry, &json!({}))), None);
    for (more, reason) in [
        (json!({"last_error": "boom"}), "error"),
        (json!({"last_error": {"code": 7}}), "error"),
        (json!({"error": "boom"}), "error"),
        (json!({"workflow_state": {"last_error": "boom"}}), "error"),
        (json!({"tests_passing": false}), "tests"),
        (json!({"tests_passing": "false"}), "tests"),
        (json!({"workflow_state": {"tests_passing": false}}), "tests"),
        (json!({"status": "failed"}), "status"),
        (json!({"status": "ABORTED"}), "status"),
        (json!({"status": "completed"}), "status"),
    ] {
        assert_eq!(unsafe_because(&native(&entry, &more)), Some(reason), "{more}");
    }
    for status in [Status::Failed, Status::Archived, Status::Completed, Status::Paused] {
        let mut ended = entry.clone();
        ended.status = status;
        assert_eq!(unsafe_because(&native(&ended, &json!({}))), Some("status"), "{status}");
    }
    for more in [json!({"last_error": null}), json!({"last_error": false, "tests_passing": true})] {
        assert_eq!(unsafe_because(&native(&entry, &more)), None, "{more}");
    }
}

#[test]
fn the_error_of_another_system_is_the_error() {
    let mut entry = entry(Layout::Claude);
    (entry.layout, entry.status) = (Layout::Agentize, Status::Failed);
    let state = json!({"version": 2, "timestamp": "2026-02-02T21:05:00+00:00", "state": {
        "issue_no": 42, "current_stage": "fatal", "iteration": 2, "worktree": "/tree",
        "last_feedback": "no disk left\nsecond line"}});
    let file = file_as(Layout::Claude, &entry, &document(&state)).unwrap();
    assert_eq!(value(&file)["last_error"], "no disk left");
    assert_eq!(value(&file)["status"], "failed");
    assert!(file.path.starts_with(".claude/data/checkpoints/failed/"), "{}", file.path);
}

#[test]
fn a_document_that_has_ended_counts_against_an_entry_that_nobody_marked() {
    let mut entry = entry(Layout::Claude);
    let file = native(&entry, &json!({"status": "failed"}));
    assert_eq!(value(&file)["status"], "failed");
    assert_eq!(file.notes, ["is in_progress, its document says failed: written as failed"]);
    entry.status = Status::Completed;
    let file = native(&entry, &json!({"status": "failed"}));
    assert_eq!((value(&file)["status"].as_str(), file.notes), (Some("completed"), Vec::new()));
}

#[test]
fn phases_are_lifted_if_they_are_numbers() {
    let entry = entry(Layout::Claude);
    let phases = |more: Value| value(&native(&entry, &more))["completed_phases"].clone();
    assert_eq!(phases(json!({"completed_phases": [1, "2"]})), json!([1, "2"]));
    assert_eq!(phases(json!({"workflow_state": {"completed_phases": [1]}})), json!([1]));
    for more in [
        json!({"completed_phases": ["research"]}),
        json!({"completed_phases": 2}),
        json!({"completed_phases": [9], "total_phases": 5}),
    ] {
        assert_eq!(phases(more.clone()), Value::Null, "{more}");
        assert_eq!(native(&entry, &more).notes.len(), 1, "{more}");
    }
    assert!(native(&entry, &json!({})).notes.is_empty());
}

/// The scripts look in one directory, which moved when the schema was 1.2.
#[test]
fn each_version_lies_where_its_scripts_look() {
    for version in Schema::versions(Layout::Claude) {
        let schema = Some(Schema::new(Layout::Claude, version).unwrap());
        let writing = Writing { schema, ..Writing::default() };
        let entry = entry(Layout::Claude);
        let file = file_with(Layout::Claude, &entry, &document(&state()), writing).unwrap();
        let is_new = !["none", "1.0", "1.1"].contains(version);
        assert_eq!(file.path.starts_with(".claude/data/checkpoints/r"), is_new, "{}", file.path);
        assert_eq!(file.path.starts_with(".claude/checkpoints/r"), !is_new, "{}", file.path);
        let said = value(&file)["schema_version"].as_str().map(str::to_owned);
        assert_eq!(said.as_deref(), Some(*version).filter(|version| *version != "none"));
        assert_eq!(printed(&complaints(Layout::Claude, &file)), [""; 0]);
        assert!(file.added.is_empty(), "a file that is made is not migrated");
    }
    let file = file_as(Layout::Claude, &entry(Layout::Claude), &document(&state())).unwrap();
    assert_eq!(value(&file)["schema_version"], "2.1");
}

/// The fields at the top of a file that `save_checkpoint` of schema 2.1 wrote.
#[test]
fn the_newest_version_has_the_fields_that_its_scripts_write() {
    let text = include_str!("../../../fixtures/layouts/claude/schema-2.1.json");
    let theirs: Value = serde_json::from_str(text).unwrap();
    let ours = value(&native(
        &entry(Layout::Claude),
        &json!({"workflow_description": "x", "total_phases": 3, "completed_phases": [],
            "tests_passing": true, "plan_modification_time": 1_760_000_000, "replanning_count": 4,
            "replan_history": "no list", "topic_number": 7}),
    ));
    for key in theirs.as_object().unwrap().keys().filter(|key| *key != "updated_at") {
        assert!(ours.get(key).is_some(), "{key}");
    }
    assert_eq!((&ours["replanning_count"], &ours["topic_number"]), (&json!(4), &json!(7)));
    assert_eq!(ours["replan_history"], json!([]), "the value of a wrong type stays in the state");
    assert_eq!(ours["metadata"]["checkpoint_id"], ours["checkpoint_id"]);
    assert_eq!(ours["state_machine"], Value::Null);
}
