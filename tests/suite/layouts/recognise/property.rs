//! Whatever a document says and wherever it lies, a store takes what is said about it.

use std::fs;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use waypost::layouts::crunch;
use waypost::layouts::{Place, Revision, kind, recognise, unrecognised};
use waypost::{Document, Layout, NewEntry, Store, Timestamp};

use super::super::fixtures;
use super::super::property::{any_text, any_value, pointers};

const PATHS: [&str; 13] = [
    "",
    "x.json",
    "../x.json",
    ".tmp/impl-checkpoint.json",
    "p\u{7}/.claude/crunch/4\n2/checkpoints/CP-x-20250114-a3f2.yaml",
    ".claude/crunch/42/checkpoints/CP-x.yaml",
    ".claude/checkpoints/failed/implement_x_20251003_192230.json",
    "a/.worktrees/b/.pipeline/checkpoint-\u{1}.json",
    ".hex-skills/pipeline/checkpoint-S-1.json",
    ".hex-skills/pipeline/runtime/runs/r/history.jsonl",
    ".hex-skills/pipeline/runtime/active/ln-1000/S.json",
    ".aiwg/ralph/loops/x/checkpoints/checkpoint-3-1771079400123.json.gz",
    ".aiwg/checkpoints/w-2026-01-25T15-00-00Z-iteration.json.gz",
];

static EXAMPLES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let directories = [
        "agentize",
        "aiwg",
        "aiwg/loops",
        "claude",
        "crunch",
        "pipeline",
        "pipeline/successor",
        "relatives",
    ];
    let files = directories.iter().flat_map(|layout| fixtures(layout, "", ".json"));
    let mut all: Vec<Value> =
        files.map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect();
    all.push(json!({"sequence": 1, "event_type": "X", "run_id": "r", "state": {"phase": "DONE"}}));
    all.push(json!({"stage": 1, "tasks_completed": [], "run_id": "r"}));
    all
});

static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    (dir, store)
});

/// A document of a layout with some values changed.
fn changed() -> impl Strategy<Value = Value> {
    let long = any_text().prop_map(|text| Value::from(text.repeat(200)));
    let value = prop_oneof![3 => any_value(), 1 => long];
    (select(EXAMPLES.clone()), vec((any::<Index>(), value), 0..5)).prop_map(
        |(mut document, changes)| {
            for (at, value) in changes {
                let pointers = pointers(&document);
                if let Some(place) = document.pointer_mut(&pointers[at.index(pointers.len())]) {
                    *place = value;
                }
            }
            document
        },
    )
}

fn any_path() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(PATHS.to_vec()).prop_map(str::to_owned),
        1 => (any_text(), select(PATHS.to_vec())).prop_map(|(text, path)| format!("{text}/{path}")),
        1 => any::<String>(),
    ]
}

fn check(mut entry: NewEntry) -> Result<(), TestCaseError> {
    // What lacks the names of its series has that of its file.
    Revision { fingerprint: 0, line: None, modified_at: None, before: None }.name(&mut entry);
    prop_assert!(entry.series.is_some());
    prop_assert!(entry.warnings.len() <= 64);
    // A draft is checked as what is saved, and not saved.
    let draft = STORE.1.draft(entry, &Value::Null);
    prop_assert!(draft.is_ok(), "{:?}", draft.err());
    Ok(())
}

proptest! {
    #[test]
    fn whatever_a_document_says_a_store_takes_its_entry(
        json in prop_oneof![4 => changed(), 1 => any_value()],
        path in any_path(),
        micros in proptest::option::of(any::<i64>()),
        index in any_value(),
    ) {
        let document = Document::from_json(json.to_string().as_bytes()).unwrap();
        let index = waypost::layouts::from_json::<crunch::Index>(index.to_string().as_bytes()).ok();
        let place = Place {
            path: &path,
            modified_at: micros.map(Timestamp::from_micros),
            index: index.as_ref(),
        };
        let _ = kind(&path);
        check(unrecognised(&place))?;
        if let Some(entry) = recognise(&document, &place) {
            prop_assert_ne!(entry.layout, Layout::Native);
            check(entry)?;
        }
    }
}
