//! Where the work of a checkpoint stands, of every layout and of documents of any shape.
//!
//! Covers tasks, phases, errors and next steps of each layout, and random documents.

mod agentize;
mod aiwg;
mod claude;
mod crunch;
mod crunch_graph;
mod crunch_shared;
mod native;
mod pipeline;
mod property;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;
use waypost::layouts::{NamedFile, Place, Standing, from_yaml, recognise, standing};
use waypost::{Document, Entry, Layout, NewEntry, Store};

use super::{printed, with};

/// An entry of nothing. Only a store makes one.
static ENTRY: LazyLock<Entry> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    store.save(NewEntry::default(), &Value::Null).unwrap()
});

/// An entry that says of a document only which layout it has.
fn bare(layout: Layout) -> Entry {
    let mut entry = ENTRY.clone();
    entry.layout = layout;
    entry
}

fn document(json: &Value) -> Document {
    Document::from_json(json.to_string().as_bytes()).unwrap()
}

fn fixture(name: &str) -> Document {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts").join(name);
    let bytes = fs::read(&path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "yaml" => from_yaml(&bytes).unwrap(),
        _ => Document::from_json(&bytes).unwrap(),
    }
}

fn value(name: &str) -> Value {
    serde_json::to_value(fixture(name)).unwrap()
}

/// Where the work of a document stands that lies at a path, as if it had been imported.
fn imported(document: &Document, path: &str) -> Standing {
    let place = Place { path, ..Place::default() };
    let told = recognise(document, &place).unwrap_or_else(|| panic!("not recognised at {path}"));
    let mut entry = bare(told.layout);
    entry.issue = told.issue;
    entry.phase = told.phase;
    entry.status = told.status;
    entry.can_resume = told.can_resume;
    entry.resume_from = told.resume_from;
    standing(&entry, document)
}

/// Where the work of a document stands, by its layout alone.
fn of(layout: Layout, json: &Value) -> Standing {
    standing(&bare(layout), &document(json))
}

/// The refusals of a document, one after the other.
fn refusals(layout: Layout, json: &Value) -> Vec<String> {
    printed(&of(layout, json).refusals)
}

/// All that is said, one line each.
fn described(standing: &Standing) -> String {
    let mut lines = String::new();
    let mut say = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(lines, "{name}: {value}").unwrap();
        }
    };
    // A list that is empty is not the same as none.
    let joined = |list: &Option<Vec<String>>| {
        let each =
            |list: &Vec<String>| list.iter().fold(String::new(), |all, it| all + "\n- " + it);
        list.as_ref().map(|list| format!("{}{}", list.len(), each(list)))
    };
    say("description", standing.description.clone());
    say("version", standing.version.clone());
    for refusal in &standing.refusals {
        say("refusal", Some(refusal.to_string()));
    }
    say(
        "progress",
        standing.progress.as_ref().map(|progress| {
            let total = progress.total.map_or_else(|| "?".to_owned(), |total| total.to_string());
            let next =
                progress.next.as_ref().map(|next| format!(", then {next}")).unwrap_or_default();
            format!("{} {} of {total}{next}", progress.unit, progress.done)
        }),
    );
    say("done", joined(&standing.tasks_done));
    say("remaining", joined(&standing.tasks_remaining));
    say("last_action", standing.last_action.clone());
    say("score", standing.score.map(|score| score.to_string()));
    say("failures", standing.failures.map(|failures| failures.to_string()));
    say("error", standing.error.clone());
    say("tests_passing", standing.tests_passing.map(|passing| passing.to_string()));
    say("next", standing.next.clone());
    let snapshot = &standing.snapshot;
    say("issue", snapshot.issue.as_ref().map(ToString::to_string));
    say("branch", snapshot.branch.clone());
    say("body", snapshot.body.clone());
    say("labels", joined(&snapshot.labels));
    say("worktree", snapshot.worktree.clone());
    say("plan_file", snapshot.plan_file.clone());
    say("plan_modified_at", snapshot.plan_modified_at.map(|time| time.to_string()));
    for NamedFile { path, hash, status, .. } in &snapshot.files {
        let (hash, status) = (hash.as_deref(), status.as_deref());
        say("file", Some(format!("{path} {} {}", hash.unwrap_or("?"), status.unwrap_or("?"))));
    }
    say("pull_request", snapshot.pull_request.clone());
    lines
}

/// What a fixture says at a path.
fn fixture_at(name: &str, path: &str) -> String {
    described(&imported(&fixture(name), path))
}

/// Every normal file of a system can be resumed from, so far as its document goes.
#[test]
fn no_file_of_a_system_is_refused() {
    for (name, path) in [
        ("agentize/v1-00-initial.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v1-01-after-impl1.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v1-02-nonascii-review.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v1-03-done.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v2-00-initial.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v2-01-after-impl1.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v2-02-nonascii-review.json", ".tmp/impl-checkpoint.json"),
        ("agentize/v2-03-done.json", ".tmp/impl-checkpoint.json"),
        ("aiwg/multi-loop.json", ".aiwg/ralph/loops/l/checkpoints/iteration-005.json.gz"),
        ("aiwg/single-loop.json", ".aiwg/checkpoints/x.json.gz"),
        ("aiwg/loops/003-checkpoint.json", ".aiwg/ralph-external/003-checkpoint.json"),
        ("aiwg/loops/current-loop.json", ".aiwg/ralph/current-loop.json"),
        ("aiwg/loops/current-loop-issue.json", ".aiwg/ralph/current-loop.json"),
        ("claude/build-iteration.json", ".claude/data/checkpoints/build_1_iteration_2.json"),
        ("claude/migrated-to-2.1.json", ".claude/checkpoints/x.json"),
        ("claude/parallel-operations.json", ".claude/checkpoints/parallel_ops/x.json"),
        ("claude/schema-1.2-replanned.json", ".claude/checkpoints/x.json"),
        ("claude/schema-1.2-set-field.json", ".claude/checkpoints/x.json"),
        ("claude/schema-1.2.json", ".claude/checkpoints/x.json"),
        ("claude/schema-2.1.json", ".claude/checkpoints/x.json"),
        ("claude/schema-none.json", ".claude/checkpoints/x.json"),
        ("crunch/CP-template.json", ".claude/crunch/42/checkpoints/CP-x.json"),
        ("crunch/CP-template.yaml", ".claude/crunch/42/checkpoints/CP-x.yaml"),
        ("pipeline/checkpoint-PROJ-42.json", ".pipeline/checkpoint-PROJ-42.json"),
        ("pipeline/state.json", ".pipeline/state.json"),
        ("pipeline/successor/checkpoints.json", ".hex-skills/pipeline/checkpoints.json"),
        ("pipeline/successor/manifest.json", ".hex-skills/pipeline/manifest.json"),
        ("pipeline/successor/state.json", ".hex-skills/pipeline/state.json"),
    ] {
        assert_eq!(printed(&imported(&fixture(name), path).refusals), [""; 0], "{name}");
    }
}

#[test]
fn nothing_is_said_of_nothing() {
    for layout in Layout::ALL {
        for json in [Value::Null, Value::from("x"), Value::from(1), Value::from(vec![1])] {
            let mut told = of(layout, &json);
            told.refusals.clear();
            assert_eq!(told, Standing::default(), "{layout} {json}");
        }
    }
}
