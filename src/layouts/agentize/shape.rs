//! Recognises a file of agentize that lacks fields, and lists its problems.

use super::{ImplCheckpoint, LOCATION};
use crate::checkpoint::Document;
use crate::codec::Datum;
use crate::layouts::check::typed;
use crate::layouts::{Problem, path};

/// Fields of the state; one is enough in a file of this name.
const OWN: [&str; 4] =
    ["state.issue_no", "state.current_stage", "state.iteration", "state.worktree"];

/// Tells whether a path is that of the file, wherever a worktree is.
pub(super) fn is_placed(path: &str) -> bool {
    matches!(path::parts(path).as_slice(), [.., directory, name]
        if format!("{directory}/{name}") == LOCATION)
}

/// True if a document has a field that only this system has.
pub(super) fn is_like(document: Datum<'_>) -> bool {
    let has = |field: &&str| document.has(field);
    let is_stamped = ["version", "timestamp"].iter().all(has);
    OWN.iter().any(has) || is_stamped || document.is_object("state")
}

pub(in crate::layouts) fn check(document: Datum<'_>) -> Vec<Problem> {
    let mut problems = typed(document, &stand_in, ImplCheckpoint::validate);
    // It is read as version 0, which no release accepts.
    if document.at("version").is_none() {
        for problem in problems.iter_mut().filter(|it| it.field == "/version") {
            *problem = Problem::required("/version");
        }
    }
    problems
}

/// A value for a field without default that fits the type and breaks no other rule.
fn stand_in(pointer: &str) -> Option<Document> {
    let (outer, name) = pointer.rsplit_once('/')?;
    let text = |text: &str| Some(Document::Text(text.to_owned()));
    let is_step = outer.starts_with("/state/history/");
    match (outer, name) {
        ("", "version") => Some(Document::Uint(super::VERSION)),
        ("", "state") => Some(Document::Object(Vec::new())),
        (_, "timestamp") if outer.is_empty() || is_step => text("1970-01-01T00:00:00Z"),
        ("/state", "issue_no") => Some(Document::Uint(1)),
        // The largest number, so that no step of the history is after it.
        ("/state", "iteration") => Some(Document::Uint(u64::MAX)),
        ("/state", "current_stage") => text("impl"),
        ("/state", "worktree") => text("/"),
        (_, "stage") if is_step => text(super::PARSE),
        (_, "iteration") if is_step => Some(Document::Uint(1)),
        (_, "result") if is_step => text("success"),
        _ => None,
    }
}
