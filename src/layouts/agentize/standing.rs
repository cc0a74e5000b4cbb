//! Where a run of `lol impl` stands.
//!
//! The file is the state on entry to `current_stage`, which is where a run resumes. Only
//! consecutive failures at the end of the history count: a successful stage resets the count.

use super::{ImplStage, Outcome, VERSION_NEWEST};
use crate::checkpoint::{Document, Entry};
use crate::layouts::reading::{list, text, whole, word};
use crate::layouts::standing::told::{LIST_MAX, issue, missing, name, newer, number, said};
use crate::layouts::standing::{Progress, Snapshot, Standing};
use crate::layouts::{Code, Problem, Vocabulary, Word};

/// Fields for which the loader of agentize has no default.
const REQUIRED: [&str; 5] =
    ["state", "state.issue_no", "state.current_stage", "state.iteration", "state.worktree"];

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    let history = list(document, "state.history");
    let stage = known::<ImplStage>(document, "state.current_stage");
    let newer = newer(document, "version", &VERSION_NEWEST.to_string());
    // Resuming at `fatal` only shows the error: no transition leads on from it.
    let fatal = stage.filter(|stage| *stage == ImplStage::Fatal).map(|_| {
        let rule = "is fatal: no stage continues after it";
        Problem::new(Code::Terminal, "/state/current_stage", rule)
    });
    Standing {
        version: name(document, &["version"]),
        refusals: newer.into_iter().chain(missing(document, &REQUIRED)).chain(fatal).collect(),
        progress: progress(document, stage),
        tasks_done: history.map(|steps| steps.iter().filter_map(step).take(LIST_MAX).collect()),
        last_action: history.and_then(|steps| step(steps.last()?)),
        last_feedback: said(document, &["state.last_feedback"]),
        score: score(document, history.unwrap_or_default()),
        failures: history.map(failures),
        error: stage.filter(|stage| *stage == ImplStage::Fatal).and_then(|_| diagnosis(document)),
        next: stage.and_then(|stage| next(document, stage)).map(str::to_owned),
        snapshot: Snapshot {
            issue: issue(entry, document, &["state.issue_no"]),
            worktree: name(document, &["state.worktree"]),
            plan_file: name(document, &["state.plan_file"]),
            pull_request: name(document, &["state.pr_url", "state.pr_number"]),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

fn known<T: Vocabulary>(document: &Document, field: &str) -> Option<T> {
    Word::of(text(document, field)?).known()
}

/// Iterations count from one; the one in the state is not finished.
fn progress(document: &Document, stage: Option<ImplStage>) -> Option<Progress> {
    let iteration = whole(document, "state.iteration")?;
    let done = if stage == Some(ImplStage::Done) { iteration } else { iteration.saturating_sub(1) };
    let next = stage.filter(|stage| !stage.next().is_empty());
    let next = next.map(|stage| format!("{stage}, iteration {iteration}"));
    Some(Progress { unit: "iteration", done, total: None, next })
}

/// A stage that was run, such as `impl, iteration 1: success`.
fn step(step: &Document) -> Option<String> {
    let mut said = said(step, &["stage"])?;
    if let Some(iteration) = whole(step, "iteration") {
        said = format!("{said}, iteration {iteration}");
    }
    if let Some(result) = word(step, "result") {
        said = format!("{said}: {result}");
    }
    Some(said)
}

/// A run starts with a score of 0, which is no result of a review.
fn score(document: &Document, history: &[Document]) -> Option<f64> {
    let is_scored = || history.iter().any(|step| number(step, &["score"]).is_some());
    number(document, &["state.last_score"]).filter(|score| *score != 0.0 || is_scored())
}

fn failures(history: &[Document]) -> u64 {
    let failed = |step: &&Document| known::<Outcome>(step, "result").is_some_and(is_failure);
    history.iter().rev().take_while(failed).count() as u64
}

fn is_failure(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failure
        | Outcome::Retry
        | Outcome::Fail
        | Outcome::CiFix
        | Outcome::PrFailFixable
        | Outcome::PrFailNeedRebase
        | Outcome::RebaseConflict => true,
        Outcome::Success
        | Outcome::Incomplete
        | Outcome::Pass
        | Outcome::PrPass
        | Outcome::RebaseOk => false,
    }
}

/// A run in `fatal` gives the reason in the first line of its last feedback.
fn diagnosis(document: &Document) -> Option<String> {
    said(document, &["state.last_feedback"])?.lines().next().map(str::to_owned)
}

/// The next action by the rules of the document; a stage without a rule starts again.
fn next(document: &Document, stage: ImplStage) -> Option<&'static str> {
    match stage {
        ImplStage::Impl => Some("The iteration was interrupted: it starts again."),
        ImplStage::Review if said(document, &["state.last_feedback"]).is_some() => {
            Some("The saved feedback is used.")
        }
        ImplStage::Review | ImplStage::Simp | ImplStage::Rebase => Some("The stage starts again."),
        ImplStage::Pr => Some("Check first whether the pull request exists already."),
        ImplStage::Done => Some("The work is done."),
        ImplStage::Fatal => None,
    }
}
