//! `.pipeline`, and `.hex-skills/pipeline`, which came after it.

use serde_json::{Value, json};
use waypost::layouts::recognise;
use waypost::{Document, Status};

use super::super::with;
use super::{described, entry, fixture, fixture_at, place, told, value};

const CHECKPOINT: &str = "pipeline/checkpoint-PROJ-42.json";
const STATE: &str = "pipeline/state.json";
const RUN: &str = ".hex-skills/pipeline/runtime/runs/ln-1000-proj-42-1794795513369-af34a4bf";

#[test]
fn checkpoints_and_states_are_told_apart() {
    let path = ".pipeline/checkpoint-PROJ-42.json";
    insta::assert_snapshot!(fixture_at(CHECKPOINT, path), @"
    layout: pipeline
    series: story:PROJ-42
    issue: PROJ-42
    agent: abc-123-def
    trigger: unknown
    phase: quality_gate
    status: unknown
    created_at: 2026-02-14T14:30:00Z
    ");
    insta::assert_snapshot!(fixture_at(STATE, ".pipeline/state.json"), @"
    layout: pipeline
    series: pipeline:2026-02-13T12:55:00Z
    trigger: heartbeat
    status: in_progress
    created_at: 2026-02-13T14:30:00Z
    ");
}

#[test]
fn stages_have_names() {
    for (stage, phase) in
        [(0, "planning"), (1, "validation"), (2, "execution"), (3, "quality_gate")]
    {
        for stage in [json!(stage), json!(stage.to_string())] {
            let document = with(&value(CHECKPOINT), "/stage", Some(stage));
            assert_eq!(entry(&document, "x.json").phase.as_deref(), Some(phase));
        }
    }
    let odd = with(&value(CHECKPOINT), "/stage", Some(json!(4)));
    assert_eq!(entry(&odd, "x.json").phase, None);
    assert_eq!(entry(&odd, "x.json").warnings, ["stage is none of 0 to 3"]);
    for stage in [json!(-1), json!("STAGE_2"), json!(null)] {
        let document = with(&value(CHECKPOINT), "/stage", Some(stage.clone()));
        assert_eq!(told(&document, "x.json"), None, "{stage}");
    }
}

#[test]
fn tasks_that_remain_are_work_in_progress() {
    let left = with(&value(CHECKPOINT), "/tasksRemaining", Some(json!(["PROJ-43"])));
    assert_eq!(entry(&left, "x.json").status, Status::InProgress);
    let none = with(&value(CHECKPOINT), "/tasksRemaining", Some(json!([])));
    assert_eq!(entry(&none, "x.json").status, Status::Unknown);
}

#[test]
fn a_pipeline_is_complete_in_any_spelling() {
    for (complete, expected) in [
        (json!(true), Status::Completed),
        (json!("true"), Status::Completed),
        (json!(false), Status::InProgress),
        (json!("false"), Status::InProgress),
    ] {
        let document = with(&value(STATE), "/complete", Some(complete));
        assert_eq!(entry(&document, "x.json").status, expected);
    }
    assert_eq!(told(&with(&value(STATE), "/complete", Some(json!("so"))), "x.json"), None);
    assert_eq!(told(&with(&value(STATE), "/story_state", None), "x.json"), None);
}

#[test]
fn a_pipeline_is_called_after_its_team_its_start_or_its_story() {
    let named = |document: &Value| entry(document, "p/.pipeline/state.json");
    let mut document = with(&value(STATE), "/team_name", Some(json!("team")));
    document["selected_story_id"] = json!("API-428");
    let first = named(&document);
    assert_eq!(first.series.unwrap().as_str(), "p/pipeline:team");
    assert_eq!(
        (first.issue.unwrap().as_str(), first.phase.as_deref()),
        ("API-428", Some("STAGE_1"))
    );
    let document = with(&document, "/team_name", None);
    assert_eq!(named(&document).series.unwrap().as_str(), "p/pipeline:2026-02-13T12:55:00Z");
    let document = with(&document, "/pipeline_start_time", None);
    assert_eq!(named(&document).series.unwrap().as_str(), "p/pipeline:API-428");
    let document = with(&document, "/selected_story_id", None);
    assert_eq!(named(&document).series.unwrap().as_str(), "p/pipeline");
    assert_eq!(told(&with(&document, "/last_check", None), "x.json"), None);
    let one = with(&document, "/story_state", Some(json!({"A-1": "PAUSED"})));
    assert_eq!(named(&one).phase.as_deref(), Some("PAUSED"));
}

/// Workers in a worktree wrote where the lead did not look.
#[test]
fn a_worktree_belongs_to_its_project() {
    let series = |path: &str| entry(&value(CHECKPOINT), path).series.unwrap().to_string();
    let name = ".pipeline/checkpoint-PROJ-42.json";
    assert_eq!(series(&format!(".worktrees/story-1/{name}")), "story:PROJ-42");
    assert_eq!(series(&format!("p/.worktrees/story-1/{name}")), "p/story:PROJ-42");
    assert_eq!(series(&format!("p/.hex-skills/worktrees/story-1/{name}")), "p/story:PROJ-42");
    assert_eq!(series(&format!("./p//q/{name}")), "p/q/story:PROJ-42");
    assert_eq!(series("p/q/checkpoint-PROJ-42.json"), "story:PROJ-42");
}

#[test]
fn every_file_of_a_run_is_one_of_its_series() {
    let at =
        |name: &str| fixture_at(&format!("pipeline/successor/{name}"), &format!("{RUN}/{name}"));
    insta::assert_snapshot!(at("manifest.json"), @"
    layout: pipeline
    series: run:ln-1000-proj-42-1794795513369-af34a4bf
    issue: PROJ-42
    workflow_id: ln-1000-proj-42-1794795513369-af34a4bf
    trigger: unknown
    status: unknown
    created_at: 2026-11-16T02:18:33.365000Z
    ");
    insta::assert_snapshot!(at("state.json"), @"
    layout: pipeline
    series: run:ln-1000-proj-42-1794795513369-af34a4bf
    issue: PROJ-42
    workflow_id: ln-1000-proj-42-1794795513369-af34a4bf
    trigger: unknown
    phase: DONE
    status: completed
    created_at: 2026-11-16T02:18:35.695000Z
    updated_at: 2026-11-16T02:18:35.695000Z
    ");
    insta::assert_snapshot!(at("checkpoints.json"), @"
    layout: pipeline
    series: run:ln-1000-proj-42-1794795513369-af34a4bf
    workflow_id: ln-1000-proj-42-1794795513369-af34a4bf
    trigger: unknown
    phase: STAGE_3
    iteration: 4
    status: unknown
    created_at: 2026-11-16T02:18:35.517000Z
    ");
}

#[test]
fn every_line_of_a_history_is_a_checkpoint() {
    let history = fixture("pipeline/successor/history.jsonl");
    let path = format!("{RUN}/history.jsonl");
    let lines = history.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entries: Vec<_> = lines
        .map(|line| recognise(&Document::from_json(line).unwrap(), &place(&path)).unwrap())
        .collect();
    let told: Vec<String> = entries
        .iter()
        .map(|entry| {
            let phase = entry.phase.as_deref().unwrap_or_default();
            let iteration = entry.iteration.unwrap();
            format!("{iteration} {} {phase} {}\n", entry.trigger, entry.status)
        })
        .collect();
    insta::assert_snapshot!(told.concat(), @"
    1 run_started QUEUED in_progress
    2 state_saved STAGE_0 in_progress
    3 checkpoint_recorded STAGE_0 unknown
    4 state_saved STAGE_0 in_progress
    5 state_saved STAGE_1 in_progress
    6 checkpoint_recorded STAGE_1 unknown
    7 state_saved STAGE_1 in_progress
    8 state_saved STAGE_2 in_progress
    9 checkpoint_recorded STAGE_2 unknown
    10 state_saved STAGE_2 in_progress
    11 state_saved STAGE_3 in_progress
    12 checkpoint_recorded STAGE_3 unknown
    13 state_saved STAGE_3 in_progress
    14 run_completed DONE completed
    ");
    insta::assert_snapshot!(described(&entries[13]), @"
    layout: pipeline
    series: run:ln-1000-proj-42-1794795513369-af34a4bf
    issue: PROJ-42
    workflow_id: ln-1000-proj-42-1794795513369-af34a4bf
    trigger: run_completed
    phase: DONE
    iteration: 14
    status: completed
    created_at: 2026-11-16T02:18:35.700000Z
    ");
    let paused = json!({"sequence": 1, "event_type": "RUN_PAUSED", "run_id": "r"});
    assert_eq!(entry(&paused, ".hex-skills/history.jsonl").status, Status::Paused);
}

/// The checkpoint of the first release has no story: its name does.
#[test]
fn the_first_release_has_files_of_stories() {
    let checkpoint = json!({
        "stage": 2, "started_at": "2026-02-14T14:10:00Z", "completed_at": "2026-02-14T14:30:00Z",
        "tasks_completed": ["PROJ-101"], "tasks_remaining": ["PROJ-102"], "last_action": "x",
    });
    let path = ".hex-skills/pipeline/checkpoint-API-427.json";
    insta::assert_snapshot!(described(&entry(&checkpoint, path)), @"
    layout: pipeline
    series: story:API-427
    issue: API-427
    trigger: unknown
    phase: execution
    status: in_progress
    created_at: 2026-02-14T14:30:00Z
    ");
    assert_eq!(told(&checkpoint, ".pipeline/checkpoint-API-427.json"), None);
    let state = json!({
        "story_id": "API-427", "stage": "STAGE_2", "complete": false, "paused_reason": null,
        "pipeline_start_time": "2026-02-13T12:55:00Z", "updated_at": "2026-02-13T14:30:00Z",
    });
    insta::assert_snapshot!(described(&entry(&state, ".hex-skills/pipeline/state.json")), @"
    layout: pipeline
    series: story:API-427
    issue: API-427
    trigger: unknown
    phase: STAGE_2
    status: in_progress
    created_at: 2026-02-13T14:30:00Z
    updated_at: 2026-02-13T14:30:00Z
    ");
}

#[test]
fn a_run_is_done_paused_or_cancelled() {
    for (phase, complete, expected) in [
        ("DONE", json!(true), Status::Completed),
        ("STAGE_1", json!(true), Status::Failed),
        ("PAUSED", json!(false), Status::Paused),
        ("QUEUED", json!(false), Status::InProgress),
        ("DONE", json!(null), Status::Completed),
        ("STAGE_1", json!(null), Status::Unknown),
    ] {
        let state = json!({
            "run_id": "r", "story_id": "S-1", "phase": phase, "complete": complete,
        });
        assert_eq!(entry(&state, ".hex-skills/state.json").status, expected, "{phase} {complete}");
    }
}

#[test]
fn the_active_run_of_a_story_is_named() {
    let active = json!({"run_id": "r", "story_id": "S-1", "created_at": "2026-02-13T12:55:00Z"});
    let path = ".hex-skills/pipeline/runtime/active/ln-1000/S-1.json";
    let entry = entry(&active, path);
    assert_eq!(entry.series.unwrap().as_str(), "run:r");
    assert_eq!(entry.status, Status::InProgress);
    assert_eq!(told(&active, "S-1.json"), None);
}

/// Objects of other programs, which have the same words for other things.
#[test]
fn what_lies_elsewhere_is_somebody_elses() {
    for document in [
        json!({"story_id": "A-1", "run_id": "r", "phase": "build"}),
        json!({"event_type": "click", "run_id": "r", "sequence": 1}),
        json!({"_history": [], "_next_sequence": 1}),
        json!({"task": "train", "currentIteration": 30}),
    ] {
        assert_eq!(told(&document, "logs/x.json"), None, "{document}");
    }
    let state = json!({"task": "fix", "currentIteration": 30});
    assert!(told(&state, ".aiwg/ralph/current-loop.json").is_some());
}
