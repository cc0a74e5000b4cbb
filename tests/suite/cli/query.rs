//! The commands that find checkpoints: `show`, `latest`, `list`, `tag`, `delete`, `stats`.

use serde_json::Value;

use super::{Test, by_member};

fn ids(listing: &str) -> Vec<String> {
    let entry = |line| serde_json::from_str::<Value>(line).expect("an object a line");
    listing.lines().map(|line| entry(line)["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn show_prints_what_is_known_and_the_document() {
    insta::assert_snapshot!(Test::filled().run("show a-1").done(), @"
    id          a-1
    series      issue:42
    issue       42
    trigger     iteration
    phase       build
    iteration   1
    status      in_progress
    created_at  2999-01-01T00:00:00.000000Z (in more than 99 years)
    tag         keep
    layout      native
    document    2 B
    stored      12 B

    1
    ");
}

#[test]
fn show_prints_one_object_for_a_program() {
    insta::assert_snapshot!(by_member(&Test::filled().run("show b-1 --json").done()), @r#"
    {"version":1,
    "id":"b-1",
    "series":"default",
    "issue":null,
    "loop_id":null,
    "workflow_id":null,
    "workflow_type":null,
    "session_id":null,
    "agent":null,
    "trigger":"manual",
    "phase":null,
    "step":null,
    "iteration":null,
    "status":"paused",
    "created_at":"2999-01-01T00:00:00.000000Z",
    "updated_at":null,
    "parent":null,
    "tags":[],
    "can_resume":null,
    "resume_from":null,
    "warnings":[],
    "retention_days":null,
    "layout":"native",
    "source_path":null,
    "sequence":3,
    "document_bytes":11,
    "stored_bytes":21,
    "document":{"b":1.50}}
    "#);
}

#[test]
fn the_document_alone_is_as_it_was_saved() {
    let test = Test::filled();
    assert_eq!(test.run("show b-1 --document --json").done(), "{\"b\":1.50}\n");
    assert_eq!(test.run("latest --issue 42 --document").done(), "[\n  1,\n  2\n]\n");
}

#[test]
fn a_checkpoint_is_found_by_prefix_place_and_filter() {
    let test = Test::filled();
    for (command, id) in [
        ("show b", "b-1"),
        ("show latest", "b-1"),
        ("show issue:42@0", "a-2"),
        ("show issue:42@1", "a-1"),
        ("latest", "b-1"),
        ("latest --tag keep", "a-1"),
    ] {
        assert_eq!(ids(&test.run(&format!("{command} --json")).done()), [id], "{command}");
    }
}

#[test]
fn a_listing_is_a_table_for_a_person() {
    insta::assert_snapshot!(Test::filled().run("list").done(), @"
    ID       AGE  SERIES    TRIGGER    PHASE  ITER  STATUS       SIZE  TAGS
    b-1  in >99y  default   manual     -         -  paused       11 B  -
    a-2  in >99y  issue:42  iteration  build     2  in_progress   6 B  -
    a-1  in >99y  issue:42  iteration  build     1  in_progress   2 B  keep
    ");
}

#[test]
fn every_filter_of_a_listing_holds() {
    let test = Test::filled();
    for (filter, expected) in [
        ("", &["b-1", "a-2", "a-1"][..]),
        ("--all", &["b-1", "a-2", "a-1"]),
        ("--oldest --limit 2", &["a-1", "a-2"]),
        ("--issue #42", &["a-2", "a-1"]),
        ("--series default", &["b-1"]),
        ("--trigger iteration,manual --trigger heartbeat", &["b-1", "a-2", "a-1"]),
        ("--trigger manual", &["b-1"]),
        ("--status paused", &["b-1"]),
        ("--phase build --iteration 2..", &["a-2"]),
        ("--iteration 0..1", &["a-1"]),
        ("--tag keep", &["a-1"]),
        ("--since 2h --until 3000-01-01T00:00:00Z", &["b-1", "a-2", "a-1"]),
    ] {
        let ended = test.run(&format!("list --json --quiet {filter}"));
        assert_eq!(ids(&ended.done()), expected, "{filter}");
    }
}

#[test]
fn a_listing_says_how_to_go_on() {
    let test = Test::filled();
    let first = test.run("list --json --limit 2");
    assert_eq!(ids(&first.stdout), ["b-1", "a-2"]);
    let note: Value = serde_json::from_str(&first.stderr).unwrap();
    let cursor = note["next"].as_str().unwrap();
    let rest = test.run(&format!("list --json --limit 2 --after {cursor}"));
    assert_eq!(ids(&rest.done()), ["a-1"]);
    assert_eq!(test.run("list --limit 2").stderr, format!("more with --after {cursor}\n"));
}

#[test]
fn nothing_found_has_an_exit_code_of_its_own() {
    let test = Test::filled();
    for command in ["list --phase no", "list --all --json --phase no", "latest --until 9999d"] {
        let stderr = test.run(command).failed(3);
        assert!(stderr.contains("nothing matches"), "{stderr}");
    }
    assert_eq!(test.run("list --phase no --quiet").failed(3), "");
}

#[test]
fn tags_are_added_removed_and_listed() {
    let test = Test::filled();
    assert_eq!(test.run("tag a-1 new other --remove keep").done(), "new\nother\n");
    assert_eq!(test.run("tag a-1").done(), "new\nother\n");
    assert_eq!(ids(&test.run("tag a-1 --json").done()), ["a-1"]);
}

#[test]
fn all_are_deleted_or_none() {
    let test = Test::filled();
    test.run("delete a-1 x b-1").failed(3);
    let deleted = test.run("delete b-1 a-1 b-1 --json").done();
    insta::assert_snapshot!(by_member(&deleted), @r#"
    {"version":1,
    "ids":["a-1",
    "b-1"],
    "checkpoints":2,
    "stored_bytes":33,
    "operation":1,
    "is_restorable":true}
    "#);
    assert_eq!(ids(&test.run("list --json").done()), ["a-2"]);
    let last = test.run("delete a-2");
    insta::assert_snapshot!(last.stdout + &last.stderr, @"
    a-2
    deleted 1: `waypost undelete --operation 2` restores, `waypost compact` gives back 16 B
    ");
}

#[test]
fn stats_count_what_there_is() {
    let test = Test::filled();
    let stats: Value = serde_json::from_str(&test.run("stats --json").done()).unwrap();
    assert_eq!(stats["checkpoints"], 3);
    assert_eq!(stats["triggers"], serde_json::json!({"iteration": 2, "manual": 1}));
    let path = test.path().join(".waypost/store.redb");
    assert_eq!(stats["path"], path.to_str().unwrap());
    let readable = test.run("stats").done();
    let expected = format!("store        {}\ncheckpoints  3\nseries       2\n", path.display());
    assert!(readable.starts_with(&expected), "{readable}");
}

#[test]
fn compacting_tells_both_sizes() {
    let test = Test::filled();
    let sizes: Value = serde_json::from_str(&test.run("compact --json").done()).unwrap();
    assert!(sizes["after_bytes"].as_u64() <= sizes["before_bytes"].as_u64());
    assert!(test.run("compact").done().contains("\nafter "));
}
