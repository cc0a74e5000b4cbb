//! The system's own state, as lines of the block.

use crate::layouts::{Batch, Graph, Knowledge, Messages, Standing};

/// Names of tasks in a line; the document has all.
const NAMED_MAX: usize = 100;

/// Returns lines as names and texts. Unknown values have no line.
pub(super) fn lines(standing: &Standing) -> Vec<(&'static str, String)> {
    let graph = standing.graph.iter().flat_map(graph);
    let messages = standing.messages.iter().flat_map(messages);
    let knowledge = standing.knowledge.iter().flat_map(knowledge);
    graph.chain(messages).chain(knowledge).collect()
}

fn messages(messages: &Messages) -> Vec<(&'static str, String)> {
    let lines = [
        ("Messages to send again", &messages.pending),
        ("Answers awaited, for messages", &messages.awaiting),
        ("Conflicts in progress", &messages.conflicts),
    ];
    with_ids(&lines)
}

fn knowledge(knowledge: &Knowledge) -> Vec<(&'static str, String)> {
    let lines = [
        ("Knowledge entries already injected", &knowledge.injected),
        ("Knowledge entries already captured, DO NOT capture again", &knowledge.captured),
        ("Knowledge still to capture", &knowledge.to_capture),
    ];
    with_ids(&lines)
}

/// Lists all ids: an agent would repeat work that is not listed.
fn with_ids(lines: &[(&'static str, &Vec<String>)]) -> Vec<(&'static str, String)> {
    let lines = lines.iter().filter(|(_, ids)| !ids.is_empty());
    lines.map(|(name, ids)| (*name, ids.join(", "))).collect()
}

fn graph(graph: &Graph) -> Vec<(&'static str, String)> {
    let of = |words: &[&str]| {
        let is_of = |status: &str| words.iter().any(|it| it.eq_ignore_ascii_case(status.trim()));
        let nodes = graph.nodes.iter().filter(|it| it.status.as_deref().is_some_and(is_of));
        listed(nodes.map(|it| it.id.as_str()))
    };
    let unsafe_order = graph.batches.len() == 1 && !graph.has_dependencies;
    let batches = if unsafe_order {
        "Tasks to run, whose dependencies are not recorded"
    } else {
        "Batches to run, one after the other"
    };
    let plan = match graph.batches.as_slice() {
        [batch] if unsafe_order => listed(batch.tasks.iter().map(String::as_str)),
        all => some(all.iter().take(NAMED_MAX).map(named).collect::<Vec<_>>().join("; ")),
    };
    let blocked = listed(graph.blocked.iter().map(String::as_str));
    let lines = [
        ("Current batch", graph.current_batch.clone()),
        ("Running when the checkpoint was saved, so run again", of(&["running", "in_progress"])),
        ("Failed", of(&["failed", "failure"])),
        (batches, plan),
        ("Blocked by a task that is not done", blocked),
    ];
    lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn named(batch: &Batch) -> String {
    let tasks = listed(batch.tasks.iter().map(String::as_str)).unwrap_or_default();
    format!("batch {} ({tasks})", batch.number)
}

/// Names with commas between them, and how many more there are; `None` without any.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut names = names;
    let first: Vec<&str> = names.by_ref().take(NAMED_MAX).collect();
    let first = first.join(", ");
    match names.count() {
        0 => some(first),
        more => Some(format!("{first} and {more} more")),
    }
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
