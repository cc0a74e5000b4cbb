//! Where work stands by a document of any shape, read from the field names that the systems use.
//!
//! Only fields at the top are read: deeper inside, the same name may mean anything. Such documents
//! have no known rules, so none is refused.

use crate::checkpoint::{Document, Entry};
use crate::layouts::reading::{list, truth};
use crate::layouts::standing::told::{
    count, files, first_list, issue, labels, message, name, names, number, said, seconds, verbatim,
};
use crate::layouts::standing::unmet::unmet;
use crate::layouts::standing::{Progress, Snapshot, Standing, told};

/// Lists of tasks that are done.
pub(in crate::layouts) const DONE: [&str; 4] =
    ["tasks_done", "tasksCompleted", "tasks_completed", "completed_tasks"];
/// Lists of tasks that are not done.
pub(in crate::layouts) const REMAINING: [&str; 5] =
    ["tasks_remaining", "tasksRemaining", "remaining_tasks", "todo", "pending"];
/// The last action.
pub(in crate::layouts) const LAST_ACTION: [&str; 2] = ["last_action", "lastAction"];
const FAILING: [&str; 4] = ["failing", "failed_tests", "tests_failing", "consecutive_failures"];
const DESCRIPTION: [&str; 4] = ["description", "workflow_description", "task", "title"];

/// Pairs of fields that count the same thing.
const PAIRS: [(&str, &[&str], &[&str]); 4] = [
    (
        "task",
        &["tasks_done", "tasks_completed", "completed_tasks"],
        &["total_tasks", "tasks_total"],
    ),
    (
        "step",
        &["completed_steps", "progress.completed_steps"],
        &["total_steps", "progress.total_steps"],
    ),
    ("phase", &["completed_phases", "current_phase"], &["total_phases"]),
    ("iteration", &["iteration", "current_iteration"], &["max_iterations"]),
];

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    let resume_from = entry.resume_from.clone();
    Standing {
        description: said(document, &DESCRIPTION),
        version: name(document, &["schema_version", "version"]),
        progress: tasks(document)
            .or_else(|| PAIRS.iter().find_map(|pair| counted(document, *pair))),
        tasks_done: names(document, &DONE),
        tasks_remaining: names(document, &REMAINING),
        last_action: said(document, &LAST_ACTION),
        last_feedback: said(document, &["last_feedback"]),
        score: number(document, &["score", "last_score", "quality_score"]),
        failures: count(document, &["failures", "failure_count"]),
        failing: count(document, &FAILING),
        error: message(document, &["error", "last_error"]),
        tests_passing: truth(document, "tests_passing"),
        unmet_prerequisites: unmet(document, "").or_else(|| unmet(document, "recovery_info")),
        next: resume_from.map(|place| format!("Continue from {place}.")),
        snapshot: Snapshot {
            issue: issue(entry, document, &["issue", "issue_number"]),
            branch: name(document, &["branch"]),
            body: verbatim(document, &["body"]),
            labels: labels(document, &["labels"]),
            worktree: name(document, &["worktree"]),
            plan_file: name(document, &["plan_file", "plan_path"]),
            plan_modified_at: seconds(document, &["plan_modification_time"]),
            files: files(document, &["artifacts", "files_modified"]),
            pull_request: name(document, &["pr_url", "pr_number"]),
        },
        ..Standing::default()
    }
}

fn tasks(document: &Document) -> Option<Progress> {
    let done = first_list(document, &DONE)?;
    told::progress("task", done, first_list(document, &REMAINING))
}

/// The number or list of done items, and the total.
fn counted(
    document: &Document,
    (unit, done, total): (&'static str, &[&str], &[&str]),
) -> Option<Progress> {
    let total = count(document, total)?;
    let length = |field: &&str| list(document, field).map(|items| items.len() as u64);
    let done = done.iter().find_map(length).or_else(|| count(document, done))?;
    Some(Progress { unit, done, total: Some(total), next: None })
}
