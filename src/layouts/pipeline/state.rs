//! `.pipeline/state.json`: the lead's view of a pipeline, written at every heartbeat.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::layouts::problem::{Checker, Code, escaped, from_to};
use crate::layouts::word::vocabulary;
use crate::layouts::{Field, Problem, Scalar, Word};

/// Allowed retries of a story, by counter; beyond that the protocol pauses it.
pub const RETRY_LIMITS: [(&str, u32); 3] =
    [("quality_cycles", 2), ("validation_retries", 1), ("crash_count", 1)];

/// Values by story.
type PerStory<T> = Field<BTreeMap<String, T>>;

/// The state of a whole pipeline.
///
/// The protocol demands all fields at every heartbeat, but its own example leaves out a third.
/// Required here are the fields without which the hooks stop.
///
/// ```
/// use waypost::layouts::from_json;
/// use waypost::layouts::pipeline::PipelineState;
///
/// # fn main() -> waypost::Result<()> {
/// let state: PipelineState = from_json(br#"{"complete": false, "story_state": {"A-1": "DONE"},
///     "git_stats": {"A-1": {"lines_added": 120}},
///     "infra_issues": [{"phase": 2, "type": "disk", "message": "no space left"}]}"#)?;
/// assert!(state.validate().is_empty());
/// let stats = &state.git_stats.value().expect("it has some")["A-1"];
/// assert_eq!(stats.lines_added.value().and_then(|it| it.as_i64()), Some(120));
/// let issues = state.infra_issues.value().expect("it has one");
/// assert_eq!(issues[0].kind.value().map(String::as_str), Some("disk"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PipelineState {
    /// Whether the pipeline has ended. The hooks treat a file without it as ended.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub complete: Field<bool>,
    /// How many workers there are.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub active_workers: Field<Scalar>,
    /// How many stories are neither done nor paused.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub stories_remaining: Field<Scalar>,
    /// The time of this save, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub last_check: Field<String>,
    /// Where each story is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub story_state: PerStory<Word<StoryState>>,
    /// The worker of each story.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub worker_map: PerStory<String>,
    /// How often the quality gate has sent a story back, 2 at most.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub quality_cycles: PerStory<Scalar>,
    /// How often a story was validated again, once at most.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub validation_retries: PerStory<Scalar>,
    /// How often a worker was started again, once at most.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub crash_count: PerStory<Scalar>,
    /// Stories that wait, in order.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub priority_queue_ids: Field<Vec<String>>,
    /// The result of each stage, for the report.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub story_results: PerStory<BTreeMap<String, Value>>,
    /// What went wrong around the work.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub infra_issues: Field<Vec<InfraIssue>>,
    /// The worktree of each story.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub worktree_map: PerStory<String>,
    /// What each story waits for.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub depends_on: PerStory<Vec<String>>,
    /// The ids of Linear's statuses, by name.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status_cache: Field<BTreeMap<String, String>>,
    /// When each stage of a story started and ended: `stage_0_start`, `stage_0_end` and so on.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub stage_timestamps: PerStory<BTreeMap<String, String>>,
    /// How much code each story changed.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub git_stats: PerStory<GitStats>,
    /// When the pipeline started, as written.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub pipeline_start_time: Field<String>,
    /// The readiness that stage 1 found, 1 to 10.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub readiness_scores: PerStory<Scalar>,
    /// The team of the workers.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub team_name: Field<String>,
    /// What the user answered, by question.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub business_answers: Field<Map<String, Value>>,
    /// Where tasks are kept.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub storage_mode: Field<Word<StorageMode>>,
    /// The absolute path of the skills.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub skill_repo_path: Field<String>,
    /// What the project is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub project_brief: Field<Map<String, Value>>,
    /// What each story is.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub story_briefs: PerStory<Value>,
    /// Fields that the protocol does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How much code a story changed.
///
/// See [`PipelineState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitStats {
    /// Added lines.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub lines_added: Field<Scalar>,
    /// Removed lines.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub lines_deleted: Field<Scalar>,
    /// Changed files.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub files_changed: Field<Scalar>,
    /// Fields that the protocol does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Something that went wrong around the work.
