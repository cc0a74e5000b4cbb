//! Compares a checkpoint with the present state of branch, issue and files.
//!
//! Each file below has the comparisons of one kind. Messages must never quote an issue: they end up
//! in logs.
//!
//! The comparisons, in this order. Every difference is reported; the strictest decides. Only what
//! the document names is compared.
//!
//! - branch: gone: `start_fresh`; another one is checked out: `prompt_user`
//! - text of the issue, except line ends and blank space at its end: `prompt_user`
//! - labels, as sets: `proceed_with_warning`; for claude-crunch the phase follows the label
//!   `state:PHASE`, if there is exactly one
//! - files, by SHA-256 where the document has it, else by existence; for claude-crunch by git:
//!   `prompt_user`
//! - worktree: gone, or for agentize another one: `start_fresh`
//! - issue that is asked for: another one: `start_fresh`
//! - plan, by existence and by time: `prompt_user`
//! - pull request, for agentize in stage `pr`: one exists: `proceed_with_warning`
//! - date of the checkpoint: more than a minute ahead of the clock: `proceed_with_warning`
//! - prerequisites that the document says are not met: `prompt_user`
//! - story, by the state of its pipeline: done or paused: `prompt_user`
//! - retry counters of the pipeline: beyond 2 quality cycles, 1 validation retry or 1 crash:
//!   `prompt_user`
//! - conditions of the claude system from schema 1.2 on: tests pass, no error, in progress, at most
//!   7 days and an hour old, plan unchanged: `prompt_user`
//!
//! A comparison that is impossible, for example without git, gh or a known kind of hash, is
//! reported and changes no advice: a missing tool must not stop work.

mod auto;
mod files;
mod issue;
mod place;
mod plan;
mod report;
mod story;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use self::report::Report;
use super::World;
use crate::checkpoint::{Entry, Issue, Status, Timestamp};
use crate::layouts::Standing;

// Clocks of two machines differ by some seconds.
const SKEW_MAX: Duration = Duration::from_mins(1);

/// What to do about a checkpoint, from mild to strict.
///
/// ```
/// use waypost::recovery::Advice;
///
/// assert!(Advice::PromptUser > Advice::ProceedWithWarning);
/// assert_eq!(Advice::StartFresh.to_string(), "start_fresh");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Go on.
    #[default]
    Resume,
    /// Go on, and say what changed.
    ProceedWithWarning,
    /// Ask whether to go on.
    PromptUser,
    /// The work cannot go on from here.
    StartFresh,
}

/// What was compared.
///
/// See [`Freshness`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Check {
    /// The branch is there.
    Branch,
    /// The text of the issue is unchanged.
    Body,
    /// The labels of the issue are unchanged.
    Labels,
    /// Files of the work are unchanged.
    Artifact,
    /// The directory is there, and the one that work goes on in.
    Worktree,
    /// The issue is the one asked for.
    Issue,
    /// The plan is unchanged.
    Plan,
    /// Whether there is a pull request already.
    PullRequest,
    /// The checkpoint is not dated ahead of the clock.
    Date,
    /// The prerequisites of the checkpoint are met.
    Prerequisites,
    /// The story is neither done nor paused in its pipeline.
    Story,
    /// No retry counter of the pipeline is beyond its limit.
    Retries,
    /// The work went well so far.
    Outcome,
    /// All conditions under which later schemas of the claude system resume without asking.
    AutoResume,
}

/// What one comparison showed.
///
/// See [`Freshness`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What was compared.
    pub check: Check,
    /// What follows from it.
    pub advice: Advice,
    /// What was found, in a sentence.
    pub message: String,
}

