//! `.claude/checkpoints/TYPE_PROJECT_TIME.json`, as specified by its README, and later versions in
//! `.claude/data/checkpoints`.
//!
//! Later releases, whose files have a `schema_version`, add many fields; they are kept in `other`.

mod filed;
mod id;
mod recognise;
mod schema;
mod shape;
mod standing;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Checker, Code, IS_REQUIRED};
use super::{Field, Problem, Scalar, status};
use crate::checkpoint::Status;

pub(crate) use filed::is_set_aside;
pub use filed::{Filed, counterpart, is_moved_file};
pub use id::WorkflowCheckpointId;
pub(super) use recognise::{broken, entry, recognise, unreadable};
pub(super) use schema::migrate;
pub(super) use shape::check;
pub(super) use standing::standing;
pub(super) use write::{FORM, envelope, in_place_of_version, paths, state_of};

/// The versions of the schema; files of the first do not say so.
pub const SCHEMA_VERSIONS: [&str; 6] = ["1.0", "1.1", "1.2", "1.3", "2.0", "2.1"];

/// The versions that a file can be written in: `none` has no field for it.
pub(super) const WRITTEN_VERSIONS: [&str; 7] = ["none", "1.0", "1.1", "1.2", "1.3", "2.0", "2.1"];

/// The directory of the scripts until 2025-10-16.
const DIRECTORY: &str = ".claude/checkpoints";
const DATA_DIRECTORY: &str = ".claude/data/checkpoints";

/// The states into which scripts translate phase numbers.
const STATES: [&str; 8] =
    ["initialize", "research", "plan", "implement", "test", "debug", "document", "complete"];

