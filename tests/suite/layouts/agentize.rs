//! `.tmp/impl-checkpoint.json`: byte for byte, and the graph of stages.

use std::fs;

use serde_json::{Value, json};
use waypost::layouts::agentize::{ImplCheckpoint, ImplStage, ImplState, LOCATION};
use waypost::layouts::{Field, Word, from_json};
use waypost::{Error, Timestamp};

use super::{comes_back, fixtures, printed, typed, with};

/// The example of the document, which leaves out steps of two iterations.
fn example() -> Value {
    json!({
        "version": 1,
        "timestamp": "2025-01-15T10:30:00",
        "state": {
            "issue_no": 42,
            "current_stage": "review",
            "iteration": 3,
            "worktree": "/path/to/worktree",
            "plan_file": "/path/to/plan.md",
            "last_feedback": "Implementation looks good but needs more tests",
            "last_score": 75,
            "history": [step("impl", 1, "success"), step("review", 1, "retry")],
        }
    })
}

fn step(stage: &str, iteration: u64, result: &str) -> Value {
    json!({
        "stage": stage,
        "iteration": iteration,
        "timestamp": "2025-01-15T10:00:00",
        "result": result,
        "score": null
    })
}

fn problems(document: &Value) -> Vec<String> {
    printed(&typed::<ImplCheckpoint>(document).validate())
}

#[test]
fn what_agentize_wrote_is_written_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    for path in fixtures("agentize", "v", ".json") {
        let checkpoint = ImplCheckpoint::load(&path).unwrap();
        assert_eq!(printed(&checkpoint.validate()), [""; 0], "{}", path.display());
        let copy = dir.path().join(LOCATION);
        checkpoint.save(&copy).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&path).unwrap(), "{}", path.display());
        assert_eq!(ImplCheckpoint::load(&copy).unwrap(), checkpoint);
    }
    // What was put aside meanwhile is gone.
    assert_eq!(fs::read_dir(dir.path().join(".tmp")).unwrap().count(), 1);
}