///
/// See [`PipelineState`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InfraIssue {
    /// The phase of the pipeline.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub phase: Field<Scalar>,
    /// The kind of trouble.
    #[serde(rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
    /// What happened, in words.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub message: Field<String>,
    /// Fields that the protocol does not have.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// Where a story is.
    StoryState {
        /// Waits for a worker.
        Queued = "QUEUED",
        /// Is being planned.
        Stage0 = "STAGE_0",
        /// Is being validated.
        Stage1 = "STAGE_1",
        /// Is being worked on.
        Stage2 = "STAGE_2",
        /// Is at the quality gate.
        Stage3 = "STAGE_3",
        /// Is done.
        Done = "DONE",
        /// Needs a person.
        Paused = "PAUSED",
        /// Is done but for the merge; some releases have it.
        PendingMerge = "PENDING_MERGE",
    }
}

vocabulary! {
    /// Where tasks are kept.
    StorageMode {
        /// In files.
        File = "file",
        /// In Linear.
        Linear = "linear",
    }
}

impl PipelineState {
    /// The state of a pipeline that starts at `time`, with no story yet.
    #[must_use]
    pub fn new(time: &str) -> Self {
        Self {
            complete: false.into(),
            active_workers: Scalar::from(0).into(),
            stories_remaining: Scalar::from(0).into(),
            last_check: time.to_owned().into(),
            story_state: BTreeMap::new().into(),
            worker_map: BTreeMap::new().into(),
            quality_cycles: BTreeMap::new().into(),
            validation_retries: BTreeMap::new().into(),
            crash_count: BTreeMap::new().into(),
            priority_queue_ids: Vec::new().into(),
            story_results: BTreeMap::new().into(),
            infra_issues: Vec::new().into(),
            pipeline_start_time: time.to_owned().into(),
            ..Self::default()
        }
    }

    /// Returns the rules of the protocol that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        checker.required("/complete", &self.complete);
        checker.required("/story_state", &self.story_state);
        checker.whole("/active_workers", &self.active_workers, 0);
        checker.whole("/stories_remaining", &self.stories_remaining, 0);
        checker.time("/last_check", &self.last_check);
        checker.time("/pipeline_start_time", &self.pipeline_start_time);
        checker.word("/storage_mode", &self.storage_mode);
        self.check_stories(&mut checker);
        checker.finish()
    }

    fn check_stories(&self, checker: &mut Checker) {
        each("/story_state", &self.story_state, |at, state| {
            checker.word_of(at, state, StoryState::ALL);
        });
        let counts = [&self.quality_cycles, &self.validation_retries, &self.crash_count];
        for ((name, most), counts) in RETRY_LIMITS.into_iter().zip(counts) {
            let (name, most) = (format!("/{name}"), f64::from(most));
            each(&name, counts, |at, count| {
                if count.as_f64().is_some_and(|count| count > most) {
                    checker.refuse(Code::RetryLimit, at, from_to(&(0.0..=most)));
                } else {
                    checker.range(at, &count.clone().into(), 0.0..=most);
                }
            });
        }
        each("/readiness_scores", &self.readiness_scores, |at, score| {
            checker.range(at, &score.clone().into(), 1.0..=10.0);
        });
        each("/stage_timestamps", &self.stage_timestamps, |at, times| {
            for (name, time) in times {
                checker.time_text(&format!("{at}/{}", escaped(name)), time);
            }
        });
        each("/git_stats", &self.git_stats, |at, stats| {
            checker.whole(&format!("{at}/lines_added"), &stats.lines_added, 0);
            checker.whole(&format!("{at}/lines_deleted"), &stats.lines_deleted, 0);
            checker.whole(&format!("{at}/files_changed"), &stats.files_changed, 0);
        });
    }
}

/// Calls `check` with the value of every story, and its JSON pointer.
fn each<T>(at: &str, field: &PerStory<T>, mut check: impl FnMut(&str, &T)) {
    for (story, value) in field.value().into_iter().flatten() {
        check(&format!("{at}/{}", escaped(story)), value);
    }
}
