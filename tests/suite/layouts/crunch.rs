//! Checkpoints and indexes of claude-crunch, in YAML and in JSON.

use std::fs;

use serde_json::{Value, json};
use waypost::layouts::crunch::{Index, IssueCheckpoint, IssueCheckpointId, Phase};
use waypost::layouts::{Field, from_yaml};

use super::{comes_back, fixtures, printed, typed, with};

/// A checkpoint with all that resuming asks for.
fn example() -> Value {
    json!({
        "checkpoint_id": "CP-enrich-20250114-a3f2",
        "version": "1.0",
        "created_at": "2025-01-14T10:00:00Z",
        "issue_number": 42,
        "workflow_state": {"current_phase": "enrich", "phase_attempt": 1},
        "issue_snapshot": {"title": "Issue title", "labels": ["state:enrich"]},
        "execution_graph": {"current_batch": 3, "node_states": {"a/b": {"status": "running"}}},
        "recovery_info": {"can_resume": true, "resume_from": "batch_3_task_1"},
    })
}

fn index() -> Value {
    serde_json::to_value(comes_back::<Index>("crunch", "index").remove(0)).unwrap()
}

fn problems(document: &Value) -> Vec<String> {
    printed(&typed::<IssueCheckpoint>(document).validate())
}

fn index_problems(document: &Value) -> Vec<String> {
    printed(&typed::<Index>(document).validate())
}

fn named(id: &str, created_at: &str) -> IssueCheckpoint {
    let document = with(&example(), "/checkpoint_id", Some(json!(id)));
    typed(&with(&document, "/created_at", Some(json!(created_at))))
}

/// The template has the names of things where values go.
#[test]
fn yaml_and_json_say_the_same() {
    let json = comes_back::<IssueCheckpoint>("crunch", "CP").remove(0);
    let yaml = fs::read(&fixtures("crunch", "CP", ".yaml")[0]).unwrap();
    assert_eq!(from_yaml::<IssueCheckpoint>(&yaml).unwrap(), json);
    let fields: Vec<_> = json.validate().into_iter().map(|problem| problem.field).collect();
    let expected =
        ["/created_at", "/workflow_state/current_phase", "/workflow_state/phase_started_at"];
    assert_eq!(fields, expected);

    let json = comes_back::<Index>("crunch", "index").remove(0);
    let yaml = fs::read(&fixtures("crunch", "index", ".yaml")[0]).unwrap();
    assert_eq!(from_yaml::<Index>(&yaml).unwrap(), json);
    assert_eq!(printed(&json.validate()), [""; 0]);
}

/// Models leave quotes out, and append keys that stand there already.
#[test]
fn yaml_is_read_as_models_write_it() {
    let yaml = b"version: 1.0\ncreated_at: 2025-01-14T10:00:00Z\nissue_number: '42'\n\
                 execution_graph:\n  node_states:\n    1: {status: complete}\n\
                 issue_number: 43\nP3: done\n";
    let checkpoint: IssueCheckpoint = from_yaml(yaml).unwrap();
    assert_eq!(checkpoint.version.value().unwrap().to_string(), "1.0");
    assert_eq!(checkpoint.created_at.value().unwrap(), "2025-01-14T10:00:00Z");
    assert_eq!(checkpoint.issue_number.value().unwrap().as_i64(), Some(43));
    assert!(checkpoint.graph().unwrap().node_states.value().unwrap().contains_key("1"));
    assert_eq!(checkpoint.other["P3"], "done");
}

