//! Ids that a field lists: of tasks, messages, conflicts and entries.

use crate::checkpoint::Document;
use crate::layouts::standing::told::{LIST_MAX, cut, named, said};

/// Keys under which language models write the id of an element.
const IDS: [&str; 7] =
    ["id", "node_id", "task_id", "message_id", "msg_id", "conflict_id", "entry_id"];
/// Words that they write for an empty list.
const NONE: [&str; 4] = ["none", "n/a", "null", "-"];

/// Returns the ids that a value lists: a list, an object by id, or a single one.
pub(super) fn ids(value: &Document) -> Vec<String> {
    match value {
        Document::Array(items) => items.iter().filter_map(id_of).take(LIST_MAX).collect(),
        Document::Object(members) => members.iter().map(|(id, _)| cut(id)).take(LIST_MAX).collect(),
        value => id_of(value)
            .filter(|id| !NONE.contains(&id.to_ascii_lowercase().as_str()))
            .into_iter()
            .collect(),
    }
}

/// Returns the id of an element: the text itself, or the id field of an object.
pub(super) fn id_of(value: &Document) -> Option<String> {
    match value {
        Document::Object(_) => said(value, &IDS).or_else(|| named(value)),
        _ => named(value),
    }
}
