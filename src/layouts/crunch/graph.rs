//! The execution graph of a checkpoint: tasks, their status and their dependencies.
//!
//! The template has `node_states` by task. Another one has a list of `nodes` with dependencies, and
//! `edges`; a model mixes both.

use std::collections::HashMap;

use super::batches::{self, Plan};
use super::ids::{id_of, ids};
use crate::checkpoint::{Document, Status};
use crate::layouts::reading::{at, list, text, whole_of};
use crate::layouts::standing::told::{LIST_MAX, cut, first_list, name, named, said};
use crate::layouts::standing::{Batch, Graph, GraphNode, Progress};
use crate::layouts::status;

/// One of the templates has another name for the graph.
pub(super) const GRAPHS: [&str; 2] = ["execution_graph", "graph_state"];
const NODES: [&str; 2] = ["node_states", "nodes"];
const DEPENDENCIES: [&str; 5] = ["dependencies", "depends_on", "dependsOn", "deps", "blocked_by"];
const TASKS: [&str; 4] = ["tasks", "nodes", "task_ids", "node_ids"];
const BATCH: [&str; 3] = ["batch", "batch_id", "batch_number"];
const STARTED: [&str; 2] = ["started_at", "startedAt"];
const COMPLETED: [&str; 2] = ["completed_at", "completedAt"];

/// A task, as the planning of batches sees it.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) state: TaskState,
    /// Indexes of the tasks it depends on; `None` for one that is not in the graph.
    pub(super) after: Vec<Option<usize>>,
    /// The number of its batch, if stated.
    pub(super) batch: Option<u64>,
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskState {
    /// Pending, queued or running when it was saved, or with an unknown status.
    Open,
    Done,
    Failed,
    Skipped,
}

/// A graph that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) graph: Graph,
    states: Vec<TaskState>,
    beyond: [u64; 2],
}

/// Returns the graph of a document, if it has one.
pub(super) fn read(document: &Document) -> Option<Read> {
    let graph = GRAPHS.iter().find_map(|field| at(document, field))?;
    if !matches!(graph, Document::Object(_)) {
        return None;
    }
    let nodes = Nodes::of(graph);
    let tasks = nodes.tasks(graph);
    let completed = list(graph, "completed_batches").unwrap_or_default();
    let current = at(graph, "current_batch").and_then(named);
    let has_dependencies = nodes.has_dependencies(graph);
    let plan = batches::plan(&tasks, &nodes.groups(graph), has_dependencies);
    let first = first_number(graph, completed);
    let states = tasks.iter().map(|task| task.state).collect();
    let graph = Graph {
        id: name(graph, &["graph_id", "id"]),
        completed_batches: completed.iter().filter_map(named).take(LIST_MAX).collect(),
        current_batch: current,
        batches: nodes.numbered(&plan, first),
        blocked: nodes.names(&plan.blocked),
        has_dependencies,
        nodes: nodes.list.iter().map(|(id, value)| node(id, value)).collect(),
    };
    Some(Read { graph, states, beyond: nodes.beyond })
}

impl Read {
    /// The tasks that are done, and those that are not; `None` if there are no tasks. A task that
    /// was skipped is neither.
    pub(super) fn tasks(&self) -> Option<[Vec<String>; 2]> {
        let of = |wanted: &[TaskState]| {
            let nodes = self.graph.nodes.iter().zip(&self.states);
            nodes.filter(|(_, it)| wanted.contains(it)).map(|(node, _)| node.id.clone()).collect()
        };
        let has_some = !self.graph.nodes.is_empty();
        has_some.then(|| [of(&[TaskState::Done]), of(&[TaskState::Open, TaskState::Failed])])
    }

    /// The progress of the tasks.
    pub(super) fn progress(&self) -> Option<Progress> {
        let [done, remaining] = self.tasks()?;
        let left = remaining.len() as u64 + self.beyond[1];
        let done = done.len() as u64 + self.beyond[0];
        let next = remaining.into_iter().next();
        Some(Progress { unit: "task", done, total: Some(done + left), next })
    }
}

/// The tasks by id, with the values that describe each: its state before its definition.
#[derive(Default)]
struct Nodes<'a> {
    list: Vec<(String, Vec<&'a Document>)>,
    places: HashMap<String, usize>,
    /// Number of done and remaining tasks beyond the length of the list.
    beyond: [u64; 2],
}

impl<'a> Nodes<'a> {
    fn of(graph: &'a Document) -> Self {
        let mut nodes = Self::default();
        for field in NODES {
            match at(graph, field) {
                Some(Document::Object(members)) => {
                    for (id, value) in members {
                        nodes.add(cut(id), value);
                    }
                }
                Some(Document::Array(items)) => {
                    for (id, value) in items.iter().filter_map(|it| Some((id_of(it)?, it))) {
                        nodes.add(id, value);
                    }
                }
                _ => {}
            }
        }
        nodes
    }

