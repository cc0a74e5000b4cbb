//! `save --capture`: which files are taken, under which paths, and what is said of them.

use std::fs;

use serde_json::{Value, json};

use super::Test;

/// Saves with these arguments, and returns path and status of what was captured.
#[track_caller]
fn captured(test: &Test, args: &str) -> Vec<(String, String)> {
    let entry = test.feed(&format!("save - --json --quiet {args}"), "{}").done();
    let entry: Value = serde_json::from_str(&entry).unwrap();
    let Some(artifacts) = entry["artifacts"].as_array() else { return Vec::new() };
    assert_eq!(entry["artifact_count"], artifacts.len());
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    artifacts.iter().map(|it| (word(&it["path"]), word(&it["status"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, status)| (path.to_string(), status.to_string())).collect()
}

fn project() -> Test {
    let test = Test::new();
    fs::create_dir_all(test.path().join("src/deep")).unwrap();
    test.write("src/a.rs", "a");
    test.write("src/deep/b.rs", "b");
    test.write("c.txt", "c");
    test
}

#[test]
fn files_and_directories_are_taken_and_compared_with_the_last_capture_of_the_series() {
    let test = project();
    let all = "--issue 42 --capture src c.txt";
    let expected = [("c.txt", "created"), ("src/a.rs", "created"), ("src/deep/b.rs", "created")];
    assert_eq!(captured(&test, all), pairs(&expected));
    // Between two captures there may be saves without.
    test.feed("save --issue 42", "{}").done();
    test.write("src/a.rs", "A");
    fs::remove_file(test.path().join("src/deep/b.rs")).unwrap();
    fs::remove_file(test.path().join("c.txt")).unwrap();
    test.write("src/d.rs", "d");
    let expected = [
        ("c.txt", "deleted"),
        ("src/a.rs", "modified"),
        ("src/d.rs", "created"),
        ("src/deep/b.rs", "deleted"),
    ];
    assert_eq!(captured(&test, all), pairs(&expected));
    // A file that came back is new; one that is still gone is noted again only if it is named.
    test.write("src/deep/b.rs", "b");
    let expected = [
        ("c.txt", "deleted"),
        ("src/a.rs", "unchanged"),
        ("src/d.rs", "unchanged"),
        ("src/deep/b.rs", "created"),
    ];
    assert_eq!(captured(&test, all), pairs(&expected));
    let other = "--issue 43 --capture src/a.rs src";
    let expected = [("src/a.rs", "created"), ("src/d.rs", "created"), ("src/deep/b.rs", "created")];
    assert_eq!(captured(&test, other), pairs(&expected), "of another series, and once each");
}

#[test]
fn a_directory_that_is_gone_takes_its_files_along() {
    let test = project();
    captured(&test, "--capture src");
    fs::remove_dir_all(test.path().join("src")).unwrap();
    let expected = [("src/a.rs", "deleted"), ("src/deep/b.rs", "deleted")];
    assert_eq!(captured(&test, "--capture src"), pairs(&expected));
    let told = test.feed("save --series other --capture src", "{}").failed(4);
    assert!(told.contains("cannot capture src: it is not there, and was not captured before"));
}

#[test]
fn a_retry_under_the_same_id_is_the_same() {
    let test = project();
    let save = "save - --id mine --capture src c.txt";
    for _ in 0..2 {
        assert_eq!(test.feed(save, "{}").done(), "mine\n");
    }
    test.write("src/a.rs", "other");
    assert!(test.feed(save, "{}").failed(4).contains("mine exists with other content"));
    assert_eq!(test.run("list --json --all").done().lines().count(), 1);
}

#[test]
fn paths_are_kept_from_the_directory_that_the_store_is_for() {
    let test = project();
    test.feed("save", "{}").done();
    let save = |args: &str| {
        let mut child = test.command(args).current_dir(test.path().join("src")).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}").unwrap();
        test.ended(child)
    };
    save("save - --quiet --capture deep/../a.rs ../c.txt").done();
    let shown = test.run("show latest").done();
    assert!(shown.contains("artifacts   2\n"), "{shown}");
    assert!(shown.contains("artifact    c.txt (created, 1 B)\n"), "{shown}");
    assert!(shown.contains("artifact    src/a.rs (created, 1 B)\n"), "{shown}");
    let told = save("save - --capture ../../x").failed(4);
    assert!(told.contains("it is not below [HERE]"), "{told}");
}

#[test]
fn what_is_outside_or_belongs_to_others_is_refused_and_nothing_is_saved() {
    let test = project();
    let outside = Test::new();
    outside.write("x", "x");
    fs::create_dir_all(test.path().join(".git")).unwrap();
    test.write(".git/config", "c");
    let outside = outside.path().join("x").display().to_string();
    for (path, reason) in [
        (outside.as_str(), "it is not below"),
        ("..", "it is not below"),
        (".git/config", "leads into a directory of git or of the store"),
        (".git", "leads into a directory of git or of the store"),
        ("missing", "it is not there, and was not captured before"),
        ("missing/deep", "it is not there, and was not captured before"),
    ] {
        let told = test.feed(&format!("save - --capture c.txt {path}"), "{}").failed(4);
        assert!(told.contains(reason), "{path}: {told}");
    }
    assert!(!test.path().join(".waypost").exists(), "not even an empty store");
    // A document that is none leaves no store either.
    test.feed("save - --capture c.txt", "{").failed(4);
    assert!(!test.path().join(".waypost").exists());
    test.feed("save --lines --capture c.txt", "{}").failed(2);
}

#[cfg(unix)]
#[test]
fn links_are_refused_by_name_and_passed_over_below_a_directory() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let test = project();
    symlink("/etc/passwd", test.path().join("src/link")).unwrap();
    symlink("deep", test.path().join("src/there")).unwrap();
    let _socket = UnixListener::bind(test.path().join("src/socket")).unwrap();
    for path in ["src/link", "src/there", "src/there/"] {
        let told = test.feed(&format!("save - --capture {path}"), "{}").failed(4);
        assert!(told.contains(": a link"), "{path}: {told}");
    }
    let told = test.feed("save - --capture src/socket", "{}").failed(4);
    assert!(told.contains("neither a file nor a directory"), "{told}");
    let saved = test.feed("save - --capture src", "{}");
    assert_eq!(saved.code, Some(0));
    assert_eq!(
        saved.stderr,
        "not captured: src/link: a link\n\
         not captured: src/socket: neither a file nor a directory\n\
         not captured: src/there: a link\n"
    );
    let expected = [("src/a.rs", "unchanged"), ("src/deep/b.rs", "unchanged")];
    assert_eq!(captured(&test, "--capture src"), pairs(&expected));
    // What a link on the way leads to is known by where it is.
    let expected = [("src/deep/b.rs", "unchanged")];
    assert_eq!(captured(&test, "--capture src/there/b.rs"), pairs(&expected));
}

