//! Smart rollback: the last checkpoint before things went wrong.
//!
//! Things go wrong when work fails, ends with an error, is saved during error recovery, fails more
//! often than before, or is judged worse than before. They are right again once none of that holds
//! and the work is judged as well as before it began.

use super::candidate::Candidate;
use super::resume::PassedOver;
use crate::checkpoint::{Entry, Status, Trigger};

/// What was chosen, and why.
pub(super) struct Choice {
    /// The place among the candidates.
    pub(super) at: Option<usize>,
    pub(super) reasons: Vec<String>,
    pub(super) passed_over: Vec<PassedOver>,
}

/// When things went wrong, and how one sees it.
struct Trouble {
    /// The place of the first candidate of it.
    at: usize,
    signs: Vec<String>,
    score_before: Option<f64>,
}

/// Chooses among candidates, which come newest first.
pub(super) fn choose(candidates: &[Candidate]) -> Choice {
    if let Some(choice) = ended(candidates) {
        return choice;
    }
    let trouble = trouble(candidates);
    let from = trouble.as_ref().map_or(0, |trouble| trouble.at + 1);
    let is_safe = |at: &usize| is_safe(&candidates[*at]);
    let newest = (from..candidates.len()).find(is_safe);
    let Some(newest) = newest else {
        return Choice {
            at: None,
            reasons: hopeless(trouble.as_ref()),
            passed_over: all(candidates),
        };
    };
    let boundary = trouble.as_ref().and_then(|trouble| boundary(candidates, trouble, newest));
    let at = boundary.unwrap_or(newest);
    let mut reasons = Vec::new();
    let chosen = name(&candidates[at].entry);
    match &trouble {
        None if !candidates.iter().any(tells) => reasons.push(format!(
            "No checkpoint says how good the work is, by a score, failures, tests or an error: \
             {chosen} is the newest that can be resumed."
        )),
        None if at == 0 => reasons.push(format!("Nothing went wrong: {chosen} is the newest.")),
        None => reasons.push(format!(
            "Nothing went wrong: {chosen} is the newest that is safe to go on from."
        )),
        Some(trouble) => {
            let since = name(&candidates[trouble.at].entry);
            reasons.push(format!(
                "Things went wrong from {since} on: {}.",
                trouble.signs.join(", and ")
            ));
            reasons.push(match boundary {
                Some(_) => format!(
                    "No checkpoint says how good the work was, so {chosen}, saved as {}, is safer \
                     than what came right before the failure.",
                    candidates[at].entry.trigger
                ),
                None => format!("{chosen} is the last one before that."),
            });
        }
    }
    let passed_over = candidates[..at].iter().enumerate();
    let passed_over = passed_over.map(|(at, it)| passed(it, at, trouble.as_ref())).collect();
    Choice { at: Some(at), reasons, passed_over }
}

/// Whether a checkpoint says anything by which good can be told from bad.
fn tells(candidate: &Candidate) -> bool {
    let standing = &candidate.standing;
    standing.score.is_some()
        || standing.failures.is_some()
        || standing.tests_passing.is_some()
        || !own_signs(candidate).is_empty()
}

/// Work that is over is not to be gone on with, however well it went.
fn ended(candidates: &[Candidate]) -> Option<Choice> {
    let newest = candidates.iter().position(Candidate::is_readable)?;
    if !candidates[newest].has_ended() {
        return None;
    }
    let reasons = vec![format!("The work is {}.", candidates[newest].entry.status)];
    let passed_over = candidates[..=newest].iter().map(PassedOver::of).collect();
    Some(Choice { at: None, reasons, passed_over })
}

/// The trouble that the newest candidates are in, if any.
fn trouble(candidates: &[Candidate]) -> Option<Trouble> {
    let mut trouble: Option<Trouble> = None;
    let mut score = None;
    let mut failures = None;
    let mut passing = None;
    for (at, candidate) in candidates.iter().enumerate().rev() {
        if !candidate.is_readable() {
            continue;
        }
        let signs = signs(candidate, score, failures, passing);
        let standing = &candidate.standing;
        if let Some(begun) = &trouble {
            let before = begun.score_before;
            let has_recovered = signs.is_empty()
                && standing.score.or(score).zip(before).is_none_or(|(now, before)| now >= before);
            if has_recovered {
                trouble = None;
            }
        } else if !signs.is_empty() {
            trouble = Some(Trouble { at, signs, score_before: score });
        }
        score = standing.score.or(score);
        failures = standing.failures.or(failures);
        passing = standing.tests_passing.or(passing);
    }
    trouble
}