/// A checkpoint of a workflow.
///
/// ```
/// use waypost::Status;
/// use waypost::layouts::claude::WorkflowCheckpoint;
/// use waypost::layouts::from_json;
///
/// # fn main() -> waypost::Result<()> {
/// let checkpoint: WorkflowCheckpoint = from_json(br#"{"workflow_type": "implement",
///     "project_name": "shop", "status": "in_progress", "current_phase": "3"}"#)?;
/// assert_eq!(checkpoint.status(), Status::InProgress);
/// assert_eq!(checkpoint.project_name(), Some("shop"));
/// assert_eq!(checkpoint.current_phase.value().and_then(|it| it.as_i64()), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowCheckpoint {
    /// See [`SCHEMA_VERSIONS`].
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub schema_version: Field<Scalar>,
    /// `TYPE_PROJECT_TIME`; see [`WorkflowCheckpointId`]. Two checkpoints of the same second have
    /// the same id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub checkpoint_id: Field<String>,
    /// The kind of workflow: `orchestrate`, `implement`, `test-all`, and others since.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_type: Field<String>,
    /// The project; see [`project_name`](Self::project_name).
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub project_name: Field<String>,
    /// A description of the work.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_description: Field<String>,
    /// When it was made, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub created_at: Field<String>,
    /// When it was changed, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub updated_at: Field<String>,
    /// Where the work stands; see [`status`](Self::status).
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
    /// The phase; a script writes it as a text.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub current_phase: Field<Scalar>,
    /// How many phases there are.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub total_phases: Field<Scalar>,
    /// The phases that are done.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub completed_phases: Field<Vec<Scalar>>,
    /// What the workflow resumes from.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub workflow_state: Field<Map<String, Value>>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub last_error: Field<Value>,
    /// Fields that later releases or others add.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl WorkflowCheckpoint {
    /// The first checkpoint of a workflow, as in the README.
    #[must_use]
    pub fn new(
        id: &WorkflowCheckpointId,
        created_at: &str,
        workflow_state: Map<String, Value>,
    ) -> Self {
        Self {
            checkpoint_id: id.to_string().into(),
            workflow_type: id.workflow_type.clone().into(),
            project_name: id.project_name.clone().into(),
            workflow_description: String::new().into(),
            created_at: created_at.to_owned().into(),
            updated_at: created_at.to_owned().into(),
            status: Status::InProgress.as_str().to_owned().into(),
            current_phase: Scalar::from(0).into(),
            total_phases: Scalar::from(0).into(),
            completed_phases: Vec::new().into(),
            workflow_state: workflow_state.into(),
            last_error: Field::Null,
            ..Self::default()
        }
    }

    /// Returns the version of the schema; `1.0` if it does not say.
    #[must_use]
    pub fn schema_version(&self) -> String {
        let version = self.schema_version.value();
        version.map_or_else(|| SCHEMA_VERSIONS[0].to_owned(), ToString::to_string)
    }

    /// Returns the project: the code writes it at the top, the README in the state.
    #[must_use]
    pub fn project_name(&self) -> Option<&str> {
        let inner = || self.workflow_state.value()?.get("project_name")?.as_str();
        self.project_name.value().map(String::as_str).or_else(inner)
    }

    /// Returns the status, in any of its spellings.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.value().map_or(Status::Unknown, |word| status(word))
    }

    /// Returns whether tests pass, if it says so.
    ///
    /// The value in the state counts first: the scripts always write true at the top.
    #[must_use]
    pub fn tests_passing(&self) -> Option<bool> {
        const KEY: &str = "tests_passing";
        let inner = self.workflow_state.value().and_then(|state| state.get(KEY));
        inner.or_else(|| self.other.get(KEY)).and_then(Value::as_bool)
    }

    /// Returns the rules of the README and the scripts that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        let is_known = SCHEMA_VERSIONS.contains(&self.schema_version().as_str());
        let rule = format!("must be one of {}", SCHEMA_VERSIONS.join(", "));
        checker.must(is_known, "/schema_version", (Code::Version, &rule));
        checker.required_text("/checkpoint_id", &self.checkpoint_id);
        checker.required_text("/workflow_type", &self.workflow_type);
        checker.must(self.project_name().is_some(), "/project_name", IS_REQUIRED);
        checker.required_time("/created_at", &self.created_at);
        checker.time("/updated_at", &self.updated_at);
        checker.required_text("/status", &self.status);
        let is_known = self.status.value().is_none() || self.status() != Status::Unknown;
        let rule = "must be in_progress, completed, failed or paused";
        checker.must(is_known, "/status", (Code::Enum, rule));
        self.check_id(&mut checker);
        self.check_phases(&mut checker);
        checker.finish()
    }

    fn check_id(&self, checker: &mut Checker) {
        const AT: &str = "/checkpoint_id";
        let Some(id) = self.checkpoint_id.value() else { return };
        if id.parse::<WorkflowCheckpointId>().is_err() {
            return checker.refuse(Code::Pattern, AT, "must be TYPE_PROJECT_YYYYMMDD_HHMMSS");
        }
        // Types have underscores in some files, so the id is compared as a whole.
        let (Some(kind), Some(project)) = (self.workflow_type.value(), self.project_name.value())
        else {
            return;
        };
        let is_right = id.strip_prefix(kind.as_str()).is_some_and(|rest| {
            rest.strip_prefix('_').and_then(|rest| rest.strip_prefix(project.as_str())).is_some()
        });
        checker.must(is_right, AT, (Code::Pattern, "must start with the type and the project"));
    }

    fn check_phases(&self, checker: &mut Checker) {
        checker.whole("/current_phase", &self.current_phase, 0);
        checker.whole("/total_phases", &self.total_phases, 0);
        // Scripts write 0 for an unknown total.
        let total = self.total_phases.value().and_then(Scalar::as_i64).filter(|total| *total > 0);
        let is_beyond = |phase: &Scalar| phase.as_i64().zip(total).is_some_and(|(a, b)| a > b);
        let rule = (Code::Order, "must not be beyond the last phase");
        let current = self.current_phase.value();
        checker.must(!current.is_some_and(is_beyond), "/current_phase", rule);
        for (index, phase) in self.completed_phases.value().into_iter().flatten().enumerate() {
            let at = format!("/completed_phases/{index}");
            checker.whole(&at, &phase.clone().into(), 0);
            checker.must(!is_beyond(phase), at, rule);
        }
    }
}
