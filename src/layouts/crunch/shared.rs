//! Data shared by the agents of a team: `acp_state` and `knowledge_context`.

use std::collections::HashSet;

use super::ids::ids;
use crate::checkpoint::Document;
use crate::layouts::reading::at;
use crate::layouts::standing::{Knowledge, Messages};

/// Returns the messages that are under way; `None` if the document has no such part.
pub(super) fn messages(document: &Document) -> Option<Messages> {
    let state = object(document, &["acp_state", "acpState", "acp"])?;
    Some(Messages {
        pending: listed(state, &["pending_messages", "pendingMessages", "pending"]),
        awaiting: listed(
            state,
            &["awaiting_response", "awaiting_responses", "awaitingResponse", "awaiting"],
        ),
        conflicts: listed(state, &["conflicts_in_progress", "conflictsInProgress", "conflicts"]),
    })
}

/// Returns what went from and to the knowledge base; `None` if the document has no such part.
pub(super) fn knowledge(document: &Document) -> Option<Knowledge> {
    let context = object(document, &["knowledge_context", "knowledgeContext", "knowledge"])?;
    let captured = listed(context, &["captured_entries", "capturedEntries", "captured"]);
    let mut to_capture =
        listed(context, &["pending_captures", "pendingCaptures", "to_capture", "pending"]);
    let known: HashSet<&String> = captured.iter().collect();
    to_capture.retain(|id| !known.contains(id));
    let injected = listed(context, &["injected_entries", "injectedEntries", "injected"]);
    Some(Knowledge { injected, captured, to_capture })
}

fn object<'a>(document: &'a Document, fields: &[&str]) -> Option<&'a Document> {
    let found = fields.iter().find_map(|field| at(document, field));
    found.filter(|value| matches!(value, Document::Object(_)))
}

/// The ids in the first of some fields that is there, each once.
fn listed(object: &Document, fields: &[&str]) -> Vec<String> {
    let all = fields.iter().find_map(|field| at(object, field)).map_or_else(Vec::new, ids);
    let mut known = HashSet::new();
    all.into_iter().filter(|id| known.insert(id.clone())).collect()
}
