//! `waypost fork` and `waypost rollback`: what they ask for, and what they say.

use std::fs;

use super::import::fixture;
use super::{LATER, Test, by_member};

/// Three checkpoints of issue 42, `a-1` to `a-3`.
fn filled() -> Test {
    let test = Test::new();
    for number in 1..=3 {
        let about = format!("--id a-{number} --issue 42 --iteration {number} --tag keep");
        test.feed(&format!("save {about} --created-at {LATER}"), &format!("[{number}]")).done();
    }
    test
}

fn documents(test: &Test, series: &str) -> Vec<String> {
    let ids = test.run(&format!("list --series {series} --json")).done();
    let ids = ids.lines().map(|line| line.split('"').nth(5).unwrap());
    ids.map(|id| test.run(&format!("show {id} --document --json")).done()).collect()
}

#[test]
fn a_fork_goes_on_in_a_series_of_its_own() {
    let test = filled();
    let id = test.run("fork a-1 --series other").done();
    assert_eq!(test.run("show other@0 --json").done().split('"').nth(5).unwrap(), id.trim());
    assert_eq!(documents(&test, "other"), ["[1]\n"]);
    let entry = test.run("fork issue:42@1 --series third --id b-1 --phase review --json").done();
    let told = by_member(&entry);
    for expected in [
        "\"id\":\"b-1\"",
        "\"series\":\"third\"",
        "\"issue\":\"42\"",
        "\"trigger\":\"manual\"",
        "\"phase\":\"review\"",
        "\"iteration\":2",
        "\"parent\":\"a-2\"",
        "\"tags\":[]",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    let entry = test.run("fork a-1 --series fourth --trigger unknown --tag x --json").done();
    assert!(entry.contains("\"trigger\":\"unknown\"") && entry.contains("\"tags\":[\"x\"]"));
}

#[test]
fn a_fork_needs_a_series_that_is_not_there() {
    let test = filled();
    insta::assert_snapshot!(test.run("fork a-1").failed(2), @"
    error: the series to continue in is not named
    hint: name it with --series; `waypost rollback` continues in the series of the checkpoint
    ");
    insta::assert_snapshot!(test.run("fork a-1 --issue 42").failed(4), @"
    error: series issue:42 is there already
    hint: --append adds to it; `waypost rollback` goes back within a series
    ");
    test.run("fork a-1 --issue 42 --append").done();
    assert_eq!(documents(&test, "issue:42"), ["[1]\n", "[3]\n", "[2]\n", "[1]\n"]);
    let wrong = test.run("fork a-1 --series x --parent a-2").failed(2);
    assert!(wrong.starts_with("error: --parent is the checkpoint that is forked"), "{wrong}");
    assert!(test.run("fork none --series x").failed(3).contains("no checkpoint matches"));
    assert!(!test.run("list").done().contains(" x "));
}

#[test]
fn a_rollback_says_what_it_passed_over() {
    let test = filled();
    let ended = test.run("rollback issue:42@2");
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stderr, "2 newer checkpoints of issue:42 stay in the history\n");
    // Others are dated far ahead, and it is the newest all the same.
    let newest = test.run("latest --issue 42 --json").done();
    assert!(newest.contains(&format!("\"id\":\"{}\"", ended.stdout.trim())), "{newest}");
    assert!(newest.contains("\"parent\":\"a-1\""), "{newest}");
    assert_eq!(documents(&test, "issue:42"), ["[1]\n", "[3]\n", "[2]\n", "[1]\n"]);
    let ended = test.run("rollback a-3");
    assert_eq!(ended.stderr, "1 newer checkpoint of issue:42 stays in the history\n");
    let entry = test.run("rollback a-2 --json").done();
    assert!(entry.contains("\"trigger\":\"manual\""), "{entry}");
}

#[test]
fn the_newest_cannot_be_rolled_back_to() {
    let test = filled();
    insta::assert_snapshot!(test.run("rollback a-3").failed(4), @"
    error: a-3 is the newest already
    hint: `waypost log issue:42` shows what there is to go back to
    ");
    assert_eq!(documents(&test, "issue:42").len(), 3);
}

/// The copies are of the layout, too, and would have taken the place of the file in an export.
#[test]
fn an_export_gives_the_file_of_an_original_back_though_it_was_forked() {
    let test = Test::new();
    fs::create_dir(test.path().join(".tmp")).unwrap();
    let path = test.path().join(".tmp/impl-checkpoint.json");
    for name in ["v1-00-initial", "v1-01-after-impl1"] {
        fs::write(&path, fixture(&format!("agentize/{name}.json"))).unwrap();
        test.run("import . --quiet").done();
    }
    let latest = test.run("latest --json").done();
    let series = latest.split('"').nth(9).unwrap();
    test.run(&format!("fork {series}@1 --series other")).done();
    test.run(&format!("rollback {series}@1 --quiet")).done();
    assert!(test.run("latest --json").done().contains("\"layout\":\"agentize\""));
    test.run("export out --quiet").done();
    let exported = fs::read(test.path().join("out/.tmp/impl-checkpoint.json")).unwrap();
    assert_eq!(exported, fixture("agentize/v1-01-after-impl1.json"));
    assert_eq!(fs::read_dir(test.path().join("out/native")).unwrap().count(), 2);
}

#[test]
fn captured_files_go_along() {
    let test = Test::new();
    test.write("a.txt", "as it was");
    test.feed("save --id one --series work - --capture a.txt", "1").done();
    test.feed("save --id two --series work", "2").done();
    test.run("fork one --series other --id three --quiet").done();
    test.run("rollback one --quiet").done();
    test.run("delete --now one --quiet").done();
    for id in ["three", "work@0"] {
        test.write("a.txt", "changed");
        test.run(&format!("restore {id} --into .")).done();
        let restored = fs::read_to_string(test.path().join("a.txt")).unwrap();
        assert_eq!(restored, "as it was", "{id}");
    }
}

#[test]
fn deleting_what_was_forked_from_is_warned_of() {
    let test = Test::filled();
    test.run("fork a-1 --series retry").done();
    let stderr = test.run("delete a-1").stderr;
    assert!(stderr.ends_with("\nwarning: retry was forked from a-1\n"), "{stderr}");
    assert!(!test.run("delete a-2").stderr.contains("warning"));
}
