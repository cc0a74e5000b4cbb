//! What a team of agents shares: its messages, and what it knows.

use serde::Serialize;

/// Messages between agents that were under way when a checkpoint was saved, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Messages {
    /// Those that were not delivered, and are to be sent again.
    pub pending: Vec<String>,
    /// Those whose answer is awaited.
    pub awaiting: Vec<String>,
    /// Conflicts that are being resolved.
    pub conflicts: Vec<String>,
}

/// What was taken from and put into a knowledge base, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Knowledge {
    /// Entries that were injected into the work.
    pub injected: Vec<String>,
    /// Entries that were captured from the work, and are not to be captured again.
    pub captured: Vec<String>,
    /// What is still to be captured. What was captured since is left out.
    pub to_capture: Vec<String>,
}
