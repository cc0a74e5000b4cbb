//! Where a loop stands, in the spellings of AIWG's code and of language models.

use super::iteration_after;
use crate::checkpoint::{Document, Entry, Status};
use crate::layouts::reading::{at, list, text};
use crate::layouts::standing::told::{
    LIST_MAX, count, cut, files, first_list, issue, message, name, named, names, number, progress,
    said,
};
use crate::layouts::standing::{Progress, Snapshot, Standing};
use crate::layouts::status;

pub(super) const ITERATION: [&str; 2] = ["currentIteration", "current_iteration"];
const ITERATIONS_MAX: [&str; 2] = ["maxIterations", "max_iterations"];
const DONE: [&str; 6] = [
    "phases_completed",
    "phasesCompleted",
    "tasks_completed",
    "tasksCompleted",
    "completed_tasks",
    "issues_completed",
];
const REMAINING: [&str; 6] = [
    "phases_pending",
    "phasesPending",
    "tasks_remaining",
    "tasksRemaining",
    "pending_tasks",
    "pending_actions",
];
const LAST: [&str; 4] = ["lastAction", "last_action", "lastResult", "last_result"];
const ERROR: [&str; 3] = ["lastError", "last_error", "error"];
const FAILURES: [&str; 3] = ["failures", "failureCount", "failure_count"];
const SCORE: [&str; 3] = ["score", "qualityScore", "quality_score"];

pub(super) fn standing(entry: &Entry, document: &Document) -> Standing {
    let phases = Phases::of(document);
    let (done, remaining) = phases.map_or((None, None), |it| (Some(it.done), Some(it.remaining)));
    Standing {
        description: said(document, &["task", "objective"]),
        version: name(document, &["version"]),
        progress: steps(document).or_else(|| iterations(entry, document)),
        tasks_done: names(document, &DONE).or(done),
        tasks_remaining: names(document, &REMAINING).or(remaining),
        last_action: last_action(document),
        score: number(document, &SCORE),
        failures: count(document, &FAILURES).or_else(|| failed(document)),
        error: message(document, &ERROR),
        snapshot: Snapshot {
            issue: issue(entry, document, &["giteaIntegration.issueNumber"]),
            branch: name(document, &["branch"]),
            files: files(document, &["filesModified", "files_modified"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// Progress by the lists of done and remaining phases or tasks, if both exist, else by the word of
/// each phase.
fn steps(document: &Document) -> Option<Progress> {
    let (done, left) = (first_list(document, &DONE), first_list(document, &REMAINING));
    if let (Some(done), Some(left)) = (done, left) {
        return progress("phase", done, Some(left));
    }
    let phases = Phases::of(document)?;
    let total = Some(phases.count);
    let next = phases.remaining.into_iter().next();
    Some(Progress { unit: "phase", done: phases.done_count, total, next })
}

/// AIWG's code lists every finished iteration. Without the list the current iteration counts as
/// done.
fn iterations(entry: &Entry, document: &Document) -> Option<Progress> {
    let current = count(document, &ITERATION)?;
    let total = count(document, &ITERATIONS_MAX);
    let written = list(document, "iterations").map(|records| records.len() as u64);
    let done = written.map_or(current, |written| written.max(current.saturating_sub(1)));
    let is_over = entry.status == Status::Completed;
    let next = iteration_after(done, total).filter(|_| !is_over);
    Some(Progress { unit: "iteration", done, total, next })
}

/// `phases` as an object that has a word for each.
struct Phases {
    done: Vec<String>,
    remaining: Vec<String>,
    done_count: u64,
    count: u64,
}

impl Phases {
    fn of(document: &Document) -> Option<Self> {
        let Some(Document::Object(fields)) = at(document, "phases") else { return None };
        let words = fields.iter().filter_map(|(name, value)| match value {
            Document::Text(word) => Some((name, status(word) == Status::Completed)),
            _ => Some((name, status(text(value, "status")?) == Status::Completed)),
        });
        let (done, remaining): (Vec<_>, Vec<_>) = words.partition(|(_, is_done)| *is_done);
        let kept = |all: &[(&String, bool)]| {
            all.iter().take(LIST_MAX).map(|(name, _)| cut(name)).collect()
        };
        let counts = (done.len() as u64, (done.len() + remaining.len()) as u64);
        (counts.1 > 0).then(|| Self {
            done: kept(&done),
            remaining: kept(&remaining),
            done_count: counts.0,
            count: counts.1,
        })
    }
}

/// The last action, else the summary of the last iteration, else its learnings.
fn last_action(document: &Document) -> Option<String> {
    let of_iteration =
        || message(last(document, "iterations")?, &["progress", "summary", "result"]);
    let lesson = || named(last(document, "learnings")?);
    message(document, &LAST).or_else(of_iteration).or_else(lesson)
}

fn last<'a>(document: &'a Document, field: &str) -> Option<&'a Document> {
    list(document, field)?.last()
}

/// Number of iterations listed as failed or crashed.
fn failed(document: &Document) -> Option<u64> {
    let is_failed = |record: &&Document| {
        text(record, "status")
            .is_some_and(|word| word == "crashed" || status(word) == Status::Failed)
    };
    Some(list(document, "iterations")?.iter().filter(is_failed).count() as u64)
}
