//! Files that became directories, and directories that became files.

use std::fs;

use serde_json::{Value, json};

use super::super::Test;
use super::{actions, outcomes, report, tree, work};

// Of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// With a checkpoint `x` that has these files, as no capture of one moment would.
fn with_files(files: &[(&str, &str)]) -> Test {
    let file = |(path, status): &(&str, &str)| match *status {
        "deleted" => json!({"path": path, "sha256": null, "status": status}),
        _ => json!({"path": path, "sha256": HASH, "status": status, "text": "abc"}),
    };
    let test = Test::new();
    let files: Vec<Value> = files.iter().map(file).collect();
    let line = json!({"id": "x", "document": 1, "artifacts": files}).to_string();
    test.feed("import - --quiet", &line).done();
    test
}

/// It was refused where nothing had changed, and failed to verify where nothing was.
#[test]
fn a_file_that_became_a_directory_is_gone() {
    let test = Test::new();
    test.write("a", "file");
    test.feed("save - --id one --capture a", "{}").done();
    fs::remove_file(test.path().join("a")).unwrap();
    fs::create_dir(test.path().join("a")).unwrap();
    test.write("a/b", "below");
    test.feed("save - --id two --capture a", "{}").done();
    for (into, action) in [(".", "unchanged"), ("new", "created"), ("new", "unchanged")] {
        let ended = test.run(&format!("restore two --into {into} --json --quiet"));
        let told = report(&ended);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{told}");
        assert_eq!(actions(&told), [("a", "unchanged"), ("a/b", action)]);
        assert_eq!(outcomes(&told), ["ok"; 6]);
    }
    assert_eq!(tree(&test.path().join("new"))["a/b"].0, "below");
}

#[test]
fn a_directory_that_became_a_file_goes_with_what_was_deleted_in_it() {
    let test = Test::new();
    fs::create_dir_all(test.path().join("a/deep/er")).unwrap();
    test.write("a/b", "below");
    test.write("a/deep/c", "deeper");
    test.feed("save - --id one --capture a", "{}").done();
    fs::remove_dir_all(test.path().join("a")).unwrap();
    test.write("a", "file");
    test.feed("save - --id two --capture a", "{}").done();
    test.run("restore one --into new --quiet").done();
    fs::create_dir(test.path().join("new/a/empty")).unwrap();

    test.write("new/a/deep/mine", "mine");
    let before = tree(&test.path().join("new"));
    for flags in ["--dry-run", ""] {
        let ended = test.run(&format!("restore two --into new --json {flags}"));
        assert_eq!(ended.code, Some(4));
        let expected = "a is a directory, and a/deep/mine stays in it";
        assert_eq!(report(&ended)["steps"][1]["details"], json!([expected]));
        assert_eq!(tree(&test.path().join("new")), before);
    }
    fs::remove_file(test.path().join("new/a/deep/mine")).unwrap();
    let ended = test.run("restore two --into new --json --quiet");
    let told = report(&ended);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{told}");
    assert_eq!(actions(&told), [("a", "created"), ("a/b", "removed"), ("a/deep/c", "removed")]);
    assert_eq!(work(&test.path().join("new"))["a"].0, "file");
    let kept = test.path().join("new").join(told["files"][2]["kept_as"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "deeper");
    let told = report(&test.run("restore two --into new --json"));
    assert!(actions(&told).iter().all(|(_, action)| *action == "unchanged"), "{told}");
}

#[test]
fn a_file_below_a_file_is_taken_in_by_nobody() {
    let file =
        |path: &str| json!({"path": path, "sha256": HASH, "status": "created", "text": "abc"});
    let line = json!({"id": "x", "document": 1, "artifacts": [file("a"), file("a/b")]}).to_string();
    let test = Test::new();
    let ended = test.feed("import -", &line);
    assert_eq!(ended.code, Some(7));
    assert!(ended.stderr.contains("\"a/b\" is below it"), "{}", ended.stderr);
}

/// That another path above it was deleted does not make this one go.
#[test]
fn only_the_very_file_in_the_way_gives_way() {
    let test = with_files(&[("a/b", "deleted"), ("a/b/c", "created"), ("z", "deleted")]);
    test.write("a", "mine");
    test.write("z", "z");
    let before = work(&test.path());
    let ended = test.run("restore x --into . --json");
    assert_eq!(ended.code, Some(4));
    assert_eq!(report(&ended)["steps"][1]["details"], json!(["a/b/c goes through a file"]));
    assert_eq!(work(&test.path()), before);
}
