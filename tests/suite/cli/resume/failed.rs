//! Files of the claude system in `failed/`: kept for inspection, and never resumed.

use std::fs;

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

fn path(directory: &str, time: &str) -> String {
    format!(".claude/checkpoints/{directory}implement_auth_{time}.json")
}

fn project(files: &[(&str, &str)]) -> Test {
    let test = Test::new();
    for (directory, time) in files {
        test.put(&path(directory, time), workflow(time));
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

/// The README of the system archives by `mv`. The older revision of that file was offered.
#[test]
fn a_file_that_was_moved_to_failed_by_hand_is_not_gone_on_from() {
    let test = project(&[("", LATER)]);
    let (from, to) = (path("", LATER), path("failed/", LATER));
    fs::create_dir_all(test.path().join(&to).parent().unwrap()).unwrap();
    fs::rename(test.path().join(&from), test.path().join(&to)).unwrap();
    // An export writes missing files, and removes none whose checkpoint was not marked.
    test.run("export . --quiet").done();
    assert!(test.path().join(&to).exists());
    fs::remove_file(test.path().join(&from)).unwrap();
    test.run("import . --quiet").done();
    for strategy in ["last", "smart"] {
        let ended = test.run(&format!("resume implement:auth --strategy {strategy}"));
        assert_eq!(ended.code, Some(3), "{strategy}: {}", ended.stderr);
    }
}

#[test]
fn what_is_marked_as_failed_belongs_into_failed_and_is_not_gone_on_from() {
    let test = project(&[("", EARLIER), ("", LATER)]);
    test.run(&format!("fail implement_auth_{LATER} --quiet")).done();
    let offered = |test: &Test| {
        let answer = test.run("resume implement:auth --json").object();
        answer["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(offered(&test), format!("implement_auth_{EARLIER}"));
    test.run("export . --quiet").done();
    assert_eq!(offered(&test), format!("implement_auth_{EARLIER}"));
}
