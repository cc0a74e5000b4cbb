//! Checkpoints of claude-crunch, with and without their index.

use serde_json::{Value, json};
use waypost::layouts::crunch::Index;
use waypost::layouts::{Place, from_yaml, recognise};
use waypost::{NewEntry, Status, Trigger};

use super::super::{typed, with};
use super::{described, document, entry, fixture, fixture_at, place, told};

const PATH: &str = ".claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml";

fn example() -> Value {
    json!({
        "checkpoint_id": "CP-enrich-20250114-a3f2",
        "created_at": "2025-01-14T10:00:00Z",
        "issue_number": 42,
        "session_id": "s-1",
        "workflow_state": {"current_phase": "enrich", "phase_attempt": 2},
        "issue_snapshot": {"title": "Issue title"},
        "execution_graph": {"current_batch": 3},
        "recovery_info": {"can_resume": true, "resume_from": "batch_3_task_1", "warnings": ["w"]},
    })
}

fn index() -> Index {
    from_yaml(&fixture("crunch/index.yaml")).unwrap()
}

fn indexed(json: &Value, path: &str, index: &Index) -> NewEntry {
    recognise(&document(json), &Place { index: Some(index), ..place(path) }).unwrap()
}

#[test]
fn the_index_alone_knows_the_trigger() {
    insta::assert_snapshot!(described(&entry(&example(), PATH)), @"
    layout: crunch
    id: CP-enrich-20250114-a3f2
    series: issue:42
    issue: 42
    session_id: s-1
    trigger: unknown
    phase: enrich
    step: batch_3
    iteration: 2
    status: in_progress
    created_at: 2025-01-14T10:00:00Z
    can_resume: true
    resume_from: batch_3_task_1
    warning: w
    ");
    assert_eq!(indexed(&example(), PATH, &index()).trigger, Trigger::PhaseTransition);
    for (word, expected) in [
        ("batch_start", Trigger::BatchStart),
        ("session_end", Trigger::SessionEnd),
        ("every_10_minutes", "every_10_minutes".parse().unwrap()),
        ("Before Batch", "before_batch".parse().unwrap()),
    ] {
        let changed = with(
            &serde_json::to_value(index()).unwrap(),
            "/checkpoints/0/trigger",
            Some(json!(word)),
        );
        let entry = indexed(&example(), PATH, &typed(&changed));
        assert_eq!((entry.trigger, entry.warnings), (expected, vec!["w".to_owned()]), "{word}");
    }
    let changed = with(
        &serde_json::to_value(index()).unwrap(),
        "/checkpoints/0/trigger",
        Some(json!("\u{e9}")),
    );
    let entry = indexed(&example(), PATH, &typed(&changed));
    assert_eq!(entry.trigger, Trigger::Unknown);
    assert_eq!(
        entry.warnings[0],
        "trigger of the index cannot be the name of a trigger and is left out"
    );
}

/// The template has the names of things where values go.
#[test]
fn both_eras_are_read() {
    insta::assert_snapshot!(fixture_at("crunch/CP-template.json", PATH), @"
    layout: crunch
    id: CP-{phase}-{timestamp}-{hash}
    series: issue:42
    issue: 42
    session_id: {session_uuid}
    trigger: unknown
    phase: enrich|ready|implementing|validation|docs
    step: batch_3
    iteration: 1
    status: in_progress
    created_at: 2026-11-30T00:00:00Z
    can_resume: true
    resume_from: batch_3_task_1
    warning: created_at is no time and is left out
    ");
}

#[test]
fn what_the_checkpoint_lacks_comes_from_index_name_and_directory() {
    let mut bare = example();
    for key in ["created_at", "issue_number", "recovery_info"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    bare["workflow_state"] = json!({});
    let entry = indexed(&bare, PATH, &index());
    insta::assert_snapshot!(described(&entry), @"
    layout: crunch
    id: CP-enrich-20250114-a3f2
    series: issue:42
    issue: 42
    session_id: s-1
    trigger: phase_transition
    phase: enrich
    step: batch_3
    status: in_progress
    created_at: 2025-01-14T10:00:00Z
    can_resume: true
    ");
    // Without an index the id has the phase and the day.
    insta::assert_snapshot!(described(&self::entry(&bare, PATH)), @"
    layout: crunch
    id: CP-enrich-20250114-a3f2
    series: issue:42
    issue: 42
    session_id: s-1
    trigger: unknown
    phase: enrich
    step: batch_3
    status: unknown
    created_at: 2025-01-14T00:00:00Z
    warning: the time in checkpoint_id has no time of day and is taken as midnight UTC
    ");
    // Without an id the name of the file leads to the entry of the index.
    let nameless = with(&bare, "/checkpoint_id", None);
    let entry = indexed(&nameless, PATH, &index());
    assert_eq!((entry.id, entry.trigger), (None, Trigger::PhaseTransition));
}

#[test]
fn a_graph_has_two_names_and_an_id_many_forms() {
    let mut other = with(&example(), "/execution_graph", None);
    other["graph_state"] = json!({"current_batch": "4"});
    other["checkpoint_id"] = json!("CP-before-batch-1");
    let entry = entry(&other, "x.yaml");
    assert_eq!(entry.step.as_deref(), Some("batch_4"));
    assert_eq!(entry.id.unwrap().as_str(), "CP-before-batch-1");
    assert_eq!(entry.series.unwrap().as_str(), "issue:42");
}

#[test]
fn a_status_is_known_only_if_something_says_so() {
    let bare = with(&example(), "/recovery_info", None);
    assert_eq!(entry(&bare, PATH).status, Status::Unknown);
    let done = with(&bare, "/workflow_state/current_phase", Some(json!("done")));
    assert_eq!(entry(&done, PATH).status, Status::Completed);
    assert_eq!(entry(&with(&bare, "/status", Some(json!("paused"))), PATH).status, Status::Paused);
    assert_eq!(entry(&example(), PATH).status, Status::InProgress);
}

#[test]
fn content_or_place_make_it_one() {
    assert_eq!(told(&json!({"checkpoint_id": "CP-1"}), "x.yaml"), None);
    let by_content = json!({"checkpoint_id": "CP-1", "issue_snapshot": {}});
    assert_eq!(entry(&by_content, "x.yaml").series.unwrap().as_str(), "crunch");
    let by_place = json!({"issue_number": 42, "P3": "done"});
    assert_eq!(told(&by_place, "x.yaml"), None);
    assert_eq!(entry(&by_place, PATH).series.unwrap().as_str(), "issue:42");
    assert_eq!(told(&json!({"messages": []}), PATH), None);
    let elsewhere = entry(&example(), "b/.claude/crunch/7/checkpoints/x.yml");
    assert_eq!(elsewhere.series.unwrap().as_str(), "b/issue:42");
    assert!(elsewhere.warnings.contains(&"issue_number is not that of the directory".to_owned()));
}

#[test]
fn models_append_keys_and_the_last_one_counts() {
    let yaml = b"{\"checkpoint_id\": \"CP-1\", \"issue_number\": 1, \"issue_snapshot\": {}, \
                 \"issue_number\": \"#43\"}";
    let document = waypost::Document::from_json(yaml).unwrap();
    let entry = recognise(&document, &place("x.json")).unwrap();
    assert_eq!(entry.issue.unwrap().as_str(), "43");
}
