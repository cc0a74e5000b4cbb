//! `export --schema`: files in another version, and what is reported of them.

use std::fs;

use serde_json::Value;

use super::super::Test;
use super::super::import::fixture;
use super::objects;

const OLD: &str = ".claude/checkpoints/orchestrate_auth_system_20261116_021755.json";

fn project() -> Test {
    let test = Test::new();
    test.put(OLD, fixture("claude/schema-none.json"));
    test.run("import . --quiet").done();
    test
}

/// The file of [`OLD`] where the newest scripts look.
fn written_new(test: &Test) -> Value {
    let path = test.path().join("out").join(OLD.replace(".claude/", ".claude/data/"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_file_is_migrated_and_what_it_got_is_reported() {
    let test = project();
    let ended = test.run("export out --layout claude --schema 1.1");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let id = "orchestrate_auth_system_20261116_021755";
    insta::assert_snapshot!(ended.stderr.replace(id, "ID").replace(", /", ",\n/"), @"
    ID: /tests_passing is that of /workflow_state
    exported 1: 1 claude
    added to 1 file: /last_replan_reason,
    /replan_history,
    /replan_phase_counts,
    /replanning_count,
    /schema_version,
    /tests_passing
    ");
    let written = fs::read_to_string(test.path().join("out").join(OLD)).unwrap();
    assert!(
        written.starts_with("{\n  \"checkpoint_id\"") && written.ends_with("}\n"),
        "as jq does"
    );
    let told = test.run("export out --layout claude --schema 2.1 --json --quiet").done();
    assert_eq!(objects(&told)[0]["added"]["/state_machine"], 1);
    assert_eq!(written_new(&test)["schema_version"], "2.1");
}

#[test]
fn a_file_that_has_the_version_comes_back_byte_for_byte() {
    let test = project();
    let path = ".claude/data/checkpoints/x.json";
    // Not as any program would write it.
    let odd = String::from_utf8(fixture("claude/schema-2.1.json")).unwrap().replace("  ", " ");
    test.put(path, &odd);
    test.run("import . --quiet").done();
    test.run("export out --layout claude --schema 2.1 --quiet").done();
    assert_eq!(fs::read_to_string(test.path().join("out").join(path)).unwrap(), odd);
    assert_eq!(written_new(&test)["schema_version"], "2.1");
}

#[test]
fn a_version_that_a_layout_does_not_have_is_named_with_those_it_has() {
    let test = project();
    let refused = |line: &str| test.run(line).failed(2);
    let told = refused("export out --layout claude --schema 3");
    assert!(
        told.contains("must be one of none, 1.0, 1.1, 1.2, 1.3, 2.0, 2.1 for claude"),
        "{told}"
    );
    let told = refused("export out --layout pipeline --schema 2");
    assert!(told.contains("pipeline files have no versions to choose from"), "{told}");
    assert!(refused("export out --schema 2.1").contains("--layout"));
    assert!(!test.path().join("out").exists());
}