#[test]
fn what_is_not_of_its_kind_is_named() {
    for (yaml, message) in [
        ("a: [", "invalid document: line 1 column 4"),
        ("{}: 1", "invalid document: line 1 column 1: a key that is not text"),
        ("issue_snapshot: [1]", "invalid document at /issue_snapshot: found array"),
        ("issue_number: []", "invalid document at /issue_number: found array, expected a number"),
    ] {
        let error = from_yaml::<IssueCheckpoint>(yaml.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn every_rule_names_its_field() {
    assert_eq!(problems(&example()), [""; 0]);
    for pointer in [
        "/checkpoint_id",
        "/version",
        "/created_at",
        "/issue_number",
        "/workflow_state",
        "/workflow_state/current_phase",
        "/issue_snapshot",
        "/execution_graph",
        "/recovery_info",
        "/recovery_info/can_resume",
        "/recovery_info/resume_from",
    ] {
        assert_eq!(problems(&with(&example(), pointer, None)), [format!("{pointer}: is required")]);
    }
    for (pointer, value, rule) in [
        ("/checkpoint_id", json!("enrich-1"), "must start with CP-"),
        ("/version", json!("2.0"), "must be 1.0"),
        ("/created_at", json!("ISO-8601"), "must be a time like 2026-01-25T15:00:00Z"),
        ("/issue_number", json!("PROJ-1"), "must be a whole number"),
        ("/issue_number", json!(0), "must be 1 or more"),
        (
            "/workflow_state/current_phase",
            json!("lunch"),
            "must be one of enrich, ready, implementing, validation, docs, e2e, input, backlog, \
             ready-to-merge, done",
        ),
        ("/workflow_state/phase_attempt", json!(0), "must be 1 or more"),
        ("/execution_graph/current_batch", json!("last"), "must be a whole number"),
        (
            "/execution_graph/node_states/a~1b/status",
            json!("lost"),
            "must be one of pending, queued, running, complete, failed, skipped",
        ),
        ("/recovery_info/resume_from", json!(""), "must not be empty"),
    ] {
        let changed = match pointer.strip_suffix("a~1b/status") {
            Some(parent) => {
                let states = json!({"a/b": {"status": value}});
                with(&example(), parent.trim_end_matches('/'), Some(states))
            }
            None => with(&example(), pointer, Some(value)),
        };
        assert_eq!(problems(&changed), [format!("{pointer}: {rule}")]);
    }
}

#[test]
fn the_graph_has_two_names_and_is_kept_under_its_own() {
    let mut document = example();
    let graph = document.as_object_mut().unwrap().remove("execution_graph").unwrap();
    document["graph_state"] = graph;
    let checkpoint: IssueCheckpoint = typed(&document);
    assert_eq!(printed(&checkpoint.validate()), [""; 0]);
    assert_eq!(checkpoint.graph().unwrap().current_batch.value().unwrap().as_i64(), Some(3));
    assert_eq!(serde_json::to_value(&checkpoint).unwrap(), document);
}

#[test]
fn ids_are_taken_apart_from_the_right() {
    for (text, phase, date, hash) in [
        ("CP-enrich-20250114-a3f2", Some("enrich"), "20250114", "a3f2"),
        ("CP-20250114-a3f2", None, "20250114", "a3f2"),
        (
            "CP-ready-to-merge-20250114T101530-a3f2b4",
            Some("ready-to-merge"),
            "20250114T101530",
            "a3f2b4",
        ),
        ("CP-e2e-20250114101530-0000", Some("e2e"), "20250114101530", "0000"),
    ] {
        let id: IssueCheckpointId = text.parse().unwrap();
        let (date, hash) = (date.to_owned(), hash.to_owned());
        assert_eq!(id, IssueCheckpointId { phase: phase.map(str::to_owned), date, hash });
        assert_eq!(id.to_string(), text);
    }
    for opaque in [
        "CP-before-batch-1",
        "CP-enrich-20250114-A3F2",
        "CP-enrich-2025011-a3f2",
        "CP--20250114-a3f2",
        "",
    ] {
        assert!(opaque.parse::<IssueCheckpointId>().is_err(), "{opaque}");
    }
}

#[test]
fn an_index_is_made_of_the_checkpoints_and_keeps_why_they_were_saved() {
    let before: Index = typed(&index());
    let first = named("CP-enrich-20250114-a3f2", "2025-01-14T10:00:00Z");
    let second = named("CP-enrich-20250114-b4c5", "2025-01-14T10:30:00Z");
    let made = Index::of(&[second.clone(), first.clone()], Some(&before));
    assert_eq!(made, before);

    // By time and not by text: this one is half an hour before the second.
    let third = named("CP-enrich-20250114-c6d7", "2025-01-14T11:00:00+01:00");
    let made = Index::of(&[first, second, third], Some(&before));
    assert_eq!(made.latest.value().unwrap(), "CP-enrich-20250114-b4c5");
    assert_eq!(made.total_checkpoints.value().unwrap().as_i64(), Some(3));
    let unknown = made.get("CP-enrich-20250114-c6d7").unwrap();
    assert_eq!(unknown.trigger.value().unwrap().as_str(), "unknown");
    assert_eq!(made.validate().len(), 1);

    let none = Index::of(&[], None);
    assert_eq!((none.latest, none.checkpoints), (Field::Null, Field::Value(Vec::new())));
}

#[test]
fn every_rule_of_the_index_names_its_field() {
    for pointer in [
        "/issue_number",
        "/total_checkpoints",
        "/latest",
        "/checkpoints/0/checkpoint_id",
        "/checkpoints/0/created_at",
        "/checkpoints/0/trigger",
        "/checkpoints/0/phase",
        "/checkpoints/0/can_resume",
    ] {
        let found = index_problems(&with(&index(), pointer, None));
        assert_eq!(found, [format!("{pointer}: is required")]);
    }
    for (pointer, value, rule) in [
        ("/total_checkpoints", json!(3), "must be the number of checkpoints in the list"),
        ("/latest", json!("CP-enrich-20250114-a3f2"), "must be the newest of the list"),
        ("/latest", json!("CP-gone"), "must be the newest of the list"),
        ("/checkpoints/0/checkpoint_id", json!("CP-enrich-20250114-b4c5"), ""),
        (
            "/checkpoints/1/trigger",
            json!("whim"),
            "must be one of phase_transition, batch_complete, agent_complete, conflict_start, \
             conflict_resolved, user_interrupt, session_end, manual, batch_start",
        ),
    ] {
        let expected = match rule {
            "" => "/checkpoints/1/checkpoint_id: must be unique".to_owned(),
            rule => format!("{pointer}: {rule}"),
        };
        assert_eq!(index_problems(&with(&index(), pointer, Some(value))), [expected]);
    }
}

#[test]
fn a_new_checkpoint_lacks_only_what_the_workflow_knows() {
    let id: IssueCheckpointId = "CP-enrich-20250114-a3f2".parse().unwrap();
    let checkpoint = IssueCheckpoint::new(&id, 42, Phase::Enrich, "2025-01-14T10:00:00Z");
    let missing = ["/issue_snapshot", "/execution_graph", "/recovery_info/resume_from"];
    assert_eq!(
        printed(&checkpoint.validate()),
        missing.map(|field| format!("{field}: is required"))
    );
    assert!(checkpoint.can_resume());
}
