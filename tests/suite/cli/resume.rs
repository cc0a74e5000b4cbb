//! `waypost resume`: decisions, output and exit codes.
//!
//! Covers decisions and their reasons, freshness against git and files, failed and overwritten
//! work, each layout, questions at a terminal, worktrees, and the same through the library.

mod failed;
mod freshness;
mod layouts;
mod library;
mod overwritten;
#[cfg(unix)]
pub(super) mod terminal;
mod worktree;

use serde_json::Value;

use super::{Ended, Test};

/// A day on which everything in here was saved.
const DAY: &str = "2026-01-05T10:00";

/// Documents of series `work`, the oldest first, with further flags.
fn saved(checkpoints: &[(&str, &str)]) -> Test {
    let test = Test::new();
    for (number, (json, flags)) in checkpoints.iter().enumerate() {
        let about = format!("--id n-{number} --created-at {DAY}:0{number}Z {flags}");
        let series = if flags.contains("--series") { "" } else { "--series work" };
        test.feed(&format!("save {about} {series}"), json).done();
    }
    test
}

impl Ended {
    /// The one object on standard output, whatever the exit code.
    fn object(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

#[test]
fn the_newest_is_resumed_and_told_as_fields() {
    let flags = "--phase build --iteration 7 --resume-from batch_3 --warning late";
    let test = saved(&[("1", ""), (r#"{"score": 71}"#, flags)]);
    let ended = test.run("resume work");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with("saved")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    resume       n-1
    series       work
    phase        build
    iteration    7
    resume_from  batch_3
    score        71
    next         Continue from batch_3.
    because      n-1 is the newest of its series.
    warning      late
    ");
}

#[test]
fn the_document_alone_feeds_a_loop() {
    let test = saved(&[("1", ""), (r#"{"a": 1.50}"#, "")]);
    assert_eq!(test.run("resume work --document --json").done(), "{\"a\":1.50}\n");
    assert_eq!(test.run("resume nothing --document").failed(3).lines().count(), 2);
    assert_eq!(test.run("resume nothing --document --quiet").failed(3), "");
}

#[test]
fn a_program_gets_decision_reasons_point_and_document() {
    let flags = "--phase build --step two --iteration 7 --resume-from batch_3 --issue 42";
    let test = saved(&[(r#"{"score": 71}"#, flags)]);
    let answer = test.run("resume work --json --no-gh").object();
    assert_eq!(answer["decision"], "resume");
    assert_eq!(answer["strategy"], "last");
    assert_eq!(answer["reasons"][0], "n-0 is the newest of its series.");
    let point = &answer["resume_point"];
    assert_eq!((&point["phase"], &point["step"]), (&"build".into(), &"two".into()));
    assert_eq!((&point["iteration"], &point["resume_from"]), (&7.into(), &"batch_3".into()));
    assert_eq!(answer["freshness"]["advice"], "resume");
    assert_eq!((&answer["id"], &answer["issue"]), (&"n-0".into(), &"42".into()));
    assert_eq!(answer["document"]["score"], 71);
}

#[test]
fn what_cannot_be_resumed_is_refused_with_its_warnings() {
    let test = saved(&[("1", "--can-resume false --warning dirty")]);
    let ended = test.run("resume work");
    assert_eq!(ended.code, Some(4));
    insta::assert_snapshot!(ended.stderr, @r"
    passed over n-0: it says that it cannot be resumed: dirty
    error: cannot resume from n-0: it says that it cannot be resumed: dirty
    hint: --choice fresh starts over, --force goes on all the same
    ");
    let ended = test.run("resume n-0 --json");
    assert_eq!((ended.code, ended.object()["decision"].as_str()), (Some(4), Some("refused")));
    assert_eq!(ended.object()["hurdles"][0]["warnings"][0], "dirty");
    assert_eq!(test.run("resume work --force --document --quiet").done(), "1\n");
}

#[test]
fn work_that_is_done_is_not_resumed() {
    let test = saved(&[("1", ""), ("2", "--status completed")]);
    // Nothing is left to go on from, so that a loop starts.
    let stderr = test.run("resume work").failed(3);
    assert!(stderr.contains("work is completed: there is nothing to go on from\n"), "{stderr}");
    assert_eq!(test.run("resume work --json").object()["decision"], "ended");
    let stderr = test.run("resume n-1").failed(4);
    assert!(stderr.contains("cannot resume from n-1: it is completed\n"), "{stderr}");
    assert_eq!(test.run("resume work --force --document --quiet").done(), "2\n");
}

#[test]
fn what_went_wrong_is_told() {
    let test = saved(&[(r#"{"failures": 3, "error": "out of memory"}"#, "--status failed")]);
    let ended = test.run("resume work");
    let stdout = ended.stdout;
    assert!(
        ended.stderr.starts_with("warning: the work has failed\nwarning: "),
        "{}",
        ended.stderr
    );
    for line in ["failures  3\n", "status    failed\n", "error     out of memory\n"] {
        assert!(stdout.contains(line), "{stdout}");
    }
}

#[test]
fn without_a_checkpoint_what_is_nearby_is_named() {
    let test = saved(&[("1", "--series issue:42"), ("2", "--series nightly")]);
    let stderr = test.run("resume issue:43").failed(3);
    assert!(
        stderr.starts_with("error: no checkpoint matches \"issue:43\"; nearby: issue:42\n"),
        "{stderr}"
    );
    let stderr = test.run("resume quite-another").failed(3);
    assert!(stderr.contains("; the newest series are nightly, issue:42\n"), "{stderr}");
    let stderr = test.run("resume issue:43 --json").failed(3);
    assert!(stderr.starts_with(r#"{"version":1,"error":{"code":"not_found""#), "{stderr}");
}

#[test]
fn a_name_that_is_not_clear_has_choices() {
    let test = saved(&[("1", "--series a --issue 42"), ("2", "--series b --issue 42")]);
    let stderr = test.run("resume 42").failed(2);
    assert!(stderr.starts_with("error: \"42\" may be a, b\n"), "{stderr}");
    // Of several, the one that goes on is meant.
    test.run("complete --series a --quiet").done();
    let ended = test.run("resume 42 --document --no-gh");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "2\n"), "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("b: the only one of 2 that has not ended\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_damaged_newest_is_said_and_the_one_before_offered() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = saved(&[("[1]", ""), (&format!("[{pangram:?}]"), "")]);
    test.damage(pangram);
    let ended = test.run("resume work --document");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "[\n  1\n]\n"));
    let said = "passed over n-1: it cannot be read: damaged data in checkpoint n-1";
    assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
    let answer = test.run("resume work --json").object();
    assert_eq!(
        (&answer["id"], &answer["passed_over"][0]["is_readable"]),
        (&"n-0".into(), &false.into())
    );
    // By its own name there is nothing else to offer.
    let stderr = test.run("resume n-1").failed(5);
    assert!(stderr.starts_with("error: damaged data in checkpoint n-1"), "{stderr}");
}

#[test]
fn nothing_but_damage_is_damage() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = saved(&[(&format!("[{pangram:?}]"), "")]);
    test.damage(pangram);
    let stderr = test.run("resume work").failed(5);
    assert!(stderr.contains("none of the newest 1 checkpoints of work can be read"), "{stderr}");
}

#[test]
fn smart_goes_back_before_the_trouble_and_says_why() {
    let test = saved(&[
        (r#"{"score": 60}"#, "--iteration 1"),
        (r#"{"score": 82}"#, "--iteration 2"),
        (r#"{"score": 40}"#, "--iteration 3"),
        (r#"{"score": 45}"#, "--iteration 4"),
    ]);
    let answer = test.run("resume work --strategy smart --json").object();
    assert_eq!((&answer["id"], &answer["strategy"]), (&"n-1".into(), &"smart".into()));
    let reasons = answer["reasons"].as_array().unwrap();
    assert_eq!(
        reasons[0],
        "Things went wrong from n-2 (iteration 3) on: its score fell from 82 to 40."
    );
    assert_eq!(reasons[1], "n-1 (iteration 2) is the last safe one before that.");
    let why = |at: usize| answer["passed_over"][at]["why"][0].as_str().unwrap().to_owned();
    assert_eq!(why(0), "came after things went wrong");
    assert_eq!(why(1), "is where things went wrong: its score fell from 82 to 40");
}

#[test]
fn where_nothing_is_safe_the_smart_one_refuses() {
    let test = saved(&[("1", "--status failed")]);
    let stderr = test.run("resume work --strategy smart").failed(4);
    assert!(stderr.contains("cannot resume from n-0: it is not safe to go on from\n"), "{stderr}");
}

#[test]
fn selecting_without_a_terminal_lists_and_refuses() {
    let test = saved(&[("1", "--phase plan"), ("2", "--can-resume false --iteration 4")]);
    let ended = test.run("resume work --strategy select");
    assert_eq!(ended.code, Some(4));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("n-1  "), "{lines:?}");
    assert!(
        lines[0].ends_with("unknown  iteration 4  says that it cannot be resumed"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("ago  unknown  plan"), "{lines:?}");
    assert!(ended.stderr.contains("hint: `waypost resume n-0` resumes that one"));
    let ended = test.run("resume work --strategy select --json");
    let first: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["id"], &first["hurdles"][0]["hurdle"]),
        (&"n-1".into(), &"cannot_resume".into())
    );
}

#[test]
fn starting_over_archives_and_is_nothing_to_go_on_from() {
    let test = saved(&[("1", ""), ("2", "")]);
    let stderr = test.run("resume work --choice fresh").failed(3);
    let note = "archived 2 of work: `waypost reopen --series work` opens it again\n";
    assert_eq!(stderr, note);
    assert_eq!(test.run("resume work --document --quiet").failed(3), "");
    test.run("reopen --series work --quiet").done();
    assert_eq!(test.run("resume work --document").done(), "2\n");
}

#[test]
fn deleting_leaves_the_others_and_can_be_taken_back() {
    let test = saved(&[("1", ""), ("2", "")]);
    let stderr = test.run("resume work --choice delete").failed(4);
    assert!(stderr.starts_with("deleted n-1: `waypost undelete"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(test.run("resume work --document").done(), "1\n");
    test.run("undelete n-1 --quiet").done();
    assert_eq!(test.run("resume work --document").done(), "2\n");
}

#[test]
fn a_block_for_an_agent_needs_tasks() {
    let json = r#"{"tasksCompleted": ["T-1"], "tasksRemaining": ["T-2", "T-3"]}"#;
    let test = saved(&[(json, ""), ("{}", "--series other")]);
    let block = test.run("resume work --prompt").done();
    assert_eq!(block.lines().nth(2), Some("Tasks remaining: T-2, T-3"));
    let stderr = test.run("resume other --prompt").failed(4);
    assert!(stderr.contains("has neither tasks nor a last action"), "{stderr}");
    assert_eq!(test.run("resume work --prompt --json").object()["prompt"], block);
}

#[test]
fn without_a_store_there_is_nothing_to_resume() {
    let stderr = Test::new().run("resume work").failed(3);
    assert!(stderr.starts_with("error: there is no store at "), "{stderr}");
}

#[test]
fn what_a_checkpoint_says_cannot_reach_the_terminal() {
    let json = r#"{"id": "x", "series": "work", "can_resume": false,
        "warnings": ["w\u001b[31m\u009b\u202e\nerror: fake"], "document": 1}"#;
    let test = Test::new();
    test.feed("import - --quiet", &json.replace('\n', " ")).done();
    let stderr = test.run("resume work").failed(4);
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    assert!(!stderr.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{stderr:?}");
}

#[test]
fn an_issue_that_is_another_one_is_a_mistake() {
    let test = saved(&[("1", "--issue 42")]);
    test.write("issue.json", r#"{"number": 43, "body": "", "labels": []}"#);
    let stderr = test.run("resume 42 --issue-json issue.json").failed(2);
    assert!(stderr.contains("--issue-json is of issue 43, and the checkpoint of 42"), "{stderr}");
    let stderr = test.run("resume 42 --no-gh --worktree nowhere").failed(2);
    assert!(stderr.contains("nowhere is not a directory"), "{stderr}");
}

#[test]
fn starting_over_needs_nothing_that_can_be_read() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = saved(&[(&format!("[{pangram:?}]"), "")]);
    test.damage(pangram);
    test.run("resume work --choice fresh --quiet").failed(3);
    assert_eq!(test.run("list --status archived --json").done().lines().count(), 1);
}

#[test]
fn damage_does_not_undo_that_work_is_done() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = saved(&[("1", ""), (&format!("[{pangram:?}]"), "--status completed")]);
    test.damage(pangram);
    for strategy in ["last", "smart"] {
        let stderr = test.run(&format!("resume work --strategy {strategy}")).failed(3);
        assert!(stderr.contains("work is completed: there is nothing to go on from"), "{stderr}");
    }
}

#[test]
fn a_damaged_entry_keeps_nobody_from_starting() {
    let test = saved(&[("1", ""), ("2", "--step sphinx-of-black-quartz")]);
    test.damage("sphinx-of-black-quartz");
    test.run("resume another --quiet").failed(3);
    test.run("resume work --choice fresh --quiet").failed(3);
    assert_eq!(test.run("resume work --document --quiet").failed(3), "");
}

#[test]
fn where_all_series_of_a_name_are_over_there_is_nothing() {
    let test = saved(&[("1", "--series a --issue 42"), ("2", "--series b --issue 42")]);
    test.run("complete --series a --quiet").done();
    test.run("complete --series b --quiet").done();
    test.run("resume 42 --no-gh --quiet").failed(3);
}
