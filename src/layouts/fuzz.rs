//! Documents in stored form are recognised and checked as their trees are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Place, Problem, check, check_datum, recognise, recognise_datum};
use crate::checkpoint::{Document, Layout};
use crate::codec::{Datum, Kind, Source};
use crate::state::state;
use crate::tape::Tape;

const PATHS: [&str; 10] = [
    "x.json",
    ".tmp/impl-checkpoint.json",
    ".claude/crunch/42/checkpoints/CP-x-20250114-a3f2.json",
    ".claude/checkpoints/failed/implement_x_20251003_192230.json",
    "a/.worktrees/b/.pipeline/checkpoint-1.json",
    ".pipeline/state.json",
    ".hex-skills/pipeline/runtime/runs/r/history.jsonl",
    ".hex-skills/pipeline/runtime/active/ln-1000/S.json",
    ".aiwg/ralph/loops/x/checkpoints/checkpoint-3-1771079400123.json.gz",
    ".aiwg/ralph/current-loop.json",
];

fn texts() -> Vec<Vec<u8>> {
    let mut left: Vec<PathBuf> =
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts")];
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "json") {
            found.push(path);
        }
    }
    found.sort();
    found.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Duplicates a key, as no tree of `serde_json` has it, and spells numbers that no double holds.
fn disturbed(tape: &mut Tape<'_>, text: String) -> String {
    match tape.byte() % 4 {
        0 => text.replacen('{', &format!("{{\"status\":{},", tape.json()), 1),
        1 => text.replacen(":{", ":{\"x\":123456789012345678901234567890,", 1),
        2 => text.replacen(":[", ":[1e999,[[{\"a\":1.50}]],", 1),
        _ => text,
    }
}

/// Whether both are the same value, all the way down.
fn assert_same(tree: Datum<'_>, stored: Datum<'_>) {
    let (one, other) = (format!("{:?}", tree.kind()), format!("{:?}", stored.kind()));
    assert_eq!(one, other);
    if let Datum::Tree(Document::Object(fields)) = tree {
        for (key, _) in fields {
            assert_same(tree.get(key).unwrap(), stored.get(key).unwrap());
        }
        assert!(stored.get("no such key").is_none());
    }
    let (mut of_tree, mut of_tokens) = (tree.children(), stored.children());
    loop {
        match (of_tree.next(), of_tokens.next()) {
            (Some(one), Some(other)) => assert_same(one, other),
            (one, other) => return assert!(one.is_none() && other.is_none()),
        }
    }
}

#[test]
fn a_document_in_stored_form_is_judged_as_its_tree_is() {
    let texts = texts();
    let documents: Vec<Value> =
        texts.iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
    target!("stored_layout", 800, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let text = state(&mut tape, &documents).to_string();
        let text = disturbed(&mut tape, text);
        let path = *tape.pick(&PATHS);
        let Ok(source) = Source::from_json(text.as_bytes()) else { return };
        let (tree, tokened) = (source.document().unwrap(), source.tokened().unwrap());
        assert_same((&tree).into(), tokened.datum());
        assert_eq!(format!("{:?}", tokened.datum().tree().unwrap()), format!("{tree:?}"));
        let place = Place { path, ..Place::default() };
        let found = recognise(&tree, &place);
        assert_eq!(recognise_datum(tokened.datum(), &place), found);
        for layout in Layout::ALL {
            let problems: Vec<Problem> = check(layout, &tree, path);
            assert_eq!(check_datum(layout, tokened.datum(), path), problems);
        }
    });
}

#[test]
fn every_fixture_is_judged_alike_in_both_forms() {
    for text in texts() {
        let source = Source::from_json(&text).unwrap();
        let (tree, tokened) = (source.document().unwrap(), source.tokened().unwrap());
        assert!(matches!(tokened.datum().kind(), Kind::Object | Kind::Array));
        for path in PATHS {
            let place = Place { path, ..Place::default() };
            let found = recognise(&tree, &place);
            assert_eq!(recognise_datum(tokened.datum(), &place), found);
            let layout = found.map_or(Layout::Native, |entry| entry.layout);
            let problems = check(layout, &tree, path);
            assert_eq!(check_datum(layout, tokened.datum(), path), problems);
        }
    }
}
