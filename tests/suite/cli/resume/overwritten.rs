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

/// A run that ended for good was gone on with from what its file had held before, all night.
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
