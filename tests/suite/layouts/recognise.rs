//! What files of the five systems say about themselves, and which files are not theirs.
//!
//! Covers files of each system, text that is none, and random files.

mod agentize;
mod aiwg;
mod claude;
mod crunch;
mod pipeline;
mod property;
mod text;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use waypost::layouts::{Place, Problem, check, from_json, recognise, unrecognised};
use waypost::{Document, Layout, NewEntry, Series, Timestamp};

/// The bytes of a file below the fixtures of layouts.
fn fixture(name: &str) -> Vec<u8> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts");
    fs::read(directory.join(name)).unwrap()
}

fn document(json: &Value) -> Document {
    Document::from_json(json.to_string().as_bytes()).unwrap()
}

fn value(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).unwrap()
}

/// What a document at a path says about itself; the file is of 2026-11-30.
fn told(json: &Value, path: &str) -> Option<NewEntry> {
    recognise(&document(json), &place(path))
}

fn place(path: &str) -> Place<'_> {
    Place { path, modified_at: Some("2026-11-30T00:00:00Z".parse().unwrap()), index: None }
}

/// The entry of a document that one of the systems wrote.
fn entry(json: &Value, path: &str) -> NewEntry {
    told(json, path).unwrap_or_else(|| panic!("not recognised at {path}"))
}

/// All that an entry says, but for the path.
fn described(entry: &NewEntry) -> String {
    let mut lines = String::new();
    let mut say = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(lines, "{name}: {value}").unwrap();
        }
    };
    say("layout", Some(entry.layout.to_string()));
    say("id", entry.id.as_ref().map(ToString::to_string));
    say("series", entry.series.as_ref().map(ToString::to_string));
    say("issue", entry.issue.as_ref().map(ToString::to_string));
    say("loop_id", entry.loop_id.as_ref().map(ToString::to_string));
    say("workflow_id", entry.workflow_id.clone());
    say("workflow_type", entry.workflow_type.clone());
    say("session_id", entry.session_id.clone());
    say("agent", entry.agent.clone());
    say("trigger", Some(entry.trigger.to_string()));
    say("phase", entry.phase.clone());
    say("step", entry.step.clone());
    say("iteration", entry.iteration.map(|number| number.to_string()));
    say("status", Some(entry.status.to_string()));
    say("created_at", entry.created_at.map(time));
    say("updated_at", entry.updated_at.map(time));
    say("parent", entry.parent.as_ref().map(ToString::to_string));
    for tag in &entry.tags {
        say("tag", Some(tag.clone()));
    }
    say("can_resume", entry.can_resume.map(|can| can.to_string()));
    say("resume_from", entry.resume_from.clone());
    say("retention_days", entry.retention_days.map(|days| days.to_string()));
    for warning in &entry.warnings {
        say("warning", Some(warning.clone()));
    }
    lines
}

fn time(time: Timestamp) -> String {
    time.to_string().replace(".000000", "")
}

/// What a fixture says about itself at a path.
fn fixture_at(name: &str, path: &str) -> String {
    let document = Document::from_json(&fixture(name)).unwrap();
    let entry = recognise(&document, &place(path)).unwrap_or_else(|| panic!("{name} at {path}"));
    assert_eq!(entry.source_path.as_deref(), Some(path));
    described(&entry)
}

/// Every one of these has a path that one of the systems uses.
#[test]
fn relatives_that_share_only_the_path_are_not_recognised() {
    for (name, path) in [
        ("relatives/codex-switcher-state.json", ".pipeline/state.json"),
        ("relatives/codex-switcher-state.json", ".hex-skills/pipeline/state.json"),
        ("relatives/nxtg-forge-checkpoint.json", ".claude/checkpoints/checkpoint-001.json"),
        ("relatives/voice-jib-jab-checkpoint.json", ".claude/checkpoints/cp-init.json"),
    ] {
        assert_eq!(told(&value(name), path), None, "{name}");
    }
    let forge = serde_json::json!({
        "version": "2.0.0", "story_id": "S-1", "stage": 2, "tasks_completed": ["T-1"],
        "complete": false, "last_action": "x",
    });
    assert_eq!(told(&forge, ".pipeline/checkpoint-S-1.json"), None);
    assert_eq!(told(&forge, ".pipeline/state.json"), None);
    for keys in [
        &["feature", "started_at", "current_phase", "spec", "implementation"][..],
        &["project", "currentMilestone", "milestones"],
        &["phase", "step", "status", "project_complete"],
        &["pipeline", "status", "branch", "request", "spec"],
        &["task", "total_phases", "phase_names", "completed_phases"],
        &["stage", "feature", "created", "phases"],
    ] {
        let state: Value = keys.iter().map(|key| ((*key).to_owned(), Value::from("x"))).collect();
        assert_eq!(told(&state, ".pipeline/state.json"), None, "{keys:?}");
    }
}

