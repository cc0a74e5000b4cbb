//! `export --jsonl` and `import`: a store as lines of JSON, and back.
//!
//! Covers lines and files, captured files, file forms and schemas, files that move, and targets
//! that must not be written.

mod captured;
mod files;
mod forms;
mod moved;
mod safety;
mod schema;

use serde_json::Value;

use super::Test;

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Without fields that a store derives itself.
fn told(lines: &str) -> Vec<Value> {
    let mut objects = objects(lines);
    for object in objects.iter_mut().filter_map(Value::as_object_mut) {
        object.remove("sequence");
        object.remove("stored_bytes");
    }
    objects
}

#[test]
fn what_is_exported_and_imported_is_the_same() {
    let test = Test::filled();
    test.run("tag b-1 x y").done();
    test.run("fail a-1 --quiet").done();
    let first = test.run("export --jsonl - --quiet").done();
    assert_eq!(objects(&first).len(), 3);
    assert_eq!(objects(&first)[2]["document"]["b"].to_string(), "1.5");
    assert!(first.contains(r#""document":{"b":1.50}"#), "as it was written");
    test.feed("--store other.redb import - --quiet", &first).done();
    let second = test.run("--store other.redb export --jsonl - --quiet").done();
    assert_eq!(told(&second), told(&first));
}

#[test]
fn a_store_of_many_comes_out_in_order_and_goes_in_again_as_often_as_one_likes() {
    let test = Test::new();
    let lines: Vec<String> = (0..1500).map(|number| format!("[{number}]")).collect();
    test.feed("save --lines --series many --durability relaxed", &lines.join("\n")).done();
    let note = test.run("export --jsonl out.jsonl");
    assert_eq!((note.code, &*note.stdout), (Some(0), ""));
    let file = std::fs::read_to_string(test.path().join("out.jsonl")).expect("a file");
    let numbers = objects(&file).into_iter().map(|line| line["document"][0].as_u64());
    assert!(numbers.eq((0..1500).map(Some)), "oldest first");
    for (imported, known) in [(1500, 0), (0, 1500)] {
        let outcome = test.run("--store other.redb import out.jsonl");
        assert_eq!(outcome.stderr, format!("imported {imported}, {known} were there already\n"));
    }
    let log = test.run("--store other.redb log --operations --json").done();
    let log = objects(&log);
    assert_eq!(log.len(), 1, "what changes nothing is not noted");
    assert_eq!((&log[0]["action"], &log[0]["checkpoints"]), (&"import".into(), &1500.into()));
    assert_eq!(log[0]["source"], "out.jsonl");
}

#[test]
fn filters_say_what_is_exported() {
    let test = Test::filled();
    let lines = test.run("export --jsonl - --issue 42 --quiet").done();
    assert_eq!(objects(&lines).len(), 2);
    test.run("export --jsonl - --issue 7").failed(3);
    test.run("export --jsonl none.jsonl --issue 7").failed(3);
    assert!(!test.path().join("none.jsonl").exists());
    test.run("export").failed(2);
}

#[test]
fn a_file_is_replaced_only_if_that_is_said() {
    let test = Test::filled();
    test.write("out.jsonl", "mine");
    insta::assert_snapshot!(test.run("export --jsonl out.jsonl").failed(4), @"
    error: out.jsonl is there already
    hint: --overwrite replaces it
    ");
    let outcome = test.run("export --jsonl out.jsonl --overwrite --json").done();
    assert_eq!(objects(&outcome)[0]["exported"], 3);
    assert_eq!(test.run("export --jsonl missing/out.jsonl --quiet").failed(1).lines().count(), 1);
    let left: Vec<_> = std::fs::read_dir(test.path()).expect("a directory").collect();
    assert_eq!(left.len(), 2, "the store's directory and the file, nothing half done");
}

#[test]
fn lines_that_cannot_be_taken_are_named_and_the_rest_goes_on() {
    let test = Test::new();
    let lines = [
        r#"{"id": "good-1", "document": 1}"#,
        "",
        "{",
        r#"{"id": "no-document"}"#,
        r#"{"id": "x", "colour": "red", "document": 1}"#,
        r#"{"id": "good-1", "document": 2}"#,
        r#"{"id": "x", "trigger": "Not One", "document": 1}"#,
        r#"{"id": "good-2", "sequence": 9, "layout": "claude", "document": {"a": 1.50}}"#,
    ];
    let ended = test.feed("import -", &lines.join("\n"));
    assert_eq!(ended.code, Some(7));
    insta::assert_snapshot!(ended.stderr, @r#"
    -: line 3: invalid line: not an object in JSON, at column 1
    -: line 4: invalid line: has no `document`; `waypost export --jsonl` writes one
    -: line 5: invalid colour: no such field
    -: line 7: invalid trigger: invalid trigger: "Not One" is not [a-z][a-z0-9_]{0,63}
    -: line 6: checkpoint good-1 exists with other content
    imported 2, 0 were there already
    error: 5 of 7 could not be imported
    hint: mend line 3 of - and the others, then import again
    "#);
    assert!(test.run("show good-2 --json").done().contains(r#""layout":"claude""#));
    test.run("--store other.redb import missing.jsonl").failed(1);
    assert!(!test.path().join("other.redb").exists(), "a wrong name leaves no store behind");
}

/// What no style gives back travels with the line.
#[test]
fn the_text_of_a_file_travels_with_its_line() {
    let test = Test::new();
    let line = |id: &str, source: &str| {
        format!(
            r#"{{"id":"{id}","created_at":"2026-01-01T00:00:00Z",{source},"document":{{"a":1}}}}"#
        )
    };
    let lines = [
        line("styled", r#""source":{"format":"json","style":{"spacing":{"indent":2}}}"#),
        line("kept", r#""source":{"format":"yaml","mode":420},"source_text":"a: 1 # why\n""#),
        line("bytes", r#""source":{"format":"unreadable"},"source_hex":"00ff""#),
    ];
    test.feed("import - --quiet", &lines.join("\n")).done();
    let first = test.run("export --jsonl - --quiet").done();
    for part in [r#""source_text":"a: 1 # why\n""#, r#""source_hex":"00ff""#, r#""text_bytes":2"#] {
        assert!(first.contains(part), "{part} in {first}");
    }
    test.feed("--store other.redb import - --quiet", &first).done();
    assert_eq!(told(&test.run("--store other.redb export --jsonl - --quiet").done()), told(&first));
    for (wrong, reason) in [
        (r#""source":{"format":"yaml"}"#, "its text is missing"),
        (r#""source":{"format":"yaml"},"source_hex":"0""#, "not in hexadecimal digits"),
        (r#""source":{"format":"word"}"#, "of the wrong type"),
    ] {
        let refused = test.feed("import -", &line("wrong", wrong));
        assert_eq!(refused.code, Some(7));
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

/// Renaming a file over it, as root, made `/dev/null` a file.
#[test]
fn a_pipe_or_a_device_is_written_to_and_stays_one() {
    use std::os::unix::fs::FileTypeExt as _;
    let test = Test::filled();
    let pipe = test.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    test.run("export --jsonl pipe --overwrite --quiet").done();
    assert_eq!(objects(&reader.join().unwrap()).len(), 3);
    assert!(std::fs::symlink_metadata(pipe).unwrap().file_type().is_fifo());
}

/// An imported line could make an export write `.ssh/authorized_keys`, and a restore `.bashrc`.
#[test]
fn imported_paths_lead_to_no_file_that_another_tool_trusts() {
    let test = Test::new();
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let line = |name: &str| {
        format!(r#"{{"document":1,"layout":"claude","source_path":"{name}","source_text":"1","#)
            + r#""source":{"format":"json"}}"#
    };
    let captured = r#"{"id":"c","document":1,"artifacts":[{"path":".bashrc","mode":420,"#
        .to_owned()
        + &format!(r#""status":"created","text":"test","sha256":"{hash}"}}]}}"#);
    let lines =
        [line("a/.SSH/authorized_keys"), line(".claude/settings.json"), line("b"), captured];
    test.feed("import - --quiet", &lines.join("\n")).done();
    let told = test.run("export out --layout claude").failed(7);
    for path in ["a/.SSH/authorized_keys", ".claude/settings.json"] {
        let told_of = format!("path \"{path}\" leads to a file that another tool trusts or runs\n");
        assert!(told.contains(&told_of), "{told}");
    }
    let names: Vec<_> = std::fs::read_dir(test.path().join("out"))
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(names, ["b"]);
    let refused = test.run("restore c --into home");
    assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    assert!(
        refused.stdout.contains(".bashrc is a file that another tool trusts or runs"),
        "{}",
        refused.stdout
    );
    assert!(!test.path().join("home").exists());
    assert_eq!(test.run("restore c --into home --force").code, Some(0));
    assert!(test.path().join("home/.bashrc").exists());
}

/// With a directory the number was ignored silently.
#[test]
fn threads_are_for_lines_only() {
    let test = Test::filled();
    let said = test.run("export out --threads 2").failed(2);
    assert!(said.contains("--threads"), "{said}");
    assert!(!test.path().join("out").exists());
    let said = test.run("export --jsonl - --threads 0").failed(2);
    assert!(said.contains("must be a whole number from 1 to 256"), "{said}");
    let one = test.run("export --jsonl - --quiet --threads 1").done();
    assert_eq!(test.run("export --jsonl - --quiet --threads 3").done(), one);
}
