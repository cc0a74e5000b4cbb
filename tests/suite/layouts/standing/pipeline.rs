//! `.pipeline` and `.hex-skills/pipeline`: tasks, stories, and stages.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use waypost::{Document, Layout};

use super::{bare, document, fixture_at, imported, of, printed, refusals, standing, value, with};

const CHECKPOINT: &str = "pipeline/checkpoint-PROJ-42.json";
const STATE: &str = "pipeline/state.json";

#[test]
fn checkpoints_and_states_are_told_in_all_releases() {
    insta::assert_snapshot!(fixture_at(CHECKPOINT, ".pipeline/checkpoint-PROJ-42.json"), @"
    progress: task 5 of 5
    done: 5
    - PROJ-101
    - PROJ-102
    - PROJ-103
    - PROJ-104
    - PROJ-105
    remaining: 0
    last_action: Quality gate completed, verdict: PASS
    score: 92
    issue: PROJ-42
    ");
    insta::assert_snapshot!(fixture_at(STATE, ".pipeline/state.json"), @"
    progress: story 0 of 5, then API-427
    done: 0
    remaining: 5
    - API-427
    - API-428
    - API-429
    - API-430
    - API-431
    failures: 0
    ");
    let at = |name: &str| fixture_at(&format!("pipeline/successor/{name}"), ".hex-skills/x.json");
    insta::assert_snapshot!(at("state.json"), @"
    description: Story title
    progress: stage 4 of 4
    failures: 0
    issue: PROJ-42
    ");
    insta::assert_snapshot!(at("checkpoints.json"), @"
    done: 0
    remaining: 0
    last_action: gate complete
    score: 92
    ");
    insta::assert_snapshot!(at("manifest.json"), @"
    description: Story title
    issue: PROJ-42
    ");
}

#[test]
fn every_line_of_a_history_is_told() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts");
    let history = fs::read(fixtures.join("pipeline/successor/history.jsonl")).unwrap();
    let lines = history.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let told: Vec<String> = lines
        .map(|line| {
            let told = imported(&Document::from_json(line).unwrap(), ".hex-skills/history.jsonl");
            assert_eq!(printed(&told.refusals), [""; 0]);
            let progress = told.progress.map(|it| format!("{} {} {:?}", it.unit, it.done, it.next));
            format!("{progress:?} {:?} {:?}\n", told.last_action, told.score)
        })
        .collect();
    insta::assert_snapshot!(told.concat(), @r#"
    Some("stage 0 Some(\"Stage 0 (planning)\")") None None
    Some("stage 0 Some(\"Stage 0 (planning)\")") None None
    Some("task 0 Some(\"PROJ-101\")") Some("plan complete") None
    Some("stage 0 Some(\"Stage 0 (planning)\")") None None
    Some("stage 1 Some(\"Stage 1 (validation)\")") None None
    None Some("validation complete") None
    Some("stage 1 Some(\"Stage 1 (validation)\")") None None
    Some("stage 2 Some(\"Stage 2 (execution)\")") None None
    Some("task 2 None") Some("execution complete") None
    Some("stage 2 Some(\"Stage 2 (execution)\")") None None
    Some("stage 3 Some(\"Stage 3 (quality_gate)\")") None None
    None Some("gate complete") Some(92.0)
    Some("stage 3 Some(\"Stage 3 (quality_gate)\")") None None
    Some("stage 4 None") None None
    "#);
}

/// What the block needs that a worker is given to go on.
#[test]
fn tasks_that_remain_come_next() {
    let mut document = value(CHECKPOINT);
    document["stage"] = json!(2);
    document["tasksCompleted"] = json!(["PROJ-101", 102, null]);
    document["tasksRemaining"] = json!([{"id": "PROJ-103", "title": "x"}, "PROJ-104"]);
    let told = of(Layout::Pipeline, &document);
    assert_eq!(told.tasks_done.unwrap(), ["PROJ-101", "102"]);
    assert_eq!(told.tasks_remaining.unwrap(), ["PROJ-103", "PROJ-104"]);
    assert_eq!(told.progress.unwrap().next.as_deref(), Some("PROJ-103"));
    assert_eq!(told.next.as_deref(), Some("Continue from remaining tasks only."));
    document["tasksCompleted"] = json!([]);
    document["tasksRemaining"] = json!([]);
    let told = of(Layout::Pipeline, &document);
    assert_eq!((told.progress, told.next, told.tasks_done), (None, None, Some(Vec::new())));
}

#[test]
fn a_verdict_that_sends_back_is_an_error() {
    for (document, expected) in [
        (json!({"verdict": "FAIL", "issues": "no tests"}), Some("no tests")),
        (json!({"verdict": "FAIL", "issues": ["a", {"message": "b"}]}), Some("a; b")),
        (json!({"verdict": "fail"}), Some("fail")),
        (json!({"verdict": "NO-GO", "reason": "unclear"}), Some("unclear")),
        (json!({"verdict": "NO-GO", "reason": 3}), Some("3")),
        (json!({"verdict": "CONCERNS", "issues": "few tests"}), None),
        (json!({"verdict": "GO", "reason": "x"}), None),
        (json!({"issues": "x"}), None),
    ] {
        let document = with(&document, "/tasksCompleted", Some(json!([])));
        assert_eq!(of(Layout::Pipeline, &document).error.as_deref(), expected, "{document}");
    }
}

/// Scores of other stages are on other scales.
#[test]
fn only_the_quality_gate_gives_a_score() {
    for (document, expected) in [
        (json!({"qualityScore": 92}), Some(92.0)),
        (json!({"quality_score": "61.5"}), Some(61.5)),
        (json!({"readiness": 8}), None),
        (json!({"planScore": 4}), None),
    ] {
        let document = with(&document, "/tasksCompleted", Some(json!([])));
        assert_eq!(of(Layout::Pipeline, &document).score, expected, "{document}");
    }
}

#[test]
fn a_pipeline_of_one_story_is_about_that() {
    let mut state = value(STATE);
    state["quality_cycles"] = json!({"API-427": 2, "API-428": "1"});
    state["crash_count"] = json!({"API-427": 1, "API-428": {}});
    assert_eq!(of(Layout::Pipeline, &state).failures, Some(4));
    state["selected_story_id"] = json!("API-428");
    let told = of(Layout::Pipeline, &state);
    assert_eq!(told.failures, Some(1));
    assert_eq!(told.snapshot.worktree.as_deref(), Some(".worktrees/story-API-428"));
    assert_eq!(told.snapshot.issue.unwrap().as_str(), "API-428");
    let progress = told.progress.unwrap();
    assert_eq!((progress.unit, progress.done, progress.total), ("stage", 1, Some(4)));
    assert_eq!(progress.next.as_deref(), Some("Stage 1 (validation)"));
}

/// By the protocol, stories remain that are neither done nor paused.
#[test]
fn stories_are_done_paused_or_remain() {
    let state = json!({
        "complete": false, "priority_queue_ids": ["D", "A", 3],
        "story_state": {"A": "DONE", "B": "PAUSED", "C.1": "STAGE_2"},
    });
    let told = of(Layout::Pipeline, &state);
    assert_eq!(told.tasks_done.unwrap(), ["A"]);
    assert_eq!(told.tasks_remaining.unwrap(), ["C.1", "D"]);
    let progress = told.progress.unwrap();
    assert_eq!((progress.unit, progress.done, progress.total), ("story", 1, Some(4)));
}

#[test]
fn a_run_tells_its_stage_in_both_releases() {
    for (state, expected) in [
        (
            json!({"story_id": "S", "run_id": "r", "phase": "STAGE_2"}),
            Some((2, Some("Stage 2 (execution)"))),
        ),
        (json!({"story_id": "S", "stage": "STAGE_0"}), Some((0, Some("Stage 0 (planning)")))),
        (json!({"story_id": "S", "phase": "QUEUED"}), Some((0, Some("Stage 0 (planning)")))),
        (json!({"story_id": "S", "phase": "DONE"}), Some((4, None))),
        (json!({"story_id": "S", "phase": "PAUSED"}), None),
    ] {
        let progress = of(Layout::Pipeline, &state).progress;
        let told = progress.as_ref().map(|progress| (progress.done, progress.next.as_deref()));
        assert_eq!(told, expected, "{state}");
    }
    let run = json!({
        "run_id": "r", "story_id": "S", "phase": "STAGE_2", "branch_name": "feature/s",
        "worktree_dir": ".worktrees/s", "quality_cycles": 1, "crash_count": 1, "story_title": "T",
    });
    let told = of(Layout::Pipeline, &run);
    assert_eq!((told.failures, told.description.as_deref()), (Some(2), Some("T")));
    assert_eq!(told.snapshot.branch.as_deref(), Some("feature/s"));
    assert_eq!(told.snapshot.worktree.as_deref(), Some(".worktrees/s"));
}

#[test]
fn what_a_worker_needs_to_go_on_is_required() {
    let required = |field: &str| vec![format!("/{field}: is required to resume")];
    for field in ["storyId", "stage", "tasksCompleted", "tasksRemaining", "lastAction"] {
        let less = with(&value(CHECKPOINT), &format!("/{field}"), None);
        assert_eq!(refusals(Layout::Pipeline, &less), required(field), "{field}");
    }
    for field in ["agentId", "timestamp", "verdict", "qualityScore"] {
        let less = with(&value(CHECKPOINT), &format!("/{field}"), None);
        assert_eq!(refusals(Layout::Pipeline, &less), [""; 0], "{field}");
    }
    // The name of the file has the story, too, and what came after has it only there.
    let mut entry = bare(Layout::Pipeline);
    entry.issue = "PROJ-42".parse().ok();
    let less = with(&value(CHECKPOINT), "/storyId", None);
    assert_eq!(printed(&standing(&entry, &document(&less)).refusals), [""; 0]);
    let snake = json!({"stage": 2, "tasks_completed": [], "tasks_remaining": []});
    assert_eq!(refusals(Layout::Pipeline, &snake), [""; 0]);
    let less: Value = with(&snake, "/tasks_remaining", None);
    assert_eq!(refusals(Layout::Pipeline, &less), required("tasks_remaining"));
}

/// A story beyond its limits waits for a person, unless the lead has seen to that already.
#[test]
fn retries_beyond_the_limits_of_the_protocol_are_told() {
    let state = |stories: Value, counts: Value| {
        let json = json!({"complete": false, "last_check": "2026-02-13T14:30:00Z",
            "story_state": stories, "quality_cycles": counts, "validation_retries": counts,
            "crash_count": counts});
        let told = of(Layout::Pipeline, &json).retries_exceeded;
        told.iter().map(|it| format!("{} {} {}", it.counter, it.story, it.count)).collect()
    };
    let told = |stories: &Value, counts: Value| -> Vec<String> { state(stories.clone(), counts) };
    let open = json!({"A": "STAGE_2", "B.1": "STAGE_0"});
    assert_eq!(told(&open, json!({"A": 1, "B.1": 1})), [""; 0]);
    let both = ["validation_retries A 2", "crash_count A 2"];
    for two in [json!(2), json!("2"), json!(2.0), json!(1.5)] {
        assert_eq!(told(&open, json!({"A": two, "B.1": 0})), both);
    }
    let all = ["quality_cycles B.1 3", "validation_retries B.1 3", "crash_count B.1 3"];
    assert_eq!(told(&open, json!({"B.1": 3, "A": null})), all);
    let ended = json!({"A": "PAUSED", "B.1": "DONE", "C": "STAGE_1"});
    assert_eq!(told(&ended, json!({"A": 3, "B.1": 3})), [""; 0]);
    assert_eq!(told(&json!({"A": "PAUSED"}), json!({"A": 2})), both);
}
