//! What comes of a checkpoint that was chosen.

use serde::Serialize;

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decision {
    /// Work goes on from it.
    Resume,
    /// Work starts over, and its series is archived.
    StartFresh,
    /// It is deleted, and nothing starts.
    Delete,
    /// The work is over, and there is nothing to go on from.
    Ended,
    /// Somebody must decide, and nobody is there.
    PromptUser,
    /// Work cannot go on from it.
    Refused,
}
