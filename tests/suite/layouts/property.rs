//! Whatever a file says, it is read or refused, and what is read comes back.

use std::fs;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use waypost::layouts::{Problem, agentize, aiwg, claude, crunch, from_json, from_yaml, pipeline};

use super::fixtures;

pub(super) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        select(vec!["2026-01-25T15:00:00Z", "impl", "GO", "CP-x-20250114-a3f2", "a/b", ".."])
            .prop_map(str::to_owned),
        "[a-z]{1,4}_[a-z]{1,4}_[0-9]{8}_[0-9]{6}",
    ]
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..5).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let key = select(KEYS.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(key, inner, 0..10)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A document that is right but for some values, which can be of any kind.
pub(super) fn any_document(
    layout: &'static str,
    prefix: &'static str,
) -> impl Strategy<Value = Value> {
    let files = fixtures(layout, prefix, ".json");
    let right = files.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap());
    let changes = vec((any::<Index>(), any_value()), 0..4);
    (select(right.collect::<Vec<Value>>()), changes).prop_map(|(mut document, changes)| {
        for (at, value) in changes {
            let pointers = pointers(&document);
            if let Some(place) = document.pointer_mut(&pointers[at.index(pointers.len())]) {
                *place = value;
            }
        }
        document
    })
}

/// The places of everything in a document; keys of these have no `~` and no `/`.
pub(super) fn pointers(document: &Value) -> Vec<String> {
    let below = |key: String, value: &Value| {
        pointers(value).into_iter().map(move |rest| format!("/{key}{rest}")).collect::<Vec<_>>()
    };
    let mut found = vec![String::new()];
    match document {
        Value::Object(fields) => {
            found.extend(fields.iter().flat_map(|(key, value)| below(key.clone(), value)));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            found.extend(items.flat_map(|(index, value)| below(index.to_string(), value)));
        }
        _ => {}
    }
    found
}

/// Keys of all layouts, so that values come where they are looked at.
const KEYS: [&str; 12] = [
    "status",
    "stage",
    "phase",
    "state",
    "trigger",
    "iteration",
    "current_phase",
    "checkpoint_id",
    "created_at",
    "node_states",
    "progress",
    "other",
];

/// A document that is read is checked, and written back unchanged.
fn check<T: Serialize + DeserializeOwned>(
    value: &Value,
    look: impl Fn(&T) -> Vec<Problem>,
) -> Result<(), TestCaseError> {
    let text = value.to_string();
    if let Ok(typed) = from_json::<T>(text.as_bytes()) {
        look(&typed);
        prop_assert_eq!(&serde_json::to_value(&typed).unwrap(), value);
    }
    if let Ok(typed) = from_yaml::<T>(text.as_bytes()) {
        look(&typed);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_checkpoint_of_claude_is_read_or_refused(value in any_document("claude", "")) {
        check(&value, claude::WorkflowCheckpoint::validate)?;
    }

    #[test]
    fn any_checkpoint_of_crunch_is_read_or_refused(value in any_document("crunch", "CP")) {
        check(&value, |checkpoint: &crunch::IssueCheckpoint| {
            let _ = crunch::Index::of(std::slice::from_ref(checkpoint), None).validate();
            checkpoint.validate()
        })?;
    }

    #[test]
    fn any_index_of_crunch_is_read_or_refused(value in any_document("crunch", "index")) {
        check(&value, crunch::Index::validate)?;
    }

    #[test]
    fn any_checkpoint_of_a_pipeline_is_read_or_refused(
        value in any_document("pipeline", "checkpoint")
    ) {
        check(&value, pipeline::StoryCheckpoint::validate)?;
    }

    #[test]
    fn any_state_of_a_pipeline_is_read_or_refused(value in any_document("pipeline", "state")) {
        check(&value, pipeline::PipelineState::validate)?;
    }

    #[test]
    fn any_checkpoint_of_aiwg_is_read_or_refused(value in any_document("aiwg", "")) {
        check(&value, |checkpoint: &aiwg::LoopCheckpoint| {
            let path = checkpoint.location().unwrap_or_default();
            checkpoint.validate_at(&path)
        })?;
    }

    /// Agentize fills in what is missing, so more may come back than was there.
    #[test]
    fn any_checkpoint_of_agentize_is_read_or_refused(value in any_document("agentize", "v")) {
        let text = value.to_string();
        if let Ok(checkpoint) = from_json::<agentize::ImplCheckpoint>(text.as_bytes()) {
            let _ = checkpoint.validate();
            let text = checkpoint.to_json().unwrap();
            prop_assert!(text.is_ascii());
            let again: agentize::ImplCheckpoint = from_json(text.as_bytes()).unwrap();
            prop_assert_eq!(again, checkpoint);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200), text in any_text()) {
        let _ = from_json::<aiwg::LoopCheckpoint>(&bytes);
        let _ = from_yaml::<crunch::IssueCheckpoint>(&bytes);
        let _ = from_yaml::<crunch::IssueCheckpoint>(text.as_bytes());
        let _ = text.parse::<aiwg::LoopFileName>();
        let _ = text.parse::<crunch::IssueCheckpointId>().map(|id| id.to_string());
        let _ = text.parse::<claude::WorkflowCheckpointId>().map(|id| id.to_string());
    }
}
