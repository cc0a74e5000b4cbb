//! `.pipeline/` of the ln-1000 pipeline: a checkpoint per story, and the state of the pipeline.
//!
//! Language models write these files, so every field may be missing; `validate` reports those that
//! the workers' protocol requires.

mod assignment;
mod recognise;
mod shape;
mod standing;
mod state;
mod successor;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Checker, Code, not_one_of};
use super::word::vocabulary;
use super::{Field, Problem, Scalar, Word};

pub use assignment::{Assignment, BusinessAnswer, ExceededRetry};
pub(crate) use assignment::{assignment, exceeded, is_state, project, state_path};
pub(super) use recognise::{broken, entry, recognise, unreadable};
pub(crate) use recognise::{phase, stage};
pub(super) use shape::check;
pub(super) use standing::standing;
pub use state::{GitStats, InfraIssue, PipelineState, RETRY_LIMITS, StorageMode, StoryState};
pub(super) use write::{FORM, envelope, paths};

/// `.pipeline/checkpoint-STORY.json`, which the worker of a story writes.
///
/// ```
/// use waypost::layouts::pipeline::{StoryCheckpoint, StoryStage};
///
/// let story = StoryCheckpoint::new("PROJ-42", StoryStage::Execution, "agent-1");
/// assert_eq!(story.stage(), Some(StoryStage::Execution));
/// assert_eq!(story.file_name().as_deref(), Some("checkpoint-PROJ-42.json"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StoryCheckpoint {
    /// The story, such as `PROJ-42`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub story_id: Field<String>,
    /// 0 to 3; see [`stage`](Self::stage).
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub stage: Field<Scalar>,
    /// The worker, for resuming it.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub agent_id: Field<String>,
    /// Tasks that are done.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tasks_completed: Field<Vec<String>>,
    /// Tasks that are not.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub tasks_remaining: Field<Vec<String>>,
    /// What was done last, in words.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub last_action: Field<String>,
    /// The time of the save, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub timestamp: Field<String>,
    /// The quality of the plan, 0 to 4, of stage 0.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub plan_score: Field<Scalar>,
    /// How ready the story is, 1 to 10, of stage 1.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub readiness: Field<Scalar>,
    /// What stage 1 or 3 decided.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub verdict: Field<Word<Verdict>>,
    /// Why stage 1 said [`Verdict::NoGo`].
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub reason: Field<String>,
    /// The score of the quality gate, 0 to 100, of stage 3.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub quality_score: Field<Scalar>,
    /// Why stage 3 said [`Verdict::Fail`]: a text, but relatives have a list.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub issues: Field<Value>,
    /// Fields that the protocol does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What a worker does.
///
/// See [`StoryCheckpoint`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StoryStage {
    /// 0: makes tasks of a story.
    Planning,
    /// 1: says whether the story can be worked on.
    Validation,
    /// 2: does the tasks.
    Execution,
    /// 3: says whether they are done well.
    QualityGate,
}

vocabulary! {
    /// What a stage decided: the first two are of stage 1, the others of stage 3.
    Verdict {
        /// Work can start.
        Go = "GO",
        /// Work cannot start.
        NoGo = "NO-GO",
        /// Good.
        Pass = "PASS",
        /// Good, with doubts.
        Concerns = "CONCERNS",
        /// Good enough, by decision.
        Waived = "WAIVED",
        /// Not good; back to stage 2.
        Fail = "FAIL",
    }
}

const OF_VALIDATION: [Verdict; 2] = [Verdict::Go, Verdict::NoGo];
const OF_QUALITY_GATE: [Verdict; 4] =
    [Verdict::Pass, Verdict::Concerns, Verdict::Waived, Verdict::Fail];

impl StoryStage {
    /// Every stage, by its number.
    pub const ALL: [Self; 4] =
        [Self::Planning, Self::Validation, Self::Execution, Self::QualityGate];

    /// The number in files.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Planning => 0,
            Self::Validation => 1,
            Self::Execution => 2,
            Self::QualityGate => 3,
        }
    }
}

impl StoryCheckpoint {
    /// The checkpoint with which a worker starts `stage` of `story_id`; both task lists are empty.
    #[must_use]
    pub fn new(story_id: &str, stage: StoryStage, agent_id: &str) -> Self {
        Self {
            story_id: story_id.to_owned().into(),
            stage: Scalar::from(stage.number()).into(),
            agent_id: agent_id.to_owned().into(),
            tasks_completed: Vec::new().into(),
            tasks_remaining: Vec::new().into(),
            ..Self::default()
        }
    }

