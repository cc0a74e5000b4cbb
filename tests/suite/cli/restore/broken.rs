//! What cannot be finished tells how far it came.

use std::fs;

use serde_json::json;

use super::super::Test;
use super::{actions, outcomes, project, report, work};

/// Files were replaced, and the report said that they were not come to.
#[test]
fn a_state_file_without_a_directory_stops_the_plan() {
    let test = project();
    let before = work(&test.path());
    for flags in ["--dry-run", "", "--force"] {
        let args = format!("restore one --into . --state missing/s.json {flags}");
        let ended = test.run(&args);
        assert_eq!(ended.code, Some(2));
        let expected = "--state: the directory of missing/s.json is not there";
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert_eq!(work(&test.path()), before);
    }
    // That of the files themselves will be there.
    for state in ["new/s.json", "new/src/deep/s.json"] {
        let args = format!("restore one --into new --state {state} --quiet");
        test.run(&args).done();
        assert!(test.path().join(state).exists());
        fs::remove_dir_all(test.path().join("new")).unwrap();
    }
}

#[test]
fn files_are_reported_though_the_state_cannot_be_written() {
    let test = project();
    // There is no room for what the name of a draft has beside it.
    let state = "s".repeat(250);
    let ended = test.run(&format!("restore one --into . --json --state {state}"));
    assert_eq!(ended.code, Some(1));
    let told = report(&ended);
    assert_eq!(actions(&told), [("src/a.rs", "replaced"), ("src/deep/b.sh", "created")]);
    assert_eq!(outcomes(&told), ["ok", "warning", "ok", "failed", "skipped", "skipped"]);
    assert!(told["files"][0]["kept_as"].is_string());
    assert_eq!(work(&test.path())["src/a.rs"].0, "a");
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_written_until_it_failed_is_named() {
    let test = Test::new();
    // So long that there is no room for it where what is replaced is kept.
    let long = format!("{}{}", format!("b{}/", "x".repeat(200)).repeat(20), "y".repeat(15));
    test.write("a", "a");
    test.write("c", "c");
    fs::create_dir_all(test.path().join(&long).parent().unwrap()).unwrap();
    test.write(&long, "b");
    test.feed(&format!("save - --id one --capture a c {long}"), "{}").done();
    for path in ["a", "c", &long] {
        test.write(path, "mine");
    }
    let ended = test.run("restore one --into . --json");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let told = report(&ended);
    assert_eq!(actions(&told), [("a", "replaced")]);
    assert_eq!(told["steps"][1]["outcome"], "failed");
    let kept = told["files"][0]["kept_as"].as_str().unwrap();
    let (kept_in, _) = kept.rsplit_once('/').unwrap();
    let expected = format!("what was replaced or removed until then is in {kept_in}");
    let first = format!("replaced       a  4 B -> 1 B, before in {kept}");
    assert_eq!(told["steps"][1]["details"], json!([first, expected]));
    assert_eq!(fs::read_to_string(test.path().join(kept)).unwrap(), "mine");
    let found = ["a", "c"].map(|path| fs::read_to_string(test.path().join(path)).unwrap());
    assert_eq!(found, ["a", "mine"]);
    // The store, both files, and the directory: no temporaries.
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 4);
}
