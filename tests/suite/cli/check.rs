//! `check`, and the rules that `import`, `save` and `show` have in common with it.

use serde_json::Value;

use super::Test;
use super::import::fixture;

const PATH: &str = ".pipeline/checkpoint-PROJ-42.json";
pub(super) const BROKEN: &str = r#"{
  "storyId": "PROJ-42",
  "stage": 1,
  "agentId": "a",
  "tasksCompleted": [],
  "tasksRemaining": [],
  "verdict": "PASS",
  "readiness": 11,
  "timestamp": "2026-02-14 14:30"
}
"#;

pub(super) fn report(stdout: &str) -> Value {
    serde_json::from_str(stdout).expect("an object")
}

#[test]
fn problems_are_told_with_their_lines_and_nothing_is_saved() {
    let test = Test::new();
    test.put(PATH, BROKEN);
    let ended = test.run("check .");
    assert_eq!(ended.code, Some(4));
    insta::assert_snapshot!(ended.stdout, @"
    PLACE                                LEVEL  RULE               PROBLEM
    .pipeline/checkpoint-PROJ-42.json:1  error  pipeline/required  /lastAction is required
    .pipeline/checkpoint-PROJ-42.json:7  error  pipeline/verdict   /verdict must be one of GO, NO-GO
    .pipeline/checkpoint-PROJ-42.json:8  error  pipeline/range     /readiness must be from 1 to 10
    ");
    insta::assert_snapshot!(ended.stderr, @"
    checked 1: 3 errors, 0 warnings
    error: 1 of 1 checked are invalid
    hint: see above which rules are broken, and where
    ");
    assert!(!test.path().join(".waypost").exists());
}

#[test]
fn what_is_right_says_so_and_ends_with_0() {
    let test = Test::new();
    test.put(PATH, fixture("pipeline/checkpoint-PROJ-42.json"));
    test.put(".pipeline/state.json", fixture("pipeline/state.json"));
    let ended = test.run("check .");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert_eq!(ended.stderr, "checked 2: 0 errors, 0 warnings\n");
    // The directory below is a place of the system, too, wherever the command runs.
    let ended = test.run_in(".pipeline", "check state.json", "");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn a_warning_is_told_and_does_not_fail() {
    let test = Test::new();
    let odd = String::from_utf8(fixture("pipeline/checkpoint-PROJ-42.json")).unwrap();
    let odd = odd.replace("\"verdict\"", "\"issues\": [\"slow\"],\n  \"verdict\"");
    test.put(PATH, odd);
    let ended = test.run(&format!("check {PATH} --json"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = report(&ended.stdout);
    assert_eq!((&report["warnings"], &report["errors"]), (&1.into(), &0.into()));
    assert_eq!(report["rules"]["pipeline/type"], 1);
    test.run("import . --quiet").done();
    let shown = test.run("show PROJ-42").done();
    assert!(shown.contains("deviates     /issues: must be a text (line"), "{shown}");
}

#[test]
fn what_cannot_be_read_is_a_problem_of_its_line() {
    let test = Test::new();
    test.put(PATH, "{\n  \"storyId\": \n}");
    test.put(".pipeline/checkpoint-B.json", "");
    test.put(".hex-skills/pipeline/runs/r/history.jsonl", "{}\n{\n");
    let ended = test.run("check . --json");
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    let report = report(&ended.stdout);
    let lines: Vec<(&str, &Value)> = report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), &it["line"]))
        .collect();
    assert_eq!(
        lines,
        [
            (".hex-skills/pipeline/runs/r/history.jsonl", &2.into()),
            (".pipeline/checkpoint-B.json", &Value::Null),
            (PATH, &3.into()),
        ]
    );
    assert_eq!(report["rules"]["syntax"], 2);
}

#[test]
fn a_named_file_of_no_layout_needs_one_to_be_named() {
    let test = Test::new();
    test.put("notes.json", "{}");
    let ended = test.run("check notes.json");
    assert_eq!(ended.code, Some(4));
    assert!(ended.stdout.contains("has no known layout"), "{}", ended.stdout);
    let ended = test.run("check notes.json --layout pipeline --json");
    assert_eq!(report(&ended.stdout)["rules"]["pipeline/required"], 7);
    // Among others it is no checkpoint.
    assert_eq!(test.run("check .").code, Some(3));
}

#[test]
fn standard_input_is_checked_by_the_rules_that_are_named() {
    let test = Test::new();
    let ended = test.feed("check - --layout pipeline --json", BROKEN);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert_eq!(report(&ended.stdout)["problems"][0]["path"], "-");
    let right = String::from_utf8(fixture("pipeline/checkpoint-PROJ-42.json")).unwrap();
    assert_eq!(test.feed("check - --layout pipeline", &right).code, Some(0));
    let yaml = "checkpoint_id: CP-x\nissue_number: 1\n";
    let ended = test.feed("check - --layout crunch --json", yaml);
    assert_eq!(report(&ended.stdout)["rules"]["crunch/required"], 6);
    assert!(test.feed("check -", "{}").failed(2).contains("--layout"));
}

#[test]
fn a_name_that_is_neither_a_file_nor_a_checkpoint_is_told() {
    let test = Test::filled();
    let stderr = test.run("check nothing").failed(3);
    assert!(stderr.contains("nothing is no file: no checkpoint matches"), "{stderr}");
    assert_eq!(test.run("check a-1 latest 42").code, Some(0));
}

/// A series whose newest checkpoint is invalid was resumed from the one before.
#[test]
fn the_one_before_an_invalid_one_is_named_and_smart_takes_it() {
    let test = Test::new();
    let right = String::from_utf8(fixture("pipeline/checkpoint-PROJ-42.json")).unwrap();
    test.put(PATH, &right);
    test.run("import . --quiet").done();
    let id = report(&test.run("show PROJ-42 --json").done())["id"].as_str().unwrap().to_owned();
    test.put(PATH, BROKEN);
    test.run("import . --quiet").done();
    let stderr = test.run("resume PROJ-42 --no-gh").failed(4);
    let hint = format!("`waypost resume {id}` goes on from the newest valid one");
    assert!(stderr.contains(&hint), "{stderr}");
    let answer = report(&test.run(&format!("resume {id} --no-gh --json")).done());
    assert_eq!((&answer["decision"], &answer["id"]), (&"resume".into(), &id.clone().into()));
    let ended = test.run("resume PROJ-42 --no-gh --json --strategy smart");
    let answer = report(&ended.stdout);
    assert_eq!((&answer["decision"], &answer["id"]), (&"resume".into(), &id.into()));
    let why = answer["passed_over"][0]["why"][0].as_str().unwrap();
    assert!(why.starts_with("is invalid: "), "{why}");
    let states = report(&test.run("series --json").done());
    assert_eq!(states["decision"], "refused");
}
