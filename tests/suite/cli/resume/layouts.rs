//! Files of the five systems, imported and resumed.

use std::fs;

use super::super::Test;

/// A file of another system, imported.
fn imported(path: &str, json: &str) -> Test {
    let test = Test::new();
    add(&test, path, json);
    test
}

fn add(test: &Test, path: &str, json: &str) {
    let path = test.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, json).unwrap();
    test.run("import . --quiet").done();
}

const STORY: &str = r#"{"storyId": "PROJ-42", "stage": 2, "agentId": "a", "tasksCompleted":
    ["PROJ-101", "PROJ-102"], "tasksRemaining": ["PROJ-103"], "lastAction": "PROJ-102 done",
    "timestamp": "2026-02-14T14:30:00Z"}"#;

#[test]
fn a_story_gets_the_block_of_its_own_system() {
    let test = imported(".pipeline/checkpoint-PROJ-42.json", STORY);
    let block = test.run("resume PROJ-42 --prompt --no-gh --quiet").done();
    let expected = "CHECKPOINT RESUME \u{2014} DO NOT re-execute completed work.\n\
                    Tasks already completed: PROJ-101, PROJ-102\nTasks remaining: PROJ-103\n\
                    Last action: PROJ-102 done\nContinue from remaining tasks only.\n";
    assert_eq!(block, expected);
}

const STATE: &str = r#"{"complete": false, "last_check": "2026-02-14T14:31:00Z",
    "team_name": "pipeline-2026-02-14", "story_state": {"PROJ-42": "STAGE_2"},
    "worktree_map": {"PROJ-42": ".worktrees/story-PROJ-42"}, "crash_count": {"PROJ-42": 1},
    "business_answers": {"Which database?": "SQLite"}}"#;

/// A story and the state of its pipeline in a project below the store.
fn pipeline(state: &str) -> Test {
    let test = imported("shop/.pipeline/checkpoint-PROJ-42.json", STORY);
    fs::create_dir_all(test.path().join("shop/.worktrees/story-PROJ-42")).unwrap();
    add(&test, "shop/.pipeline/state.json", state);
    test
}

#[test]
fn a_new_worker_gets_the_whole_prompt_and_the_agent_to_try_first_is_told() {
    let test = pipeline(STATE);
    let ended = test.run("resume PROJ-42 --prompt --worker --no-gh");
    assert_eq!(ended.stderr, "first try to resume agent a; this is for a new worker\n");
    let root = test.path().canonicalize().unwrap().join("shop");
    let head = format!(
        "Worker: story-PROJ-42-s2-retry\nTeam: pipeline-2026-02-14\nStory: PROJ-42\n\
         Stage: 2 (execution)\nProject root: {}\nWorktree: .worktrees/story-PROJ-42\n\
         Business answers:\n- Which database? -> SQLite\n\n",
        root.display()
    );
    let block = test.run("resume PROJ-42 --prompt --no-gh --quiet").done();
    assert_eq!((ended.code, ended.stdout), (Some(0), head + &block));
    let summary = test.run("resume PROJ-42 --no-gh").done();
    let agent = "\nagent     a (try to resume this agent first)\n";
    assert!(summary.contains(agent), "{summary}");
    test.run("resume PROJ-42 --worker").failed(2);
}

#[test]
fn what_a_new_worker_lacks_is_an_error_that_says_where_to_add_it() {
    let test = pipeline(&STATE.replace("team_name", "team"));
    let stderr = test.run("resume PROJ-42 --prompt --worker --no-gh").failed(4);
    let missing = "/team_name: is missing in shop/.pipeline/state.json\n";
    assert!(stderr.contains(missing), "{stderr}");
    assert!(stderr.contains("`waypost import [HERE]/shop/.pipeline`"), "{stderr}");
    test.run("resume PROJ-42 --no-gh").done();
}

