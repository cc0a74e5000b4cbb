//! Writes checkpoints as `.tmp/impl-checkpoint.json`, the one file that every save replaces.
//!
//! The sources of each field, the entry first, then fields of the document:
//!
//! - `version`: 2, unless another one is asked for. Version 1 does not specify the stage `simp`.
//! - `timestamp`: `created_at`.
//! - `state.issue_no`: `issue`, a number; `/issue_no`, `/state/issue_no`, `/issue_number`.
//! - `state.current_stage`: `phase`, a word of [`ImplStage`]; `/current_stage`,
//!   `/state/current_stage`. With no phase, a status of completed is `done` and one of failed is
//!   `fatal`.
//! - `state.iteration`: `iteration`, from one; `/state/iteration`, `/iteration`.
//! - `state.worktree`: `/worktree`, `/state/worktree`; it must be absolute.
//! - `state.plan_file`, `last_feedback`, `last_score`: the same, in `/state` or at the top, if they
//!   are of the right kind; they are not required.
//! - `state.history`: the same, in `/state` or at the top, if it is one that agentize could have at
//!   that stage; else the report says that it is in the document only.
//! - `state.pr_number`, `pr_url`: the same, in `/state` or at the top; the number as a text.
//! - `state.document`: all of the document.

use std::path::Path;

use super::{ImplStage, ImplState, ImplStep, LOCATION, VERSION, VERSION_NEWEST, is_score, python};
use crate::checkpoint::{Document, Format, SourceForm, Spacing, Status, TextStyle};
use crate::codec::convert;
use crate::layouts::given::{Given, object, text};
use crate::layouts::write::Paths;

/// As Python's `json.dump(.., indent=2)` does, by way of a temporary file.
pub(in crate::layouts) const FORM: SourceForm = SourceForm {
    format: Format::Json,
    style: Some(TextStyle {
        spacing: Spacing::Indent(2),
        is_ascii: true,
        has_final_newline: false,
        has_byte_order_mark: false,
    }),
    is_gzip: false,
    mode: Some(0o600),
    modified_at: None,
    line: None,
    text_bytes: 0,
};

/// Releases that write version 1 stop at a stage that they do not have.
pub(super) const SIMP: &str = "must not be simp in version 1 of agentize";

pub(in crate::layouts) fn paths() -> Paths {
    Paths { path: LOCATION.to_owned(), other_path: None }
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let issue = given.issue_number(&["/issue_no", "/state/issue_no", "/issue_number"]);
    let stage = stage(given);
    let score = given.whole_at(&["/state/last_score", "/last_score"]);
    let score = score.filter(|score| i64::try_from(*score).is_ok_and(is_score));
    let iteration = iteration(given);
    let history = stage.zip(iteration).and_then(|(stage, round)| history(given, stage, round));
    let run = object([
        ("issue_no", issue.map(Document::Uint)),
        ("current_stage", text(stage.map(ImplStage::as_str))),
        ("iteration", iteration.map(Document::Uint)),
        ("worktree", text(worktree(given))),
        ("plan_file", text(given.text_at(&["/state/plan_file", "/plan_file"]))),
        ("last_feedback", text(given.text_at(&["/state/last_feedback", "/last_feedback"]))),
        ("last_score", score.map(Document::Uint)),
        ("history", history),
        ("pr_number", text(pull_request(given))),
        ("pr_url", text(given.text_at(&["/state/pr_url", "/pr_url"]))),
        ("document", Some(Document::Null)),
    ]);
    object([
        ("version", Some(Document::Uint(version(given, stage)))),
        ("timestamp", text(Some(python::isoformat(given.entry.created_at)))),
        ("state", Some(run)),
    ])
}

fn version(given: &mut Given<'_>, stage: Option<ImplStage>) -> u64 {
    let wanted = given.writing.schema.and_then(|schema| schema.as_str().parse().ok());
    let version = wanted.unwrap_or(VERSION_NEWEST);
    if version == VERSION && stage == Some(ImplStage::Simp) {
        given.refuse("phase", SIMP);
    }
    version
}

/// Agentize reads any list and treats each step as one that it has run.
fn history(given: &mut Given<'_>, stage: ImplStage, iteration: u64) -> Option<Document> {
    const POINTERS: [&str; 2] = ["/state/history", "/history"];
    let said = given.at(&POINTERS)?;
    let is_right = |history: Vec<ImplStep>| {
        let start = ImplState::new(1, "/", None);
        let run = ImplState { current_stage: stage.into(), iteration, history, ..start };
        run.validate().is_empty()
    };
    if convert(said, "history").is_ok_and(is_right) {
        return Some(said.clone());
    }
    given.note("history is not one of agentize before this stage: it stays in /state/document");
    None
}

/// Agentize has the number as a text.
fn pull_request(given: &Given<'_>) -> Option<String> {
    const POINTERS: [&str; 2] = ["/state/pr_number", "/pr_number"];
    let number = given.whole_at(&POINTERS).map(|number| number.to_string());
    number.or_else(|| given.text_at(&POINTERS))
}

fn stage(given: &mut Given<'_>) -> Option<ImplStage> {
    const POINTERS: [&str; 2] = ["/current_stage", "/state/current_stage"];
    if given.entry.phase.is_some() || given.text_at(&POINTERS).is_some() {
        return given.phase(&POINTERS);
    }
    match given.entry.status {
        Status::Completed => Some(ImplStage::Done),
        Status::Failed => Some(ImplStage::Fatal),
        Status::InProgress | Status::Paused | Status::Archived | Status::Unknown => {
            given.miss("phase", "the stage that is next, such as impl or review");
            None
        }
    }
}

fn iteration(given: &mut Given<'_>) -> Option<u64> {
    let said =
        given.entry.iteration.or_else(|| given.whole_at(&["/state/iteration", "/iteration"]));
    match said {
        None => given.miss("iteration", "the round of implementing and reviewing"),
        Some(0) => given.refuse("iteration", "must be 1 or more for agentize"),
        Some(_) => {}
    }
    said
}

fn worktree(given: &mut Given<'_>) -> Option<String> {
    let said = given.text_at(&["/worktree", "/state/worktree"]);
    match &said {
        None => given.miss("/worktree", "the absolute path of the worktree"),
        // Not `is_absolute`, as where it is checked.
        Some(path) if !Path::new(path).has_root() => {
            given.refuse("/worktree", "must be absolute for agentize");
        }
        Some(_) => {}
    }
    said
}