    /// Returns the stage, if the number is that of one.
    #[must_use]
    pub fn stage(&self) -> Option<StoryStage> {
        let number = u64::try_from(self.stage.value()?.as_i64()?).ok()?;
        StoryStage::ALL.into_iter().find(|stage| stage.number() == number)
    }

    /// Returns the name of the file in `.pipeline`, if there is a story.
    #[must_use]
    pub fn file_name(&self) -> Option<String> {
        Some(format!("checkpoint-{}.json", self.story_id.value()?))
    }

    /// Returns the rules of the workers' protocol that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        checker.required_text("/storyId", &self.story_id);
        if checker.required("/stage", &self.stage).is_some() {
            checker.must(self.stage().is_some(), "/stage", (Code::Range, "must be 0, 1, 2 or 3"));
        }
        checker.required_text("/agentId", &self.agent_id);
        checker.required("/tasksCompleted", &self.tasks_completed);
        checker.required("/tasksRemaining", &self.tasks_remaining);
        checker.required_text("/lastAction", &self.last_action);
        checker.required_time("/timestamp", &self.timestamp);
        checker.range("/planScore", &self.plan_score, 0.0..=4.0);
        checker.range("/readiness", &self.readiness, 1.0..=10.0);
        checker.range("/qualityScore", &self.quality_score, 0.0..=100.0);
        self.check_tasks(&mut checker);
        match self.stage() {
            Some(StoryStage::Planning) => self.check_planning(&mut checker),
            Some(StoryStage::Validation) => self.check_validation(&mut checker),
            Some(StoryStage::QualityGate) => self.check_quality_gate(&mut checker),
            Some(StoryStage::Execution) | None => {}
        }
        checker.finish()
    }

    /// Checks that no task is in both lists: a finished task moves from one to the other.
    fn check_tasks(&self, checker: &mut Checker) {
        let completed = self.tasks_completed.value().map_or(&[][..], Vec::as_slice);
        let remaining = self.tasks_remaining.value().map_or(&[][..], Vec::as_slice);
        for (index, task) in remaining.iter().enumerate() {
            let at = format!("/tasksRemaining/{index}");
            checker.must(
                !completed.contains(task),
                at,
                (Code::Tasks, "must not be completed, too"),
            );
        }
    }

    fn check_planning(&self, checker: &mut Checker) {
        checker.required("/planScore", &self.plan_score);
        must_be_empty("/tasksCompleted", &self.tasks_completed, checker);
    }

    fn check_validation(&self, checker: &mut Checker) {
        checker.required("/readiness", &self.readiness);
        must_be_empty("/tasksCompleted", &self.tasks_completed, checker);
        must_be_empty("/tasksRemaining", &self.tasks_remaining, checker);
        if let Some(verdict) = checker.required("/verdict", &self.verdict) {
            check_verdict(verdict, &OF_VALIDATION, checker);
        }
        if self.is(Verdict::NoGo) {
            let is_there = self.reason.value().is_some_and(|reason| !reason.is_empty());
            let rule = "is required if the verdict is NO-GO";
            checker.must(is_there, "/reason", (Code::Required, rule));
        }
    }

    fn check_quality_gate(&self, checker: &mut Checker) {
        checker.required("/qualityScore", &self.quality_score);
        must_be_empty("/tasksRemaining", &self.tasks_remaining, checker);
        if let Some(verdict) = checker.required("/verdict", &self.verdict) {
            check_verdict(verdict, &OF_QUALITY_GATE, checker);
        }
        if self.is(Verdict::Fail) {
            let is_there = self.issues.value().is_some_and(|issues| *issues != "");
            let rule = "is required if the verdict is FAIL";
            checker.must(is_there, "/issues", (Code::Required, rule));
        }
        if !self.issues.value().is_none_or(Value::is_string) {
            checker.warn(Code::Type, "/issues", "must be a text");
        }
    }

    fn is(&self, verdict: Verdict) -> bool {
        self.verdict.value().and_then(Word::known) == Some(verdict)
    }
}

fn check_verdict(verdict: &Word<Verdict>, allowed: &[Verdict], checker: &mut Checker) {
    if let Some(rule) = not_one_of(verdict, allowed) {
        checker.refuse(Code::Verdict, "/verdict", rule);
    }
}

fn must_be_empty(at: &str, tasks: &Field<Vec<String>>, checker: &mut Checker) {
    let is_empty = tasks.value().is_none_or(Vec::is_empty);
    checker.must(is_empty, at, (Code::Tasks, "must be empty in this stage"));
}
