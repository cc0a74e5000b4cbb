//! Documents of other systems, with anything in any place, at any path.

use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use waypost::layouts::{
    Place, Problem, Schema, Writing, agentize, aiwg, check as check_rules, claude, crunch, file_as,
    file_with, from_json, kind, locate, pipeline, recognise, standing, unrecognised,
};
use waypost::source::{Format, SourceForm};
use waypost::{Document, Entry, Id, Issue, Layout, LoopId, NewEntry, Store, Timestamp};

use super::examples;
use crate::state::state;
use crate::tape::Tape;

const PATHS: [&str; 12] = [
    "",
    "x.json",
    ".tmp/impl-checkpoint.json",
    ".claude/crunch/42/checkpoints/CP-x-20250114-a3f2.yaml",
    ".claude/crunch/42/checkpoints/index.yaml",
    ".claude/checkpoints/failed/implement_x_20251003_192230.json",
    "a/.worktrees/b/.pipeline/checkpoint-1.json",
    ".hex-skills/pipeline/runtime/runs/r/history.jsonl",
    ".hex-skills/pipeline/runtime/active/ln-1000/S.json",
    ".aiwg/ralph/loops/x/checkpoints/checkpoint-3-1771079400123.json.gz",
    ".aiwg/ralph/current-loop.json",
    ".aiwg/checkpoints/w-2026-01-25T15-00-00Z-iteration.json.gz",
];

static DOCUMENTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let all = examples("layouts", "json");
    all.iter().map(|text| serde_json::from_slice(text).unwrap()).collect()
});

static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    (dir, store)
});

static SAVED: LazyLock<Entry> =
    LazyLock::new(|| STORE.1.save(NewEntry::default(), &Value::Null).unwrap());

/// A document of some system, with other values here and there.
fn document(tape: &mut Tape<'_>) -> Value {
    state(tape, &DOCUMENTS)
}

fn path(tape: &mut Tape<'_>) -> String {
    let mut path = tape.pick(&PATHS).as_bytes().to_vec();
    if tape.once_in(2) {
        tape.mutate(&mut path);
    }
    String::from_utf8_lossy(&path).into_owned()
}

fn parsed(value: &Value) -> Document {
    Document::from_json(value.to_string().as_bytes()).unwrap()
}

fn check(entry: NewEntry) {
    assert!(entry.warnings.len() <= 64);
    // A draft is checked as what is saved, and not saved.
    STORE.1.draft(entry, &Value::Null).expect("a store takes what is recognised");
}

#[test]
fn whatever_is_recognised_a_store_takes() {
    target!("recognise", 800, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let (value, path) = (document(&mut tape), path(&mut tape));
        let index = tape.maybe(|tape| crunch::Index::read(&parsed(&document(tape))));
        let place = Place {
            path: &path,
            modified_at: tape.maybe(|tape| Timestamp::from_micros(tape.signed())),
            index: index.as_ref(),
        };
        let _ = kind(&path);
        let other = unrecognised(&place);
        assert!(other.series.is_some());
        check(other);
        let document = parsed(&value);
        if let Some(entry) = recognise(&document, &place) {
            assert_ne!(entry.layout, Layout::Native);
            // Only an invalid document may lack what names its series.
            let problems = check_rules(entry.layout, &document, &path);
            assert!(entry.series.is_some() || problems.iter().any(Problem::is_error));
            check(entry);
        }
    });
}

/// A document that is read as a type is checked, and written back unchanged.
fn typed<T: Serialize + DeserializeOwned>(text: &str, look: impl Fn(&T) -> Vec<Problem>) {
    let Ok(value) = from_json::<T>(text.as_bytes()) else { return };
    assert!(look(&value).len() <= 16 * (text.len() + 16), "as many problems as there are values");
    let written = serde_json::to_string(&value).unwrap();
    let again: T = from_json(written.as_bytes()).expect("what is written is read");
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
}

