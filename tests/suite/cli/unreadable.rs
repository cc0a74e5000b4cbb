//! Files in the places of systems that cannot be read: after a crash, or half written.
//!
//! Before, the import refused such a file and kept nothing of it, so `resume` continued from its
//! earlier content.

use std::fs;

use waypost::Layout;

use super::conformance::{Broken, broken};
use super::{Ended, Test};

/// What a crash may leave of a file.
fn remains(right: &str) -> [Vec<u8>; 4] {
    let half = right.as_bytes()[..right.len() / 2].to_vec();
    // Half of a YAML file may be a document.
    let half = if right.starts_with('{') { half } else { [&half, &b"\na: b: [c\n"[..]].concat() };
    [half, Vec::new(), vec![0; 4096], b"\xff\xfe{\0}".to_vec()]
}

fn imported(test: &Test) -> (Ended, serde_json::Value) {
    let ended = test.run("import . --json");
    let report = serde_json::from_str(&ended.stdout).unwrap();
    (ended, report)
}

/// Each layout with what a crash may leave of it.
fn each(mut check: impl FnMut(Layout, &Broken, Vec<u8>)) {
    for layout in Layout::ALL {
        let Some(of) = broken(layout) else { continue };
        for bytes in remains(&of.right) {
            check(layout, &of, bytes);
        }
    }
}

#[track_caller]
fn refuses(test: &Test, series: &str, file: &str) {
    for how in ["", "--strategy smart", "--force", "--choice resume"] {
        let ended = test.run(&format!("resume {series} --no-gh {how}"));
        assert_eq!((ended.code, &*ended.stdout), (Some(4), ""), "{how}: {}", ended.stderr);
        let told = format!("it is invalid: {file} could not be read: ");
        assert!(ended.stderr.contains(&told), "{how}: {}", ended.stderr);
    }
}

#[test]
fn a_file_that_became_unreadable_stops_resume_until_it_is_mended() {
    each(|layout, Broken { path, right, .. }, bytes| {
        let test = Test::new();
        test.put(path, right);
        test.run("import . --quiet").done();
        let before = test.entries().remove(0);
        let series = before["series"].as_str().unwrap();
        test.put(path, &bytes);
        for expected in [2, 2] {
            let (ended, report) = imported(&test);
            assert_eq!(ended.code, Some(7), "{layout}: {}", ended.stderr);
            assert_eq!((&report["refused"], &report["kept"]), (&1.into(), &1.into()), "{layout}");
            assert_eq!((&report["imported"], &report["known"]), (&0.into(), &0.into()), "{layout}");
            assert_eq!(test.entries().len(), expected, "{layout}");
        }
        refuses(&test, series, path);
        let newest = test.entries().remove(0);
        assert_eq!((&newest["series"], &newest["layout"]), (&before["series"], &before["layout"]));
        assert_eq!(newest["issue"], before["issue"], "{layout}");
        // No command prints a state of it, and an export writes the broken bytes, not an older
        // content.
        test.run(&format!("latest {series} --document")).failed(4);
        test.run("export out --quiet").done();
        assert_eq!(fs::read(test.path().join("out").join(path)).unwrap(), bytes, "{layout}");
        fs::remove_dir_all(test.path().join("out")).unwrap();
        // The hint names the checkpoint with the earlier content, which a person may choose.
        let told = test.run(&format!("resume {series} --no-gh")).stderr;
        let hint = format!("`waypost resume {}` goes on from", before["id"].as_str().unwrap());
        assert!(told.contains(&hint), "{layout}: {told}");

        test.put(path, right);
        let (ended, report) = imported(&test);
        assert_eq!((ended.code, &report["imported"]), (Some(0), &1.into()), "{layout}");
        let ended = test.run(&format!("resume {series} --no-gh --choice resume --json"));
        let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(found["hurdles"], serde_json::json!([]), "{layout}: {}", ended.stdout);
        assert_eq!(found["id"], test.entries()[0]["id"], "{layout}");
        assert_ne!(found["id"], before["id"], "{layout}");
        test.run("verify").done();
    });
}

/// `resume` offered an older file of the same series. A path that names no series stops none.
#[test]
fn a_new_file_that_is_unreadable_stops_the_series_that_its_path_names() {
    each(|layout, Broken { path, later, right, .. }, bytes| {
        if path == later {
            return;
        }
        let test = Test::new();
        test.put(path, right);
        test.run("import . --quiet").done();
        let series = test.entries()[0]["series"].as_str().unwrap().to_owned();
        // The series of the fixture.
        let later = later.replace("implement_dark_mode", "orchestrate_auth_system");
        test.put(&later, &bytes);
        let (ended, _) = imported(&test);
        assert_eq!(ended.code, Some(7), "{layout}: {}", ended.stderr);
        refuses(&test, &series, &later);
    });
}

