//! `.tmp/impl-checkpoint.json` of agentize, which `lol impl` resumes from.
//!
//! Must write, byte for byte, what agentize writes: its reader is not ours.

mod file;
mod python;
mod recognise;
mod schema;
mod shape;
mod stage;
mod standing;
mod write;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Checker, Code};
use super::read::from_json_of;
use super::word::vocabulary;
use super::{Field, Problem, Word};
use crate::checkpoint::Timestamp;
use crate::error::{At, Error, Result};

pub(super) use recognise::{broken, entry, recognise};
pub(super) use schema::migrate;
pub(super) use shape::check;
pub use stage::ImplStage;
pub(super) use standing::standing;
pub(super) use write::{FORM, envelope, paths};

/// Where agentize looks for the file, from the root of the worktree.
pub const LOCATION: &str = ".tmp/impl-checkpoint.json";

/// The version of the document that specifies the format. Releases from 2026-02-17 on write 2,
/// and each reads only its own.
pub const VERSION: u64 = 1;

const VERSION_NEWEST: u64 = 2;

/// The whole file: the state of a run, and when it was saved.
///
/// ```
/// use waypost::layouts::agentize::{ImplCheckpoint, ImplState};
///
/// # fn main() -> waypost::Result<()> {
/// let state = ImplState::new(42, "/home/u/trees/42", None);
/// let checkpoint = ImplCheckpoint::new(state, "2026-01-25T15:00:00Z".parse()?);
/// assert_eq!(checkpoint.state.issue_no, 42);
/// assert!(checkpoint.to_json()?.contains("\"issue_no\": 42"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImplCheckpoint {
    /// [`VERSION`], or 2. Agentize reads a missing one as 0.
    #[serde(default)]
    pub version: u64,
    /// When it was saved, as written.
    pub timestamp: String,
    /// What the run resumes from.
    pub state: ImplState,
    /// Fields that no release has.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The state that a run resumes from: that on entry to `current_stage`.
///
/// See [`ImplCheckpoint`] for an example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImplState {
    /// The GitHub issue.
    pub issue_no: u64,
    /// The stage that is next.
    pub current_stage: Word<ImplStage>,
    /// Counts rounds of implementing and reviewing, from one.
    pub iteration: u64,
    /// The absolute path of the worktree.
    pub worktree: PathBuf,
    /// The plan, if there is one.
    #[serde(default)]
    pub plan_file: Option<PathBuf>,
    /// What the last stage said.
    #[serde(default)]
    pub last_feedback: String,
    /// The score of the last review, 0 to 100.
    #[serde(default)]
    pub last_score: i64,
    /// What was done, in order.
    #[serde(default)]
    pub history: Vec<ImplStep>,
    /// The number of the pull request. The first release does not have this field.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub pr_number: Field<String>,
    /// The address of the pull request. The first release does not have this field.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub pr_url: Field<String>,
    /// Fields that no release has.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A stage that was run.
///
/// ```
/// use waypost::layouts::agentize::{ImplStep, Outcome};
/// use waypost::layouts::from_json;
///
/// # fn main() -> waypost::Result<()> {
/// let step: ImplStep = from_json(br#"{"stage": "review", "iteration": 1, "result": "retry",
///     "timestamp": "2026-01-25T15:00:00", "score": 64}"#)?;
/// assert_eq!(step.result.known(), Some(Outcome::Retry));
/// assert_eq!(step.score.value(), Some(&64));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImplStep {
    /// An [`ImplStage`], or `parse`, which is a part of `impl`.
    pub stage: String,
    /// The iteration it was run in.
    pub iteration: u64,
    /// Local time without a zone; do not compare it with the time of the file.
    pub timestamp: String,
    /// How it went.
    pub result: Word<Outcome>,
    /// 0 to 100, where the stage has one.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub score: Field<i64>,
    /// The absolute path of what the stage wrote.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub artifact: Field<String>,
    /// Fields that no release has.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

vocabulary! {
    /// The result of a stage. The document names the first three; the code also writes the others.
    Outcome {
        /// It did what it should.
        Success = "success",
        /// It did not.
        Failure = "failure",
        /// It is to be done again.
        Retry = "retry",
        /// There is more to implement.
        Incomplete = "incomplete",
        /// Passed a gate or a review.
        Pass = "pass",
        /// Did not pass a gate or a review.
        Fail = "fail",
        /// Continuous integration asks for a change.
        CiFix = "ci_fix",
        /// The pull request is there.
        PrPass = "pr_pass",
        /// The pull request asks for a change.
        PrFailFixable = "pr_fail_fixable",
        /// The pull request asks for a rebase.
        PrFailNeedRebase = "pr_fail_need_rebase",
        /// Rebased.
        RebaseOk = "rebase_ok",
        /// Could not be rebased.
        RebaseConflict = "rebase_conflict",
    }
}

impl ImplCheckpoint {
    /// The checkpoint of `state`, saved at `time`.
    #[must_use]
    pub fn new(state: ImplState, time: Timestamp) -> Self {
        let timestamp = python::isoformat(time);
        Self { version: VERSION, timestamp, state, other: Map::new() }
    }

