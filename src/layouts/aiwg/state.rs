//! What a workflow resumes from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::layouts::problem::Checker;
use crate::layouts::word::vocabulary;
use crate::layouts::{Field, Scalar, Word};

/// The state of a workflow. Phase, progress and artifacts are required.
///
/// ```
/// use waypost::layouts::aiwg::LoopState;
/// use waypost::layouts::from_json;
///
/// # fn main() -> waypost::Result<()> {
/// let state: LoopState = from_json(br#"{"phase": "build", "progress": {"percentage": 40},
///     "iteration": {"current": 7, "max": 20}, "agent_state": {"current_agent": "coder"},
///     "artifacts": [{"path": "src/lib.rs", "status": "modified"}]}"#)?;
/// let iteration = state.iteration.value().expect("it has one");
/// assert_eq!(iteration.current.value().and_then(|it| it.as_i64()), Some(7));
/// let files = state.artifacts.value().expect("it has some");
/// assert_eq!(files[0].path.value().map(String::as_str), Some("src/lib.rs"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopState {
    /// The phase.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub phase: Field<String>,
    /// The step within the phase.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub step: Field<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub progress: Field<LoopProgress>,
    /// The iteration of a loop.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub iteration: Field<LoopIteration>,
    /// The files that it works on.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub artifacts: Field<Vec<LoopArtifact>>,
    /// Variables and context.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub variables: Field<Map<String, Value>>,
    /// The agent that is at work.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub agent_state: Field<AgentState>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How far a workflow is.
///
/// See [`LoopState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopProgress {
    /// All steps.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub total_steps: Field<Scalar>,
    /// Those that are done.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub completed_steps: Field<Scalar>,
    /// 0 to 100.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub percentage: Field<Scalar>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The iteration of a loop.
///
/// See [`LoopState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopIteration {
    /// This one; zero is legal.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current: Field<Scalar>,
    /// The last one there may be.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub max: Field<Scalar>,
    /// How many have failed.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub failures: Field<Scalar>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A file that a workflow works on.
///
/// See [`LoopState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopArtifact {
    /// Where it is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub path: Field<String>,
    /// The hash of its content.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub hash: Field<String>,
    /// What happened to it.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<Word<LoopArtifactStatus>>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An agent at work.
///
/// See [`LoopState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentState {
    /// Its name.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current_agent: Field<String>,
    /// What it remembers.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub memory: Field<Map<String, Value>>,
    /// What it is about to do.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub pending_actions: Field<Vec<String>>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// What happened to a file.
    LoopArtifactStatus {
        /// It is new.
        Created = "created",
        /// It is not as it was.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
        /// It is as it was.
        Unchanged = "unchanged",
    }
}

impl LoopState {
    /// A state with what is required, and no artifact.
    #[must_use]
    pub fn new(phase: &str) -> Self {
        Self {
            phase: phase.to_owned().into(),
            progress: LoopProgress::default().into(),
            artifacts: Vec::new().into(),
            ..Self::default()
        }
    }

    pub(super) fn check(&self, checker: &mut Checker) {
        checker.required("/state/phase", &self.phase);
        if let Some(progress) = checker.required("/state/progress", &self.progress) {
            checker.whole("/state/progress/total_steps", &progress.total_steps, 0);
            checker.whole("/state/progress/completed_steps", &progress.completed_steps, 0);
            checker.range("/state/progress/percentage", &progress.percentage, 0.0..=100.0);
        }
        if let Some(iteration) = self.iteration.value() {
            checker.whole("/state/iteration/current", &iteration.current, 0);
            checker.whole("/state/iteration/max", &iteration.max, 0);
            checker.whole("/state/iteration/failures", &iteration.failures, 0);
        }
        let artifacts = checker.required("/state/artifacts", &self.artifacts);
        for (index, artifact) in artifacts.into_iter().flatten().enumerate() {
            checker.word(&format!("/state/artifacts/{index}/status"), &artifact.status);
        }
    }
}