    fn add(&mut self, id: String, value: &'a Document) {
        let next = self.list.len();
        let place = *self.places.entry(id.clone()).or_insert(next);
        if let Some((_, values)) = self.list.get_mut(place) {
            values.push(value);
        } else if next < LIST_MAX {
            self.list.push((id, vec![value]));
        } else {
            self.places.remove(&id);
            match state(&[value]) {
                TaskState::Done => self.beyond[0] += 1,
                TaskState::Open | TaskState::Failed => self.beyond[1] += 1,
                TaskState::Skipped => {}
            }
        }
    }

    fn tasks(&self, graph: &Document) -> Vec<Task> {
        let place = |id: &String| self.places.get(id).copied();
        let mut tasks: Vec<Task> = self
            .list
            .iter()
            .map(|(_, values)| Task {
                state: state(values),
                after: ids_in(values).iter().map(place).collect(),
                batch: values.iter().find_map(|it| number(it)),
            })
            .collect();
        for edge in list(graph, "edges").unwrap_or_default() {
            let end = |fields| said(edge, fields);
            let (from, to) = (end(&["from", "source"]), end(&["to", "target"]));
            let to = to.as_ref().and_then(place).and_then(|to| tasks.get_mut(to));
            if let (Some(from), Some(task)) = (from, to) {
                task.after.push(place(&from));
            }
        }
        tasks
    }

    fn has_dependencies(&self, graph: &Document) -> bool {
        let has = |value: &&Document| DEPENDENCIES.iter().any(|field| at(value, field).is_some());
        list(graph, "edges").is_some()
            || self.list.iter().any(|(_, values)| values.iter().any(&has))
    }

    /// The tasks of batches that the document has itself.
    fn groups(&self, graph: &Document) -> Vec<Vec<usize>> {
        let groups = first_list(graph, &["batches"]).unwrap_or_default().iter();
        let names = groups.map(|group| match group {
            Document::Array(_) => ids(group),
            _ => TASKS.iter().find_map(|field| at(group, field)).map_or_else(Vec::new, ids),
        });
        let place = |id: &String| self.places.get(id).copied();
        names.map(|names| names.iter().filter_map(place).collect()).collect()
    }

    fn names(&self, places: &[usize]) -> Vec<String> {
        places.iter().filter_map(|place| self.list.get(*place)).map(|(id, _)| id.clone()).collect()
    }

    fn numbered(&self, plan: &Plan, first: u64) -> Vec<Batch> {
        let numbers = (0..).map(|more| first.saturating_add(more));
        let batches = numbers.zip(&plan.batches);
        batches.map(|(number, tasks)| Batch { number, tasks: self.names(tasks) }).collect()
    }
}

fn node(id: &str, values: &[&Document]) -> GraphNode {
    let first = |fields: &[&str]| values.iter().find_map(|value| said(value, fields));
    GraphNode {
        id: id.to_owned(),
        status: word(values).map(cut),
        result: values.iter().find_map(|value| at(value, "result")).cloned(),
        started_at: first(&STARTED),
        completed_at: first(&COMPLETED),
    }
}

/// The status word of a task; a model may write the word alone instead of an object.
fn word<'a>(values: &[&'a Document]) -> Option<&'a str> {
    values.iter().find_map(|value| match value {
        Document::Text(word) => Some(word.as_str()),
        _ => text(value, "status").or_else(|| text(value, "state")),
    })
}

fn state(values: &[&Document]) -> TaskState {
    let word = word(values).unwrap_or_default().trim();
    match status(word) {
        _ if word.eq_ignore_ascii_case(super::NodeStatus::Skipped.as_str()) => TaskState::Skipped,
        Status::Completed => TaskState::Done,
        Status::Failed => TaskState::Failed,
        Status::InProgress | Status::Paused | Status::Archived | Status::Unknown => TaskState::Open,
    }
}

fn ids_in(values: &[&Document]) -> Vec<String> {
    let fields = DEPENDENCIES.iter().flat_map(|field| values.iter().map(move |it| at(it, field)));
    fields.flatten().flat_map(ids).collect()
}

fn number(value: &Document) -> Option<u64> {
    BATCH.iter().find_map(|field| whole_of(at(value, field)?))
}

/// The number of the first batch that is left: the current one, unless that is done.
fn first_number(graph: &Document, completed: &[Document]) -> u64 {
    let current = at(graph, "current_batch").and_then(whole_of);
    let last = completed.iter().filter_map(whole_of).max();
    match (current, last) {
        (Some(current), Some(last)) if current <= last => last.saturating_add(1),
        (Some(current), _) => current,
        (None, Some(last)) => last.saturating_add(1),
        (None, None) => 1,
    }
}
