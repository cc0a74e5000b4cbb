//! What is written as `.tmp/impl-checkpoint.json`, read as the loader of agentize reads it.

use serde_json::{Value, json};
use waypost::layouts::{LayoutFile, Schema, Writing, file_as, file_with};
use waypost::{Entry, Layout};

use super::{document, entry, printed, state};

/// What a run resumes with.
#[derive(Debug, PartialEq)]
struct Run {
    issue_no: u64,
    current_stage: String,
    iteration: u64,
    worktree: String,
    last_feedback: String,
    last_score: i64,
    history: Vec<Value>,
    pr_number: Option<String>,
    pr_url: Option<String>,
}

/// The loader: one version, four required fields, and defaults for the others.
fn load(file: &LayoutFile, version: u64) -> Result<Run, String> {
    let value = serde_json::to_value(&file.document).unwrap();
    let found = value.get("version").and_then(Value::as_u64).unwrap_or(0);
    if found != version {
        return Err(format!("version mismatch: expected {version}, got {found}"));
    }
    let state = &value["state"];
    let number = |key: &str| state[key].as_u64().ok_or_else(|| format!("missing {key}"));
    let text = |key: &str| state[key].as_str().map(str::to_owned);
    Ok(Run {
        issue_no: number("issue_no")?,
        current_stage: text("current_stage").ok_or("missing current_stage")?,
        iteration: number("iteration")?,
        worktree: text("worktree").ok_or("missing worktree")?,
        last_feedback: text("last_feedback").unwrap_or_default(),
        last_score: state["last_score"].as_i64().unwrap_or(0),
        history: state["history"].as_array().cloned().unwrap_or_default(),
        pr_number: text("pr_number"),
        pr_url: text("pr_url"),
    })
}

fn with(more: &Value) -> Value {
    let (mut state, Value::Object(more)) = (state(), more.clone()) else { unreachable!() };
    state.as_object_mut().unwrap().extend(more);
    state
}

fn written(schema: &str, entry: &Entry, state: &Value) -> Result<LayoutFile, Vec<String>> {
    let schema = Some(Schema::new(Layout::Agentize, schema).unwrap());
    let writing = Writing { schema, ..Writing::default() };
    file_with(Layout::Agentize, entry, &document(state), writing).map_err(|it| printed(&it))
}

fn steps() -> Value {
    json!([
        {"stage": "impl", "iteration": 1, "timestamp": "2026-02-02T20:00:00", "result": "success",
         "score": 80},
        {"stage": "review", "iteration": 1, "timestamp": "2026-02-02T20:10:00", "result": "retry",
         "score": 60},
    ])
}

/// It was version 1, which no release since 2026-02-17 reads: they start afresh.
#[test]
fn a_run_resumes_with_its_history_and_its_pull_request() {
    let entry = entry(Layout::Agentize);
    let more = json!({"history": steps(), "pr_number": 17, "pr_url": "https://example.com/17",
        "last_feedback": "add a test", "last_score": 60});
    let file = file_as(Layout::Agentize, &entry, &document(&with(&more))).unwrap();
    let expected = Run {
        issue_no: 42,
        current_stage: "review".to_owned(),
        iteration: 7,
        worktree: "/home/me/tree".to_owned(),
        last_feedback: "add a test".to_owned(),
        last_score: 60,
        history: steps().as_array().unwrap().clone(),
        pr_number: Some("17".to_owned()),
        pr_url: Some("https://example.com/17".to_owned()),
    };
    assert_eq!(load(&file, 2).unwrap(), expected);
    assert!(file.notes.is_empty(), "{:?}", file.notes);
    let nested = with(&json!({"state": more}));
    let file = file_as(Layout::Agentize, &entry, &document(&nested)).unwrap();
    assert_eq!(load(&file, 2).unwrap(), expected);
}

#[test]
fn an_older_release_gets_the_version_that_it_reads() {
    let file = written("1", &entry(Layout::Agentize), &state()).unwrap();
    assert_eq!(load(&file, 1).unwrap().history, Vec::<Value>::new());
    assert_eq!(load(&file, 2).unwrap_err(), "version mismatch: expected 2, got 1");
    let mut simp = entry(Layout::Agentize);
    simp.phase = Some("simp".to_owned());
    assert!(written("2", &simp, &state()).is_ok());
    let refused = written("1", &simp, &state()).unwrap_err();
    assert_eq!(refused, ["phase: must not be simp in version 1 of agentize"]);
}

#[test]
fn a_history_of_another_kind_stays_in_the_document_and_is_reported() {
    let entry = entry(Layout::Agentize);
    for history in [json!(["wrote a test"]), json!("none"), json!([{"stage": "deploy"}])] {
        let state = with(&json!({"history": history}));
        let file = file_as(Layout::Agentize, &entry, &document(&state)).unwrap();
        assert_eq!(load(&file, 2).unwrap().history, Vec::<Value>::new());
        assert_eq!(file.notes.len(), 1, "{history}");
        let whole = file.document.get("state").and_then(|it| it.get("document")).unwrap();
        assert_eq!(whole, &document(&state));
    }
}
