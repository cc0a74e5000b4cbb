//! `.claude/crunch/ISSUE/checkpoints/` of claude-crunch: checkpoints, their ids, their index.
//!
//! A language model writes these files from a template, in YAML or, before, in JSON: every field
//! may be missing; `validate` reports those that the resume algorithm needs.

mod batches;
mod graph;
mod id;
mod ids;
mod index;
mod index_file;
mod labels;
mod location;
mod recognise;
mod shared;
mod snapshot;
mod standing;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Checker, Code, IS_REQUIRED, escaped};
use super::word::vocabulary;
use super::{Field, Problem, Scalar, Word};

pub use id::IssueCheckpointId;
pub use index::{Index, IndexEntry, IndexTrigger};
pub use index_file::IndexFile;
pub(crate) use labels::{LabelledPhase, is_same_phase, labelled_phase};
pub use location::Location;
pub(super) use recognise::{entry, recognise, unreadable};
pub use snapshot::{
    ExecutionGraph, FileState, IssueSnapshot, Member, NodeState, NodeStatus, RecoveryInfo,
    TeamState, WorkflowState,
};
pub(super) use standing::standing;
pub(super) use write::{FORM, envelope, paths};

/// The version of the template.
pub const VERSION: &str = "1.0";

/// A checkpoint of the work on an issue. Only the index says why it was saved.
///
/// ```
/// use waypost::layouts::crunch::{IssueCheckpoint, Phase};
/// use waypost::layouts::from_yaml;
///
/// # fn main() -> waypost::Result<()> {
/// let checkpoint: IssueCheckpoint = from_yaml(b"
/// issue_number: 42
/// workflow_state: {current_phase: enrich, phase_attempt: 2}
/// issue_snapshot: {title: Fix the tests, labels: [bug]}
/// files_modified: [{path: src/lib.rs, staged: true}]
/// recovery_info: {can_resume: true, resume_from: enrich}
/// ")?;
/// assert_eq!(checkpoint.phase().and_then(|phase| phase.known()), Some(Phase::Enrich));
/// assert!(checkpoint.can_resume());
/// let files = checkpoint.files_modified.value().expect("it has some");
/// assert_eq!(files[0].staged.value(), Some(&true));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IssueCheckpoint {
    /// `CP-PHASE-DATE-HASH`, or another text; see [`IssueCheckpointId`].
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub checkpoint_id: Field<String>,
    /// [`VERSION`]; without quotes YAML reads it as a number.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub version: Field<Scalar>,
    /// When it was saved, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub created_at: Field<String>,
    /// The issue.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub issue_number: Field<Scalar>,
    /// The session.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub session_id: Field<String>,
    /// Where the work is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_state: Field<WorkflowState>,
    /// The issue as it was.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub issue_snapshot: Field<IssueSnapshot>,
    /// Who works on it.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub team_state: Field<TeamState>,
    /// Which tasks are done; see [`graph`](Self::graph).
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub execution_graph: Field<ExecutionGraph>,
    /// The name that another template has for `execution_graph`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub graph_state: Field<ExecutionGraph>,
    /// What agents made, by agent and task.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub agent_outputs: Field<Map<String, Value>>,
    /// Messages between agents that are under way.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub acp_state: Field<Map<String, Value>>,
    /// What was taken from and put into the knowledge base.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub knowledge_context: Field<Map<String, Value>>,
    /// Files that are not as they were.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub files_modified: Field<Vec<FileState>>,
    /// Whether and where work can go on.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub recovery_info: Field<RecoveryInfo>,
    /// Fields that the template does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// A phase of the work.
    Phase {
        /// The issue is clarified.
        Enrich = "enrich",
        /// Work can start.
        Ready = "ready",
        /// Code is written.
        Implementing = "implementing",
        /// The code is tested.
        Validation = "validation",
        /// Documentation is written.
        Docs = "docs",
        /// The workflow's later name of `validation`.
        E2e = "e2e",
        /// The issue arrives; only the workflow has this phase, not the template.
        Input = "input",
        /// The issue waits; only the workflow has this phase.
        Backlog = "backlog",
        /// Only the merge is left; only the workflow has this phase.
        ReadyToMerge = "ready-to-merge",
        /// Done; only the workflow has this phase.
        Done = "done",
    }
}

impl IssueCheckpoint {
    /// A checkpoint of `issue_number` in `phase` that can be resumed.
    #[must_use]
    pub fn new(id: &IssueCheckpointId, issue_number: u64, phase: Phase, created_at: &str) -> Self {
        Self {
            checkpoint_id: id.to_string().into(),
            version: Scalar::from(VERSION).into(),
            created_at: created_at.to_owned().into(),
            issue_number: Scalar::from(issue_number).into(),
            workflow_state: Field::Value(WorkflowState {
                current_phase: Field::Value(phase.into()),
                current_state_label: format!("state:{phase}").into(),
                phase_started_at: created_at.to_owned().into(),
                phase_attempt: Scalar::from(1).into(),
                ..WorkflowState::default()
            }),
            recovery_info: Field::Value(RecoveryInfo {
                can_resume: true.into(),
                prerequisites_met: true.into(),
                warnings: Vec::new().into(),
                ..RecoveryInfo::default()
            }),
            ..Self::default()
        }
    }

    /// Returns the phase, as written.
    #[must_use]
    pub fn phase(&self) -> Option<&Word<Phase>> {
        self.workflow_state.value()?.current_phase.value()
    }

    /// Returns the graph of tasks, under either of its names.
    #[must_use]
    pub fn graph(&self) -> Option<&ExecutionGraph> {
        self.execution_graph.value().or_else(|| self.graph_state.value())
    }

    /// True if it says that it can be resumed.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        let info = self.recovery_info.value();
        info.and_then(|info| info.can_resume.value()).copied().unwrap_or_default()
    }

    /// Returns the rules of the template that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        if let Some(id) = checker.required("/checkpoint_id", &self.checkpoint_id) {
            let rule = (Code::Pattern, "must start with CP-");
            checker.must(id.starts_with("CP-"), "/checkpoint_id", rule);
        }
        if let Some(version) = checker.required("/version", &self.version) {
            let is_right = version.to_string() == VERSION;
            checker.must(is_right, "/version", (Code::Version, "must be 1.0"));
        }
        checker.required_time("/created_at", &self.created_at);
        checker.required("/issue_number", &self.issue_number);
        checker.whole("/issue_number", &self.issue_number, 1);
        if let Some(state) = checker.required("/workflow_state", &self.workflow_state) {
            state.check("/workflow_state", &mut checker);
        }
        checker.required("/issue_snapshot", &self.issue_snapshot);
        self.check_graph(&mut checker);
        if let Some(info) = checker.required("/recovery_info", &self.recovery_info) {
            info.check("/recovery_info", &mut checker);
        }
        checker.finish()
    }

    fn check_graph(&self, checker: &mut Checker) {
        checker.must(self.graph().is_some(), "/execution_graph", IS_REQUIRED);
        for (at, graph) in
            [("/execution_graph", &self.execution_graph), ("/graph_state", &self.graph_state)]
        {
            let Some(graph) = graph.value() else { continue };
            checker.whole(&format!("{at}/current_batch"), &graph.current_batch, 0);
            for (node, state) in graph.node_states.value().into_iter().flatten() {
                let at = format!("{at}/node_states/{}/status", escaped(node));
                checker.word(&at, &state.status);
            }
        }
    }
}
