//! Writes checkpoints as `.claude/crunch/ISSUE/checkpoints/CP-PHASE-DATE-HASH.yaml`.
//!
//! The sources of each field, the entry first, then fields of the document:
//!
//! - `checkpoint_id`: the phase, the day of `created_at`, and a hash of `id`.
//! - `created_at`: the same. `session_id`: the same; the same.
//! - `issue_number`: `issue`, a number; `/issue_number`, `/issue_no`.
//! - `workflow_state.current_phase`: `phase`, a word of [`Phase`]; the same.
//! - `workflow_state.phase_attempt`: `iteration`, from one.
//! - `workflow_state.current_state_label`, `workflow_state.phase_started_at`: the same.
//! - `issue_snapshot`: see [`mod@snapshot`].
//! - `execution_graph`: see [`mod@graph`].
//! - `team_state`, `agent_outputs`, `acp_state`, `knowledge_context`, `files_modified`: the same,
//!   if they fit the template; else they stay in `document`.
//! - `recovery_info`: see [`mod@recovery`].
//! - `document`: all of the document.
//!
//! Resuming reads every field of the snapshot and the graph, so all of them are written. Unknown
//! values are null, which equals no value: the comparison on resuming then asks or warns.
//!
//! The index says why a checkpoint was saved; see [`IndexEntry::of`](super::IndexEntry::of).

mod graph;
mod recovery;
mod snapshot;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{FileState, IssueCheckpointId, Phase, TeamState, VERSION};
use crate::checkpoint::{Document, Entry, Format, SourceForm};
use crate::codec::convert;
use crate::layouts::given::{Given, at, object, text, text_of, time, whole};
use crate::layouts::write::Paths;
use crate::layouts::{Code, Problem, part};
use graph::graph;
use recovery::recovery;
use snapshot::snapshot;

/// A language model writes the file, so there is no style to keep to.
pub(in crate::layouts) const FORM: SourceForm = SourceForm {
    format: Format::Yaml,
    style: None,
    is_gzip: false,
    mode: None,
    modified_at: None,
    line: None,
    text_bytes: 0,
};

/// The path of the file comes from the document; the entry only adds a missing issue.
///
/// Two checkpoints with the same id are two states of one file.
pub(in crate::layouts) fn paths(entry: &Entry, document: &Document) -> Result<Paths, Vec<Problem>> {
    let problem = |field: &str, rule: &str| Problem::new(Code::Name, field, rule);
    let mut problems = Vec::new();
    let id = at(document, "/checkpoint_id").and_then(text_of);
    match id {
        None => problems.push(problem("/checkpoint_id", "is required")),
        Some(id) if !part::is_name(id) => problems.push(problem("/checkpoint_id", part::RULE)),
        Some(_) => {}
    }
    let number = at(document, "/issue_number").and_then(whole).map(|number| number.to_string());
    let issue = number.or_else(|| entry.issue.as_ref().map(ToString::to_string));
    match &issue {
        None => problems.push(problem("/issue_number", "is required")),
        Some(issue) if !part::is_name(issue) => problems.push(problem("issue", part::RULE)),
        Some(_) => {}
    }
    let (Some(id), Some(issue), []) = (id, issue, problems.as_slice()) else {
        return Err(problems);
    };
    let suffix = match entry.source.unwrap_or(FORM).format {
        Format::Json => "json",
        Format::Yaml | Format::Unreadable => "yaml",
    };
    let path = format!(".claude/crunch/{issue}/checkpoints/{id}.{suffix}");
    Ok(Paths { path, other_path: None })
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let entry = given.entry;
    let issue = given.issue_number(&["/issue_number", "/issue_no"]);
    let phase = phase(given);
    let session = given.said("session_id", entry.session_id.as_deref(), &["/session_id"]);
    object([
        ("checkpoint_id", text(phase.map(|phase| id(entry, phase).to_string()))),
        ("version", text(Some(VERSION))),
        ("created_at", text(Some(time(entry.created_at)))),
        ("issue_number", issue.map(Document::Uint)),
        ("session_id", text(session.map(|said| said.text))),
        ("workflow_state", Some(workflow_state(given, phase))),
        ("issue_snapshot", Some(snapshot(given))),
        ("team_state", lifted::<TeamState>(given, "/team_state")),
        ("execution_graph", Some(graph(given))),
        ("agent_outputs", lifted::<Map<String, Value>>(given, "/agent_outputs")),
        ("acp_state", lifted::<Map<String, Value>>(given, "/acp_state")),
        ("knowledge_context", lifted::<Map<String, Value>>(given, "/knowledge_context")),
        ("files_modified", files(given)),
        ("recovery_info", Some(recovery(given))),
        ("document", Some(Document::Null)),
    ])
}

fn workflow_state(given: &Given<'_>, phase: Option<Phase>) -> Document {
    let attempt = given.entry.iteration.filter(|iteration| *iteration > 0);
    let found = |field: &str| text(given.text_at(&[&format!("/workflow_state/{field}")]));
    object([
        ("current_phase", text(phase.map(Phase::as_str))),
        ("current_state_label", found("current_state_label")),
        ("phase_started_at", found("phase_started_at")),
        ("phase_attempt", attempt.map(Document::Uint)),
    ])
}

/// A part of the template that resuming does not need, if the document has it in that shape.
fn lifted<T: DeserializeOwned>(given: &Given<'_>, pointer: &str) -> Option<Document> {
    fitting::<T>(given.at(&[pointer])?.clone())
}

/// A path alone is a file, too.
fn files(given: &Given<'_>) -> Option<Document> {
    let Document::Array(items) = given.at(&["/files_modified"])? else { return None };
    let file = |item: &Document| match item {
        Document::Text(path) => object([("path", text(Some(path.as_str())))]),
        other => other.clone(),
    };
    fitting::<Vec<FileState>>(Document::Array(items.iter().map(file).collect()))
}

fn fitting<T: DeserializeOwned>(value: Document) -> Option<Document> {
    convert::<T>(&value, "document").is_ok().then_some(value)
}

fn phase(given: &mut Given<'_>) -> Option<Phase> {
    const POINTERS: [&str; 1] = ["/workflow_state/current_phase"];
    if given.entry.phase.is_none() && given.text_at(&POINTERS).is_none() {
        given.miss("phase", "the phase of the work, such as enrich or docs");
    }
    given.phase(&POINTERS)
}

fn id(entry: &Entry, phase: Phase) -> IssueCheckpointId {
    let Mark { date, hash } = Mark::of(entry);
    IssueCheckpointId { phase: Some(phase.to_string()), date, hash }
}

/// A hash that makes the names generated for a checkpoint unique.
///
/// The same for the same checkpoint, and of more digits than the template's: they do not collide.
struct Mark {
    date: String,
    hash: String,
}

impl Mark {
    fn of(entry: &Entry) -> Self {
        let time = entry.created_at.to_string();
        Self {
            date: time.chars().filter(char::is_ascii_digit).take(8).collect(),
            hash: part::hash(entry.id.as_str()),
        }
    }
}
