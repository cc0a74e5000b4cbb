//! Checkpoints of AIWG, by its schema: of one of many Ralph loops (2.0), or of a single one (1.0).
//!
//! No program is known to write this form, only the schema describes it; fields that the rules
//! leave open are read leniently.

mod external;
mod location;
mod loop_state;
mod reader;
mod recognise;
mod schema;
mod shape;
mod standing;
mod state;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Checker, Code};
use super::word::vocabulary;
use super::{Field, Problem, Scalar, Word};
use crate::checkpoint::LoopId;

pub use location::LoopFileName;
pub(super) use reader::reader_file;
pub(super) use recognise::{broken, entry, recognise, unreadable};
pub(super) use schema::migrate;
pub(super) use shape::check;
pub(super) use standing::standing;
pub use state::{
    AgentState, LoopArtifact, LoopArtifactStatus, LoopIteration, LoopProgress, LoopState,
};
pub(super) use write::{FORM, envelope, paths, with_size};

/// The days that a checkpoint is kept unless it says otherwise.
pub const RETENTION_DAYS: u64 = 30;

/// A checkpoint, which lies in a gzip file of its own.
///
/// ```
/// use waypost::layouts::aiwg::LoopCheckpoint;
/// use waypost::layouts::from_json;
///
/// # fn main() -> waypost::Result<()> {
/// let checkpoint: LoopCheckpoint = from_json(br#"{"checkpoint_id": "c1", "workflow_id": "w1",
///     "execution_config": {"agent": "coder", "temperature": 0.5},
///     "metadata": {"retention_days": 30}}"#)?;
/// let config = checkpoint.execution_config.value().expect("it has one");
/// assert_eq!(config.temperature.value().and_then(|it| it.as_f64()), Some(0.5));
/// let metadata = checkpoint.metadata.value().expect("it has some");
/// assert_eq!(metadata.retention_days.value().and_then(|it| it.as_i64()), Some(30));
/// assert!(checkpoint.validate().iter().any(|problem| problem.field == "/state"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopCheckpoint {
    /// Unique. The schema says a UUID, its examples do not have one.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub checkpoint_id: Field<String>,
    /// The workflow.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_id: Field<String>,
    /// The loop, like `ralph-SLUG-0123abcd`; null or missing if there is only one.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub loop_id: Field<String>,
    /// The kind of workflow.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_type: Field<Word<WorkflowType>>,
    /// When it was saved, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub created_at: Field<String>,
    /// Why it was saved.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub trigger: Field<Word<LoopTrigger>>,
    /// What the workflow resumes from.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub state: Field<LoopState>,
    /// The settings of the run.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub execution_config: Field<ExecutionConfig>,
    /// About the file itself.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub metadata: Field<Metadata>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The settings of a run, so that it can be repeated.
///
/// See [`LoopCheckpoint`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionConfig {
    /// The model.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub model: Field<String>,
    /// 0 to 2.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub temperature: Field<Scalar>,
    /// The random seed.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub seed: Field<Scalar>,
    /// How reproducible runs are.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub execution_mode: Field<Word<ExecutionMode>>,
    /// The agent.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub agent: Field<String>,
    /// The tools it has.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tools: Field<Vec<String>>,
    /// Its input.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub inputs: Field<Map<String, Value>>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// About the file itself.
///
/// See [`LoopCheckpoint`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Its length; the schema does not say whether before or after compression.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub size_bytes: Field<Scalar>,
    /// How it is compressed.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub compression: Field<Word<Compression>>,
    /// How long it is kept: [`RETENTION_DAYS`] if it does not say.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub retention_days: Field<Scalar>,
    /// A tagged checkpoint is kept.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tags: Field<Vec<String>>,
    /// The version of the schema.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub schema_version: Field<Word<SchemaVersion>>,
    /// Fields that the schema does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// The kind of workflow.
    WorkflowType {
        /// A loop.
        RalphLoop = "ralph_loop",
        /// A command that runs a flow.
        FlowCommand = "flow_command",
        /// A skill.
        SkillExecution = "skill_execution",
        /// A task of an agent.
        AgentTask = "agent_task",
    }
}

vocabulary! {
    /// Why a checkpoint was saved.
    LoopTrigger {
        /// A person asked for it.
        Manual = "manual",
        /// The system decided.
        Automatic = "automatic",
        /// At the boundary of a phase.
        PhaseBoundary = "phase_boundary",
        /// At an iteration of a loop.
        Iteration = "iteration",
        /// Before something risky.
        PreRiskyOp = "pre_risky_op",
        /// While recovering from an error.
        ErrorRecovery = "error_recovery",
    }
}

