//! The documents of five systems as types: what is read comes back, and what is wrong is named.
//!
//! Covers types of each layout, their checks, YAML, recognition of files, the standing of work, and
//! writing.

mod agentize;
mod aiwg;
mod check;
mod claude;
mod crunch;
mod filed;
mod kind;
mod pipeline;
mod property;
mod pyyaml;
mod recognise;
mod standing;
mod write;
mod yaml;

use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use waypost::layouts::{Problem, from_json, status};
use waypost::{NewEntry, Status, Store};

/// The files of a layout that start with `prefix` and end with `suffix`, in order.
fn fixtures(layout: &str, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layouts");
    let files = fs::read_dir(directory.join(layout)).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && name.ends_with(suffix)
    });
    paths.sort();
    assert!(!paths.is_empty(), "no {prefix}*{suffix} of {layout}");
    paths
}

/// Reads every such file as a `T`, writes it, and compares; through a store, too.
fn comes_back<T: Serialize + DeserializeOwned>(layout: &str, prefix: &str) -> Vec<T> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let read = |path: PathBuf| {
        let json = fs::read(&path).unwrap();
        let typed: T = from_json(&json).unwrap();
        let expected: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(serde_json::to_value(&typed).unwrap(), expected, "{}", path.display());
        let saved = store.save(NewEntry::default(), &typed).unwrap();
        let typed: T = store.get(&saved.id).unwrap().state().unwrap();
        assert_eq!(serde_json::to_value(&typed).unwrap(), expected, "{}", path.display());
        typed
    };
    fixtures(layout, prefix, ".json").into_iter().map(read).collect()
}

/// A JSON value as a type of a layout.
fn typed<T: DeserializeOwned>(value: &Value) -> T {
    from_json(value.to_string().as_bytes()).unwrap()
}

/// A document with another value at a JSON pointer; without that key if the value is `None`.
fn with(document: &Value, pointer: &str, value: Option<Value>) -> Value {
    let mut changed = document.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match (changed.pointer_mut(parent).unwrap(), value) {
        (Value::Object(fields), Some(value)) => {
            fields.insert(key.to_owned(), value);
        }
        (Value::Object(fields), None) => {
            fields.remove(key).unwrap();
        }
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("nothing at {parent}"),
    }
    changed
}

fn printed(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// Real files spell it in eight ways, and more.
#[test]
fn a_status_is_known_however_it_is_spelled() {
    for (word, expected) in [
        ("running", Status::InProgress),
        ("in_progress", Status::InProgress),
        ("IN_PROGRESS", Status::InProgress),
        ("completed", Status::Completed),
        ("complete", Status::Completed),
        ("COMPLETED", Status::Completed),
        ("SUCCESS", Status::Completed),
        ("ABORTED", Status::Failed),
        ("failed", Status::Failed),
        ("paused", Status::Paused),
        ("", Status::Unknown),
        ("fine", Status::Unknown),
    ] {
        assert_eq!(status(word), expected, "{word}");
    }
}
