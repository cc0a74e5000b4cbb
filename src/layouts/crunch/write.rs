//! Checkpoints of others as `.claude/crunch/ISSUE/checkpoints/CP-PHASE-DATE-HASH.yaml`.
//!
//! What each field is made of, the entry first, then fields of the document:
//!
//! - `checkpoint_id`: the phase, the day of `created_at`, and a hash of `id`.
//! - `created_at`, `session_id`: the same.
//! - `issue_number`: `issue`, a number; `/issue_number`, `/issue_no`.
//! - `workflow_state.current_phase`: `phase`, a word of [`Phase`]; the same.
//! - `workflow_state.phase_attempt`: `iteration`, from one.
//! - `issue_snapshot`, `execution_graph`: the same, the latter also by its other name, if they are
//!   objects; else empty ones, as nothing in them is required.
//! - `recovery_info.can_resume`: `can_resume`; the same; true if it is known where.
//! - `recovery_info.resume_from`: `resume_from`; the same. Required if work can go on.
//! - `recovery_info.warnings`: `warnings`.
//! - `document`: all of the document.
//!
//! Why a checkpoint was saved stands in the index; see [`IndexEntry::of`](super::IndexEntry::of).

use super::{Id, Phase, VERSION};
use crate::checkpoint::{Document, Entry, Format, SourceForm};
use crate::layouts::given::{Given, at, object, text, text_of, time, whole};
use crate::layouts::write::Paths;
use crate::layouts::{Code, Problem, part};

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

/// The document names the file; the entry only knows an issue that it does not.
///
/// Two with the same id are two states of one file.
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
    let attempt = entry.iteration.filter(|iteration| *iteration > 0);
    let snapshot = given.object_at(&["/issue_snapshot"]);
    let graph = given.object_at(&["/execution_graph", "/graph_state"]);
    let nothing = || Document::Object(Vec::new());
    object([
        ("checkpoint_id", text(phase.map(|phase| id(entry, phase).to_string()))),
        ("version", text(Some(VERSION))),
        ("created_at", text(Some(time(entry.created_at)))),
        ("issue_number", issue.map(Document::Uint)),
        ("session_id", text(entry.session_id.as_deref())),
        (
            "workflow_state",
            Some(object([
                ("current_phase", text(phase.map(Phase::as_str))),
                ("phase_attempt", attempt.map(Document::Uint)),
            ])),
        ),
        ("issue_snapshot", Some(snapshot.unwrap_or_else(nothing))),
        ("execution_graph", Some(graph.unwrap_or_else(nothing))),
        ("recovery_info", Some(recovery(given))),
        ("document", Some(Document::Null)),
    ])
}

fn phase(given: &mut Given<'_>) -> Option<Phase> {
    const POINTERS: [&str; 1] = ["/workflow_state/current_phase"];
    if given.entry.phase.is_none() && given.text_at(&POINTERS).is_none() {
        given.miss("phase", "the phase of the work, such as enrich or docs");
    }
    given.phase(&POINTERS)
}

/// The same for the same checkpoint, and of more digits than the template's: they do not collide.
fn id(entry: &Entry, phase: Phase) -> Id {
    let time = entry.created_at.to_string();
    Id {
        phase: Some(phase.to_string()),
        date: time.chars().filter(char::is_ascii_digit).take(8).collect(),
        hash: part::hash(entry.id.as_str()),
    }
}

fn recovery(given: &mut Given<'_>) -> Document {
    let entry = given.entry;
    let resume_from = entry.resume_from.clone();
    let resume_from = resume_from.or_else(|| given.text_at(&["/recovery_info/resume_from"]));
    let said = match given.at(&["/recovery_info/can_resume"]) {
        Some(Document::Bool(said)) => Some(*said),
        _ => None,
    };
    let can_resume = entry.can_resume.or(said).or(resume_from.is_some().then_some(true));
    match (can_resume, &resume_from) {
        (None, _) => given.miss("can_resume", "whether work can go on from here"),
        (Some(true), None) => given.miss("resume_from", "where work can go on"),
        (Some(_), _) => {}
    }
    let warnings = entry.warnings.iter().cloned().map(Document::Text).collect();
    object([
        ("can_resume", can_resume.map(Document::Bool)),
        ("resume_from", text(resume_from)),
        ("warnings", Some(Document::Array(warnings))),
    ])
}
