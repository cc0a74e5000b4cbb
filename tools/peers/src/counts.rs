//! How often each thing is done: enough for a steady figure, little enough for a short run.

use crate::workload::{Motion, Scenario};

/// Savers in a crowd.
pub(crate) const THREADS: u32 = 64;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    /// Checkpoints in the store that is read, exported and pruned.
    pub(crate) fill: u32,
    /// Rounds of each work, in each of which every rival has its turn.
    pub(crate) rounds: u32,
    /// Durable saves of a rival in a round.
    pub(crate) turn: u32,
    /// Saves of each thread of a crowd in a round.
    pub(crate) crowd: u32,
    /// Saves in a round whose processor time is taken.
    pub(crate) processor: u32,
    /// Reads of each kind in a round.
    pub(crate) reads: u32,
    /// Checkpoints that are deleted.
    pub(crate) delete: u32,
}

impl Counts {
    pub(crate) fn of(scenario: Scenario) -> Self {
        let is_large = scenario.kilobytes > 64;
        let is_pruned = scenario == Scenario { kilobytes: 64, motion: Motion::Window };
        let fill = match (is_large, is_pruned) {
            (true, _) => 600,
            // The goal for pruning speaks of 5,000.
            (false, true) => 6_000,
            (false, false) => 3_000,
        };
        let counts = Self {
            fill,
            rounds: 9,
            turn: 24,
            crowd: 6,
            processor: 150,
            reads: 50,
            delete: fill / 6 * 5,
        };
        if is_large { Self { turn: 12, crowd: 2, processor: 20, ..counts } } else { counts }
    }

    /// For a run of a minute: the figures are rough.
    pub(crate) fn quick(scenario: Scenario) -> Self {
        let fill = 240;
        let quick =
            Self { fill, rounds: 3, turn: 6, crowd: 2, processor: 20, reads: 20, delete: 200 };
        if scenario.kilobytes > 64 { Self { fill: 96, delete: 80, ..quick } } else { quick }
    }

    /// The same with another number of checkpoints in the store that is read.
    pub(crate) fn with_fill(self, fill: u32) -> Self {
        Self { fill, delete: fill / 6 * 5, ..self }
    }

    /// The same with another number of rounds.
    pub(crate) fn with_rounds(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }
}
