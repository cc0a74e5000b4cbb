//! `export --jsonl` of captured files: damaged ones, and more than fits into the memory.

use std::fs;

use serde_json::{Value, json};
use waypost::artifact::ArtifactStatus;
use waypost::options::Limits;
use waypost::{Id, NewArtifact, NewEntry, Options, Store};

use super::super::Test;
use super::objects;

/// The document and the other files stayed behind with it.
#[test]
fn one_damaged_file_does_not_keep_the_rest_from_being_exported() {
    let test = Test::new();
    let pangram = "Jackdaws love my big sphinx of quartz";
    test.write("a", "first");
    test.write("b", pangram);
    test.feed("save - --id x --capture a b", "[7]").done();
    test.feed("save - --id y", "[8]").done();
    test.damage(pangram);
    let ended = test.run("export --jsonl -");
    assert_eq!(ended.code, Some(5));
    assert!(ended.stderr.contains(r#"not exported: damaged data in artifact "b" of checkpoint x"#));
    assert!(ended.stderr.contains("error: 1 of 2 checkpoints are damaged"), "{}", ended.stderr);
    let lines = objects(&ended.stdout);
    assert_eq!((&lines[0]["document"], &lines[1]["id"]), (&json!([7]), &json!("y")));
    let (whole, damaged) = (&lines[0]["artifacts"][0], &lines[0]["artifacts"][1]);
    assert_eq!((&whole["text"], &whole["damaged"]), (&json!("first"), &Value::Null));
    assert_eq!((&damaged["path"], &damaged["damaged"]), (&json!("b"), &json!(true)));
    assert_eq!((&damaged["text"], &damaged["hex"]), (&Value::Null, &Value::Null));

    for known in [0, 1] {
        let told = test.feed("--store other.redb import -", &ended.stdout).failed(7);
        let imported = 2 * (1 - known);
        let expected = format!(
            "-: line 1: without \"b\", which was damaged when it was exported\n\
             imported {imported}, {} were there already\n\
             error: 1 of 2 lack files that were damaged when they were exported\n\
             hint: the first is line 1 of -\n",
            2 * known
        );
        assert_eq!(told, expected);
    }
    let json = test.feed("--store other.redb import - --json", &ended.stdout);
    assert_eq!(objects(&json.stdout)[0]["incomplete"], 1);
    let shown = &objects(&test.run("--store other.redb show x --json").done())[0];
    assert_eq!((&shown["document"], &shown["artifact_count"]), (&json!([7]), &json!(1)));
    test.run("--store other.redb restore x --into new --quiet").done();
    assert_eq!(fs::read_to_string(test.path().join("new/a")).unwrap(), "first");
    assert!(!test.path().join("new/b").exists());

    let mut wrong = lines[0].clone();
    wrong["artifacts"][0]["damaged"] = json!(true);
    let told = test.feed("--store third.redb import -", &wrong.to_string()).failed(7);
    assert!(told.contains(r#""a" is damaged, and yet has content"#), "{told}");
}

fn with_file(store: &Store, id: &str, content: Vec<u8>) {
    let about = NewEntry { id: Some(Id::new(id).unwrap()), ..NewEntry::default() };
    let file = NewArtifact {
        path: "file".to_owned(),
        content: Some(content),
        mode: None,
        status: ArtifactStatus::Created,
    };
    let draft = store.draft(about, &1).unwrap().with_artifacts(vec![file]).unwrap();
    store.save_draft(draft).unwrap();
}

/// It ended the whole export.
#[test]
fn a_file_beyond_a_limit_is_named_and_the_rest_is_exported() {
    let test = Test::new();
    fs::create_dir(test.path().join(".waypost")).unwrap();
    let limits = Limits { artifact_bytes: 100 << 20, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let store = Store::open_with(test.path().join(".waypost/store.redb"), options).unwrap();
    with_file(&store, "large", vec![b'x'; (64 << 20) + 1]);
    with_file(&store, "small", b"small".to_vec());
    store.close().unwrap();
    let ended = test.run("export --jsonl -");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(ended.stderr.contains(r#"artifact "file" of checkpoint large"#), "{}", ended.stderr);
    assert!(ended.stderr.contains("error: 1 of 2 could not be exported"), "{}", ended.stderr);
    let lines = objects(&ended.stdout);
    assert_eq!((lines.len(), &lines[0]["id"]), (1, &json!("small")));
}
