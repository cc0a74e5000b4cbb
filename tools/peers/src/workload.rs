//! What is saved: loops that take turns, the same for every rival.

use anyhow::Result;
use clap::ValueEnum;
use waypost::{Issue, NewEntry, Series, Trigger};

use crate::document::{AgentLoop, LoopState, Shape};

/// Loops of one process, as an orchestrator runs them.
const LOOPS: u32 = 8;
/// Fewer than loops, so that a list of an issue is drawn from several series.
const ISSUES: u32 = 4;

/// How the documents of a loop change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Motion {
    /// Keeps its size: what is old is forgotten.
    Window,
    /// Grows: what is old stays.
    History,
}

/// One kind of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scenario {
    /// Length of the first document of a loop.
    pub(crate) kilobytes: u32,
    pub(crate) motion: Motion,
}

impl Motion {
    pub(crate) const ALL: [Self; 2] = [Self::Window, Self::History];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::History => "history",
        }
    }
}

impl Scenario {
    pub(crate) fn name(self) -> String {
        format!("{} KB {}", self.kilobytes, self.motion.name())
    }

    fn shape(self) -> Shape {
        let grows = self.motion == Motion::History;
        Shape { grows, ..Shape::of(self.kilobytes as usize * 1024) }
    }
}

/// Loops that save in turns.
#[derive(Debug, Clone)]
pub(crate) struct Fleet {
    members: Vec<Member>,
    next: usize,
}

#[derive(Debug, Clone)]
struct Member {
    agent_loop: AgentLoop,
    number: u32,
}

impl Fleet {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let members = (0..LOOPS).map(|number| Member::new(scenario, number)).collect();
        Self { members, next: 0 }
    }

    /// A fleet of one loop, the `number`th.
    pub(crate) fn lone(scenario: Scenario, number: u32) -> Self {
        Self { members: vec![Member::new(scenario, number)], next: 0 }
    }

    /// Lets the loop whose turn it is advance, and returns what it saves.
    pub(crate) fn step(&mut self) -> Result<(NewEntry, &LoopState)> {
        let count = self.members.len();
        let member = &mut self.members[self.next % count];
        self.next += 1;
        member.agent_loop.advance();
        Ok((about(&member.agent_loop, member.number)?, &member.agent_loop.state))
    }

    /// The series of the loops.
    pub(crate) fn series(&self) -> Vec<Series> {
        self.members.iter().map(|member| Series::of(&member.agent_loop.about())).collect()
    }

    /// The newest documents of the loops, in the order of [`Fleet::series`].
    pub(crate) fn documents(&self) -> Vec<String> {
        self.members.iter().map(|member| member.agent_loop.state.to_json()).collect()
    }
}

impl Member {
    fn new(scenario: Scenario, number: u32) -> Self {
        Self { agent_loop: AgentLoop::new(number, scenario.shape()), number }
    }
}

/// The issue of the first loop, and of others.
pub(crate) const FIRST_ISSUE: &str = "0";

/// A trigger that the first loop never has, though others do.
pub(crate) fn absent_trigger() -> Trigger {
    trigger(1)
}

fn about(agent_loop: &AgentLoop, number: u32) -> Result<NewEntry> {
    Ok(NewEntry {
        issue: Some(Issue::new((number % ISSUES).to_string())?),
        trigger: trigger(number),
        ..agent_loop.about()
    })
}

fn trigger(number: u32) -> Trigger {
    if number.is_multiple_of(2) { Trigger::Iteration } else { Trigger::Manual }
}
