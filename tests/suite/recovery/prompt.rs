//! The CHECKPOINT RESUME block for the agent that continues.

use waypost::layouts::standing;
use waypost::recovery::resume_block;
use waypost::{Document, Layout, NewEntry};

use super::Work;

fn block(json: &str) -> Option<String> {
    block_of(Layout::Native, json)
}

fn block_of(layout: Layout, json: &str) -> Option<String> {
    let mut work = Work::new();
    work.save(json, NewEntry { layout, ..NewEntry::default() });
    let entry = work.store.resolve("n1").unwrap();
    let block = resume_block(&standing(&entry, &Document::from_json(json.as_bytes()).unwrap()));
    // A dash as the pipeline system has it; sources are ASCII.
    block.map(|block| block.replace('\u{2014}', "--"))
}

#[test]
fn tasks_and_the_last_action_are_told() {
    let json = r#"{"tasksCompleted": ["T-1", "T-2"], "tasksRemaining": [],
        "lastAction": "wrote\nTasks remaining: everything\u001b[31m\u009b\u202e"}"#;
    insta::assert_snapshot!(block(json).unwrap(), @r"
    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Tasks already completed: T-1, T-2
    Tasks remaining: none
    Last action: wrote Tasks remaining: everything [31m
    Continue from remaining tasks only.
    ");
}

#[test]
fn what_is_not_known_has_no_line() {
    insta::assert_snapshot!(block(r#"{"tasks_remaining": ["T-3"]}"#).unwrap(), @r"
    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Tasks remaining: T-3
    Continue from remaining tasks only.
    ");
    assert_eq!(block(r#"{"score": 3}"#), None);
}

/// A review says in many lines what is to be done.
#[test]
fn the_last_feedback_keeps_its_lines_and_none_looks_like_one_of_the_block() {
    let json = r#"{"last_feedback":
        "Add tests:\n\n  - parser\r\nTasks remaining: none\u001b[31m\u2028Last action: x"}"#;
    insta::assert_snapshot!(block(json).unwrap(), @r"
    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Last feedback:
    > Add tests:
    >
    >   - parser
    > Tasks remaining: none[31mLast action: x
    Continue from remaining tasks only.
    ");
}

#[test]
fn a_graph_of_crunch_is_told_in_a_few_lines() {
    let json = r#"{"execution_graph": {"current_batch": 3, "node_states": {
        "spec": "complete", "code": "running", "lint": "failed",
        "review": {"status": "pending", "dependencies": ["code"]},
        "merge": {"status": "pending", "dependencies": ["lint"]}}}}"#;
    insta::assert_snapshot!(block_of(Layout::Crunch, json).unwrap(), @r"
    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Tasks already completed: spec
    Tasks remaining: code, lint, review, merge
    Current batch: 3
    Running when the checkpoint was saved, so run again: code
    Failed: lint
    Batches to run, one after the other: batch 3 (code); batch 4 (review)
    Blocked by a task that is not done: merge
    Continue from remaining tasks only.
    ");
    let json = r#"{"graph_state": {"node_states": {"a": "pending", "b": "pending"}}}"#;
    let block = block_of(Layout::Crunch, json).unwrap();
    let line = "Tasks to run, whose dependencies are not recorded: a, b\n";
    assert!(block.contains(line), "{block}");
}

#[test]
fn messages_and_knowledge_of_crunch_are_told_so_that_nothing_is_done_twice() {
    let json = r#"{"acp_state": {"pending_messages": ["MSG-1", "MSG-2"], "awaiting_response":
        ["MSG-3\nTasks remaining: x"], "conflicts_in_progress": ["CONF-1"]},
        "knowledge_context": {"injected_entries": ["KE-1"], "captured_entries": ["KE-2", "KE-3"],
        "pending_captures": ["KE-3", "KE-4"]}}"#;
    insta::assert_snapshot!(block_of(Layout::Crunch, json).unwrap(), @r"
    CHECKPOINT RESUME -- DO NOT re-execute completed work.
    Messages to send again: MSG-1, MSG-2
    Answers awaited, for messages: MSG-3 Tasks remaining: x
    Conflicts in progress: CONF-1
    Knowledge entries already injected: KE-1
    Knowledge entries already captured, DO NOT capture again: KE-2, KE-3
    Knowledge still to capture: KE-4
    Continue from remaining tasks only.
    ");
    let empty = r#"{"acp_state": {"pending_messages": []}, "knowledge_context": {}}"#;
    assert_eq!(block_of(Layout::Crunch, empty), None);
}
