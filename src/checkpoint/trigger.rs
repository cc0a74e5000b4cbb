//! Why a checkpoint was saved.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::spelling::distance;

/// Why a checkpoint was saved: a name that one of the five systems uses, or the user's own.
///
/// ```
/// use waypost::{NewEntry, Query, Store, Trigger};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?.trigger(Trigger::PreRiskyOp), &"before the merge")?;
/// store.save(NewEntry::issue("42")?.trigger("before_deploy".parse()?), &"a name of our own")?;
/// let risky = Query::default().trigger(Trigger::PreRiskyOp);
/// assert_eq!(store.list(&risky)?.entries.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// A person asked for it.
    Manual,
    /// The system decided.
    Automatic,
    /// At the boundary of a phase.
    PhaseBoundary,
    /// At an iteration of a loop.
    Iteration,
    /// Before something risky.
    PreRiskyOp,
    /// While recovering from an error.
    ErrorRecovery,
    /// From one phase to the next.
    PhaseTransition,
    /// Before a batch of work.
    BatchStart,
    /// After a batch of work.
    BatchComplete,
    /// An agent is done.
    AgentComplete,
    /// A conflict came up.
    ConflictStart,
    /// A conflict is settled.
    ConflictResolved,
    /// The user interrupted.
    UserInterrupt,
    /// The session ends.
    SessionEnd,
    /// A regular sign of life.
    Heartbeat,
    /// A phase begins.
    PhaseStart,
    /// A deliverable file is done.
    ArtifactComplete,
    /// Before a call to a service.
    BeforeExternalCall,
    /// Between two iterations of a loop.
    IterationBoundary,
    /// The source does not say.
    #[default]
    Unknown,
    /// A name of the user's own.
    Custom(CustomTrigger),
}

/// A trigger name of the user's own: `[a-z][a-z0-9_]{0,63}`, and none of the known names.
///
/// ```
/// use waypost::Trigger;
///
/// # fn main() -> waypost::Result<()> {
/// let trigger: Trigger = "before_deploy".parse()?;
/// assert!(matches!(&trigger, Trigger::Custom(_)));
/// assert_eq!(trigger.as_str(), "before_deploy");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomTrigger(String);

impl Trigger {
    /// Every known trigger.
    pub const ALL: [Self; 20] = [
        Self::Manual,
        Self::Automatic,
        Self::PhaseBoundary,
        Self::Iteration,
        Self::PreRiskyOp,
        Self::ErrorRecovery,
        Self::PhaseTransition,
        Self::BatchStart,
        Self::BatchComplete,
        Self::AgentComplete,
        Self::ConflictStart,
        Self::ConflictResolved,
        Self::UserInterrupt,
        Self::SessionEnd,
        Self::Heartbeat,
        Self::PhaseStart,
        Self::ArtifactComplete,
        Self::BeforeExternalCall,
        Self::IterationBoundary,
        Self::Unknown,
    ];

    /// The name in commands and files.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Manual => "manual",
            Self::Automatic => "automatic",
            Self::PhaseBoundary => "phase_boundary",
            Self::Iteration => "iteration",
            Self::PreRiskyOp => "pre_risky_op",
            Self::ErrorRecovery => "error_recovery",
            Self::PhaseTransition => "phase_transition",
            Self::BatchStart => "batch_start",
            Self::BatchComplete => "batch_complete",
            Self::AgentComplete => "agent_complete",
            Self::ConflictStart => "conflict_start",
            Self::ConflictResolved => "conflict_resolved",
            Self::UserInterrupt => "user_interrupt",
            Self::SessionEnd => "session_end",
            Self::Heartbeat => "heartbeat",
            Self::PhaseStart => "phase_start",
            Self::ArtifactComplete => "artifact_complete",
            Self::BeforeExternalCall => "before_external_call",
            Self::IterationBoundary => "iteration_boundary",
            Self::Unknown => "unknown",
            Self::Custom(name) => &name.0,
        }
    }

    /// Returns the known trigger that a custom name most likely means: one that differs by a letter
    /// or two.
    #[must_use]
    pub fn likely_meant(&self) -> Option<Self> {
        let Self::Custom(name) = self else { return None };
        let letters = |known: &Self| distance(&name.0, known.as_str());
        // Of a short name two letters are too much: `annual` is not `manual`.
        let is_near = |known: &Self| letters(known) <= if known.as_str().len() < 8 { 1 } else { 2 };
        Self::ALL.into_iter().filter(is_near).min_by_key(letters)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Trigger {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(known) = Self::ALL.into_iter().find(|trigger| trigger.as_str() == text) {
            return Ok(known);
        }
        let rest = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        if first && text.len() <= 64 && text.bytes().all(rest) {
            Ok(Self::Custom(CustomTrigger(text.to_owned())))
        } else {
            Err(Error::invalid("trigger", format_args!("{text:?} is not [a-z][a-z0-9_]{{0,63}}")))
        }
    }
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Trigger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        // The deserializer words the error; one of ours would quote the text.
        let expected = "a trigger like [a-z][a-z0-9_]{0,63}";
        name.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&name), &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_trigger_is_near_a_known_one_and_another_name_is_not() {
        for (typed, meant) in [
            ("iteraton", Some(Trigger::Iteration)),
            ("iterations", Some(Trigger::Iteration)),
            ("phase_transtion", Some(Trigger::PhaseTransition)),
            ("manaul", Some(Trigger::Manual)),
            ("annual", None),
            ("deploy", None),
            ("iteration", None),
        ] {
            assert_eq!(typed.parse::<Trigger>().unwrap().likely_meant(), meant, "{typed}");
        }
    }

    #[test]
    fn every_known_trigger_is_read_back_from_its_name() {
        for trigger in Trigger::ALL {
            assert_eq!(trigger.as_str().parse::<Trigger>().unwrap(), trigger);
        }
    }

    #[test]
    fn a_name_of_the_users_own_is_lower_case_and_short() {
        let own: Trigger = "deploy_2".parse().unwrap();
        assert!(matches!(own, Trigger::Custom(_)));
        assert_eq!(own.as_str(), "deploy_2");
        let long = "a".repeat(65);
        for wrong in ["", "Deploy", "2nd", "_x", "a-b", "a b", "\u{e9}t\u{e9}", &long] {
            assert!(wrong.parse::<Trigger>().is_err(), "{wrong:?}");
        }
    }
}
