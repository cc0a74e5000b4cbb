//! Checkpoints of others as `.tmp/impl-checkpoint.json`, the one file that every save replaces.
//!
//! What each field is made of, the entry first, then fields of the document:
//!
//! - `version`: 2 if the stage is `simp`, which version 1 does not specify; else 1.
//! - `timestamp`: `created_at`.
//! - `state.issue_no`: `issue`, a number; `/issue_no`, `/state/issue_no`, `/issue_number`.
//! - `state.current_stage`: `phase`, a word of [`Stage`]; `/current_stage`, `/state/current_stage`.
//!   With no phase, a status of completed is `done` and one of failed is `fatal`.
//! - `state.iteration`: `iteration`, from one; `/state/iteration`, `/iteration`.
//! - `state.worktree`: `/worktree`, `/state/worktree`; it must be absolute.
//! - `state.plan_file`, `last_feedback`, `last_score`: the same, in `/state` or at the top, if they
//!   are of the right kind; they are not required.
//! - `state.document`: all of the document.

use std::path::Path;

use super::{LOCATION, Stage, VERSION, VERSION_NEWEST, is_score, python};
use crate::checkpoint::{Document, Format, SourceForm, Spacing, Status, TextStyle};
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

pub(in crate::layouts) fn paths() -> Paths {
    Paths { path: LOCATION.to_owned(), other_path: None }
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let issue = given.issue_number(&["/issue_no", "/state/issue_no", "/issue_number"]);
    let stage = stage(given);
    let score = given.whole_at(&["/state/last_score", "/last_score"]);
    let score = score.filter(|score| i64::try_from(*score).is_ok_and(is_score));
    let run = object([
        ("issue_no", issue.map(Document::Uint)),
        ("current_stage", text(stage.map(Stage::as_str))),
        ("iteration", iteration(given).map(Document::Uint)),
        ("worktree", text(worktree(given))),
        ("plan_file", text(given.text_at(&["/state/plan_file", "/plan_file"]))),
        ("last_feedback", text(given.text_at(&["/state/last_feedback", "/last_feedback"]))),
        ("last_score", score.map(Document::Uint)),
        ("document", Some(Document::Null)),
    ]);
    let version = if stage == Some(Stage::Simp) { VERSION_NEWEST } else { VERSION };
    object([
        ("version", Some(Document::Uint(version))),
        ("timestamp", text(Some(python::isoformat(given.entry.created_at)))),
        ("state", Some(run)),
    ])
}

fn stage(given: &mut Given<'_>) -> Option<Stage> {
    const POINTERS: [&str; 2] = ["/current_stage", "/state/current_stage"];
    if given.entry.phase.is_some() || given.text_at(&POINTERS).is_some() {
        return given.phase(&POINTERS);
    }
    match given.entry.status {
        Status::Completed => Some(Stage::Done),
        Status::Failed => Some(Stage::Fatal),
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