/// Whether a checkpoint is fresh enough to go on from.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::{Advice, Blind, freshness};
/// use waypost::{NewEntry, Store, Timestamp};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// let (offer, _hurdles) = store.offer(saved)?;
/// let found = freshness(&offer.checkpoint.entry, &offer.standing, &Blind, Timestamp::now());
/// for finding in &found.findings {
///     show(format!("{:?}: {} ({})", finding.check, finding.message, finding.advice));
/// }
/// assert_eq!(found.advice, Advice::Resume);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Freshness {
    /// The advice of the strictest finding.
    pub advice: Advice,
    /// Everything that differs, in the order of checks.
    pub findings: Vec<Finding>,
    /// What could not be compared, and why.
    pub unchecked: Vec<String>,
    /// Whether its system would go on without asking; `None` if it has no such rule.
    pub is_automatic: Option<bool>,
    /// The phase that the labels of the issue name now, if it differs from that of the checkpoint.
    /// Only for systems whose labels are the state of the work.
    pub phase: Option<String>,
    /// The worktree of the work, if it is not the one in which work would go on.
    #[serde(skip)]
    pub elsewhere: Option<String>,
}

impl Advice {
    /// The name in files and commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::ProceedWithWarning => "proceed_with_warning",
            Self::PromptUser => "prompt_user",
            Self::StartFresh => "start_fresh",
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Compares a checkpoint with the world at `now`.
///
/// Asks the world only about what the document names. Unanswered questions are in
/// [`Freshness::unchecked`] and change no advice.
#[must_use]
pub fn freshness(
    entry: &Entry,
    standing: &Standing,
    world: &dyn World,
    now: Timestamp,
) -> Freshness {
    let case = Case { entry, standing, world, now };
    let mut report = Report::default();
    place::branch(&case, &mut report);
    issue::text_and_labels(&case, &mut report);
    files::files(&case, &mut report);
    let is_in_place = place::worktree(&case, &mut report);
    issue::wanted(&case, &mut report);
    let plan = plan::plan(&case, &mut report);
    place::pull_request(&case, is_in_place, &mut report);
    date(&case, &mut report);
    prerequisites(&case, &mut report);
    story::story(&case, &mut report);
    outcome(&case, &mut report);
    auto::auto_resume(&case, plan, &mut report);
    report.finish()
}

/// Reports a checkpoint that is dated ahead of the clock: a checkpoint that was saved later with a
/// stated date may count as older.
fn date(case: &Case<'_>, report: &mut Report) {
    let Entry { created_at, .. } = case.entry;
    if created_at.saturating_since(case.now) > SKEW_MAX {
        let message = format!("it is dated {created_at}, ahead of the clock");
        report.find(Check::Date, Advice::ProceedWithWarning, message);
    }
}

/// Reports prerequisites that the checkpoint marks as not met.
///
/// If it names none, its warnings usually say what is missing.
fn prerequisites(case: &Case<'_>, report: &mut Report) {
    let Some(unmet) = &case.standing.unmet_prerequisites else { return };
    let names = if unmet.is_empty() { &case.entry.warnings } else { unmet };
    let names = words::listed(names.iter().map(|it| words::quoted(it)));
    let names = if names.is_empty() { names } else { format!(": {names}") };
    let message = format!("prerequisites are not met{names}");
    report.find(Check::Prerequisites, Advice::PromptUser, message);
}

/// Reports failures of the work, for the agent that continues.
fn outcome(case: &Case<'_>, report: &mut Report) {
    let mut find = |message: &str| {
        report.find(Check::Outcome, Advice::ProceedWithWarning, message.to_owned());
    };
    if case.entry.status == Status::Failed {
        find("the work has failed");
    }
    if case.standing.error.is_some() {
        find("the checkpoint ends with an error");
    }
}

/// The input of all comparisons.
struct Case<'a> {
    entry: &'a Entry,
    standing: &'a Standing,
    world: &'a dyn World,
    now: Timestamp,
}

impl Case<'_> {
    /// The issue that was worked on.
    fn issue(&self) -> Option<&Issue> {
        self.standing.snapshot.issue.as_ref().or(self.entry.issue.as_ref())
    }
}

/// The text of a field; a blank one counts as missing.
fn said(field: Option<&String>) -> Option<&str> {
    field.map(String::as_str).filter(|text| !text.trim().is_empty())
}