/// Two systems may save in one series. The newest checkpoint counts, whatever system wrote the
/// older ones.
#[test]
fn a_newer_checkpoint_of_another_system_has_no_worker_and_says_so() {
    let test = pipeline(STATE);
    let series =
        test.entries().iter().find(|it| it["issue"] == "PROJ-42").unwrap()["series"].clone();
    let series = series.as_str().unwrap();
    test.feed(&format!("save --id own --series {series}"), r#"{"last_action": "by hand"}"#).done();
    let stderr = test.run(&format!("resume {series} --prompt --worker --no-gh")).failed(4);
    assert!(stderr.contains("from own: the checkpoint: has layout native; only"), "{stderr}");
    let prompt = test.run(&format!("resume {series} --prompt --no-gh")).done();
    assert!(prompt.contains("Last action: by hand"), "{prompt}");
}

#[test]
fn retries_beyond_their_limit_are_for_a_person() {
    let test = pipeline(
        &STATE.replace(r#""crash_count": {"PROJ-42": 1"#, r#""crash_count": {"PROJ-42": 2"#),
    );
    let beyond = "crash_count is beyond its limit of 1: 2 for \"PROJ-42\"";
    for target in ["PROJ-42", "shop/pipeline:pipeline-2026-02-14"] {
        let stderr = test.run(&format!("resume {target} --no-gh --worktree shop")).failed(4);
        assert!(stderr.contains(beyond), "{stderr}");
        test.run(&format!("resume {target} --no-gh --worktree shop --choice resume -q")).done();
    }
}

fn claude(id: &str, version: &str) -> (String, String) {
    let path = format!(".claude/checkpoints/{id}.json");
    let json = format!(
        r#"{{"checkpoint_id": "{id}", "schema_version": "{version}", "workflow_type": "implement",
        "project_name": "auth", "workflow_description": "Implement authentication system",
        "created_at": "2025-10-0{}T18:45:30Z", "status": "in_progress", "current_phase": 2,
        "total_phases": 5, "completed_phases": [1, 2], "workflow_state": {{}}}}"#,
        &id[id.len() - 1..]
    );
    (path, json)
}

#[test]
fn work_is_found_by_its_description_and_progress_is_told() {
    let (path, json) = claude("implement_auth_20251003_184531", "1.1");
    let test = imported(&path, &json);
    let mut command = test.command("resume --json --no-gh");
    command.arg("implement authentication SYSTEM");
    let ended = test.ended(command.spawn().unwrap());
    let answer = ended.object();
    assert_eq!(answer["series"], "implement:auth");
    let progress = &answer["standing"]["progress"];
    assert_eq!((&progress["done"], &progress["total"]), (&2.into(), &5.into()));
    assert!(progress["next"].as_str().unwrap().starts_with("Phase 3"), "{progress}");
}

#[test]
fn a_schema_of_the_future_is_refused_and_the_others_are_usable() {
    let (path, json) = claude("implement_auth_20251003_184531", "1.1");
    let test = imported(&path, &json);
    let (path, json) = claude("implement_auth_20251004_184532", "9.0");
    add(&test, &path, &json);
    let stderr = test.run("resume implement_auth_20251004_184532 --no-gh").failed(4);
    assert!(stderr.contains("/schema_version: is newer than 2.1"), "{stderr}");
    let answer = test.run("resume auth --json --no-gh").object();
    assert_eq!(answer["id"], "implement_auth_20251003_184531");
    let why = answer["passed_over"][0]["why"][0].as_str().unwrap();
    assert!(why.contains("/schema_version"), "{why}");
}

#[test]
fn missing_state_is_named() {
    let loops = ".aiwg/ralph/loops/ralph-fix-a1b2c3d4/checkpoints/iteration-001.json";
    let json = r#"{"checkpoint_id": "cp-1", "workflow_id": "w", "loop_id": "ralph-fix-a1b2c3d4",
        "created_at": "2026-02-02T21:05:00Z", "trigger": "iteration", "state": {"phase": "build",
        "artifacts": []}}"#;
    let test = imported(loops, json);
    let stderr = test.run("resume ralph-fix-a1b2c3d4 --no-gh").failed(4);
    assert!(stderr.contains("/state/progress: is required (line 2)"), "{stderr}");
}
