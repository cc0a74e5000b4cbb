//! Where the work on an issue stands.
//!
//! A checkpoint is refused if its resume algorithm misses the issue, the phase, the graph, or where
//! to go on. Values that only the index or the directory has are in the entry.

use super::graph::{self, GRAPHS, Read};
use super::{VERSION, shared};
use crate::checkpoint::{Document, Entry};
use crate::layouts::reading::{at, is_object, list, text, truth, whole};
use crate::layouts::standing::told::{
    LIST_MAX, files, first_list, issue, labels, name, named, newer, required, said, verbatim,
};
use crate::layouts::standing::unmet::unmet;
use crate::layouts::standing::{Progress, Snapshot, Standing};
use crate::layouts::{Problem, time};

const SUMMARY: &str = "output_summary";

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    let graph = GRAPHS.iter().find_map(|field| at(document, field)).unwrap_or(&Document::Null);
    let batches = list(graph, "completed_batches");
    let read = graph::read(document);
    let (tasks_done, tasks_remaining) = match read.as_ref().and_then(Read::tasks) {
        Some([done, remaining]) => (Some(done), Some(remaining)),
        // The document does not say which batches will follow.
        None => (batches.map(|all| all.iter().filter_map(batch).take(LIST_MAX).collect()), None),
    };
    let attempt = whole(document, "workflow_state.phase_attempt");
    Standing {
        description: said(document, &["issue_snapshot.title"]),
        version: name(document, &["version"]),
        refusals: refusals(entry, document),
        progress: progress(graph, batches).or_else(|| read.as_ref().and_then(Read::progress)),
        tasks_done,
        tasks_remaining,
        last_action: last_output(document),
        failures: attempt.map(|attempt| attempt.saturating_sub(1)),
        unmet_prerequisites: unmet(document, "recovery_info").or_else(|| unmet(document, "")),
        next: resume_from(entry, document).map(|place| format!("Continue from {place}.")),
        snapshot: Snapshot {
            issue: issue(entry, document, &["issue_number"]),
            branch: name(document, &["issue_snapshot.branch"]),
            body: verbatim(document, &["issue_snapshot.body"]),
            labels: labels(document, &["issue_snapshot.labels"]),
            files: files(document, &["files_modified"]),
            ..Snapshot::default()
        },
        graph: read.map(|read| read.graph),
        messages: shared::messages(document),
        knowledge: shared::knowledge(document),
        ..Standing::default()
    }
}

fn refusals(entry: &Entry, document: &Document) -> Vec<Problem> {
    let can_resume = truth(document, "recovery_info.can_resume").or(entry.can_resume);
    let has_graph = GRAPHS.iter().any(|field| is_object(document, field));
    let has = |field: &str| at(document, field).is_some();
    let needed = [
        (entry.issue.is_some() || has("issue_number"), "issue_number"),
        (
            entry.phase.is_some() || has("workflow_state.current_phase"),
            "workflow_state.current_phase",
        ),
        (has_graph, GRAPHS[0]),
        (can_resume.is_some(), "recovery_info.can_resume"),
        // A checkpoint that cannot be resumed has no such place; the entry says that it cannot.
        (
            can_resume == Some(false) || resume_from(entry, document).is_some(),
            "recovery_info.resume_from",
        ),
    ];
    let missing = needed.into_iter().filter(|(is_there, _)| !is_there);
    let missing = missing.map(|(_, field)| required(field));
    newer(document, "version", VERSION).into_iter().chain(missing).collect()
}

fn resume_from(entry: &Entry, document: &Document) -> Option<String> {
    said(document, &["recovery_info.resume_from"]).or_else(|| entry.resume_from.clone())
}

fn progress(graph: &Document, batches: Option<&[Document]>) -> Option<Progress> {
    let done = batches?.len() as u64;
    let total = whole(graph, "total_batches")
        .or_else(|| first_list(graph, &["batches"]).map(|batches| batches.len() as u64));
    let next = at(graph, "current_batch").and_then(batch);
    Some(Progress { unit: "batch", done, total, next })
}

/// What a batch is called, by its number or its name.
fn batch(value: &Document) -> Option<String> {
    let name = named(value)?;
    Some(if name.parse::<u64>().is_ok() { format!("batch {name}") } else { name })
}

/// The output of the agent that finished last; without times, the last output in the list.
fn last_output(document: &Document) -> Option<String> {
    let Some(Document::Object(agents)) = at(document, "agent_outputs") else { return None };
    let tasks = agents.iter().flat_map(|(_, tasks)| match tasks {
        Document::Object(tasks) => tasks.as_slice(),
        _ => &[],
    });
    let outputs = tasks.map(|(_, output)| output).filter(|output| has_words(output));
    let completed_at = |output: &&Document| {
        text(output, "completed_at").and_then(time::of_text).map(|(time, _)| time)
    };
    said(outputs.max_by_key(completed_at)?, &[SUMMARY])
}

fn has_words(output: &Document) -> bool {
    text(output, SUMMARY).is_some_and(|text| !text.trim().is_empty())
}
