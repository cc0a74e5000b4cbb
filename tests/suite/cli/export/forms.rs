//! `export --form reader`, and what the report says of words that a system does not have.

use serde_json::Value;

use super::super::Test;
use super::files::tree;

const LOOP: &str = "ralph-fix-tests-a1b2c3d4";

fn saved(trigger: &str, iteration: u64, time: &str) -> Test {
    let test = Test::new();
    again(&test, trigger, iteration, time);
    test
}

fn again(test: &Test, trigger: &str, iteration: u64, time: &str) {
    let flags = format!("save --loop-id {LOOP} --phase build --id i-{iteration} --quiet");
    let more = format!("--trigger {trigger} --iteration {iteration} --created-at {time}");
    test.feed(&format!("{flags} {more}"), r#"{"objective": "Fix tests"}"#).done();
}

#[test]
fn a_trigger_that_aiwg_does_not_have_is_named_in_the_report() {
    let test = saved("batch_complete", 1, "2026-02-02T21:05:00Z");
    again(&test, "batch_complete", 2, "2026-02-02T21:06:00Z");
    again(&test, "phase_start", 3, "2026-02-02T21:07:00Z");
    let told = test.run("export out --layout aiwg").stderr;
    insta::assert_snapshot!(told, @"
    i-3: trigger phase_start is phase_boundary for aiwg; /metadata/trigger keeps it
    i-2: aiwg has no trigger batch_complete; /metadata/trigger keeps it
    exported 3: 3 aiwg
    2 files: aiwg has no trigger batch_complete; /metadata/trigger keeps it
    ");
    let told = test.run("export other --layout aiwg --json");
    let outcome: Value = serde_json::from_str(&told.stdout).unwrap();
    let note = "aiwg has no trigger batch_complete; /metadata/trigger keeps it";
    assert_eq!((&outcome["notes"][note], &*told.stderr), (&2.into(), ""));
    // And is known again.
    test.run("--store other.redb import out --quiet").done();
    let entries = test.run("--store other.redb list --json").done();
    assert_eq!(entries.matches("\"trigger\":\"batch_complete\"").count(), 2, "{entries}");
    assert_eq!(entries.matches("\"trigger\":\"phase_start\"").count(), 1, "{entries}");
}

#[test]
fn the_form_that_recovery_reads_is_made_of_files_of_the_schema_too() {
    let test = saved("iteration", 4, "2026-02-02T21:05:00Z");
    test.run("export . --layout aiwg --quiet").done();
    test.run("--store other.redb import .aiwg --quiet").done();
    test.run("--store other.redb export out --layout aiwg --form reader --quiet").done();
    let files: Vec<String> = tree(&test.path().join("out")).into_keys().collect();
    let name = format!(".aiwg/ralph/loops/{LOOP}/checkpoints/checkpoint-4-1770066300000.json.gz");
    assert_eq!(files, [name]);
    // Without it the file is as it was.
    test.run("--store other.redb export same --quiet").done();
    let same = tree(&test.path().join("same"));
    let name = format!(".aiwg/ralph/loops/{LOOP}/checkpoints/iteration-004.json.gz");
    assert_eq!(same.into_keys().collect::<Vec<_>>(), [name]);
}

#[test]
fn only_aiwg_has_a_form_for_readers() {
    let test = saved("iteration", 4, "2026-02-02T21:05:00Z");
    for (flags, told) in [
        ("--layout crunch --form reader", "crunch reads what its schema says; only aiwg does not"),
        ("--layout aiwg --form reader --schema 2.0", "has no versions; omit --schema"),
        ("--layout aiwg --form reader --plain", "is read compressed only; omit --plain"),
    ] {
        let ended = test.run(&format!("export out {flags}"));
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("--form reader: {told}")), "{}", ended.stderr);
    }
    assert_eq!(test.run("export out --form reader").code, Some(2), "of which layout?");
    test.run("export out --layout aiwg --form documented --quiet").done();
}
