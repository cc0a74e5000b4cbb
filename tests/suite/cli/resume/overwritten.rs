//! Earlier contents of a file whose present content cannot be resumed.

use super::super::Test;

const FILE: &str = ".tmp/impl-checkpoint.json";

fn state(stage: &str) -> String {
    format!(
        r#"{{"version": 2, "timestamp": "2025-01-15T10:30:00", "state": {{"issue_no": 7,
        "current_stage": "{stage}", "iteration": 3, "worktree": "/", "plan_file": null,
        "last_feedback": "", "last_score": 80, "history": []}}}}"#
    )
}

/// A loop resumed a run that had ended for good, all night, from earlier contents of its file.
#[test]
fn what_was_overwritten_is_not_gone_on_from() {
    let test = Test::new();
    for stage in ["impl", "fatal"] {
        test.put(FILE, state(stage));
        test.run("import . --quiet").done();
    }
    let told = test.run("resume 7 --no-gh").failed(4);
    assert!(told.contains("was overwritten in its file by agentize-"), "{told}");
}

/// A worker wrote `{}` over its checkpoint: the import took that for a file of no system, in a
/// series of its own, and `resume` went on from the content before it without a word.
#[test]
fn what_a_content_of_no_system_overwrote_is_not_gone_on_from() {
    let test = Test::new();
    for stage in ["impl", "review"] {
        test.put(FILE, state(stage));
        test.run("import . --quiet").done();
    }
    for content in ["{}", "[]", "null", r#"{"a": 1}"#] {
        test.put(FILE, content);
        test.run("import . --quiet").done();
        let told = test.run("resume 7 --no-gh --worktree /").failed(4);
        let newest = test.entries().remove(0);
        let id = newest["id"].as_str().unwrap();
        assert_eq!(newest["layout"], "native");
        assert!(told.contains(&format!(": it was overwritten in its file by {id}")), "{told}");
        test.run("resume 7 --no-gh --worktree / --strategy smart").failed(4);
        test.run("resume 7 --no-gh --worktree / --force --quiet").done();
        let series = test.run("series --issue 7 --json").done();
        assert!(series.contains(r#""decision":"refused""#), "{series}");
    }
    // What could not be read, and was kept, is such a content, too.
    test.put(FILE, "{");
    test.run("import . --quiet --keep-unreadable").done();
    test.run("resume 7 --no-gh --worktree /").failed(4);
    test.put(FILE, state("impl"));
    test.run("import . --quiet").done();
    test.run("resume 7 --no-gh --worktree /").done();
}

/// Nor is a file from before that one taken instead.
#[test]
fn a_content_of_no_system_stops_resume_as_an_invalid_one_does() {
    let test = Test::new();
    let at = |time: &str| format!(".claude/checkpoints/implement_auth_20261118_{time}.json");
    for time in ["090000", "100000"] {
        let document = format!(
            r#"{{"checkpoint_id": "implement_auth_20261118_{time}", "workflow_type": "implement",
            "project_name": "auth", "created_at": "2026-11-18T{}:00:00Z", "status": "in_progress",
            "workflow_state": {{}}}}"#,
            &time[..2]
        );
        test.put(&at(time), document);
    }
    test.run("import . --quiet").done();
    test.run("resume implement:auth").done();
    test.put(&at("100000"), "{}");
    test.run("import . --quiet").done();
    let told = test.run("resume implement:auth").failed(4);
    let hint = "`waypost resume implement_auth_20261118_090000` goes on from";
    assert!(told.contains(hint), "{told}");
}
