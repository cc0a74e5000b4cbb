//! `waypost diff`: how changes are told, and how they end.

use std::fs;

use super::{LATER, Test};

/// Two checkpoints of a series, `old` and `new`, and one of another.
fn saved(old: &str, new: &str) -> Test {
    let test = Test::new();
    for (id, input) in [("other-1", "0"), ("old-1", old), ("new-1", new)] {
        let series = if input == "0" { "other" } else { "work" };
        let args = format!("save --id {id} --series {series} --created-at {LATER}");
        test.feed(&args, input).done();
    }
    test
}

/// What is said about two documents: the lines, and the note.
fn told(old: &str, new: &str) -> String {
    let ended = saved(old, new).run("diff old-1 new-1");
    assert_eq!(ended.code, Some(0));
    ended.stdout + &ended.stderr
}

#[test]
fn a_change_is_a_line_with_its_place() {
    let old = r#"{"task": "fix", "score": 71, "queue": ["a", "b", "c"], "gone": {"x": [1]}}"#;
    let new = r#"{"task": "fix", "score": 74.5, "queue": ["c", "new", "a", "b"], "done": null}"#;
    insta::assert_snapshot!(told(old, new), @r#"
    /gone  - {"x":[1]}
    /score  - 71  + 74.5
    /queue/0  ~ from /queue/2  "c"
    /queue/1  + "new"
    /done  + null
    5 changes from old-1 to new-1
    "#);
}

#[test]
fn texts_of_several_lines_are_compared_by_line() {
    let old = r#"{"log": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"}"#;
    let new = r#"{"log": "one\ntwo\nthree\nfour and a bit\nfive\nsix\nseven\neight"}"#;
    insta::assert_snapshot!(told(old, new), @r#"
    /log
      @@ -2,7 +2,7 @@
       two
       three
      -four
      +four and a bit
       five
       six
       seven
      -eight
      +eight
      \ no line end
    1 change from old-1 to new-1
    "#);
}

#[test]
fn keys_of_any_kind_are_shown_safely() {
    let new = r#"{"": 1, "a/b": 2, "m~n": 3, "\u001b[31m\n": "\u009b\u202e", "\u0000": 4}"#;
    insta::assert_snapshot!(told("{}", new), @r#"
    /  + 1
    /a~1b  + 2
    /m~0n  + 3
    /\u001b[31m\n  + "\u009b\u202e"
    /\u0000  + 4
    5 changes from old-1 to new-1
    "#);
}

#[test]
fn a_whole_document_can_be_another() {
    insta::assert_snapshot!(told("1", "\"one\""), @r#"
    (document)  - 1  + "one"
    1 change from old-1 to new-1
    "#);
}

#[test]
fn what_only_looks_different_is_said_to() {
    insta::assert_snapshot!(told(r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#), @"
    only the order of keys differs from old-1 to new-1
    ");
    insta::assert_snapshot!(told("[1, 1.50]", "[1.0, 1.5]"), @"
    only the spelling of numbers differs from old-1 to new-1
    ");
    insta::assert_snapshot!(told("[]", "[]"), @"
    no changes from old-1 to new-1
    ");
}

#[test]
fn a_program_gets_a_patch() {
    let old = r#"{"score": 1.50, "queue": ["a", "b"], "n": NaN, "gone": 12345678901234567890123}"#;
    let new = r#"{"score": 1.51, "queue": ["b", "a", {"x": 1e400}], "n": NaN}"#;
    let test = saved(old, new);
    let patch = test.run("diff old-1 new-1 --json").done();
    insta::assert_snapshot!(patch.replace("},{", "},\n{"), @r#"
    [{"op":"remove","path":"/gone"},
    {"op":"replace","path":"/score","value":1.51},
    {"op":"move","from":"/queue/0","path":"/queue/1"},
    {"op":"add","path":"/queue/2","value":{"x":1e400}}]
    "#);
    assert_eq!(test.run("diff new-1 new-1 --json").done(), "[]\n");
}

#[test]
fn one_name_is_compared_with_the_one_before() {
    let test = saved("1", "2");
    for args in ["diff new-1", "diff latest", "diff work@0", "diff work@1 work@0", "diff old new"] {
        let ended = test.run(args);
        assert_eq!(ended.stdout, "(document)  - 1  + 2\n", "{args}");
        assert_eq!(ended.stderr, "1 change from old-1 to new-1\n", "{args}");
    }
    insta::assert_snapshot!(test.run("diff old-1").failed(3), @"
    error: old-1 is the first of its series
    hint: name the checkpoint to compare it with
    ");
}

#[test]
fn a_file_can_be_the_new_one() {
    let test = saved("0.5", r#"{"a": [1, 2]}"#);
    test.write("state.json", r#"{"a": [1, 2, 3]}"#);
    test.write("state.yaml", "a:\n- 2\n");
    test.write("broken.json", "{");
    let added = "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":3}]\n";
    assert_eq!(test.run("diff latest --file state.json --json").done(), added);
    let removed = "[{\"op\":\"remove\",\"path\":\"/a/0\"}]\n";
    assert_eq!(test.run("diff latest --file state.yaml --json").done(), removed);
    assert_eq!(test.feed("diff latest --file - --json", r#"{"a": [1, 2]}"#).done(), "[]\n");
    let missing = test.run("diff latest --file nowhere.json").failed(1);
    assert!(missing.starts_with("error: cannot read nowhere.json: "), "{missing}");
    insta::assert_snapshot!(test.run("diff latest --file broken.json").failed(4), @"
    error: in broken.json: invalid document: expected a key in double quotes at line 1 column 2
    hint: give a document in JSON
    ");
    assert!(test.run("diff latest old-1 --file state.json").failed(2).contains("cannot be used"));
}

#[test]
fn the_exit_code_tells_of_changes_only_if_asked() {
    let test = saved("1", "2");
    assert_eq!(test.run("diff latest").code, Some(0));
    for flags in ["--exit-code --quiet", "--exit-code --quiet --json"] {
        let ended = test.run(&format!("diff latest {flags}"));
        assert_eq!((ended.code, &*ended.stderr), (Some(1), ""));
        assert!(!ended.stdout.is_empty());
        assert_eq!(test.run(&format!("diff latest latest {flags}")).code, Some(0));
    }
}

#[test]
fn changes_have_the_colours_of_what_they_do() {
    let test = saved("[1, 2, 3, 4]", "[4, 1, 2]");
    let lines = test.run("diff latest --color always --quiet").done();
    insta::assert_snapshot!(lines.replace('\u{1b}', "^"), @"
    ^[1m/0^[0m  ^[33m~ from /3^[0m  4
    ^[1m/2^[0m  ^[31m- 3^[0m
    ");
}

/// Two checkpoints with the same document and other files were said to have no changes.
#[test]
fn captured_files_that_differ_are_told() {
    let test = Test::new();
    for name in ["a", "gone", "not", "run.sh", "same"] {
        test.write(name, "1");
    }
    let save = |id: &str, paths: &str| {
        test.feed(&format!("save - --id {id} --series s --capture {paths}"), "{}").done();
    };
    save("one", "a gone not run.sh same");
    save("same", "a gone not run.sh same");
    test.write("a", "2");
    test.write("new", "1");
    fs::remove_file(test.path().join("gone")).unwrap();
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(test.path().join("run.sh"), mode).unwrap();
    }
    save("two", "a gone new run.sh same");
    let ended = test.run("diff one two");
    #[cfg(unix)]
    insta::assert_snapshot!(ended.stdout + &ended.stderr, @"
    file a  modified
    file gone  deleted
    file new  created
    file not  not captured
    file run.sh  mode 644 -> 755
    no changes, 5 files differ from one to two
    ");
    assert_eq!(test.run("diff one two --exit-code --quiet").code, Some(1));
    assert_eq!(test.run("diff one two --exit-code --quiet --json").code, Some(1));
    assert_eq!(test.run("diff one two --json").done(), "[]\n");
    let ended = test.run("diff one same --exit-code");
    assert_eq!((ended.code, &*ended.stderr), (Some(0), "no changes from one to same\n"));
    // What captured none says nothing of files.
    test.feed("save - --id none --series s", "{}").done();
    let ended = test.run("diff none --exit-code");
    assert_eq!((ended.code, &*ended.stdout), (Some(0), ""));
    let note = "no changes, 5 files captured only with two, from two to none\n";
    assert_eq!(ended.stderr, note);
}

#[test]
fn a_file_is_compared_by_its_name_where_no_checkpoint_has_it() {
    let test = saved(r#"{"a": 1}"#, r#"{"a": 2}"#);
    test.write("state.json", r#"{"a": 3}"#);
    test.write("new-1", r#"{"a": 4}"#);
    let [there, back] = ["diff latest state.json", "diff ./state.json latest"];
    insta::assert_snapshot!(test.run(there).stdout, @"/a  - 2  + 3");
    insta::assert_snapshot!(test.run(back).stdout, @"/a  - 3  + 2");
    assert_eq!(test.run("diff new-1 new-1 --json").done(), "[]\n", "a checkpoint comes first");
    insta::assert_snapshot!(test.run("diff new-1 ./new-1").stdout, @"/a  - 2  + 4");
    let said = test.run("diff state.json").failed(2);
    assert!(said.contains("name what to compare it with"), "{said}");
    test.run("diff latest nowhere.json").failed(3);
}
