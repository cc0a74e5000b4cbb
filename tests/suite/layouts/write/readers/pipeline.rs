//! What the lead of a pipeline reads when a worker is gone, read from files that were made for it.

use serde_json::{Value, json};
use waypost::layouts::{file_as, standing};
use waypost::{Entry, Layout};

use super::super::{document, entry, refusal};

/// The lists and the last action, under every name that `resume --prompt` knows.
const DONE: [&str; 4] = ["tasks_done", "tasksCompleted", "tasks_completed", "completed_tasks"];
const REMAINING: [&str; 5] =
    ["tasks_remaining", "tasksRemaining", "remaining_tasks", "todo", "pending"];
const LAST_ACTION: [&str; 2] = ["last_action", "lastAction"];

/// The block that the lead adds to the prompt of the next worker; what it joins must be texts.
fn resume_block(checkpoint: &Value) -> String {
    let joined = |field: &str| {
        let tasks = checkpoint[field].as_array().unwrap().iter();
        tasks.map(|task| task.as_str().unwrap()).collect::<Vec<_>>().join(", ")
    };
    format!(
        "{}; {}; {}",
        joined("tasksCompleted"),
        joined("tasksRemaining"),
        checkpoint["lastAction"].as_str().unwrap(),
    )
}

/// The file as the lead has it, which needs the story, the stage and the worker as well.
fn exported(entry: &Entry, state: &Value) -> Value {
    let file = file_as(Layout::Pipeline, entry, &document(state)).unwrap();
    let found = serde_json::to_value(&file.document).unwrap();
    assert_eq!((&found["storyId"], &found["stage"]), (&json!("42"), &json!(2)));
    assert!(found["agentId"].is_string() && found["timestamp"].is_string(), "{found}");
    found
}

/// A loop that saves `tasks_done` was understood by `resume --prompt` and refused by export.
#[test]
fn export_and_the_prompt_know_tasks_by_the_same_names() {
    let about = entry(Layout::Pipeline);
    for done in DONE {
        for remaining in REMAINING {
            for action in LAST_ACTION {
                let state =
                    json!({(done): ["T-1", "T-2"], (remaining): ["T-3"], (action): "did 2"});
                let found = exported(&about, &state);
                assert_eq!(resume_block(&found), "T-1, T-2; T-3; did 2");
                let told = standing(&about, &document(&state));
                assert_eq!(told.tasks_done.unwrap(), ["T-1", "T-2"]);
                assert_eq!(told.tasks_remaining.unwrap(), ["T-3"]);
                assert_eq!(told.last_action.unwrap(), "did 2");
            }
        }
    }
}

#[test]
fn a_task_is_exported_by_what_it_is_called() {
    let about = entry(Layout::Pipeline);
    let state = json!({"tasks_done": [{"id": "T-1", "title": "x"}, 2],
        "tasks_remaining": [{"title": "write docs"}], "last_action": "a"});
    assert_eq!(resume_block(&exported(&about, &state)), "T-1, 2; write docs; a");
    let state =
        json!({"tasks_done": 3, "completed_tasks": ["T-1"], "todo": [], "last_action": "a"});
    assert_eq!(resume_block(&exported(&about, &state)), "T-1; ; a");
    let state = json!({"tasks_done": ["T-1", null], "todo": [], "last_action": "a"});
    let rule = "/tasks_done: must be a list of names";
    assert_eq!(refusal(Layout::Pipeline, &about, &state), [rule]);
}