/// The names that `lifecycle.auto_triggers` of the schema has for some triggers.
const AUTO_TRIGGERS: [&str; 4] =
    ["phase_start", "artifact_complete", "before_external_call", "iteration_boundary"];

vocabulary! {
    /// How reproducible runs are.
    ExecutionMode {
        /// The same every time.
        Strict = "strict",
        /// By a seed.
        Seeded = "seeded",
        /// Written down.
        Logged = "logged",
        /// As it comes.
        Default = "default",
    }
}

vocabulary! {
    /// How a file is compressed.
    Compression {
        /// Not at all.
        None = "none",
        /// Gzip, which the schema requires.
        Gzip = "gzip",
        /// LZ4.
        Lz4 = "lz4",
    }
}

vocabulary! {
    /// The version of the schema.
    SchemaVersion {
        /// Single loops.
        V1 = "1.0",
        /// Many loops.
        V2 = "2.0",
    }
}

impl LoopCheckpoint {
    /// A checkpoint of version 2.0 with the required fields only.
    #[must_use]
    pub fn new(checkpoint_id: &str, workflow_id: &str, created_at: &str, state: LoopState) -> Self {
        Self {
            checkpoint_id: checkpoint_id.to_owned().into(),
            workflow_id: workflow_id.to_owned().into(),
            created_at: created_at.to_owned().into(),
            state: state.into(),
            metadata: Field::Value(Metadata {
                compression: Field::Value(Compression::Gzip.into()),
                retention_days: Field::Value(RETENTION_DAYS.into()),
                schema_version: Field::Value(SchemaVersion::V2.into()),
                ..Metadata::default()
            }),
            ..Self::default()
        }
    }

    /// Tells whether it is of a system with a single loop, or of none: it names no loop.
    #[must_use]
    pub fn is_single_loop(&self) -> bool {
        self.loop_id.value().is_none()
    }

    /// Returns the version of the schema it says it has; 2.0 if it does not say.
    #[must_use]
    pub fn schema_version(&self) -> Word<SchemaVersion> {
        let version = self.metadata.value().and_then(|metadata| metadata.schema_version.value());
        version.cloned().unwrap_or(SchemaVersion::V2.into())
    }

    /// Returns the rules of the schema that this breaks.
    ///
    /// A single loop needs no loop id: whether one is missing depends on where the file lies, which
    /// [`validate_at`](Self::validate_at) knows.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        self.check(&mut checker);
        checker.finish()
    }

    /// As [`validate`](Self::validate), and whether it belongs to the directory of its loop.
    ///
    /// `path` is that of the file, with `/` between its parts.
    #[must_use]
    pub fn validate_at(&self, path: &str) -> Vec<Problem> {
        let mut checker = Checker::default();
        self.check(&mut checker);
        if let Some(directory) = location::loop_of(path)
            && let Some(loop_id) = checker.required("/loop_id", &self.loop_id)
        {
            let rule = (Code::Place, "must be the name of the loop's directory");
            checker.must(loop_id == directory, "/loop_id", rule);
        }
        checker.finish()
    }

    fn check(&self, checker: &mut Checker) {
        checker.required_text("/checkpoint_id", &self.checkpoint_id);
        checker.required_text("/workflow_id", &self.workflow_id);
        if let Some(loop_id) = self.loop_id.value() {
            let is_ralph = LoopId::new(loop_id.as_str()).is_ok_and(|id| id.is_ralph());
            if !is_ralph {
                // AIWG's code accepts any name and generates some that its own pattern refuses.
                let rule = "must match ^ralph-[a-z0-9-]+-[a-f0-9]{8}$";
                checker.warn(Code::Pattern, "/loop_id", rule);
            }
        }
        checker.word("/workflow_type", &self.workflow_type);
        checker.required_time("/created_at", &self.created_at);
        let is_event = |word: &Word<LoopTrigger>| AUTO_TRIGGERS.contains(&word.as_str());
        if !self.trigger.value().is_some_and(is_event) {
            checker.word("/trigger", &self.trigger);
        }
        if let Some(state) = checker.required("/state", &self.state) {
            state.check(checker);
        }
        if let Some(config) = self.execution_config.value() {
            checker.range("/execution_config/temperature", &config.temperature, 0.0..=2.0);
            checker.whole("/execution_config/seed", &config.seed, i64::MIN);
            checker.word("/execution_config/execution_mode", &config.execution_mode);
        }
        if let Some(metadata) = self.metadata.value() {
            checker.whole("/metadata/size_bytes", &metadata.size_bytes, 0);
            checker.word("/metadata/compression", &metadata.compression);
            checker.whole("/metadata/retention_days", &metadata.retention_days, 0);
            checker.word("/metadata/schema_version", &metadata.schema_version);
        }
    }
}
