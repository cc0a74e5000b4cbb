//! Batches of the tasks that are pending: a batch can start when the one before it is done.
//!
//! Claude-crunch restores its graph this way: every task keeps its status, result and times, and
//! batches are planned again. A pending task goes into the first batch in which all tasks that it
//! depends on are done. Running tasks count as pending: they were interrupted. Failed and skipped
//! tasks are in no batch, and what depends on them is blocked. Without dependencies in the
//! document, its own batches stay, less the completed tasks. Without batches there is a single one,
//! marked as such.

use std::collections::BTreeMap;

use super::graph::{Task, TaskState};

/// Batches of tasks, by index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) batches: Vec<Vec<usize>>,
    /// Tasks that can never start.
    pub(super) blocked: Vec<usize>,
}

/// Puts every open task into the first batch in which all its dependencies are done.
///
/// Without dependencies the tasks stay in the batches that the document has, `groups`, else in
/// those that they name; else they are one batch.
pub(super) fn plan(tasks: &[Task], groups: &[Vec<usize>], has_dependencies: bool) -> Plan {
    if has_dependencies {
        return by_dependencies(tasks);
    }
    let open = |place: &usize| tasks.get(*place).is_some_and(|it| it.state == TaskState::Open);
    let mut is_placed = vec![false; tasks.len()];
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for group in groups.iter().cloned().chain(by_number(tasks)) {
        let mut batch = group;
        batch.retain(|place| open(place) && !std::mem::replace(&mut is_placed[*place], true));
        batches.push(batch);
    }
    batches.push((0..tasks.len()).filter(|place| open(place) && !is_placed[*place]).collect());
    batches.retain(|batch| !batch.is_empty());
    Plan { batches, blocked: Vec::new() }
}

fn by_number(tasks: &[Task]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, task) in tasks.iter().enumerate() {
        if let Some(number) = task.batch {
            groups.entry(number).or_default().push(place);
        }
    }
    groups.into_values().collect()
}

fn by_dependencies(tasks: &[Task]) -> Plan {
    let is_done = |place: usize| tasks[place].state == TaskState::Done;
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut waits_for = vec![0_usize; tasks.len()];
    for (place, task) in tasks.iter().enumerate() {
        for before in task.after.iter().filter(|it| !it.is_some_and(is_done)) {
            waits_for[place] += 1;
            if let Some(before) = before {
                dependents[*before].push(place);
            }
        }
    }
    let is_ready = |place: usize, waits_for: &[usize]| {
        tasks[place].state == TaskState::Open && waits_for[place] == 0
    };
    let mut plan = Plan::default();
    let mut is_placed = vec![false; tasks.len()];
    let mut batch: Vec<usize> = (0..tasks.len()).filter(|it| is_ready(*it, &waits_for)).collect();
    while !batch.is_empty() {
        let mut next = Vec::new();
        for place in &batch {
            is_placed[*place] = true;
            for dependent in &dependents[*place] {
                waits_for[*dependent] -= 1;
                if is_ready(*dependent, &waits_for) {
                    next.push(*dependent);
                }
            }
        }
        next.sort_unstable();
        plan.batches.push(std::mem::replace(&mut batch, next));
    }
    let is_left = |place: &usize| tasks[*place].state == TaskState::Open && !is_placed[*place];
    plan.blocked = (0..tasks.len()).filter(is_left).collect();
    plan
}
