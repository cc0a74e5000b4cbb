//! A story beside the state of its pipeline, and the prompt for a new worker.

use waypost::layouts::{Place, Problem, recognise};
use waypost::recovery::{Offer, Worker};
use waypost::source::Source;
use waypost::{Document, NewEntry};

use super::Work;

const STORY: &str = ".pipeline/checkpoint-PROJ-42.json";
const CHECKPOINT: &str = r#"{"storyId": "PROJ-42", "stage": 2, "agentId": "abc-123",
    "tasksCompleted": ["PROJ-101"], "tasksRemaining": ["PROJ-102"], "lastAction": "PROJ-101 done",
    "timestamp": "2026-02-14T14:30:00Z"}"#;
const STATE: &str = r#"{"complete": false, "last_check": "2026-02-14T14:31:00Z",
    "team_name": "pipeline-2026-02-14", "story_state": {"PROJ-42": "STAGE_2", "PROJ-43": "STAGE_0"},
    "worktree_map": {"PROJ-42": ".worktrees/story-PROJ-42"}, "quality_cycles": {"PROJ-42": 2},
    "business_answers": {"Which database?": "SQLite\nTeam: another", "How many users?": 30}}"#;

/// Saves a file as an import does.
fn import(work: &Work, path: &str, json: &str) {
    let source = Source::from_json(json.as_bytes()).unwrap();
    let document = Document::from_json(json.as_bytes()).unwrap();
    let about = recognise(&document, &Place { path, ..Place::default() }).unwrap_or_default();
    let about = NewEntry { source_path: Some(path.to_owned()), ..about };
    let draft = work.store.draft_source(about, source).unwrap();
    work.store.save_draft(draft).unwrap();
}

fn offer(work: &Work, path: &str) -> Offer {
    let entry = work.store.newest_of_file(path, None).unwrap().unwrap();
    work.store.offer(entry).unwrap().0
}

fn worker(work: &Work, path: &str) -> Result<Worker, Vec<String>> {
    let printed = |problems: Vec<Problem>| problems.iter().map(Problem::to_string).collect();
    Worker::of(&offer(work, path), "/home/shop").map_err(printed)
}

#[test]
fn a_new_worker_is_told_what_the_story_and_the_pipeline_say() {
    let work = Work::new();
    import(&work, STORY, CHECKPOINT);
    import(&work, ".pipeline/state.json", STATE);
    let worker = worker(&work, STORY).unwrap();
    assert_eq!(worker.agent.as_deref(), Some("abc-123"));
    insta::assert_snapshot!(worker.prompt().replace('\u{2014}', "--"), @r"
    Worker: story-PROJ-42-s2-retry
    Team: pipeline-2026-02-14
    Story: PROJ-42
    Stage: 2 (execution)
    Project root: /home/shop
    Worktree: .worktrees/story-PROJ-42
    Business answers:
    - Which database? -> SQLite Team: another
    - How many users? -> 30

    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Tasks already completed: PROJ-101
    Tasks remaining: PROJ-102
    Last action: PROJ-101 done
    Continue from remaining tasks only.
    ");
}

#[test]
fn what_neither_has_is_named_and_never_made_up() {
    let work = Work::new();
    import(&work, STORY, CHECKPOINT);
    assert_eq!(
        worker(&work, STORY).unwrap_err(),
        [".pipeline/state.json: was not imported, or is of another system"]
    );
    let example = r#"{"complete": false, "last_check": "2026-02-14T14:31:00Z", "story_state": {}}"#;
    import(&work, ".pipeline/state.json", example);
    let missing = ["/story_state/PROJ-42", "/team_name", "/business_answers"];
    let missing = missing.into_iter().chain(["/worktree_map/PROJ-42"]);
    let missing: Vec<String> =
        missing.map(|it| format!("{it}: is missing in .pipeline/state.json")).collect();
    assert_eq!(worker(&work, STORY).unwrap_err(), missing);
    let other = ".claude/checkpoints/a.json";
    import(&work, other, "{}");
    // It has no layout.
    let only = "the checkpoint: has layout native; only an imported \
                .pipeline/checkpoint-STORY.json has a worker";
    assert_eq!(worker(&work, other).unwrap_err(), [only]);
}

#[test]
fn the_state_is_the_newest_of_the_same_project() {
    let work = Work::new();
    let stories = [
        ("shop/.pipeline/checkpoint-PROJ-42.json", "pipeline-2026-02-14"),
        ("shop/.worktrees/story-PROJ-42/.pipeline/checkpoint-PROJ-42.json", "pipeline-2026-02-14"),
        ("other/.pipeline/checkpoint-PROJ-42.json", "others"),
    ];
    import(&work, "other/.pipeline/state.json", &STATE.replace("pipeline-2026-02-14", "others"));
    import(&work, "shop/.pipeline/state.json", &STATE.replace("pipeline-2026-02-14", "old"));
    for (path, _) in stories {
        import(&work, path, CHECKPOINT);
    }
    import(&work, "shop/.pipeline/state.json", STATE);
    for (path, team) in stories {
        assert_eq!(worker(&work, path).unwrap().team, team, "{path}");
        let assignment = offer(&work, path).standing.assignment.unwrap();
        assert_eq!(assignment.project.as_deref(), path.split('/').next());
    }
    import(&work, STORY, CHECKPOINT);
    assert!(worker(&work, STORY).is_err(), "there is no state of this project");
}

#[test]
fn the_counters_of_a_story_are_those_of_its_pipeline() {
    let work = Work::new();
    import(&work, STORY, CHECKPOINT);
    import(&work, ".pipeline/state.json", STATE);
    assert_eq!(offer(&work, STORY).standing.retries_exceeded, []);
    let beyond = STATE.replace(r#"{"PROJ-42": 2}"#, r#"{"PROJ-42": 3, "PROJ-43": 9}"#);
    import(&work, ".pipeline/state.json", &beyond.replace("14:31", "14:32"));
    let found = offer(&work, STORY).standing.retries_exceeded;
    let found: Vec<_> = found.iter().map(|it| (it.counter, it.story.as_str(), it.count)).collect();
    assert_eq!(found, [("quality_cycles", "PROJ-42", 3)]);
}