#[test]
fn any_document_is_read_as_each_type_or_refused() {
    target!("layout_types", 800, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let text = match std::str::from_utf8(input) {
            Ok(text) => text.to_owned(),
            Err(_) => document(&mut tape).to_string(),
        };
        typed(&text, agentize::ImplCheckpoint::validate);
        typed(&text, claude::WorkflowCheckpoint::validate);
        typed(&text, pipeline::StoryCheckpoint::validate);
        typed(&text, pipeline::PipelineState::validate);
        typed(&text, crunch::Index::validate);
        typed(&text, |checkpoint: &crunch::IssueCheckpoint| {
            let index = crunch::Index::of(std::slice::from_ref(checkpoint), None);
            let _ = index.validate();
            checkpoint.validate()
        });
        typed(&text, |checkpoint: &aiwg::LoopCheckpoint| {
            let path = checkpoint.location().unwrap_or_default();
            checkpoint.validate_at(&path)
        });
        let Ok(document) = Document::from_json(text.as_bytes()) else { return };
        let index = crunch::Index::read(&document);
        let _ = (index.validate(), index.get(&tape.text()));
    });
}

/// An entry of which some things are known.
fn entry(tape: &mut Tape<'_>) -> Entry {
    let mut entry = SAVED.clone();
    entry.id = Id::new(tape.name()).unwrap();
    entry.issue = tape.maybe(|tape| {
        let name = if tape.once_in(4) { tape.name() } else { tape.number().to_string() };
        Issue::new(name).unwrap()
    });
    entry.loop_id = tape.maybe(|tape| {
        LoopId::new(tape.pick::<&str>(&["ralph-a-a1b2c3d4", "x", "../x"]).to_string()).unwrap()
    });
    entry.workflow_id = tape.maybe(|tape| tape.pick::<&str>(&["auth", "a/b", ".."]).to_string());
    let phases = ["review", "implementing", "2", "execution", "construction", "elsewhere"];
    entry.phase = tape.maybe(|tape| tape.pick::<&str>(&phases).to_string());
    entry.iteration = tape.maybe(Tape::number);
    entry.created_at = Timestamp::from_micros(tape.signed());
    entry.updated_at = tape.maybe(|tape| Timestamp::from_micros(tape.signed()));
    entry.source_path = tape.maybe(path);
    entry
}

/// Whether a path stays where it is written below.
fn is_below(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|part| !part.is_empty() && part != "..")
}

#[test]
fn whatever_is_written_as_a_layout_is_recognised_as_it() {
    target!("file_as", 500, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let mut entry = entry(&mut tape);
        let document = parsed(&document(&mut tape));
        let _ = standing(&entry, &document);
        for layout in Layout::ALL {
            let Ok(file) = file_as(layout, &entry, &document) else { continue };
            assert!(is_below(&file.path), "{}", file.path);
            assert!(file.other_path.is_none_or(|path| is_below(&path)));
            if layout == Layout::Native {
                continue;
            }
            let place = Place { path: &file.path, ..Place::default() };
            let again = recognise(&file.document, &place).map(|entry| entry.layout);
            assert_eq!(again, Some(layout), "{}: {:?}", file.path, file.document);
        }
        // As it says it was: then it is the caller who vouches for the document.
        entry.layout = *tape.pick(&Layout::ALL);
        let _ = standing(&entry, &document);
        if let Ok(file) = file_as(entry.layout, &entry, &document) {
            assert!(is_below(&file.path), "{}", file.path);
        }
        for version in Schema::versions(entry.layout) {
            let schema = Some(Schema::new(entry.layout, version).unwrap());
            let writing = Writing { schema, ..Writing::default() };
            let Ok(file) = file_with(entry.layout, &entry, &document, writing) else { continue };
            assert!(is_below(&file.path), "{}", file.path);
            let again = file_with(entry.layout, &entry, &file.document, writing).unwrap();
            assert_eq!(again.document, file.document, "to {version} once more");
        }
    });
}

/// Lines are looked for in any text, whether it is the one of the document or not.
#[test]
fn problems_are_bounded_and_lie_on_lines_of_the_text() {
    target!("check", 800, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let (value, path) = (document(&mut tape), path(&mut tape));
        let mut text = serde_json::to_vec_pretty(&value).unwrap();
        if tape.once_in(2) {
            tape.mutate(&mut text);
        }
        let last = 1 + text.iter().filter(|byte| **byte == b'\n').count() as u64;
        for layout in Layout::ALL {
            let found = check_rules(layout, &parsed(&value), &path);
            assert!(found.len() <= 257, "{}", found.len());
            for format in [Format::Json, Format::Yaml] {
                let mut problems = found.clone();
                locate(&mut problems, &SourceForm { format, ..SourceForm::default() }, &text);
                let lines = problems.iter().filter_map(|problem| problem.line);
                assert!(lines.into_iter().all(|line| (1..=last).contains(&line)));
            }
        }
    });
}
