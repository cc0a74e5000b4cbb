//! `fail`, `archive` and `reopen` of an imported claude checkpoint, and the next export.

use std::fs;

use serde_json::{Value, json};

use super::super::Test;
use super::super::import::fixture;
use super::files::tree;
use super::objects;

const ACTIVE: &str = ".claude/data/checkpoints/implement_dark_mode_20261116_021756.json";
const FAILED: &str = ".claude/data/checkpoints/failed/implement_dark_mode_20261116_021756.json";
const ID: &str = "implement_dark_mode_20261116_021756";

fn project_at(path: &str) -> Test {
    let test = Test::new();
    test.put(path, fixture("claude/schema-2.1.json"));
    test.run("import . --quiet").done();
    test
}

fn project() -> Test {
    project_at(ACTIVE)
}

/// The files of the project, without the store.
fn files(test: &Test) -> Vec<String> {
    let own = |name: &String| !name.starts_with(".waypost/");
    tree(&test.path()).into_keys().filter(own).collect()
}

fn export(test: &Test) -> Value {
    objects(&test.run("export . --json --quiet").done()).remove(0)
}

fn imported(test: &Test) -> Value {
    let found = objects(&test.run("import . --json --quiet").done()).remove(0);
    assert_eq!(found["refused"], 0);
    found["imported"].clone()
}

fn status(test: &Test) -> Value {
    let entries = test.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0]["status"].clone()
}

#[test]
fn what_failed_or_was_archived_is_put_aside_and_comes_back_when_it_is_reopened() {
    for (mark, marked) in [("fail", "failed"), ("archive", "archived")] {
        let test = project();
        test.run(&format!("{mark} {ID} --quiet")).done();
        assert_eq!(export(&test)["moved"], json!([{"id": ID, "from": ACTIVE, "to": FAILED}]));
        assert_eq!(files(&test), [FAILED]);
        let moved = fs::read(test.path().join(FAILED)).unwrap();
        assert_eq!(moved, fixture("claude/schema-2.1.json"));
        assert_eq!((imported(&test), status(&test)), (json!(0), json!(marked)));
        let again = export(&test);
        assert_eq!((&again["unchanged"], again.get("moved")), (&json!(1), None));

        test.run(&format!("reopen {ID} --quiet")).done();
        assert_eq!(export(&test)["moved"], json!([{"id": ID, "from": FAILED, "to": ACTIVE}]));
        assert_eq!(files(&test), [ACTIVE]);
        assert_eq!((imported(&test), status(&test)), (json!(0), json!("in_progress")));
    }
}

#[test]
fn what_was_imported_from_failed_goes_to_work_when_it_is_reopened() {
    let test = project_at(FAILED);
    assert_eq!((export(&test).get("moved"), status(&test)), (None, json!("archived")));
    test.run(&format!("reopen {ID} --quiet")).done();
    let told = test.run("export .");
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let expected = format!("moved {FAILED} to {ACTIVE}\nexported 1: 1 claude\n");
    assert_eq!(told.stderr, expected);
    assert_eq!(files(&test), [ACTIVE]);
    assert_eq!((imported(&test), status(&test)), (json!(0), json!("in_progress")));
    test.run(&format!("fail {ID} --quiet")).done();
    export(&test);
    assert_eq!(files(&test), [FAILED]);
    assert_eq!((imported(&test), status(&test)), (json!(0), json!("failed")));
}

/// A changed file is the work of another program.
#[test]
fn a_file_that_changed_since_is_named_and_stays_even_with_overwrite() {
    let test = project();
    test.run(&format!("fail {ID} --quiet")).done();
    test.put(ACTIVE, "{\"mine\": 1}");
    for flags in ["", " --overwrite"] {
        let told = test.run(&format!("export .{flags}")).failed(7);
        let expected = format!("not exported: {ID}: {ACTIVE} has changed since it was imported");
        assert!(told.starts_with(&expected), "{told}");
        assert_eq!(files(&test), [ACTIVE]);
        assert_eq!(fs::read_to_string(test.path().join(ACTIVE)).unwrap(), "{\"mine\": 1}");
    }
}