#[test]
fn what_is_read_comes_back() {
    assert_eq!(comes_back::<ImplCheckpoint>("agentize", "v").len(), 8);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint.json");
    fs::write(&path, "old").unwrap();
    let state = ImplState::new(42, "/worktree", None);
    state.save(&path, Timestamp::from_micros(0)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(ImplState::load(&path).unwrap(), state);
}

#[test]
fn a_new_state_is_written_as_agentize_starts() {
    let time: Timestamp = "2026-11-16T02:17:33.311315Z".parse().unwrap();
    let worktree = "/home/u/agentize-worktrees/issue-848";
    let checkpoint = ImplCheckpoint::new(ImplState::new(848, worktree, None), time);
    let written = fs::read_to_string(&fixtures("agentize", "v2-00", ".json")[0]).unwrap();
    assert_eq!(checkpoint.to_json().unwrap(), written.replace("\"version\": 2", "\"version\": 1"));
}

#[test]
fn fields_that_nobody_knows_are_written_after_the_others() {
    let mut document = with(&example(), "/state/zeal", Some(json!({"b": 1.0, "a": []})));
    document = with(&document, "/state/history/1/by", Some(json!("me")));
    let checkpoint: ImplCheckpoint = typed(&document);
    let text = checkpoint.to_json().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    assert!(
        text.ends_with("\"zeal\": {\n      \"a\": [],\n      \"b\": 1.0\n    }\n  }\n}"),
        "{text}"
    );
    assert!(text.contains("\"score\": null,\n        \"by\": \"me\"\n"), "{text}");
}

#[test]
fn what_agentize_has_a_default_for_may_be_missing() {
    let state: ImplState =
        from_json(br#"{"issue_no": 1, "current_stage": "impl", "iteration": 1, "worktree": "/w"}"#)
            .unwrap();
    let new = ImplState::new(1, "/w", None);
    assert_eq!(state, ImplState { pr_number: Field::Absent, pr_url: Field::Absent, ..new });
    assert_eq!(printed(&state.validate()), [""; 0]);
}

#[test]
fn what_cannot_be_loaded_is_named_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint.json");
    assert!(
        matches!(ImplCheckpoint::load(&path), Err(Error::Io { path: named, .. }) if named == path)
    );
    for (text, expected) in [
        ("{", ": expected a key in double quotes at line 1 column 2"),
        ("[]", ": found array, expected struct ImplCheckpoint"),
        (r#"{"timestamp": "", "state": {}}"#, " at /state: missing field `issue_no`"),
        (
            r#"{"timestamp": "", "state": {"issue_no": 1, "iteration": "two"}}"#,
            " at /state/iteration: found text, expected u64",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = ImplCheckpoint::load(&path).unwrap_err().to_string();
        assert_eq!(error, format!("invalid {}{expected}", path.display()));
    }
}

/// Of every pair of stages: may the second come right after the first?
#[test]
fn the_graph_of_stages_is_that_of_the_document_and_of_the_code() {
    use ImplStage::{Done, Fatal, Impl, Pr, Rebase, Review, Simp};
    let of_the_document = [
        (Impl, Review),
        (Review, Impl),
        (Review, Pr),
        (Pr, Done),
        (Pr, Rebase),
        (Rebase, Impl),
        (Rebase, Fatal),
    ];
    let of_the_code = [
        (Impl, Impl),
        (Impl, Fatal),
        (Review, Simp),
        (Review, Fatal),
        (Simp, Pr),
        (Simp, Impl),
        (Simp, Fatal),
        (Pr, Impl),
        (Pr, Fatal),
        (Rebase, Review),
    ];
    // With reviews, simplifications or both switched off.
    let silent = [(Impl, Pr), (Impl, Simp), (Rebase, Pr), (Rebase, Simp)];
    for first in ImplStage::ALL.iter().copied() {
        for second in ImplStage::ALL.iter().copied() {
            let pair = (first, second);
            let is_legal = of_the_document.contains(&pair) || of_the_code.contains(&pair);
            assert_eq!(first.can_become(second), is_legal, "{pair:?}");
            let is_legal = is_legal || silent.contains(&pair);
            assert_eq!(first.is_followed_by(second), is_legal, "{pair:?}");
        }
    }
}

/// A run that starts with `impl` and comes to the first of the pair, and then to the second.
#[test]
fn a_history_goes_only_where_the_graph_does() {
    for first in ImplStage::ALL.iter().copied() {
        for second in ImplStage::ALL.iter().copied() {
            let before = path_to(first);
            let at = before.len();
            let mut stages = before;
            stages.push(second);
            let history: Vec<_> =
                stages.iter().map(|stage| step(stage.as_str(), 1, "success")).collect();
            let mut document = with(&example(), "/state/history", Some(json!(history)));
            document = with(&document, "/state/current_stage", Some(json!(second.as_str())));
            let mut expected = Vec::new();
            if !first.is_followed_by(second) {
                let rule = format!("must not be {second} after {first}");
                expected.push(format!("/state/history/{at}/stage: {rule}"));
            }
            assert_eq!(problems(&document), expected);
        }
    }
}

fn path_to(stage: ImplStage) -> Vec<ImplStage> {
    let mut path = vec![ImplStage::Impl];
    match stage {
        ImplStage::Impl => {}
        ImplStage::Review | ImplStage::Simp | ImplStage::Pr | ImplStage::Fatal => path.push(stage),
        ImplStage::Rebase | ImplStage::Done => path.extend([ImplStage::Pr, stage]),
    }
    path
}

#[test]
fn every_rule_names_its_field() {
    assert_eq!(problems(&example()), [""; 0]);
    let stages = "must be one of impl, review, simp, pr, rebase, fatal, done";
    let results = "must be one of success, failure, retry, incomplete, pass, fail, ci_fix, \
                   pr_pass, pr_fail_fixable, pr_fail_need_rebase, rebase_ok, rebase_conflict";
    let order = "must not be before an earlier one or after that of the state";
    for (pointer, value, rule) in [
        ("/version", json!(3), "must be 1 or 2"),
        ("/timestamp", json!("today"), "must be a time like 2026-01-25T15:00:00Z"),
        ("/state/issue_no", json!(0), "must be 1 or more"),
        ("/state/current_stage", json!("finish"), stages),
        ("/state/current_stage", json!("done"), "must not be done after review"),
        ("/state/worktree", json!("work/tree"), "must be absolute"),
        ("/state/last_score", json!(101), "must be from 0 to 100"),
        ("/state/history/0/stage", json!("plan"), stages),
        ("/state/history/0/stage", json!("review"), "must be impl, where every run starts"),
        ("/state/history/0/iteration", json!(0), order),
        ("/state/history/1/iteration", json!(4), order),
        ("/state/history/0/timestamp", json!("10:00"), "must be a time like 2026-01-25T15:00:00Z"),
        ("/state/history/0/result", json!("good"), results),
        ("/state/history/1/score", json!(-1), "must be from 0 to 100"),
    ] {
        let found = problems(&with(&example(), pointer, Some(value)));
        assert_eq!(found.first().map(String::as_str), Some(format!("{pointer}: {rule}").as_str()));
    }
    let missing = problems(&with(&example(), "/version", None));
    assert_eq!(missing, ["/version: must be 1 or 2"]);
}

#[test]
fn a_stage_that_nobody_knows_is_kept() {
    let document = with(&example(), "/state/current_stage", Some(json!("finish")));
    let checkpoint: ImplCheckpoint = typed(&document);
    assert_eq!(checkpoint.state.current_stage, Word::Other("finish".to_owned()));
    assert_eq!(serde_json::to_value(&checkpoint).unwrap(), document);
}
