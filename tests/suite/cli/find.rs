//! `waypost find`: matches and their output.

use super::log::damage;
use super::{LATER, Test};

/// Five checkpoints of issue 42, `a-1` to `a-5`, and one of another series.
fn filled() -> Test {
    let test = Test::new();
    for (id, document) in [
        ("a-1", r#"{"score": 71, "phase": "build"}"#),
        ("a-2", r#"{"score": 49.5, "open files": ["a.rs"]}"#),
        ("a-3", r#"{"score": 50.0, "phase": "test"}"#),
        ("a-4", r#"{"score": 12, "phase": "test"}"#),
        ("a-5", r#"{"phase": "test"}"#),
        ("b-1", r#"{"score": 1}"#),
    ] {
        let name = if id == "b-1" { "--series b" } else { "--issue 42" };
        test.feed(&format!("save --id {id} {name} --created-at {LATER}"), document).done();
    }
    test
}

/// Runs with a condition, which has spaces.
fn find(test: &Test, args: &[&str]) -> super::Ended {
    let mut command = test.command("find");
    command.args(args);
    test.ended(command.spawn().unwrap())
}

fn ids(test: &Test, args: &[&str]) -> Vec<String> {
    let table = find(test, args).done();
    table.lines().skip(1).map(|row| row.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn the_first_is_found_with_its_value() {
    let test = filled();
    insta::assert_snapshot!(find(&test, &["--first", "/score < 50", "42"]).done(), @"
    ID       AGE  SERIES    TRIGGER  STATUS       SIZE  /score
    a-2  in >99y  issue:42  unknown  in_progress  38 B  49.5
    ");
    insta::assert_snapshot!(find(&test, &["--last", "/score<50 and not /phase absent"]).done(), @r#"
    ID       AGE  SERIES    TRIGGER  STATUS       SIZE  /score  /phase
    a-4  in >99y  issue:42  unknown  in_progress  24 B  12      "test"
    "#);
}

#[test]
fn first_last_and_all_go_by_time() {
    let test = filled();
    assert_eq!(ids(&test, &["--first", "/score <= 50", "issue:42"]), ["a-2"]);
    assert_eq!(ids(&test, &["--last", "/score <= 50", "#42"]), ["a-4"]);
    assert_eq!(ids(&test, &["--all", "/score <= 50"]), ["b-1", "a-4", "a-3", "a-2"]);
    assert_eq!(ids(&test, &["--all", "/score <= 50", "--limit", "2"]), ["b-1", "a-4"]);
    assert_eq!(ids(&test, &["--all", "/phase == test", "--series", "issue:42"]).len(), 3);
    // Up to a checkpoint of a series.
    assert_eq!(ids(&test, &["--last", "/score <= 50", "a-3"]), ["a-3"]);
    assert_eq!(ids(&test, &["--all", "/score exists", "issue:42@2"]), ["a-3", "a-2", "a-1"]);
    assert_eq!(ids(&test, &["--first", "/phase == test", "a-3"]), ["a-3"]);
    assert_eq!(find(&test, &["--first", "/phase == test", "a-2"]).code, Some(3));
}

#[test]
fn a_program_gets_values_as_they_are_spelled() {
    let test = filled();
    let line = find(&test, &["--first", "/score == 50 or \"/open files\" ~ x", "--json"]).done();
    assert!(line.starts_with("{\"version\":1,\"id\":\"a-3\",\"series\":\"issue:42\","), "{line}");
    assert!(line.ends_with(",\"values\":{\"/score\":50.0}}\n"), "{line}");
    let line = find(&test, &["--last", "\"/open files\" exists", "--json"]).done();
    assert!(line.ends_with(",\"values\":{\"/open files\":[\"a.rs\"]}}\n"), "{line}");
}

#[test]
fn nothing_found_is_told_by_the_exit_code() {
    let test = filled();
    let told = find(&test, &["--first", "/score > 1e400"]).failed(3);
    assert!(told.starts_with("error: the condition holds for none of 6 checkpoints\n"), "{told}");
    let missing = find(&test, &["--first", "/score > 1", "43"]).failed(3);
    assert!(missing.starts_with("error: no checkpoint matches \"43\""), "{missing}");
}

#[test]
fn what_is_no_condition_is_refused_with_its_column() {
    let test = filled();
    let wrong = find(&test, &["--first", "/score < 50 and"]).failed(2);
    assert!(
        wrong.contains("expected a pointer such as /score, `not` or `(` at column 16"),
        "{wrong}"
    );
    assert!(find(&test, &[]).failed(2).contains("--first <CONDITION>"));
    find(&test, &["--first", "/a exists", "--last", "/a exists"]).failed(2);
    find(&test, &["--first", "/a exists", "42", "--issue", "42"]).failed(2);
}

/// An unreadable checkpoint may be the first match: it is reported, and so are the matches.
#[test]
fn damage_is_told_and_passed_over() {
    let test = filled();
    let pangram = "Jackdaws love my big sphinx of quartz";
    let args = format!("save --id bad --series c --created-at {LATER}");
    test.feed(&args, &format!("[{pangram:?}]")).done();
    test.feed(&args.replace("bad", "good"), r#"{"score": 3}"#).done();
    damage(&test, pangram);
    let ended = find(&test, &["--first", "/score == 3"]);
    assert_eq!(ended.code, Some(5));
    assert!(ended.stdout.contains("good"), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("passed over: damaged data in checkpoint bad"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("error: 1 of 8 checkpoints are damaged"), "{}", ended.stderr);
    assert_eq!(find(&test, &["--first", "/score == 4"]).code, Some(5));
}
