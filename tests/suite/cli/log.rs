//! `waypost log`: the time line, and one value through time.
//!
//! Covers entries, forks, operations and the values of `--path`.

mod values;

use std::fs;

use super::{Ended, LATER, Test};

/// Changes every place of the store where a text stands.
pub(super) fn damage(test: &Test, phrase: &str) {
    let path = test.path().join(".waypost/store.redb");
    let mut bytes = fs::read(&path).unwrap();
    let is_text = |at: &usize| bytes[*at..].starts_with(phrase.as_bytes());
    let places: Vec<usize> = (0..bytes.len() - phrase.len()).filter(is_text).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
}

pub(super) fn save(test: &Test, about: &str, document: &str) {
    test.feed(&format!("save {about} --created-at {LATER}"), document).done();
}

/// Series `a` with a fork of `a-2`, and `c-1`.
fn filled() -> Test {
    let test = Test::new();
    let about = "--series a --issue 42 --phase build --trigger iteration";
    save(&test, &format!("{about} --id a-1 --iteration 1"), r#"{"left": 71, "t": ["x"]}"#);
    let two = r#"{"left": 74, "t": ["x", "y", "z"], "note": "1"}"#;
    save(&test, &format!("{about} --id a-2 --iteration 2 --tag keep"), two);
    save(&test, "--series c --id c-1", "1");
    test.run(&format!("fork a-2 --series b --id b-1 --created-at {LATER}")).done();
    let three = r#"{"left": 74, "t": ["x"], "note": "2"}"#;
    save(&test, &format!("{about} --id a-3 --iteration 3"), three);
    save(&test, "--series b --id b-2 --status failed", r#"{"left": 70}"#);
    test
}

/// Runs where the locale has all characters.
fn log(test: &Test, args: &str) -> Ended {
    let mut command = test.command(&format!("log {args}"));
    command.env("LC_ALL", "C.UTF-8");
    test.ended(command.spawn().unwrap())
}

/// What is drawn, in characters that this file may have.
fn drawn(test: &Test, args: &str) -> String {
    let signs = [('\u{25cb}', "o"), ('\u{2502}', "|"), ('\u{251c}', ">"), ('\u{2500}', "-")];
    let lines = log(test, args).done().replace('\u{256f}', "/");
    signs.into_iter().fold(lines, |lines, (sign, ascii)| lines.replace(sign, ascii))
}

#[test]
fn a_time_line_draws_series_and_forks() {
    insta::assert_snapshot!(drawn(&filled(), ""), @r#"
       ID       AGE  SERIES  TRIGGER    PHASE  ITER  STATUS  TAGS  CHANGED
o      b-2  in >99y  b       unknown    -         -  failed  -     /left 74 -> 70, -/t, -/note
| o    a-3  in >99y  a       iteration  build     3  -       -     /note "1" -> "2", -2 in /t
o |    b-1  in >99y  b       manual     build     2  -       -     fork of a-2
| | o  c-1  in >99y  c       unknown    -         -  -       -     first
>-/
o      a-2  in >99y  a       iteration  build     2  -       keep  /left 71 -> 74, +/note, +2 in /t
o      a-1  in >99y  a       iteration  build     1  -       -     first
    "#);
}

#[test]
fn a_locale_without_utf_8_has_plain_lines() {
    let test = filled();
    let plain = log(&test, "42 --ascii").done();
    insta::assert_snapshot!(plain, @r#"
         ID       AGE  SERIES  TRIGGER    PHASE  ITER  TAGS  CHANGED
    *    a-3  in >99y  a       iteration  build     3  -     /note "1" -> "2", -2 in /t
    | *  b-1  in >99y  b       manual     build     2  -     fork of a-2
    |-'
    *    a-2  in >99y  a       iteration  build     2  keep  /left 71 -> 74, +/note, +2 in /t
    *    a-1  in >99y  a       iteration  build     1  -     first
    "#);
    let mut command = test.command("log 42");
    command.env("LC_ALL", "C");
    assert_eq!(test.ended(command.spawn().unwrap()).done(), plain);
}

#[test]
fn a_target_is_a_series_an_issue_a_loop_or_a_checkpoint() {
    let test = filled();
    save(&test, "--loop-id ralph-x-00000000 --id loop-1", "[]");
    let ids = |args: &str| -> Vec<String> {
        let lines = log(&test, &format!("{args} --json --quiet")).done();
        lines.lines().map(|line| line.split('"').nth(5).unwrap().to_owned()).collect()
    };
    assert_eq!(ids("a"), ["a-3", "a-2", "a-1"]);
    assert_eq!(ids("42"), ["a-3", "b-1", "a-2", "a-1"]);
    assert_eq!(ids("#42"), ids("42"));
    assert_eq!(ids("ralph-x-00000000"), ["loop-1"]);
    assert_eq!(ids("a-2"), ["a-2", "a-1"]);
    assert_eq!(ids("a@1"), ["a-2", "a-1"]);
    assert_eq!(ids("a --trigger iteration --iteration 2.."), ["a-3", "a-2"]);
    assert_eq!(ids("a-2 --iteration 1"), ["a-1"]);
    assert_eq!(ids("--status failed"), ["b-2"]);
    assert_eq!(ids("--limit 2"), ["loop-1", "b-2"]);
    assert!(log(&test, "none").failed(3).contains("no checkpoint matches \"none\""));
    assert!(log(&test, "7").failed(3).contains("no checkpoint matches \"7\""));
    let told = log(&test, "a --phase none").failed(3);
    assert!(told.starts_with("error: nothing matches --series a --phase none\n"), "{told}");
    assert!(log(&test, "a --series a").failed(2).contains("cannot be used with"));
}

#[test]
fn what_is_not_shown_is_told() {
    let test = filled();
    let ended = log(&test, "--ascii --limit 3");
    assert_eq!(ended.stderr, "these are the newest 3; --limit or --all shows more\n");
    insta::assert_snapshot!(ended.stdout, @r#"
         ID       AGE  SERIES  TRIGGER    PHASE  ITER  STATUS  CHANGED
    *    b-2  in >99y  b       unknown    -         -  failed  /left 74 -> 70, -/t, -/note
    | *  a-3  in >99y  a       iteration  build     3  -       /note "1" -> "2", -2 in /t
    *    b-1  in >99y  b       manual     build     2  -       fork of a-2
    "#);
    // What is right below each other need not belong together.
    insta::assert_snapshot!(log(&test, "--phase build --limit 2 --ascii").stdout, @r#"
       ID       AGE  SERIES  TRIGGER    PHASE  ITER  CHANGED
    *  a-3  in >99y  a       iteration  build     3  /note "1" -> "2", -2 in /t
    ~
    *  b-1  in >99y  b       manual     build     2  fork of a-2
    "#);
    // Without those between, a series is still one line.
    let line = log(&test, "a --since 2h --ascii --tag keep").done();
    assert!(line.ends_with("/left 71 -> 74, +/note, +2 in /t\n"), "{line}");
}

#[test]
fn a_rollback_tells_where_it_went_back_to() {
    let test = filled();
    test.run("rollback a-1 --quiet").done();
    let line = log(&test, "a --limit 1 --quiet").done();
    assert!(line.contains("back to a-1, /left 74 -> 71, -/note\n"), "{line}");
    test.run("fork a-1 --series d --id d-1").done();
    test.run("delete a-1 --quiet").done();
    assert!(log(&test, "d").done().ends_with("from a-1, which is gone, first\n"));
}

#[test]
fn a_program_gets_an_object_for_each_checkpoint() {
    let test = filled();
    let lines = log(&test, "a --json").done();
    let tails: Vec<&str> =
        lines.lines().map(|line| &line[line.find("\"score\"").unwrap()..]).collect();
    insta::assert_snapshot!(tails.join("\n"), @r#"
    "score":null,"before":"a-2","changes":3,"changed":["/t/1","/t/2","/note"]}
    "score":null,"before":"a-1","changes":4,"changed":["/left","/t/1","/t/2","/note"]}
    "score":null,"before":null,"changes":null,"changed":[]}
    "#);
    assert!(lines.lines().all(|line| line.starts_with("{\"version\":1,\"id\":\"a-")));
    let many: Vec<String> = (0..30).map(|it| format!("\"{it}\": {it}")).collect();
    save(&test, "--series a --id a-4", &format!("{{{}}}", many.join(", ")));
    let line = log(&test, "a --limit 1 --json --quiet").done();
    assert!(line.contains("\"changes\":33,\"changed\":[\"/left\","), "{line}");
    assert_eq!(line[line.find("\"changed\"").unwrap()..].matches("\"/").count(), 20);
}

/// A damaged document is reported in its line, the rest goes on, and the exit code shows it.
#[test]
fn damage_is_told_in_its_line() {
    let test = Test::new();
    let pangram = "Jackdaws love my big sphinx of quartz";
    for (id, document) in
        [("d-1", "1".to_owned()), ("d-2", format!("{pangram:?}")), ("d-3", "3".to_owned())]
    {
        // One of another series would be stored as a difference to what is damaged.
        save(&test, &format!("--issue 7 --series {id} --id {id}"), &document);
    }
    save(&test, "--series d-2 --id d-4", "4");
    damage(&test, pangram);
    let ended = log(&test, "--ascii");
    assert_eq!(ended.code, Some(5));
    insta::assert_snapshot!(ended.stdout, @"
         ID       AGE  SERIES  TRIGGER  CHANGED
    *    d-4  in >99y  d-2     unknown  d-2 cannot be read
    | *  d-3  in >99y  d-3     unknown  first
    *    d-2  in >99y  d-2     unknown  damaged

    *    d-1  in >99y  d-1     unknown  first
    ");
    insta::assert_snapshot!(ended.stderr, @"
    error: 1 of 4 checkpoints are damaged
    hint: all others were read; `waypost verify` lists all damage, `waypost repair` saves the rest
    ");
    let ended = log(&test, "--json");
    assert_eq!(ended.code, Some(5));
    assert_eq!(ended.stdout.lines().count(), 4);
    assert!(ended.stdout.contains("\"damaged\":\"damaged data in checkpoint d-2"));
}

#[test]
fn a_document_cannot_write_to_the_terminal() {
    let test = Test::new();
    save(&test, "--series a --id a-1", "{}");
    save(&test, "--series a --id a-2", "{\"\\u001b[2J\": 1, \"k\": \"\\u009b\"}");
    let told = log(&test, "--ascii").done() + &log(&test, "--path /k").done();
    assert!(told.contains("+/\\u001b[2J"), "{told}");
    assert!(told.chars().all(|it| it == '\n' || !it.is_control()), "{told:?}");
}

#[test]
fn colours_are_for_terminals() {
    let test = filled();
    assert!(!log(&test, "").done().contains('\u{1b}'));
    let coloured = log(&test, "a-1 --color always").done();
    assert!(coloured.contains("\u{1b}[33ma-1\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn operations_are_still_told_and_take_no_filters() {
    let test = filled();
    test.run("delete a-1 --quiet").done();
    let told = log(&test, "--operations").done();
    assert!(told.contains("delete") && told.contains("a-1"), "{told}");
    for filter in ["a", "--path /x", "--issue 42", "--status failed", "--since 2h"] {
        log(&test, &format!("--operations {filter}")).failed(2);
    }
}

#[test]
fn a_score_has_a_column_and_a_field() {
    let test = Test::new();
    save(&test, "--series a --id a-1", r#"{"score": 71}"#);
    save(&test, "--series a --id a-2", r#"{"score": 74.5}"#);
    insta::assert_snapshot!(log(&test, "a --ascii").done(), @"
       ID       AGE  TRIGGER  SCORE  CHANGED
    *  a-2  in >99y  unknown   74.5  /score 71 -> 74.5
    *  a-1  in >99y  unknown     71  first
    ");
    let lines = log(&test, "a --json").done();
    assert!(lines.contains(",\"score\":74.5,\"before\":\"a-1\","), "{lines}");
}

/// A checkpoint of which only files had changed was said to have no changes.
#[test]
fn what_became_of_captured_files_is_told() {
    let test = Test::new();
    for (id, document, files) in [
        ("s-1", "1", [Some("1"), Some("1"), None]),
        ("s-2", "1", [Some("2"), Some("1"), None]),
        ("s-3", "1", [Some("2"), Some("1"), None]),
        ("s-4", "2", [Some("3"), None, Some("1")]),
    ] {
        for (name, content) in ["src/a", "src/b", "src/c"].into_iter().zip(files) {
            fs::create_dir_all(test.path().join("src")).unwrap();
            let _ = fs::remove_file(test.path().join(name));
            if let Some(content) = content {
                test.write(name, content);
            }
        }
        let save = format!("save - --id {id} --series s --created-at {LATER} --capture src");
        test.feed(&save, document).done();
    }
    test.run(&format!("fork s-2 --series t --id t-1 --created-at {LATER}")).done();
    insta::assert_snapshot!(log(&test, "--ascii").done(), @r#"
         ID       AGE  SERIES  TRIGGER  CHANGED
    *    t-1  in >99y  t       manual   fork of s-2
    | *  s-4  in >99y  s       unknown  (document) 1 -> 2, 1 file created, 1 modified, 1 deleted
    | *  s-3  in >99y  s       unknown  no changes
    |-'
    *    s-2  in >99y  s       unknown  1 file modified
    *    s-1  in >99y  s       unknown  first, 2 files created
    "#);
    let line = log(&test, "s-2 --limit 1 --json --quiet").done();
    assert!(line.contains(r#""files":{"created":0,"modified":1,"deleted":0}"#), "{line}");
}