/// They counted as files of no system: a pipeline went on from an older state, or started over.
#[test]
fn a_file_in_its_place_with_anything_of_its_system_is_broken_and_no_strangers() {
    let loops = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz";
    let claude = ".claude/data/checkpoints/implement_auth_20261118_100000.json";
    for (json, path, layout, series) in [
        (r#"{"storyId": "A-1"}"#, ".pipeline/checkpoint-A-1.json", Layout::Pipeline, "story:A-1"),
        (r#"{"lastAction": ""}"#, ".pipeline/checkpoint-A-1.json", Layout::Pipeline, "story:A-1"),
        (r#"{"story_state": {}}"#, ".pipeline/state.json", Layout::Pipeline, "pipeline"),
        (r#"{"checkpoint_id": "x"}"#, loops, Layout::Aiwg, "loop:ralph-fix-tests-a1b2c3d4"),
        (r#"{"state": {}}"#, loops, Layout::Aiwg, "loop:ralph-fix-tests-a1b2c3d4"),
        (r#"{"current_phase": 2}"#, claude, Layout::Claude, "implement:auth"),
        (r#"{"workflow_state": {}}"#, claude, Layout::Claude, "implement:auth"),
    ] {
        let document: Document = from_json(json.as_bytes()).unwrap();
        let entry = recognise(&document, &place(path)).unwrap_or_else(|| panic!("{json}"));
        let found = (entry.layout, entry.series.as_ref().map(Series::as_str));
        assert_eq!(found, (layout, Some(series)), "{json}");
        let problems = check(layout, &document, path);
        assert!(problems.iter().any(Problem::is_error), "{json}: {problems:?}");
    }
    // A name like theirs is not enough, and neither is a field.
    for (json, path) in [
        (r#"{"storyId": "A-1"}"#, "checkpoint-A-1.json"),
        (r#"{"name": "x"}"#, claude),
        (r#"{"current_phase": 2}"#, ".claude/checkpoints/checkpoint-001.json"),
        (r#"{"complete": false}"#, ".pipeline/state.json"),
    ] {
        let document: Document = from_json(json.as_bytes()).unwrap();
        assert_eq!(recognise(&document, &place(path)), None, "{json}");
    }
}

/// The types of the layouts and what is recognised come from the same files.
#[test]
fn nothing_but_an_object_is_recognised() {
    for json in ["null", "1", "\"CP-x\"", "[]", "[{\"task\": 1}]", "{}"] {
        let document: Document = from_json(json.as_bytes()).unwrap();
        for path in ["", ".claude/crunch/42/checkpoints/CP-x.yaml", ".aiwg/ralph/current-loop.json"]
        {
            assert_eq!(recognise(&document, &place(path)), None, "{json} at {path}");
        }
    }
}

#[test]
fn what_nobody_knows_is_a_series_of_its_file() {
    insta::assert_snapshot!(described(&unrecognised(&place("a/.claude/checkpoints/x.yaml"))), @"
    layout: native
    series: file:a/.claude/checkpoints/x.yaml
    trigger: unknown
    status: unknown
    created_at: 2026-11-30T00:00:00Z
    ");
    let entry = unrecognised(&Place { path: "x.json", ..Place::default() });
    assert_eq!((entry.created_at, entry.source_path.as_deref()), (None, Some("x.json")));
}
