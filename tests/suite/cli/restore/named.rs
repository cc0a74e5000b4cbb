//! Files that a document names, without their content: they are compared, and left alone.

use serde_json::{Value, json};

use super::super::Test;
use super::{report, work};

// Of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn with_named(artifacts: &Value) -> Test {
    let test = Test::new();
    test.write("same", "abc");
    test.write("other", "abd");
    let state = json!({"phase": "build", "progress": {}, "artifacts": artifacts});
    let document = json!({"checkpoint_id": "x", "workflow_id": "w",
        "created_at": "2026-02-02T21:05:00Z", "state": state})
    .to_string();
    let line = format!(r#"{{"id": "x", "layout": "aiwg", "document": {document}}}"#);
    test.feed("import - --quiet", &line).done();
    test
}

fn compared(report: &Value) -> Vec<(&str, &str)> {
    let text = |value: &'_ Value| -> &'static str { value.as_str().unwrap().to_owned().leak() };
    let all = report["compared"].as_array().unwrap().iter();
    all.map(|it| (text(&it["path"]), text(&it["compared"]))).collect()
}

#[test]
fn hashes_are_compared_and_differences_told() {
    let test = with_named(&json!([
        {"path": "same", "hash": HASH, "status": "created"},
        {"path": "same", "hash": format!("sha256:{}", HASH.to_uppercase())},
        {"path": "other", "hash": HASH},
        {"path": "missing", "hash": HASH},
        {"path": "gone", "status": "deleted"},
        {"path": "same", "status": "deleted"},
        {"path": "same", "hash": "abc123..."},
        {"path": "same"},
        {"path": "../same", "hash": HASH},
        {"path": "/etc/passwd", "hash": HASH},
        {"path": "same/below", "hash": HASH},
    ]));
    let before = work(&test.path());
    let ended = test.run("restore x --into . --json");
    assert_eq!(ended.code, Some(7));
    let expected = [
        ("same", "equal"),
        ("same", "equal"),
        ("other", "differs"),
        ("missing", "missing"),
        ("gone", "equal"),
        ("same", "differs"),
        ("same", "unknown_hash"),
        ("same", "unknown_hash"),
        ("../same", "unreadable"),
        ("/etc/passwd", "unreadable"),
        ("same/below", "missing"),
    ];
    assert_eq!(compared(&report(&ended)), expected);
    assert_eq!(report(&ended)["steps"][1]["outcome"], "warning");
    // It said `ok`, and to go on, while the exit code was 7.
    let last = &report(&ended)["steps"][5];
    assert_eq!(last["outcome"], "warning");
    assert_eq!(last["message"], "look at the files that differ, then go on where it stopped");
    assert!(ended.stderr.contains("6 of 11 files are not as the checkpoint names them"));
    assert_eq!(work(&test.path()), before);
}

#[test]
fn if_all_are_equal_all_is_well() {
    let test = with_named(&json!([{"path": "same", "hash": HASH}, {"path": "same"}]));
    let shown = test.run("restore x --into .").done();
    assert!(shown.contains("equal          same\n"), "{shown}");
    assert!(shown.contains("hash of unknown kind  same\n"), "{shown}");
    assert!(shown.contains("0 of 2 that the document names differ"), "{shown}");
}
