//! Files that came after a checkpoint are told, and moved away if that is asked for.

use std::fs;

use serde_json::json;

use super::super::Test;
use super::{actions, outcomes, project, report, tree, work};

/// The restored tree was a mixture of two states, and the report said that all was well.
#[test]
fn what_only_later_ones_captured_is_told_and_left() {
    let test = project();
    for flags in ["--dry-run", ""] {
        let told = report(&test.run(&format!("restore one --into . --json {flags}")));
        assert_eq!(told["left"], json!(["src/c.rs"]), "{flags}");
        assert_eq!(outcomes(&told)[1], "warning");
        assert_eq!(work(&test.path())["src/c.rs"].0, "c");
    }
    let shown = test.run("restore one --into .").done();
    assert!(shown.contains("\n     left           src/c.rs  (captured later)\n"), "{shown}");
    // Missing files, and files that were never captured, are not reported.
    assert_eq!(report(&test.run("restore one --into new --json --quiet"))["left"], json!([]));
    assert_eq!(report(&test.run("restore two --into . --json"))["left"], json!([]));
}

#[test]
fn what_came_later_is_moved_away_if_told() {
    let test = project();
    let before = tree(&test.path());
    let told = report(&test.run("restore one --into . --exact --dry-run --json"));
    assert_eq!(actions(&told)[1], ("src/c.rs", "would_remove"));
    assert_eq!(tree(&test.path()), before);
    let told = report(&test.run("restore one --into . --exact --json"));
    assert_eq!(actions(&told)[1], ("src/c.rs", "removed"));
    assert_eq!((&told["left"], outcomes(&told)), (&json!([]), vec!["ok"; 6]));
    let kept = test.path().join(told["files"][1]["kept_as"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "c");
    let found = work(&test.path());
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["other", "src", "src/a.rs", "src/deep", "src/deep/b.sh"]);
}

/// Not every checkpoint captures all files.
#[test]
fn what_was_there_before_stays() {
    let test = Test::new();
    for (id, name) in [("one", "a"), ("two", "b"), ("three", "a"), ("four", "c"), ("five", "a")] {
        test.write(name, id);
        test.feed(&format!("save - --id {id} --capture {name}"), "{}").done();
    }
    let told = report(&test.run("restore two --into . --exact --json"));
    assert_eq!((&told["left"], &actions(&told)[1]), (&json!(["a"]), &("c", "removed")));
    assert_eq!(told["steps"][1]["details"][2], "left           a  (there before, captured later)");
    assert_eq!(work(&test.path())["a"].0, "five");
}

#[test]
fn after_a_rollback_it_is_what_came_after_the_first() {
    let test = project();
    test.run("rollback one --quiet").done();
    let told = report(&test.run("restore latest --into . --exact --json"));
    assert_eq!(actions(&told)[1], ("src/c.rs", "removed"));
}

/// It does not tell which files there were.
#[test]
fn a_checkpoint_without_files_says_nothing_of_others() {
    let test = Test::new();
    test.feed("save - --id one", "{}").done();
    test.write("a", "a");
    test.feed("save - --id two --capture a", "{}").done();
    let told = report(&test.run("restore one --into . --exact --json"));
    assert_eq!((&told["left"], actions(&told)), (&json!([]), vec![]));
    assert_eq!(work(&test.path())["a"].0, "a");
}
