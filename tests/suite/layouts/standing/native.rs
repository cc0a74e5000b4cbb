//! Documents of any shape.

use serde_json::{Value, json};
use waypost::Layout;

use super::{bare, described, document, of, standing};

#[test]
fn what_is_said_at_the_top_is_told() {
    let native = json!({
        "task": "Port the parser", "version": 3, "tasks_done": ["a"], "todo": ["b", "c"],
        "last_action": "wrote a", "last_score": "81.5", "failure_count": 2,
        "last_error": {"message": "exit 1"}, "tests_passing": "false", "branch": "feature/p",
        "worktree": "/w", "plan_file": "plan.md", "plan_modification_time": 1_760_000_000,
        "labels": ["x"], "body": "text", "issue_number": 42, "pr_number": "7",
        "artifacts": [
            {"path": "src/a.rs", "sha256": "00ff", "status": "modified"}, "src/b.rs", {"hash": "1"},
        ],
    });
    insta::assert_snapshot!(described(&of(Layout::Native, &native)), @"
    description: Port the parser
    version: 3
    progress: task 1 of 3, then b
    done: 1
    - a
    remaining: 2
    - b
    - c
    last_action: wrote a
    score: 81.5
    failures: 2
    error: exit 1
    tests_passing: false
    issue: 42
    branch: feature/p
    body: text
    labels: 1
    - x
    worktree: /w
    plan_file: plan.md
    plan_modified_at: 1760000000
    file: src/a.rs 00ff modified
    file: src/b.rs ? ?
    pull_request: 7
    ");
}

#[test]
fn pairs_of_numbers_are_progress() {
    for (native, expected) in [
        (json!({"completed_steps": "2", "total_steps": 5}), Some(("step", 2, Some(5)))),
        (json!({"progress": {"completed_steps": 2, "total_steps": 5}}), Some(("step", 2, Some(5)))),
        (json!({"completed_phases": [1, 2], "total_phases": 5}), Some(("phase", 2, Some(5)))),
        (json!({"current_phase": 3, "total_phases": 5}), Some(("phase", 3, Some(5)))),
        (json!({"iteration": 3, "max_iterations": 9}), Some(("iteration", 3, Some(9)))),
        (json!({"tasks_completed": 3, "total_tasks": 9}), Some(("task", 3, Some(9)))),
        (json!({"tasks_completed": ["a"], "pending": ["b"]}), Some(("task", 1, Some(2)))),
        (json!({"tasks_completed": ["a"]}), Some(("task", 1, None))),
        (json!({"iteration": 3}), None),
        (json!({"iteration": {}, "max_iterations": 9}), None),
        (json!({"progress": 40}), None),
    ] {
        let progress = of(Layout::Native, &native).progress;
        let told = progress.map(|progress| (progress.unit, progress.done, progress.total));
        assert_eq!(told, expected, "{native}");
    }
}

#[test]
fn the_entry_knows_the_issue_and_where_to_go_on() {
    let mut entry = bare(Layout::Native);
    entry.issue = "7".parse().ok();
    entry.resume_from = Some("step 4".to_owned());
    let told = standing(&entry, &document(&json!({"issue": 42})));
    assert_eq!(told.snapshot.issue.unwrap().as_str(), "7");
    assert_eq!(told.next.as_deref(), Some("Continue from step 4."));
}

#[test]
fn a_document_of_any_shape_is_never_refused() {
    for native in [json!({}), json!({"version": 999}), json!({"schema_version": "x"})] {
        assert!(of(Layout::Native, &native).refusals.is_empty());
    }
}

#[test]
fn long_lists_and_texts_have_an_end() {
    let tasks: Vec<Value> = (0..20_000).map(Value::from).collect();
    let native =
        json!({"tasks_done": tasks, "todo": tasks, "description": "\u{e9}".repeat(100_000)});
    let told = of(Layout::Native, &native);
    assert_eq!(told.tasks_done.unwrap().len(), 10_000);
    assert_eq!(told.progress.unwrap().total, Some(40_000));
    assert_eq!(told.description.unwrap().len(), 64 * 1024);
}