#[test]
fn a_whole_project_is_captured_without_its_store_and_its_history() {
    let test = project();
    fs::create_dir_all(test.path().join("sub/.git")).unwrap();
    test.write("sub/.git/HEAD", "h");
    let expected = [("c.txt", "created"), ("src/a.rs", "created"), ("src/deep/b.rs", "created")];
    assert_eq!(captured(&test, "--capture ."), pairs(&expected));
    // A store that lies open among the files is no file of the project either.
    let other = "--store other.redb";
    assert_eq!(captured(&test, &format!("{other} --capture .")), pairs(&expected));
    let found = captured(&test, &format!("{other} --capture ."));
    assert!(found.iter().all(|(path, _)| !path.contains("redb")), "{found:?}");
}

#[test]
fn what_a_killed_restore_left_behind_is_not_captured() {
    let test = project();
    test.write("src/.waypost-123-4.tmp", "half");
    test.write("src/.waypost-x-4.tmp", "mine");
    let saved = test.feed("save - --json --capture src", "{}");
    let told = "not captured: src/.waypost-123-4.tmp: left behind by a restore or an export";
    let told = format!("{{\"version\":1,\"note\":\"{told}\"}}\n");
    assert_eq!((saved.code, saved.stderr), (Some(0), told));
    let paths = ["src/.waypost-x-4.tmp", "src/a.rs", "src/deep/b.rs"].map(|it| (it, "unchanged"));
    assert_eq!(captured(&test, "--capture src"), pairs(&paths));
}

#[cfg(unix)]
#[test]
fn names_of_files_do_not_reach_the_terminal_as_they_are() {
    let test = project();
    std::os::unix::fs::symlink("a.rs", test.path().join("src/\u{1b}[31mlink")).unwrap();
    let saved = test.feed("save - --capture src", "{}");
    assert_eq!(saved.stderr, "not captured: src/\\u001b[31mlink: a link\n");
    test.write("src/\u{1b}[31mfile", "x");
    let told = test.feed("save - --capture src", "{}").failed(4);
    assert!(told.contains("cannot capture src/\\u001b[31mfile: has a control"), "{told}");
}

