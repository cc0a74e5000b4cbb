//! Where a workflow or a loop of AIWG stands.
//!
//! AIWG checks only checkpoints before it restores them. It takes the state of a loop as it is, so
//! nothing is required there. It never resumes from half-hourly captures.

mod loops;

use super::SchemaVersion;
use crate::checkpoint::{Document, Entry, Issue};
use crate::codec::Datum;
use crate::layouts::reading::{text, whole};
use crate::layouts::standing::told::{
    count, files, message, missing, name, names, newer, number, said,
};
use crate::layouts::standing::{Progress, Snapshot, Standing};

/// What the schema requires.
const REQUIRED: [&str; 7] = [
    "checkpoint_id",
    "workflow_id",
    "created_at",
    "state",
    "state.phase",
    "state.progress",
    "state.artifacts",
];

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    if is_loop(document.into()) {
        loops::standing(entry, document)
    } else if is_captured(document.into()) {
        captured(entry, document)
    } else {
        checkpoint(entry, document)
    }
}

/// Tells whether a document is the state of a loop.
pub(super) fn is_loop(document: Datum<'_>) -> bool {
    let has = |field: &str| document.has(field);
    !is_checkpoint(document) && (has("loopId") || loops::ITERATION.iter().any(|field| has(field)))
}

/// True if a document is a half-hourly capture.
pub(super) fn is_captured(document: Datum<'_>) -> bool {
    let has = |field: &str| document.has(field);
    !is_checkpoint(document) && has("gitStatus") && has("aiwgState")
}

fn is_checkpoint(document: Datum<'_>) -> bool {
    let has = |field: &str| document.has(field);
    has("checkpoint_id") && (has("workflow_id") || has("state"))
}

fn checkpoint(entry: &Entry, document: &Document) -> Standing {
    let newer = newer(document, "metadata.schema_version", SchemaVersion::V2.as_str());
    Standing {
        description: said(document, &["state.variables.task", "state.variables.objective"]),
        version: name(document, &["metadata.schema_version"]),
        refusals: newer.into_iter().chain(missing(document, &REQUIRED)).collect(),
        progress: progress(document),
        tasks_remaining: names(document, &["state.agent_state.pending_actions"]),
        last_action: said(document, &["state.last_action", "state.agent_state.last_action"]),
        score: number(document, &["state.score", "state.quality_score"]),
        failures: whole(document, "state.iteration.failures"),
        error: message(document, &["state.error", "state.last_error", "error", "last_error"]),
        snapshot: Snapshot {
            issue: entry.issue.clone().or_else(|| issue_of_variables(document)),
            files: files(document, &["state.artifacts"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// The variables are the workflow's own: only `#` and a number are an issue.
fn issue_of_variables(document: &Document) -> Option<Issue> {
    let issue = text(document, "state.variables.current_issue")?;
    issue.strip_prefix('#')?.parse::<u64>().ok()?;
    Issue::new(issue).ok()
}

/// Progress by steps, else by iterations; the current iteration is done when a checkpoint is taken.
fn progress(document: &Document) -> Option<Progress> {
    if let Some(done) = whole(document, "state.progress.completed_steps") {
        let total = whole(document, "state.progress.total_steps");
        return Some(Progress { unit: "step", done, total, next: said(document, &["state.step"]) });
    }
    let done = count(document, &["state.iteration.current", "state.iteration"])?;
    let total = whole(document, "state.iteration.max");
    Some(Progress { unit: "iteration", done, total, next: iteration_after(done, total) })
}

fn iteration_after(done: u64, total: Option<u64>) -> Option<String> {
    let next = done.checked_add(1).filter(|next| total.is_none_or(|total| *next <= total));
    next.map(|next| format!("iteration {next}"))
}

/// `NNN-checkpoint.json`: the state of the worktree.
fn captured(entry: &Entry, document: &Document) -> Standing {
    Standing {
        snapshot: Snapshot {
            issue: entry.issue.clone(),
            branch: name(document, &["gitStatus.branch"]),
            files: files(document, &["filesModified"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}