/// Without a store the next run would count as the first one.
#[test]
fn an_unreadable_file_alone_makes_a_store() {
    let test = Test::new();
    test.put(".pipeline/checkpoint-A.json", "");
    test.run("import . --dry-run").failed(7);
    assert!(!test.path().join(".waypost").exists());
    assert_eq!(test.run("import .").code, Some(7));
    refuses(&test, "A", ".pipeline/checkpoint-A.json");
}

/// An unreadable file counts as a checkpoint only where a system keeps its checkpoints, or where
/// the config says so.
#[test]
fn the_place_that_a_config_names_counts_and_other_files_are_not_kept() {
    let test = Test::new();
    test.put(
        ".claude/checkpoint-config.yaml",
        "checkpoint:\n  storage:\n    location: state/{issue}\n",
    );
    test.put("state/42/CP-a.yaml", "a: b: c\n");
    test.put("notes.json", "{");
    assert_eq!(test.run("import .").code, Some(7));
    refuses(&test, "issue:42", "state/42/CP-a.yaml");
    assert_eq!(test.run("import notes.json").code, Some(7));
    assert_eq!(test.entries().len(), 1);
}

/// A broken file in `failed/` is archived like the others there, and does not stop the series.
#[test]
fn an_unreadable_file_of_failed_work_stays_there_and_stops_nothing() {
    let Some(Broken { path, right, .. }) = broken(Layout::Claude) else { panic!("no file") };
    let test = Test::new();
    test.put(path, &right);
    let failed = ".claude/checkpoints/failed/implement_dark_mode_20261116_040000.json";
    test.put(failed, "{");
    assert_eq!(test.run("import .").code, Some(7));
    let entries = test.entries();
    let valid = entries.iter().find(|entry| entry["source_path"] == path).unwrap();
    let series = valid["series"].as_str().unwrap();
    let ended = test.run(&format!("resume {series} --no-gh --choice resume --json"));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["source_path"], path, "{}", ended.stderr);
    test.run("export out --quiet").done();
    assert_eq!(fs::read(test.path().join("out").join(failed)).unwrap(), b"{");
}

/// The retries of a story were taken from the content of the state before it broke.
#[test]
fn a_story_does_not_go_on_beside_an_unreadable_state_of_its_pipeline() {
    let test = Test::new();
    let story = r#"{"storyId": "A", "stage": 2, "agentId": "a", "tasksCompleted": [],
        "tasksRemaining": ["T"], "lastAction": "b", "timestamp": "2026-02-14T14:30:00Z"}"#;
    let state = r#"{"complete": false, "last_check": "2026-02-14T14:31:00Z", "team_name": "t",
        "story_state": {"A": "STAGE_2"}, "worktree_map": {"A": "."}, "business_answers": {}}"#;
    test.put(".pipeline/checkpoint-A.json", story);
    test.put(".pipeline/state.json", state);
    test.run("import . --quiet").done();
    test.run("resume A --no-gh --quiet").done();
    test.put(".pipeline/state.json", &state[..40]);
    assert_eq!(test.run("import .").code, Some(7));
    let told = test.run("resume A --no-gh").failed(4);
    assert!(told.contains(".pipeline/state.json could not be read: "), "{told}");
    test.run("resume A --prompt --worker --no-gh --choice resume").failed(4);
}

/// A file that was recognised by its content alone was skipped once its content was broken.
#[test]
fn a_file_in_any_place_that_was_a_checkpoint_before_is_one_still() {
    let Some(Broken { right, .. }) = broken(Layout::Crunch) else { panic!("no file") };
    for path in ["work/state.yaml", ".pipeline/state-of-42.yaml"] {
        for bytes in remains(&right) {
            let test = Test::new();
            test.put(path, &right);
            test.run("import . --quiet").done();
            let series = test.entries()[0]["series"].as_str().unwrap().to_owned();
            test.put(path, &bytes);
            for _ in 0..2 {
                assert_eq!(imported(&test).0.code, Some(7), "{path}");
                refuses(&test, &series, path);
                assert_eq!(test.entries().len(), 2, "{path}");
            }
        }
    }
}
