//! Smart rollback: the last checkpoint before the work went wrong.
//!
//! Trouble begins when work fails, ends with an error, is saved during error recovery, fails more
//! often than before, or gets a worse score. It ends once none of that holds and the score is as
//! good as before.
//!
//! The offer is the last checkpoint before the present trouble, and not one from within earlier
//! trouble. Without scores or counts of failures, the last checkpoint may already be in the middle
//! of the failure, so the last boundary in the same phase is preferred.

use std::collections::HashMap;

use super::candidate::Candidate;
use super::proposal::PassedOver;
use crate::checkpoint::{Entry, Id, Status, Trigger};
use crate::layouts::Standing;

/// The choice, and the reasons.
pub(super) struct Choice {
    /// The place among the candidates.
    pub(super) at: Option<usize>,
    pub(super) reasons: Vec<String>,
    pub(super) passed_over: Vec<PassedOver>,
}

/// The start of trouble, and its signs.
#[derive(Clone)]
struct Trouble {
    /// The place of the first candidate of it.
    at: usize,
    signs: Vec<String>,
    before: Before,
}

impl Trouble {
    /// Whether the work is as good as before the trouble.
    fn is_over(&self, now: Before) -> bool {
        let is_as_good = now.score.zip(self.before.score).is_none_or(|(now, old)| now >= old);
        let is_as_few = now.failing.zip(self.before.failing).is_none_or(|(now, old)| now <= old);
        let does_not_pass = (self.before.is_passing, now.is_passing) == (Some(true), Some(false));
        is_as_good && is_as_few && !does_not_pass
    }
}

/// Chooses among candidates, which come newest first.
pub(super) fn choose(candidates: &[Candidate]) -> Choice {
    if let Some(choice) = ended(candidates) {
        return choice;
    }
    // Ended checkpoints belong to another run and are not compared.
    let run = candidates.iter().position(Candidate::has_ended).unwrap_or(candidates.len());
    let (candidates, ended) = candidates.split_at(run);
    let course = Course::of(candidates);
    let trouble = course.trouble.as_ref();
    let from = trouble.map_or(0, |trouble| trouble.at + 1);
    let is_safe = |at: usize| is_safe(&candidates[at]) && !course.is_wrong[at];
    let passed_over = |count: usize| {
        let passed = candidates[..count].iter().enumerate();
        passed.map(|(at, it)| passed_by(it, at, &course)).collect()
    };
    let Some(newest) = (from..candidates.len()).find(|at| is_safe(*at)) else {
        let mut passed_over: Vec<PassedOver> = passed_over(candidates.len());
        passed_over.extend(ended.iter().map(PassedOver::of));
        return Choice { at: None, reasons: hopeless(trouble), passed_over };
    };
    let boundary = trouble.and_then(|trouble| boundary(candidates, trouble, newest, is_safe));
    let at = boundary.unwrap_or(newest);
    let mut reasons = Vec::new();
    let chosen = name(&candidates[at].entry);
    match trouble {
        None if !candidates.iter().any(tells) => reasons.push(format!(
            "No checkpoint says how good the work is, by a score, failures, tests or an error: \
             {chosen} is the newest that can be resumed."
        )),
        None if at == 0 => {
            reasons.push(format!("Nothing is worse than before: {chosen} is the newest."));
        }
        None => reasons.push(format!(
            "Nothing is worse than before: {chosen} is the newest that is safe to go on from."
        )),
        Some(trouble) => {
            let since = name(&candidates[trouble.at].entry);
            let signs = trouble.signs.join(", and ");
            reasons.push(format!("Things went wrong from {since} on: {signs}."));
            reasons.push(match boundary {
                Some(_) => format!(
                    "No checkpoint says how good the work was, so {chosen}, saved as {}, is safer \
                     than what came right before the failure.",
                    candidates[at].entry.trigger
                ),
                None => format!("{chosen} is the last safe one before that."),
            });
        }
    }
    Choice { at: Some(at), reasons, passed_over: passed_over(at) }
}

/// Whether a checkpoint has a score or a count of failures.
fn tells(candidate: &Candidate) -> bool {
    let standing = &candidate.standing;
    standing.score.is_some()
        || standing.failures.is_some()
        || standing.failing.is_some()
        || standing.tests_passing.is_some()
        || !own_signs(candidate).is_empty()
}

/// Work that has ended is not resumed, however well it went.
fn ended(candidates: &[Candidate]) -> Option<Choice> {
    let newest = candidates.iter().position(|it| it.is_readable() || it.has_ended())?;
    if !candidates[newest].has_ended() {
        return None;
    }
    let reasons = vec![format!("The work is {}.", candidates[newest].entry.status)];
    let passed_over = candidates[..=newest].iter().map(PassedOver::of).collect();
    Some(Choice { at: None, reasons, passed_over })
}

/// The course of the work.
struct Course {
    /// The trouble that the newest candidates are in, if any.
    trouble: Option<Trouble>,
    /// For each candidate, whether it was in trouble, even if that has ended.
    is_wrong: Vec<bool>,
}