    /// Reads the file at `path`. Accepts any version; [`validate`](Self::validate) checks it.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Invalid`] with the path and the field that does not fit.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let json = std::fs::read(path).at(path)?;
        from_json_of(&json, &path.display().to_string())
    }

    /// Writes the file at `path`, and the directories above it.
    ///
    /// It is replaced atomically, with mode 0600, and is on disk when this returns. Agentize itself
    /// does not wait for the disk.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Invalid`] if a path is not UTF-8; the old file is then as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::replace(path.as_ref(), self.to_json()?.as_bytes())
    }

    /// Returns the text of the file, as Python's `json.dump` writes it with an indent of two.
    ///
    /// Fields that no release has come after the others.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a path is not UTF-8.
    pub fn to_json(&self) -> Result<String> {
        python::to_json(self).map_err(|error| Error::invalid("checkpoint", error))
    }

    /// Returns the rules of agentize's document that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        let is_known = (VERSION..=VERSION_NEWEST).contains(&self.version);
        checker.must(is_known, "/version", (Code::Version, "must be 1 or 2"));
        checker.time_text("/timestamp", &self.timestamp);
        self.state.check("/state", &mut checker);
        checker.finish()
    }
}

impl ImplState {
    /// The state that a run starts with.
    #[must_use]
    pub fn new(issue_no: u64, worktree: impl Into<PathBuf>, plan_file: Option<PathBuf>) -> Self {
        Self {
            issue_no,
            current_stage: ImplStage::Impl.into(),
            iteration: 1,
            worktree: worktree.into(),
            plan_file,
            last_feedback: String::new(),
            last_score: 0,
            history: Vec::new(),
            pr_number: Field::Null,
            pr_url: Field::Null,
            other: Map::new(),
        }
    }

    /// Reads the state in the file at `path`.
    ///
    /// # Errors
    /// As [`ImplCheckpoint::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Ok(ImplCheckpoint::load(path)?.state)
    }

    /// Writes a file of [`VERSION`] with this state, saved at `time`.
    ///
    /// # Errors
    /// As [`ImplCheckpoint::save`].
    pub fn save(&self, path: impl AsRef<Path>, time: Timestamp) -> Result<()> {
        ImplCheckpoint::new(self.clone(), time).save(path)
    }

    /// Returns the rules of agentize's document that this breaks.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        self.check("", &mut checker);
        checker.finish()
    }

    fn check(&self, at: &str, checker: &mut Checker) {
        let stage = format!("{at}/current_stage");
        checker.must(self.issue_no > 0, format!("{at}/issue_no"), FROM_ONE);
        checker.word_of(&stage, &self.current_stage, ImplStage::ALL);
        checker.must(self.iteration > 0, format!("{at}/iteration"), FROM_ONE);
        // Not `is_absolute`: a file from a Unix machine is read on Windows, too. Agentize itself
        // takes any path.
        if !self.worktree.has_root() {
            checker.warn(Code::Pattern, format!("{at}/worktree"), "must be absolute");
        }
        checker.must(is_score(self.last_score), format!("{at}/last_score"), SCORE);
        for (index, step) in self.history.iter().enumerate() {
            step.check(&format!("{at}/history/{index}"), checker);
        }
        self.check_path(at, checker);
    }

    /// Follows the history through the graph of stages, up to the current one.
    fn check_path(&self, at: &str, checker: &mut Checker) {
        let mut before: Option<ImplStage> = None;
        let mut iteration = 1;
        for (index, step) in self.history.iter().enumerate() {
            let place = format!("{at}/history/{index}");
            let is_in_order = (iteration..=self.iteration).contains(&step.iteration);
            let rule = "must not be before an earlier one or after that of the state";
            checker.must(is_in_order, format!("{place}/iteration"), (Code::Order, rule));
            iteration = iteration.max(step.iteration);
            let Some(stage) = step.stage() else { continue };
            match before {
                None => checker.must(
                    stage == ImplStage::Impl,
                    format!("{place}/stage"),
                    (Code::Transition, "must be impl, where every run starts"),
                ),
                Some(before) if !before.is_followed_by(stage) => {
                    let rule = format!("must not be {stage} after {before}");
                    checker.refuse(Code::Transition, format!("{place}/stage"), rule);
                }
                Some(_) => {}
            }
            before = Some(stage);
        }
        let (Some(before), Some(current)) = (before, self.current_stage.known()) else { return };
        // The document shows files saved after a stage; the code saves before it. Both are
        // accepted.
        if before == current || before.is_followed_by(current) {
            return;
        }
        let (place, rule) =
            (format!("{at}/current_stage"), format!("must not be {current} after {before}"));
        // Releases since February 2026 keep the stage that a run was resumed at while they go on.
        if self.history.iter().any(|step| step.stage() == Some(current)) {
            checker.warn(Code::Transition, place, rule);
        } else {
            checker.refuse(Code::Transition, place, rule);
        }
    }
}

/// The word in `step.stage` for work inside `impl`.
const PARSE: &str = "parse";

const FROM_ONE: (Code, &str) = (Code::Range, "must be 1 or more");
const SCORE: (Code, &str) = (Code::Range, "must be from 0 to 100");

impl ImplStep {
    /// Returns the stage, unless it is `parse` or unknown.
    #[must_use]
    pub fn stage(&self) -> Option<ImplStage> {
        Word::of(&self.stage).known()
    }

    fn check(&self, at: &str, checker: &mut Checker) {
        if self.stage != PARSE {
            checker.word_of(&format!("{at}/stage"), &Word::of(&self.stage), ImplStage::ALL);
        }
        checker.time_text(&format!("{at}/timestamp"), &self.timestamp);
        checker.word_of(&format!("{at}/result"), &self.result, Outcome::ALL);
        let is_right = self.score.value().is_none_or(|score| is_score(*score));
        checker.must(is_right, format!("{at}/score"), SCORE);
    }
}

fn is_score(score: i64) -> bool {
    (0..=100).contains(&score)
}