/// What shows that things went wrong, against what was known before.
fn signs(
    candidate: &Candidate,
    score: Option<f64>,
    failures: Option<u64>,
    passing: Option<bool>,
) -> Vec<String> {
    let standing = &candidate.standing;
    let mut signs = own_signs(candidate);
    if let Some((before, now)) = failures.zip(standing.failures).filter(|(old, new)| new > old) {
        signs.push(format!("its failures rose from {before} to {now}"));
    }
    if let Some((before, now)) = score.zip(standing.score).filter(|(old, new)| new < old) {
        signs.push(format!("its score fell from {before} to {now}"));
    }
    if (passing, standing.tests_passing) == (Some(true), Some(false)) {
        signs.push("its tests do not pass any more".to_owned());
    }
    signs
}

/// What a candidate says by itself.
fn own_signs(candidate: &Candidate) -> Vec<String> {
    let mut signs = Vec::new();
    if candidate.entry.status == Status::Failed {
        signs.push("it has failed".to_owned());
    }
    if candidate.standing.error.is_some() {
        signs.push("it ends with an error".to_owned());
    }
    if candidate.entry.trigger == Trigger::ErrorRecovery {
        signs.push("it was saved during error recovery".to_owned());
    }
    signs
}

fn is_safe(candidate: &Candidate) -> bool {
    candidate.hurdles.is_empty() && own_signs(candidate).is_empty()
}

/// Where work was last taken up cleanly before trouble in its phase.
///
/// Only if no checkpoint says how good the work is: then the one right before the failure may be
/// in the middle of what failed, and nothing shows it.
fn boundary(candidates: &[Candidate], trouble: &Trouble, newest: usize) -> Option<usize> {
    let is_measured =
        |it: &Candidate| it.standing.score.is_some() || it.standing.failures.is_some();
    if candidates.iter().any(is_measured) || candidates[newest].is_boundary() {
        return None;
    }
    let phase = &candidates[trouble.at].entry.phase;
    let found = (newest..candidates.len()).find(|at| {
        let candidate = &candidates[*at];
        is_safe(candidate) && candidate.is_boundary()
    });
    found.filter(|at| candidates[*at].entry.phase == *phase)
}

fn hopeless(trouble: Option<&Trouble>) -> Vec<String> {
    let signs = trouble.map(|trouble| {
        format!("Things went wrong from the start: {}.", trouble.signs.join(", and "))
    });
    signs.into_iter().chain(["No checkpoint is safe to go on from.".to_owned()]).collect()
}

fn all(candidates: &[Candidate]) -> Vec<PassedOver> {
    let trouble = trouble(candidates);
    candidates.iter().enumerate().map(|(at, it)| passed(it, at, trouble.as_ref())).collect()
}

fn passed(candidate: &Candidate, at: usize, trouble: Option<&Trouble>) -> PassedOver {
    let mut why: Vec<String> = candidate.hurdles.iter().map(ToString::to_string).collect();
    match trouble {
        Some(trouble) if trouble.at == at => {
            why.push(format!("is where things went wrong: {}", trouble.signs.join(", and ")));
        }
        Some(trouble) if at < trouble.at => why.push("came after things went wrong".to_owned()),
        _ => why.extend(own_signs(candidate).into_iter().map(|sign| {
            let sign = sign.strip_prefix("it ").unwrap_or(&sign);
            sign.to_owned()
        })),
    }
    if why.is_empty() {
        why.push("may be in the middle of what failed".to_owned());
    }
    PassedOver { entry: candidate.entry.clone(), is_readable: candidate.is_readable(), why }
}

/// The id, and the iteration or phase that a person knows it by.
fn name(entry: &Entry) -> String {
    match (entry.iteration, &entry.phase) {
        (Some(iteration), _) => format!("{} (iteration {iteration})", entry.id),
        (None, Some(phase)) => format!("{} ({phase})", entry.id),
        (None, None) => entry.id.to_string(),
    }
}
