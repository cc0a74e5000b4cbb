//! Which saves the file switches off.

use std::fmt;

use super::field::{Field, Section};
use super::trigger;
use crate::checkpoint::Trigger;
use crate::error::Result;

/// Why nothing is saved: the key that says so.
///
/// See [`Config`](crate::Config) for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    key: String,
    line: usize,
}

/// What may be saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Switches {
    everything: Option<Off>,
    /// Whether the file says that saving is on.
    is_enabled: bool,
    automatic: Option<Off>,
    /// `None` if it is on.
    listed: Vec<(Trigger, Option<Off>)>,
}

impl Off {
    /// The line that says so.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

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
            is_enabled: checkpoint.value("enabled", Field::bool)?.unwrap_or(false),
            automatic: checkpoint.value("auto_checkpoint", Off::of)?.flatten(),
            listed: listed
                .map(|(trigger, field)| Ok((trigger, Off::of(field)?)))
                .collect::<Result<_>>()?,
        })
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    pub(super) fn refusal(&self, trigger: &Trigger) -> Option<&Off> {
        let automatic = self.automatic.as_ref().filter(|_| is_automatic(trigger));
        let listed = self.listed.iter().find(|(listed, _)| listed == trigger);
        let listed = listed.and_then(|(_, off)| off.as_ref());
        self.everything.as_ref().or(automatic).or(listed)
    }

    /// The triggers that are off: of the known ones and of those that the file lists.
    pub(super) fn off(&self) -> Vec<Trigger> {
        let known = Trigger::ALL.into_iter();
        let own = self.listed.iter().map(|(trigger, _)| trigger.clone());
        let mut off: Vec<Trigger> =
            known.chain(own).filter(|trigger| self.refusal(trigger).is_some()).collect();
        off.sort();
        off.dedup();
        off
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
        | Trigger::PhaseStart
        | Trigger::ArtifactComplete
        | Trigger::BeforeExternalCall
        | Trigger::IterationBoundary
        | Trigger::Custom(_) => true,
    }
}
