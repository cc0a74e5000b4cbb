//! `waypost save`, and where it puts the store.

use std::fs;

use super::check::{BROKEN, report};
use super::import::fixture;
use super::{LATER, Test, by_member};

#[test]
fn an_id_alone_is_printed() {
    let test = Test::new();
    let id = test.feed("save", "{}").done();
    assert_eq!(id.trim_end().len(), 36);
    assert_eq!(test.feed("save - --id mine", "{}").done(), "mine\n");
}

#[test]
fn times_are_taken_as_a_person_writes_them() {
    let test = Test::new();
    let day = test.feed("save --json --created-at 2026-01-25 --updated-at 2026-01-25", "1").done();
    assert_eq!(day.matches("_at\":\"2026-01-25T00:00:00.000000Z\"").count(), 2, "{day}");
    test.feed("save --id old --created-at 3h", "1").done();
    let ids = |args: &str| test.run(args).done().matches("\"id\":\"old\"").count();
    assert_eq!((ids("list --json --since 4h"), ids("list --json --until 4h")), (1, 0));
}

#[test]
fn every_flag_ends_up_in_the_entry() {
    let test = Test::new();
    test.write("state.json", "{}");
    let about = "--id x --series s --issue #42 --loop-id l --workflow-id w --workflow-type t \
        --session-id i --agent a --trigger own_name --phase p --step e --iteration 0 \
        --status failed --updated-at 2026-01-25T16:00:00+01:00 --parent y --tag b --tag a \
        --can-resume false --resume-from here --warning one --warning two --retention-days 9 \
        --durability relaxed";
    let entry = test.run(&format!("save state.json --json --created-at {LATER} {about}")).done();
    insta::assert_snapshot!(by_member(&entry), @r#"
    {"version":1,
    "id":"x",
    "series":"s",
    "issue":"42",
    "loop_id":"l",
    "workflow_id":"w",
    "workflow_type":"t",
    "session_id":"i",
    "agent":"a",
    "trigger":"own_name",
    "phase":"p",
    "step":"e",
    "iteration":0,
    "status":"failed",
    "created_at":"2999-01-01T00:00:00.000000Z",
    "updated_at":"2026-01-25T15:00:00.000000Z",
    "parent":"y",
    "tags":["a",
    "b"],
    "can_resume":false,
    "resume_from":"here",
    "warnings":["one",
    "two"],
    "retention_days":9,
    "layout":"native",
    "source_path":null,
    "sequence":1,
    "document_bytes":2,
    "stored_bytes":12}
    "#);
}

#[test]
fn the_same_content_may_be_saved_under_its_id_again_but_no_other() {
    let test = Test::new();
    let save = format!("save --id x --created-at {LATER}");
    assert_eq!(test.feed(&save, "1").done(), "x\n");
    assert_eq!(test.feed(&save, "1").done(), "x\n");
    insta::assert_snapshot!(test.feed(&save, "2").failed(4), @"
    error: checkpoint x exists with other content
    hint: leave the id out to get a new one
    ");
}

#[test]
fn the_store_of_a_parent_directory_is_used() {
    let test = Test::filled();
    fs::create_dir_all(test.path().join("deep/er")).unwrap();
    let mut command = test.command("show b-1 --document");
    let child = command.current_dir(test.path().join("deep/er")).spawn().unwrap();
    insta::assert_snapshot!(test.ended(child).done(), @r#"
    {
      "b": 1.50
    }
    "#);
}

#[test]
fn the_environment_names_a_store_and_a_flag_another() {
    let test = Test::new();
    test.feed("save --store one.redb --id one", "1").done();
    test.feed("save --store two.redb --id two", "2").done();
    let run = |args| {
        let child = test.command(args).env("WAYPOST_STORE", "one.redb").spawn().unwrap();
        test.ended(child)
    };
    run("show one").done();
    run("show two --store two.redb").done();
    assert!(!test.path().join(".waypost").exists());
}

#[cfg(unix)]
#[test]
fn the_directory_of_the_store_is_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let test = Test::filled();
    let mode = fs::metadata(test.path().join(".waypost")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_missing_file_makes_no_store() {
    let test = Test::new();
    let stderr = test.run("save state.json").failed(1);
    assert!(stderr.starts_with("error: cannot read state.json: "), "{stderr}");
    assert!(!test.path().join(".waypost").exists());
}

#[test]
fn a_document_that_cannot_be_stored_is_refused() {
    let test = Test::new();
    let deep = "[".repeat(129) + &"]".repeat(129);
    insta::assert_snapshot!(test.feed("save", "{\"a\": nope}").failed(4), @"
    error: invalid document at /a: expected a value at line 1 column 7
    hint: give a document in JSON
    ");
    insta::assert_snapshot!(test.feed("save", "").failed(4), @"
    error: invalid document: the text is empty
    hint: give a document in JSON
    ");
    let too_deep = test.feed("save", &deep).failed(4);
    assert!(too_deep.contains("is beyond the limit of 128\n"), "{too_deep}");
}

#[test]
fn a_document_of_a_layout_is_saved_only_if_it_keeps_the_rules() {
    let test = Test::new();
    let stderr = test.feed("save --layout pipeline", BROKEN).failed(4);
    assert!(stderr.contains("invalid document of pipeline: /lastAction: is required"), "{stderr}");
    assert!(stderr.contains("--force"), "{stderr}");
    assert!(!test.path().join(".waypost").exists());
    test.feed("save --layout pipeline --force --id odd", BROKEN).done();
    // It was in the series `default`, and `resume` of its story ended as if it had not started.
    let story = r#"{"storyId": "PROJ-7", "stage": 2}"#;
    test.feed("save --layout pipeline --force", story).done();
    assert!(test.run("resume PROJ-7").failed(4).contains("it is invalid: /agentId"));
    let right = String::from_utf8(fixture("pipeline/checkpoint-PROJ-42.json")).unwrap();
    test.feed("save --layout pipeline --id right --agent other", &right).done();
    let entry = report(&test.run("show right --json").done());
    assert_eq!((&entry["layout"], &entry["series"]), (&"pipeline".into(), &"story:PROJ-42".into()));
    // Flags come first.
    assert_eq!((&entry["agent"], &entry["phase"]), (&"other".into(), &"quality_gate".into()));
    let lines = format!("{}\n{}\n", BROKEN.replace('\n', ""), right.replace('\n', ""));
    let ended = test.feed("save --lines --layout pipeline", &lines);
    assert_eq!(ended.code, Some(7));
    assert!(ended.stdout.starts_with("error: invalid document of pipeline: "), "{}", ended.stdout);
    assert_eq!(ended.stdout.lines().count(), 2);
}

/// Its own files were refused as no JSON.
#[test]
fn a_document_of_crunch_is_saved_as_its_system_writes_it() {
    let test = Test::new();
    let yaml = String::from_utf8(fixture("crunch/CP-template.yaml")).unwrap();
    let yaml = yaml.replace("ISO-8601", "2025-01-14T10:00:00Z").replace("CP-{phase}", "CP-enrich");
    test.feed("save --layout crunch", &yaml).done();
    let entry = test.entries().remove(0);
    assert_eq!((&entry["layout"], &entry["series"]), (&"crunch".into(), &"issue:42".into()));
    let stderr = test.feed("save --layout crunch", "a: [1").failed(4);
    assert!(stderr.contains("unclosed bracket"), "{stderr}");
    test.feed("save --layout pipeline", "a: 1").failed(4);
}
