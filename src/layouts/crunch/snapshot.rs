//! The parts of a checkpoint.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Phase;
use crate::layouts::problem::{Checker, Code, not_one_of};
use crate::layouts::word::vocabulary;
use crate::layouts::{Field, Scalar, Word};

/// Where the work is.
///
/// See [`IssueCheckpoint`](crate::layouts::crunch::IssueCheckpoint) for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowState {
    /// The phase.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current_phase: Field<Word<Phase>>,
    /// The label of the issue that says so, such as `state:enrich`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current_state_label: Field<String>,
    /// When the phase began, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub phase_started_at: Field<String>,
    /// How often the phase was tried, from one.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub phase_attempt: Field<Scalar>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The issue as it was.
///
/// See [`IssueCheckpoint`](crate::layouts::crunch::IssueCheckpoint) for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IssueSnapshot {
    /// Its title.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub title: Field<String>,
    /// Its text.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub body: Field<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub labels: Field<Vec<String>>,
    /// Who it is assigned to.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub assignees: Field<Vec<String>>,
    /// The branch it is worked on in.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub branch: Field<String>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Who works on an issue.
///
/// ```
/// use waypost::layouts::crunch::TeamState;
/// use waypost::layouts::from_yaml;
///
/// # fn main() -> waypost::Result<()> {
/// let team: TeamState = from_yaml(b"
/// team_id: issue-42
/// members: [{agent: coder-1, role: coder, tasks_completed: '3'}]
/// ")?;
/// let members = team.members.value().expect("it has some");
/// assert_eq!(members[0].tasks_completed.value().and_then(|it| it.as_i64()), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamState {
    /// The team.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub team_id: Field<String>,
    /// Its agents.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub members: Field<Vec<Member>>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An agent of a team.
///
/// See [`TeamState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// Its name.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub agent: Field<String>,
    /// Its role.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub role: Field<String>,
    /// Whether it is at work, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
    /// How many tasks it has done.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tasks_completed: Field<Scalar>,
    /// How many it has left.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tasks_pending: Field<Scalar>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Which tasks are done.
///
/// ```
/// use waypost::layouts::crunch::{ExecutionGraph, NodeStatus};
/// use waypost::layouts::from_yaml;
///
/// # fn main() -> waypost::Result<()> {
/// let graph: ExecutionGraph = from_yaml(b"
/// completed_batches: [1]
/// current_batch: 2
/// node_states: {plan: {status: complete}, code: {status: running}}
/// ")?;
/// let nodes = graph.node_states.value().expect("it has some");
/// let status = nodes["plan"].status.value().and_then(|status| status.known());
/// assert_eq!(status, Some(NodeStatus::Complete));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionGraph {
    /// The graph.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub graph_id: Field<String>,
    /// Batches that are done.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub completed_batches: Field<Vec<Scalar>>,
    /// The batch that is under way.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current_batch: Field<Scalar>,
    /// The tasks, by id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub node_states: Field<BTreeMap<String, NodeState>>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A task of a graph.
///
/// See [`ExecutionGraph`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// Where it stands.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<Word<NodeStatus>>,
    /// Its result.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub result: Field<Value>,
    /// When it began, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub started_at: Field<String>,
    /// When it ended, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub completed_at: Field<String>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A changed file.
///
/// See [`IssueCheckpoint`](crate::layouts::crunch::IssueCheckpoint) for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileState {
    /// Where it is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub path: Field<String>,
    /// What happened to it, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
    /// Whether git has it staged.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub staged: Field<bool>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Whether and where work can go on.
///
/// See [`IssueCheckpoint`](crate::layouts::crunch::IssueCheckpoint) for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecoveryInfo {
    /// Whether it can.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub can_resume: Field<bool>,
    /// Where, such as `batch_3_task_1`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub resume_from: Field<String>,
    /// Whether its prerequisites are met.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub prerequisites_met: Field<bool>,
    /// What a person should know before.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub warnings: Field<Vec<String>>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// Where a task stands.
    NodeStatus {
        /// It waits for others.
        Pending = "pending",
        /// It can start.
        Queued = "queued",
        /// It is under way.
        Running = "running",
        /// It is done.
        Complete = "complete",
        /// It has failed.
        Failed = "failed",
        /// It was left out.
        Skipped = "skipped",
    }
}

impl WorkflowState {
    pub(super) fn check(&self, at: &str, checker: &mut Checker) {
        let phase = format!("{at}/current_phase");
        let word = checker.required(&phase, &self.current_phase);
        // The templates of the system disagree about the phases, and no reader of it checks them.
        if let Some(rule) = word.and_then(|word| not_one_of(word, Phase::ALL)) {
            checker.warn(Code::Enum, &phase, rule);
        }
        checker.time(&format!("{at}/phase_started_at"), &self.phase_started_at);
        checker.whole(&format!("{at}/phase_attempt"), &self.phase_attempt, 1);
    }
}

impl RecoveryInfo {
    pub(super) fn check(&self, at: &str, checker: &mut Checker) {
        let can_resume = checker.required(&format!("{at}/can_resume"), &self.can_resume);
        if can_resume == Some(&true) {
            checker.required_text(&format!("{at}/resume_from"), &self.resume_from);
        }
    }
}
