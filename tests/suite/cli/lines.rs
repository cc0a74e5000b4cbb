//! `waypost save --lines`: every line has its answer.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::Value;

use super::{Test, by_member};

#[test]
fn a_lone_line_is_answered_at_once_and_a_burst_in_order() {
    const BURST: usize = 1000;
    let test = Test::new();
    let mut child = test.spawn("save --lines --about --series nightly");
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = |id: usize| format!("{{\"about\": {{\"id\": \"{id}\"}}, \"document\": {id}}}\n");
    // The next line is written only after the answer: a line that had to wait would wait forever.
    for id in 0..3 {
        stdin.write_all(line(id).as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), id.to_string());
    }
    stdin.write_all((3..BURST).map(line).collect::<String>().as_bytes()).unwrap();
    drop(stdin);
    let burst: Vec<String> = answers.map(Result::unwrap).collect();
    assert_eq!(burst, (3..BURST).map(|id| id.to_string()).collect::<Vec<_>>());
    test.ended(child).done();
    assert_eq!(test.run("list --series nightly --all --json").done().lines().count(), BURST);
}

#[test]
fn a_line_that_is_refused_does_not_stop_the_others() {
    let test = Test::new();
    let ended = test.feed("save --lines", "1\n\nnope\n[2]");
    assert_eq!(ended.code, Some(7));
    let answers: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!((answers.len(), answers[0].len(), answers[2].len()), (3, 36, 36));
    assert_eq!(answers[1], "error: invalid document: expected a value at line 1 column 1");
    insta::assert_snapshot!(ended.stderr, @"
    line 3: invalid document: expected a value at line 1 column 1
    error: 1 of 3 lines were refused
    hint: mend line 3, then save the refused lines again
    ");
}

#[test]
fn a_program_gets_an_object_for_every_line() {
    let test = Test::new();
    let input = r#"{"document": 1, "about": {"phase": "line"}}
{"document": 2, "about": {"colour": "red"}}
{"document": 3}"#;
    let ended = test.feed("save --lines --about --json --quiet --phase flag", input);
    assert_eq!(ended.code, Some(7));
    let answers = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers: Vec<Value> = answers.collect();
    assert_eq!((&answers[0]["phase"], &answers[2]["phase"]), (&"line".into(), &"flag".into()));
    insta::assert_snapshot!(by_member(&answers[1].to_string()), @r#"
    {"error":{"code":"invalid",
    "hint":"`waypost save --help` lists the fields and their values",
    "message":"invalid about.colour: no such field"},
    "version":1}
    "#);
    insta::assert_snapshot!(by_member(&ended.stderr), @r#"
    {"version":1,
    "error":{"code":"skipped",
    "message":"1 of 3 lines were refused",
    "hint":"mend line 2, then save the refused lines again"}}
    "#);
}

#[test]
fn an_id_cannot_be_given_to_all_lines() {
    let stderr = Test::new().run("save --lines --id x").failed(2);
    assert!(stderr.contains("cannot be used with"), "{stderr}");
}

/// It ended with 0, as a listing does when its reader is gone, and most lines were not saved.
#[test]
fn saving_is_not_done_when_nobody_hears_the_answers() {
    let test = Test::new();
    let mut child = test.spawn("save --lines");
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let lines = "1\n".repeat(1000);
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    let stderr = test.ended(child).failed(1);
    assert!(stderr.starts_with("error: cannot answer: "), "{stderr}");
}

#[test]
fn every_line_that_was_answered_survives_a_kill() {
    let test = Test::new();
    let mut answered = Vec::new();
    for kill_after in [1, 2, 3, 7, 20, 61, 150] {
        let mut child = test.spawn("save --lines --series nightly");
        let mut stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        // More than will be answered, so that the kill comes in the middle of the work.
        let feeder = std::thread::spawn(move || {
            (0..).map_while(|number| writeln!(stdin, "[{number}]").ok()).for_each(drop);
        });
        answered.extend(answers.take(kill_after).map(Result::unwrap));
        child.kill().unwrap();
        child.wait().unwrap();
        feeder.join().unwrap();
    }
    let listed = test.run("list --series nightly --all --json").done();
    let listed: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answered.len(), 244);
    for id in answered {
        assert!(listed.iter().any(|entry| entry["id"] == id.as_str()), "{id}");
    }
}
