//! Content of documents and of captured files stays out of errors: they end up in logs.
//!
//! Keys may be named, values never.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use waypost::artifact::{ArtifactStatus, Hash};
use waypost::layouts::{agentize, aiwg, claude, crunch, pipeline};
use waypost::retention::Age;
use waypost::source::Source;
use waypost::{
    Checkpoint, Document, Error, Id, NewArtifact, NewEntry, Status, Store, Timestamp, Trigger,
    layouts,
};

/// Stands for a secret.
const SECRET: &str = "xyzzy-plugh";

/// Checks that an error does not tell, however it is printed.
#[track_caller]
fn keeps_quiet(error: &Error) {
    let told = format!("{error}\n{error:?}");
    assert!(!told.contains(SECRET), "{told}");
}

#[track_caller]
fn keep_quiet<T>(outcome: Result<T, Error>) -> bool {
    outcome.map_err(|error| keeps_quiet(&error)).is_err()
}

/// A text, and all that come of it by a wrong byte or by its end being lost.
fn broken(text: &str) -> Vec<Vec<u8>> {
    let text = text.as_bytes();
    let mut all: Vec<Vec<u8>> = (0..text.len()).map(|end| text[..end].to_owned()).collect();
    // A value that becomes a key may be named, so no colon.
    for byte in *b"\"\\}],\n\t\0x-&*!%@`\xff" {
        for at in 0..text.len() {
            let mut text = text.to_owned();
            text[at] = byte;
            all.push(text);
        }
    }
    all
}

#[test]
fn text_that_is_no_document_is_not_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let json = format!(r#"{{"k": "{SECRET}", "list": [1, "{SECRET}", {{"n": 1.5}}]}}"#);
    let yaml = format!("k: {SECRET}\nlist:\n  - 1\n  - \"{SECRET}\"\n  - {{n: 1.5}}\n");
    let mut refused = 0;
    for text in broken(&json) {
        refused += u32::from(keep_quiet(Document::from_json(&text)));
        keep_quiet(store.draft_json(NewEntry::default(), &text));
        keep_quiet(Source::from_json(&text));
        keep_quiet(layouts::from_json::<agentize::ImplCheckpoint>(&text));
    }
    for text in broken(&json).into_iter().chain(broken(&yaml)) {
        refused += u32::from(keep_quiet(Source::from_yaml(&text)));
        keep_quiet(layouts::from_yaml::<crunch::IssueCheckpoint>(&text));
    }
    assert!(refused > 500, "{refused}");
}

/// A document that has nothing but the secret, in every place that a type could ask for.
fn checkpoint(store: &Store) -> Checkpoint {
    let json = format!(
        r#"{{"value": "{SECRET}", "list": ["{SECRET}"], "map": {{"{SECRET}": 1}},
            "nested": {{"{SECRET}": "{SECRET}"}}, "variant": {{"{SECRET}": "{SECRET}"}}}}"#
    );
    let saved = store.save_json(NewEntry::default(), json.as_bytes()).unwrap();
    store.get(&saved.id).unwrap()
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "what is asked for is not there")]
struct Holder<T> {
    value: T,
}

#[derive(Debug, Deserialize)]
enum Variant {
    A,
}

#[track_caller]
fn is_refused<T: DeserializeOwned>(checkpoint: &Checkpoint) {
    let error = checkpoint.state::<Holder<T>>().err().expect("of another type");
    keeps_quiet(&error);
}

#[test]
fn a_value_of_another_type_is_not_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let checkpoint = checkpoint(&store);
    is_refused::<u64>(&checkpoint);
    is_refused::<i8>(&checkpoint);
    is_refused::<f64>(&checkpoint);
    is_refused::<bool>(&checkpoint);
    is_refused::<char>(&checkpoint);
    is_refused::<()>(&checkpoint);
    is_refused::<Vec<u8>>(&checkpoint);
    is_refused::<(u8, u8)>(&checkpoint);
    is_refused::<std::collections::BTreeMap<String, u8>>(&checkpoint);
    is_refused::<Variant>(&checkpoint);
    is_refused::<Holder<u8>>(&checkpoint);
    is_refused::<std::net::IpAddr>(&checkpoint);
    // Types of this crate, with errors of their own.
    is_refused::<Timestamp>(&checkpoint);
    is_refused::<Trigger>(&checkpoint);
    is_refused::<Status>(&checkpoint);
    is_refused::<Hash>(&checkpoint);
    is_refused::<Age>(&checkpoint);
    is_refused::<waypost::Policy>(&checkpoint);
}