/// All were read before they were counted.
#[test]
fn files_are_counted_as_they_come() {
    let test = project();
    fs::create_dir(test.path().join("many")).unwrap();
    for number in 0..=4096 {
        test.write(&format!("many/{number:04}"), "");
    }
    // Would be refused if it was come to.
    test.write("many/\u{7f}", "");
    let told = test.feed("save - --capture many", "{}").failed(4);
    assert!(told.contains("number of captured files"), "{told}");
}

/// Only what was found on the way through a directory was passed over.
#[test]
fn a_store_that_is_named_is_refused() {
    let test = project();
    for path in ["s.redb", "s.redb.lock", "src/../s.redb"] {
        let told = test.feed(&format!("--store s.redb save - --capture {path}"), "{}").failed(4);
        assert!(told.contains(&format!("cannot capture {path}: is the store itself")), "{told}");
        assert_eq!(test.path().join("s.redb").exists(), path != "s.redb");
        test.feed("--store s.redb save - --id one", "{}").done();
    }
}

#[test]
fn an_export_has_the_files_and_an_import_takes_them() {
    let test = project();
    fs::write(test.path().join("src/bytes"), [0xff, 0, 1]).unwrap();
    test.write("src/quotes", "\"\\\u{1}\u{e9}\n");
    test.feed("save - --id one --capture src --issue 1", "[1]").done();
    fs::remove_file(test.path().join("src/bytes")).unwrap();
    test.feed("save - --id two --capture src --issue 1", "[2]").done();
    let lines = test.run("export --jsonl - --quiet").done();
    test.feed("--store other.redb import - --quiet", &lines).done();
    let told = |lines: &str| -> Vec<Value> {
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        lines
            .lines()
            .map(read)
            .map(|mut line| {
                line["stored_bytes"] = Value::Null;
                line
            })
            .collect()
    };
    let again = test.run("--store other.redb export --jsonl - --quiet").done();
    assert_eq!(told(&again), told(&lines));
    let first = &told(&lines)[0]["artifacts"];
    assert_eq!(first[1]["path"], "src/bytes");
    assert_eq!((&first[1]["hex"], &first[1]["text"]), (&json!("ff0001"), &Value::Null));
    assert_eq!(first[0]["text"], "a");
    assert_eq!(told(&lines)[1]["artifacts"][1]["status"], "deleted");
    // Importing twice changes nothing, and does not fail.
    let outcome = test.feed("--store other.redb import -", &lines);
    assert_eq!(outcome.stderr, "imported 0, 2 were there already\n");
    let stats: Value =
        serde_json::from_str(&test.run("--store other.redb stats --json").done()).unwrap();
    assert_eq!(stats["artifacts"], 8);
}

#[test]
fn a_line_whose_content_is_not_that_of_its_hash_is_refused() {
    let test = Test::new();
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let line = |artifact: Value| json!({"document": 1, "artifacts": [artifact]}).to_string();
    let right = json!({"path": "a", "sha256": hash, "status": "created", "text": "abc"});
    test.feed("import - --quiet", &line(right.clone())).done();
    for (key, value, reason) in [
        ("text", json!("abd"), "the content of \"a\" is not that of its hash"),
        ("text", json!(null), "the content of \"a\" is not that of its hash"),
        ("sha256", json!(null), "the content of \"a\" is not that of its hash"),
        ("sha256", json!("ba78"), "of the wrong type"),
        ("hex", json!("616263"), "\"a\" has both text and hex"),
        ("path", json!("../a"), "has . or .. as a part"),
        ("path", json!("/a"), "has an empty part, or starts at the root"),
        ("status", json!("deleted"), "a deleted file has no content"),
        ("status", json!("moved"), "of the wrong type"),
        ("size", json!(3), "of the wrong type"),
    ] {
        let mut wrong = right.clone();
        wrong[key] = value;
        let told = test.feed("import -", &line(wrong)).failed(7);
        assert!(told.contains(reason), "{key}: {told}");
    }
    // What `list --json` tells has no files in it.
    let told = test.feed("import -", r#"{"document": 1, "artifact_count": 2}"#).failed(7);
    assert!(
        told.contains("invalid artifacts: their number differs from that in the line"),
        "{told}"
    );
}

/// The document was read as a file to capture, and the error named an empty text.
#[test]
fn who_puts_the_document_last_is_told_where_it_goes() {
    let test = Test::new();
    test.write("a", "a");
    test.write("state.json", "{}");
    insta::assert_snapshot!(test.run("save --capture a state.json").failed(4), @"
    error: there is no document in standard input
    hint: the document goes before --capture: `waypost save state.json --capture src`
    ");
    assert!(!test.path().join(".waypost").exists());
    test.run("save state.json --capture a").done();
    assert!(test.feed("save --capture a", "{").failed(4).contains("invalid document"));
}
