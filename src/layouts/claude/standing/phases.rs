//! The phases of a workflow: which are done, which is next, and what they are called.

use std::collections::BTreeSet;

use crate::checkpoint::{Document, Status};
use crate::layouts::claude::STATES;
use crate::layouts::reading::text;
use crate::layouts::standing::Progress;
use crate::layouts::standing::told::{LIST_MAX, count, first_list, named};

/// What a checkpoint says about its phases.
pub(super) struct Phases<'a> {
    current: Option<u64>,
    total: Option<u64>,
    /// The list of completed phases as written, if any.
    completed: Option<Vec<String>>,
    state: Option<&'a str>,
}

impl<'a> Phases<'a> {
    pub(super) fn of(document: &'a Document) -> Self {
        let lists = ["completed_phases", "workflow_state.completed_phases"];
        let total = count(document, &["total_phases", "workflow_state.total_phases"]);
        Self {
            current: count(document, &["current_phase", "workflow_state.current_phase"]),
            // Scripts write 0 for an unknown total.
            total: total.filter(|total| *total > 0),
            completed: first_list(document, &lists).map(unique),
            state: text(document, "state_machine.current_state"),
        }
    }

    pub(super) fn progress(&self, status: Status) -> Option<Progress> {
        let done = match &self.completed {
            Some(completed) => completed.len() as u64,
            None => self.current?,
        };
        let is_over = status == Status::Completed || self.total.is_some_and(|total| done >= total);
        let next = self.next().filter(|next| !is_over && self.total.is_none_or(|all| *next <= all));
        Some(Progress {
            unit: "phase",
            done,
            total: self.total,
            next: next.map(|number| self.title(number)),
        })
    }

    /// Phases that are done, as `Phase 1`.
    pub(super) fn done(&self) -> Option<Vec<String>> {
        match &self.completed {
            Some(completed) => {
                Some(completed.iter().take(LIST_MAX).map(|name| called(name)).collect())
            }
            None => Some((1..=self.current?).take(LIST_MAX).map(phase).collect()),
        }
    }

    /// The others, if all are known by their numbers.
    pub(super) fn remaining(&self) -> Option<Vec<String>> {
        let total = self.total?;
        let Some(completed) = &self.completed else {
            let first = self.current?.checked_add(1)?;
            return Some((first..=total).take(LIST_MAX).map(phase).collect());
        };
        let done: Option<BTreeSet<u64>> = completed.iter().map(|name| name.parse().ok()).collect();
        let done = done?;
        // Ends soon even for a huge total: it skips at most the completed phases.
        let left = (1..=total).filter(|number| !done.contains(number));
        Some(left.take(LIST_MAX).map(phase).collect())
    }

    /// The phase that is under way, or the one after it if it is done already.
    ///
    /// Without a list of completed phases the current phase counts as done, as in the README.
    fn next(&self) -> Option<u64> {
        let current = self.current?;
        let Some(completed) = &self.completed else { return current.checked_add(1) };
        let is_done = completed.iter().any(|name| name.parse() == Ok(current));
        // Phases count from 1; the first state of a state machine is 0.
        let is_before = current == 0 && self.state_of(current).is_none();
        if is_done || is_before { current.checked_add(1) } else { Some(current) }
    }

    fn title(&self, number: u64) -> String {
        let state = self.state_of(number);
        state.map_or_else(|| phase(number), |state| format!("{} ({state})", phase(number)))
    }

    /// The state of a phase, if the machine's current state matches the current phase.
    ///
    /// Otherwise the numbers count the phases of a plan.
    fn state_of(&self, number: u64) -> Option<&'static str> {
        let at = |number: u64| STATES.get(usize::try_from(number).ok()?).copied();
        at(self.current?).filter(|state| Some(*state) == self.state)?;
        at(number)
    }
}

fn phase(number: u64) -> String {
    format!("Phase {number}")
}

fn called(name: &str) -> String {
    name.parse().map_or_else(|_| name.to_owned(), phase)
}

/// Each phase once: scripts that run twice write it twice.
fn unique(items: &[Document]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    items.iter().filter_map(named).filter(|name| seen.insert(name.clone())).collect()
}
