//! Which saves the file switches off.

use std::fmt;

use super::field::{Field, Section};
use super::trigger;
use crate::checkpoint::Trigger;
use crate::error::Result;

/// Why nothing is saved: the key that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    key: String,
    line: usize,
}

/// What may be saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Switches {
    everything: Option<Off>,
    automatic: Option<Off>,
    /// `None` if it is on, whatever is said of automatic ones.
    listed: Vec<(Trigger, Option<Off>)>,
}

impl Off {
    /// The key that is false, such as `checkpoint.enabled`.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// `Some` if the value is false.
    fn of(field: &Field<'_>) -> Result<Option<Self>> {
        let off = || Self { key: field.path().to_owned(), line: field.line() };
        Ok((!field.bool()?).then(off))
    }
}

impl fmt::Display for Off {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is false (line {})", self.key, self.line)
    }
}

impl Switches {
    pub(super) fn of(checkpoint: &Section<'_>) -> Result<Self> {
        let triggers = checkpoint.section("checkpoint_triggers")?;
        let listed = trigger::rows(&triggers, &[])?.into_iter();
        Ok(Self {
            everything: checkpoint.value("enabled", Off::of)?.flatten(),
            automatic: checkpoint.value("auto_checkpoint", Off::of)?.flatten(),
            listed: listed
                .map(|(trigger, field)| Ok((trigger, Off::of(field)?)))
                .collect::<Result<_>>()?,
        })
    }

    pub(super) fn refusal(&self, trigger: &Trigger) -> Option<&Off> {
        if self.everything.is_some() {
            return self.everything.as_ref();
        }
        match self.listed.iter().find(|(listed, _)| listed == trigger) {
            Some((_, off)) => off.as_ref(),
            None if is_automatic(trigger) => self.automatic.as_ref(),
            None => None,
        }
    }
}

/// Whether nobody asked for it. What does not say why it was saved may well have been asked for.
fn is_automatic(trigger: &Trigger) -> bool {
    match trigger {
        Trigger::Manual | Trigger::UserInterrupt | Trigger::SessionEnd | Trigger::Unknown => false,
        Trigger::Automatic
        | Trigger::PhaseBoundary
        | Trigger::Iteration
        | Trigger::PreRiskyOp
        | Trigger::ErrorRecovery
        | Trigger::PhaseTransition
        | Trigger::BatchStart
        | Trigger::BatchComplete
        | Trigger::AgentComplete
        | Trigger::ConflictStart
        | Trigger::ConflictResolved
        | Trigger::Heartbeat
        | Trigger::Custom(_) => true,
    }
}
