//! Files in another version of their system's schema, and the report of what they got.

use std::fs;

use serde_json::{Value, json};
use waypost::layouts::{LayoutFile, Schema, Writing, file_with};
use waypost::source::SourceForm;
use waypost::{Document, Entry, Layout};

use super::super::fixtures;
use super::{complaints, document, entry, printed};

fn fixture(layout: Layout, name: &str) -> Value {
    let path = &fixtures(layout.as_str(), name, ".json")[0];
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// An entry of a file of the layout at a path.
fn imported(layout: Layout, path: &str) -> Entry {
    let mut entry = entry(layout);
    entry.layout = layout;
    entry.source_path = Some(path.to_owned());
    entry.source = Some(SourceForm::default());
    entry
}

fn migrated(entry: &Entry, state: &Value, schema: &str) -> Result<LayoutFile, Vec<String>> {
    let schema = Some(Schema::new(entry.layout, schema).unwrap());
    let writing = Writing { schema, ..Writing::default() };
    file_with(entry.layout, entry, &document(state), writing).map_err(|it| printed(&it))
}

fn value(file: &LayoutFile) -> Value {
    serde_json::to_value(&file.document).unwrap()
}

const CLAUDE: &str = "sub/.claude/checkpoints/implement_a_20251003_192230.json";

/// The fixture is what the scripts themselves made of the other one.
#[test]
fn a_workflow_becomes_what_its_scripts_would_have_made_of_it() {
    let old = fixture(Layout::Claude, "schema-none");
    let mut theirs = fixture(Layout::Claude, "migrated-to-2.1");
    let file = migrated(&imported(Layout::Claude, CLAUDE), &old, "2.1").unwrap();
    let mut ours = value(&file);
    let reasons = [&mut ours, &mut theirs]
        .map(|it| it.pointer_mut("/state_machine/classification/reasoning").unwrap().take());
    assert!(reasons.iter().all(Value::is_string));
    // In the state tests fail, which the scripts look for at the top.
    assert_eq!(ours.as_object_mut().unwrap().remove("tests_passing"), Some(json!(false)));
    assert_eq!(ours, theirs);
    assert_eq!(file.path, CLAUDE.replace(".claude/", ".claude/data/"));
    assert!(file.form.style.is_some(), "as the scripts write it");
    for field in ["/schema_version", "/replan_history", "/state_machine", "/metadata"] {
        assert!(file.added.iter().any(|added| added == field), "{field} in {:?}", file.added);
    }
    assert_eq!(file.added.len(), 21, "{:?}", file.added);
}

#[test]
fn every_version_becomes_every_other_and_loses_nothing() {
    for name in ["schema-none", "schema-1.2.json", "schema-1.2-set-field", "schema-2.1"] {
        let old = fixture(Layout::Claude, name.trim_end_matches(".json"));
        for version in Schema::versions(Layout::Claude) {
            let file = migrated(&imported(Layout::Claude, CLAUDE), &old, version).unwrap();
            let new = value(&file);
            let said = new.get("schema_version").and_then(Value::as_str).unwrap_or("none");
            assert_eq!(said, *version);
            for (key, before) in old.as_object().unwrap() {
                if !["schema_version", "tests_passing"].contains(&key.as_str()) {
                    assert_eq!(new.get(key), Some(before), "{key} of {name} in {version}");
                }
            }
            assert_eq!(printed(&complaints(Layout::Claude, &file)), [""; 0]);
            let again = imported(Layout::Claude, &file.path);
            let again = migrated(&again, &new, version).unwrap();
            assert_eq!((value(&again), again.added.len(), again.path), (new, 0, file.path));
        }
    }
}

/// The scripts write that tests pass at the top, whatever the state says.
#[test]
fn a_migration_does_not_make_a_failure_look_safe() {
    let mut old = fixture(Layout::Claude, "schema-1.2");
    old["tests_passing"] = json!(true);
    old["workflow_state"]["tests_passing"] = json!(false);
    old["workflow_state"]["last_error"] = json!("boom");
    old["last_error"] = json!(null);
    let file = migrated(&imported(Layout::Claude, CLAUDE), &old, "2.1").unwrap();
    let new = value(&file);
    assert_eq!((&new["tests_passing"], &new["last_error"]), (&json!(false), &json!("boom")));
    assert_eq!(new["error_state"]["last_error"], "boom");
    let notes =
        ["/last_error is that of /workflow_state", "/tests_passing is that of /workflow_state"];
    assert_eq!(file.notes, notes);
}

#[test]
fn what_has_no_version_or_an_unknown_one_is_not_migrated() {
    for name in ["parallel-operations", "build-iteration"] {
        let old = fixture(Layout::Claude, name);
        let file = migrated(&imported(Layout::Claude, CLAUDE), &old, "2.1").unwrap();
        assert_eq!((value(&file), file.path.as_str()), (old, CLAUDE));
        assert_eq!(file.notes.len(), 1, "{name}");
    }
    for (layout, path, name, at) in [
        (Layout::Claude, CLAUDE, "schema-2.1", "/schema_version"),
        (Layout::Agentize, ".tmp/impl-checkpoint.json", "v2-03", "/version"),
        (Layout::Aiwg, ".aiwg/checkpoints/a.json.gz", "single", "/metadata/schema_version"),
    ] {
        let mut old = fixture(layout, name);
        let version = if layout == Layout::Agentize { json!(3) } else { json!("3.0") };
        *old.pointer_mut(at).unwrap() = version;
        for to in Schema::versions(layout) {
            let refused = migrated(&imported(layout, path), &old, to).unwrap_err();
            let rule = format!("{at}: is not a version of {layout} that can be migrated");
            assert_eq!(refused, [rule]);
        }
    }
}

#[test]
fn a_run_of_agentize_goes_from_either_version_to_the_other() {
    let entry = imported(Layout::Agentize, "tree/.tmp/impl-checkpoint.json");
    let mut old = fixture(Layout::Agentize, "v1-01");
    for key in ["pr_number", "pr_url"] {
        old["state"].as_object_mut().unwrap().remove(key);
    }
    let file = migrated(&entry, &old, "2").unwrap();
    let new = value(&file);
    assert_eq!((&new["version"], &new["state"]["pr_url"]), (&json!(2), &Value::Null));
    assert_eq!(file.added, ["/state/pr_number", "/state/pr_url"]);
    assert_eq!(file.path, "tree/.tmp/impl-checkpoint.json");
    assert_eq!(value(&migrated(&entry, &new, "1").unwrap())["version"], 1);
    let mut simp = new;
    simp["state"]["current_stage"] = json!("simp");
    let refused = migrated(&entry, &simp, "1").unwrap_err();
    assert_eq!(refused, ["/state/current_stage: must not be simp in version 1 of agentize"]);
    old.as_object_mut().unwrap().remove("version");
    let file = migrated(&entry, &old, "1").unwrap();
    assert_eq!(
        (&value(&file)["version"], &file.added[..]),
        (&json!(1), &["/version".to_owned()][..])
    );
}

#[test]
fn a_checkpoint_of_aiwg_goes_from_either_version_to_the_other_and_stays_in_its_place() {
    let path = ".aiwg/checkpoints/ralph-x-2026-01-25T15-00-00Z-iteration.json.gz";
    let old = fixture(Layout::Aiwg, "single");
    let version = "/metadata/schema_version";
    for to in ["1.0", "2.0"] {
        let file = migrated(&imported(Layout::Aiwg, path), &old, to).unwrap();
        assert_eq!(
            (file.path.as_str(), &value(&file).pointer(version).unwrap()),
            (path, &&json!(to))
        );
        assert_eq!(printed(&complaints(Layout::Aiwg, &file)), [""; 0]);
    }
    let mut bare = old;
    bare.as_object_mut().unwrap().remove("metadata");
    let file = migrated(&imported(Layout::Aiwg, path), &bare, "2.0").unwrap();
    assert_eq!(file.added, ["/metadata", version]);
    let multi = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz";
    let file =
        migrated(&imported(Layout::Aiwg, multi), &fixture(Layout::Aiwg, "multi"), "1.0").unwrap();
    assert_eq!(file.notes, ["/loop_id is kept: schema 1.0 has none"]);
    assert_eq!(file.path, multi);
}

#[test]
fn a_native_checkpoint_is_written_in_the_version_of_aiwg_that_is_asked_for() {
    for (to, expected) in [(None, "2.0"), (Some("1.0"), "1.0"), (Some("2.0"), "2.0")] {
        let schema = to.map(|to| Schema::new(Layout::Aiwg, to).unwrap());
        let writing = Writing { schema, ..Writing::default() };
        let state = Document::from_json(b"{}").unwrap();
        let file = file_with(Layout::Aiwg, &entry(Layout::Aiwg), &state, writing).unwrap();
        assert_eq!(value(&file)["metadata"]["schema_version"], expected);
        let bytes = value(&file)["metadata"]["size_bytes"].as_u64().unwrap();
        let text = file.document.to_json(file.form.style.unwrap()).unwrap();
        assert_eq!(bytes, text.len() as u64);
    }
}