#[test]
fn a_document_that_its_system_would_not_take_is_not_quoted() {
    let json = |text: &str| text.replace(':', &format!(": \"{SECRET}\", \"x\":"));
    let texts = [r#"{"version": 1, "state": 2}"#, r#"{"id": 1}"#, r#"{"story_id": 1}"#];
    for text in texts.map(json) {
        let text = text.as_bytes();
        keep_quiet(layouts::from_json::<agentize::ImplCheckpoint>(text));
        keep_quiet(layouts::from_json::<claude::WorkflowCheckpoint>(text));
        keep_quiet(layouts::from_json::<pipeline::StoryCheckpoint>(text));
        keep_quiet(layouts::from_json::<aiwg::LoopCheckpoint>(text));
        keep_quiet(layouts::from_yaml::<crunch::IssueCheckpoint>(text));
    }
}

/// A store whose document and captured file are short enough to stand in it as they are.
fn filled(path: &Path) -> Id {
    let store = Store::open(path).unwrap();
    let file = NewArtifact {
        path: "a".to_owned(),
        content: Some(SECRET.as_bytes().to_vec()),
        mode: None,
        status: ArtifactStatus::Created,
    };
    let draft = store.draft(NewEntry::default(), SECRET).unwrap();
    store.save_draft(draft.with_artifacts(vec![file]).unwrap()).unwrap().id
}

#[test]
fn damage_is_told_without_what_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let id = filled(&path);
    let whole = fs::read(&path).unwrap();
    let is_secret = |at: &usize| whole[*at..].starts_with(SECRET.as_bytes());
    let places: Vec<usize> = (0..whole.len()).filter(is_secret).collect();
    assert!(places.len() >= 2, "{places:?}");
    let mut refused = 0;
    // The secret itself, but for its start, and what stands before and behind it.
    let near = |at: &usize| (at.saturating_sub(60)..at + 60).step_by(3);
    for at in places.iter().flat_map(near).filter(|at| *at < whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x11;
        fs::write(&path, bytes).unwrap();
        let store = match Store::open(&path) {
            Ok(store) => store,
            Err(error) => {
                keeps_quiet(&error);
                continue;
            }
        };
        refused += u32::from(keep_quiet(store.get(&id)));
        refused += u32::from(keep_quiet(store.artifact(&id, "a")));
        keep_quiet(store.artifacts(&id));
        keep_quiet(store.delete_now(std::slice::from_ref(&id)));
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn what_a_store_refuses_is_not_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let about = || NewEntry { id: Some(Id::new("a").unwrap()), ..NewEntry::default() };
    store.save(about(), SECRET).unwrap();
    assert!(keep_quiet(store.save(about(), &(SECRET, SECRET))));
    let draft = || store.draft(NewEntry::default(), SECRET).unwrap();
    let file = |path: &str, content: Option<&str>| NewArtifact {
        path: path.to_owned(),
        content: content.map(|content| content.as_bytes().to_vec()),
        mode: None,
        status: ArtifactStatus::Deleted,
    };
    assert!(keep_quiet(draft().with_artifacts(vec![file("a", Some(SECRET))])));
    assert!(keep_quiet(draft().with_artifacts(vec![file("../a", Some(SECRET))])));
    let limits = waypost::options::Limits {
        document_bytes: 8,
        depth: 1,
        ..waypost::options::Limits::default()
    };
    let options = waypost::Options { limits, ..waypost::Options::default() };
    let narrow = Store::open_with(dir.path().join("narrow.redb"), options).unwrap();
    assert!(keep_quiet(narrow.save(NewEntry::default(), SECRET)));
    assert!(keep_quiet(narrow.save(NewEntry::default(), &[[SECRET]])));
}
