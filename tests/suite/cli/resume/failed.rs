//! Files of the claude system in `failed/`: kept to be looked at, and never gone on from.

use super::super::Test;

fn workflow(time: &str) -> String {
    format!(
        r#"{{"checkpoint_id": "implement_auth_{time}", "workflow_type": "implement",
        "project_name": "auth", "created_at": "2025-10-03T{}:00:00Z", "updated_at":
        "2025-10-03T{}:00:00Z", "status": "in_progress", "workflow_description": "add auth",
        "current_phase": 2, "total_phases": 4, "completed_phases": [1],
        "workflow_state": {{"step": 1}}}}"#,
        &time[9..11],
        &time[9..11]
    )
}

fn project(files: &[(&str, &str)]) -> Test {
    let test = Test::new();
    for (directory, time) in files {
        let path = format!(".claude/checkpoints/{directory}implement_auth_{time}.json");
        test.put(&path, workflow(time));
    }
    test.run("import . --quiet").done();
    test
}

const EARLIER: &str = "20251003_100000";
const LATER: &str = "20251003_120000";

/// It ended with 3, so a loop started over beside a file that the scripts would go on from.
#[test]
fn an_older_file_that_still_lies_among_work_is_offered() {
    let test = project(&[("", EARLIER), ("failed/", LATER)]);
    for strategy in ["last", "smart"] {
        let ended = test.run(&format!("resume implement:auth --json --strategy {strategy}"));
        let answer = ended.object();
        assert_eq!(answer["id"], format!("implement_auth_{EARLIER}"), "{strategy}");
        assert_eq!(answer["decision"], "resume", "{strategy}");
    }
}

#[test]
fn with_nothing_but_failed_files_there_is_nothing_to_go_on_from() {
    let test = project(&[("failed/", EARLIER), ("failed/", LATER)]);
    for strategy in ["last", "smart"] {
        let ended = test.run(&format!("resume implement:auth --strategy {strategy}"));
        assert_eq!(ended.code, Some(3), "{strategy}: {}", ended.stderr);
    }
}
