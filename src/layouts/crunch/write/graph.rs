//! The graph of tasks, in the form that restoring it reads.
//!
//! - `graph_id`: the same; else `GRAPH-DATE-HASH`, as in the checkpoint's own id. A graph without
//!   an id gets this one.
//! - `completed_batches`, `current_batch`: the same.
//! - `node_states`: the same, where a word alone is a status; else the lists of tasks that are done
//!   and remain, by the names that `resume --prompt` knows; else none.
//!
//! Each is read from `/execution_graph`, from `/graph_state`, its other name, or at the top.

use std::collections::HashSet;

use super::super::NodeStatus;
use super::Mark;
use crate::checkpoint::Document;
use crate::layouts::given::{Given, completed, object, text, text_of};
use crate::layouts::native::{DONE, REMAINING};
use crate::layouts::problem::escaped;

pub(super) fn graph(given: &mut Given<'_>) -> Document {
    let own = given.object_at(&["/execution_graph", "/graph_state"]);
    let nodes = nodes(given);
    let said = given.text_at(&places("graph_id").each_ref().map(String::as_str));
    let found = |field: &str| given.at(&places(field).each_ref().map(String::as_str)).cloned();
    let fields = [
        ("graph_id", text(Some(said.unwrap_or_else(|| made_id(given))))),
        ("completed_batches", found("completed_batches")),
        ("current_batch", found("current_batch").or(Some(Document::Null))),
        ("node_states", Some(nodes)),
    ];
    completed(fields, own)
}

fn places(field: &str) -> [String; 3] {
    ["/execution_graph/", "/graph_state/", "/"].map(|place| format!("{place}{field}"))
}

fn made_id(given: &Given<'_>) -> String {
    let Mark { date, hash } = Mark::of(given.entry);
    format!("GRAPH-{date}-{hash}")
}

fn nodes(given: &mut Given<'_>) -> Document {
    let places = places("node_states");
    let found = places.iter().find_map(|place| Some((place, given.at(&[place])?)));
    match found {
        Some((place, Document::Object(nodes))) => states(given, place, nodes),
        // Copied as it is: its type refuses it.
        Some((_, other)) => other.clone(),
        None => of_tasks(given),
    }
}

/// Restoring a node needs its status; the other fields are optional.
fn states(given: &mut Given<'_>, place: &str, nodes: &[(String, Document)]) -> Document {
    let has_status = |node: &Document| {
        text_of(node).is_some() || node.get("status").is_some_and(|it| *it != Document::Null)
    };
    if let Some((name, _)) = nodes.iter().find(|(_, node)| !has_status(node)) {
        given.miss(&format!("{place}/{}/status", escaped(name)), "where the task stands");
    }
    let state = |node: &Document| match node {
        Document::Text(word) => object([("status", text(Some(word.as_str())))]),
        other => other.clone(),
    };
    Document::Object(nodes.iter().map(|(name, node)| (name.clone(), state(node))).collect())
}

fn of_tasks(given: &mut Given<'_>) -> Document {
    let done = given.names(&DONE).unwrap_or_default();
    let remaining = given.names(&REMAINING).unwrap_or_default();
    let all: HashSet<&String> = done.iter().collect();
    if remaining.iter().any(|task| all.contains(task)) {
        let rule = "cannot be made of lists that have a task both as done and as not done";
        given.refuse("/node_states", rule);
    }
    let mut seen = HashSet::new();
    let with = |status: NodeStatus| move |task: String| (task, status);
    let tasks = done.into_iter().map(with(NodeStatus::Complete));
    let tasks = tasks.chain(remaining.into_iter().map(with(NodeStatus::Pending)));
    let tasks = tasks.filter(|(task, _)| seen.insert(task.clone()));
    let node = |status: NodeStatus| object([("status", text(Some(status.as_str())))]);
    Document::Object(tasks.map(|(task, status)| (task, node(status))).collect())
}