impl Course {
    fn of(candidates: &[Candidate]) -> Self {
        let mut trouble: Option<Trouble> = None;
        let mut is_wrong = vec![false; candidates.len()];
        let mut before = Before::default();
        let mut course: HashMap<&Id, (Before, Option<Trouble>)> = HashMap::new();
        for (at, candidate) in candidates.iter().enumerate().rev() {
            if !candidate.is_readable() {
                continue;
            }
            // A rollback continues its parent; checkpoints between the two do not count.
            let parent = candidate.entry.parent.as_ref().and_then(|parent| course.get(parent));
            if let Some((known, begun)) = parent {
                (before, trouble) = (*known, begun.clone());
            }
            let signs = signs(candidate, before);
            let now = before.then(candidate);
            if let Some(begun) = &trouble {
                if signs.is_empty() && begun.is_over(now) {
                    trouble = None;
                }
            } else if !signs.is_empty() {
                trouble = Some(Trouble { at, signs, before });
            }
            is_wrong[at] = trouble.is_some();
            before = now;
            course.insert(&candidate.entry.id, (before, trouble.clone()));
        }
        Self { trouble, is_wrong }
    }
}

/// The last known score and failures.
#[derive(Clone, Copy, Default)]
struct Before {
    score: Option<f64>,
    failures: Option<u64>,
    failing: Option<u64>,
    is_passing: Option<bool>,
}

impl Before {
    fn then(self, candidate: &Candidate) -> Self {
        let standing = &candidate.standing;
        Self {
            score: standing.score.or(self.score),
            failures: standing.failures.or(self.failures),
            failing: standing.failing.or(self.failing),
            is_passing: standing.tests_passing.or(self.is_passing),
        }
    }
}

/// The signs of trouble, compared with the values before.
fn signs(candidate: &Candidate, before: Before) -> Vec<String> {
    let standing = &candidate.standing;
    let own = own_signs(candidate).into_iter();
    let mut signs: Vec<String> = own.map(|sign| format!("it {sign}")).collect();
    let failures = before.failures.zip(standing.failures);
    if let Some((before, now)) = failures.filter(|(old, new)| new > old) {
        signs.push(format!("its failures rose from {before} to {now}"));
    }
    if let Some((before, now)) = before.score.zip(standing.score).filter(|(old, new)| new < old) {
        signs.push(format!("its score fell from {before} to {now}"));
    }
    let failing = before.failing.zip(standing.failing);
    if let Some((before, now)) = failing.filter(|(old, new)| new > old) {
        signs.push(format!("what fails rose from {before} to {now}"));
    }
    if (before.is_passing, standing.tests_passing) == (Some(true), Some(false)) {
        signs.push("its tests do not pass any more".to_owned());
    }
    signs
}

/// The signs in a candidate alone, in words that follow its name.
fn own_signs(candidate: &Candidate) -> Vec<&'static str> {
    let mut signs = Vec::new();
    if candidate.entry.status == Status::Failed {
        signs.push("has failed");
    }
    if candidate.standing.error.is_some() {
        signs.push("ends with an error");
    }
    if candidate.entry.trigger == Trigger::ErrorRecovery {
        signs.push("was saved during error recovery");
    }
    signs
}

fn is_safe(candidate: &Candidate) -> bool {
    candidate.hurdles.is_empty() && own_signs(candidate).is_empty()
}

/// The last boundary before trouble in its phase.
///
/// Only if no checkpoint has a score: then the one right before the failure may already be in the
/// middle of it.
fn boundary(
    candidates: &[Candidate],
    trouble: &Trouble,
    newest: usize,
    is_safe: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_measured = |it: &Candidate| {
        let Standing { score, failures, failing, tests_passing, .. } = &it.standing;
        score.is_some() || failures.is_some() || failing.is_some() || tests_passing.is_some()
    };
    if candidates.iter().any(is_measured) || candidates[newest].is_boundary() {
        return None;
    }
    let phase = &candidates[trouble.at].entry.phase;
    let found = (newest..candidates.len()).find(|at| is_safe(*at) && candidates[*at].is_boundary());
    found.filter(|at| candidates[*at].entry.phase == *phase)
}

fn hopeless(trouble: Option<&Trouble>) -> Vec<String> {
    let signs = trouble.map(|trouble| {
        format!("Things went wrong, and no safe one came before: {}.", trouble.signs.join(", and "))
    });
    signs.into_iter().chain(["No checkpoint is safe to go on from.".to_owned()]).collect()
}

fn passed_by(candidate: &Candidate, at: usize, course: &Course) -> PassedOver {
    let mut why: Vec<String> = candidate.hurdles.iter().map(ToString::to_string).collect();
    match &course.trouble {
        Some(trouble) if trouble.at == at => {
            why.push(format!("is where things went wrong: {}", trouble.signs.join(", and ")));
        }
        Some(trouble) if at < trouble.at => why.push("came after things went wrong".to_owned()),
        _ => {
            why.extend(own_signs(candidate).into_iter().map(str::to_owned));
            if why.is_empty() && course.is_wrong[at] {
                why.push("was saved while things were wrong".to_owned());
            }
        }
    }
    if why.is_empty() {
        why.push("may be in the middle of what failed".to_owned());
    }
    PassedOver::because(candidate, why)
}

/// The id, with its iteration or phase for people.
fn name(entry: &Entry) -> String {
    match (entry.iteration, &entry.phase) {
        (Some(iteration), _) => format!("{} (iteration {iteration})", entry.id),
        (None, Some(phase)) => format!("{} ({phase})", entry.id),
        (None, None) => entry.id.to_string(),
    }
}