/// A newer revision is in the store, and at work.
#[test]
fn an_older_revision_that_is_archived_moves_no_newer_one() {
    let test = project();
    let newer = String::from_utf8(fixture("claude/schema-2.1.json")).unwrap();
    let newer = newer.replace("\"current_phase\": 2", "\"current_phase\": 3") + "\n";
    test.put(ACTIVE, &newer);
    assert_eq!(imported(&test), 1);
    test.run(&format!("archive {ID} --quiet")).done();
    let told = objects(&test.run(&format!("export . --id {ID} --json --quiet")).done()).remove(0);
    assert_eq!((&told["exported"], told.get("moved")), (&json!(1), None));
    assert_eq!(files(&test), [FAILED, ACTIVE]);
    assert_eq!(fs::read_to_string(test.path().join(ACTIVE)).unwrap(), newer);
}

/// As a kill leaves it between the two.
#[test]
fn a_file_in_both_places_is_known_and_taken_from_the_wrong_one() {
    let test = project();
    test.run(&format!("archive {ID} --quiet")).done();
    test.put(FAILED, fixture("claude/schema-2.1.json"));
    assert_eq!((imported(&test), status(&test)), (json!(0), json!("archived")));
    let told = export(&test);
    assert_eq!((&told["unchanged"], told["moved"].as_array().unwrap().len()), (&json!(1), 1));
    assert_eq!(files(&test), [FAILED]);
}

#[test]
fn another_file_in_failed_stays_and_keeps_the_first_from_moving() {
    let test = project();
    test.run(&format!("fail {ID} --quiet")).done();
    test.put(FAILED, "{\"other\": 1}");
    let told = test.run("export .").failed(7);
    assert!(told.contains(&format!("{FAILED} is there with other content")), "{told}");
    assert_eq!(files(&test), [FAILED, ACTIVE]);
    test.run("export . --overwrite --quiet").done();
    assert_eq!(files(&test), [FAILED]);
    assert_eq!(fs::read(test.path().join(FAILED)).unwrap(), fixture("claude/schema-2.1.json"));
}

/// The scripts move files by hand, too; then the store does not know that the work is over.
#[test]
fn a_file_that_was_moved_by_hand_is_a_checkpoint_of_its_own_and_archived() {
    let test = project();
    fs::create_dir_all(test.path().join(FAILED).parent().unwrap()).unwrap();
    fs::rename(test.path().join(ACTIVE), test.path().join(FAILED)).unwrap();
    assert_eq!(imported(&test), 1);
    let statuses: Vec<_> = test.entries().iter().map(|it| it["status"].clone()).collect();
    assert!(statuses.contains(&json!("archived")), "{statuses:?}");
}

/// A copy of the tree has nothing to be taken from.
#[test]
fn an_export_elsewhere_writes_the_file_in_failed_and_migrates_it_if_asked() {
    let test = project();
    test.run(&format!("fail {ID} --quiet")).done();
    let told = objects(&test.run("export out --json --quiet").done()).remove(0);
    assert_eq!((&told["exported"], told.get("moved")), (&json!(1), None));
    assert!(test.path().join("out").join(FAILED).exists());
    let line = "export . --layout claude --schema 1.1 --json --quiet";
    let told = objects(&test.run(line).done()).remove(0);
    let old = FAILED.replace("/data", "");
    assert_eq!(told["moved"], json!([{"id": ID, "from": ACTIVE, "to": old}]));
    assert!(test.path().join(old).exists() && !test.path().join(ACTIVE).exists());
}

#[test]
fn what_was_deleted_after_it_was_put_aside_stays_deleted() {
    let test = project();
    test.run(&format!("fail {ID} --quiet")).done();
    export(&test);
    test.run(&format!("delete {ID} --quiet")).done();
    assert_eq!(imported(&test), 0);
}
