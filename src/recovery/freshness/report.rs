//! Collects the findings of comparisons.

use std::collections::BTreeMap;

use super::words::{NAMED_MAX, listed};
use super::{Advice, Check, Finding, Freshness};
use crate::recovery::Answer;

#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
    unchecked: Vec<Unchecked>,
    /// The index of each reason in `unchecked`.
    reasons: BTreeMap<String, usize>,
    /// Whether the system itself would go on without asking.
    pub(super) is_automatic: Option<bool>,
    /// The phase by the labels of the issue, if it differs from that of the checkpoint.
    pub(super) phase: Option<String>,
    /// The worktree of the work, if that is not where the work would go on.
    pub(super) elsewhere: Option<String>,
}

/// The subjects that could not be compared for one reason.
#[derive(Debug)]
struct Unchecked {
    reason: String,
    subjects: Vec<String>,
    /// How many there are beyond those.
    more: usize,
}

impl Report {
    pub(super) fn find(&mut self, check: Check, advice: Advice, message: String) {
        self.findings.push(Finding { check, advice, message });
    }

    /// The answer, if there is one; else notes that there is none about `subject`.
    pub(super) fn known<T>(&mut self, subject: &str, seen: Answer<T>) -> Option<T> {
        match seen {
            Answer::Known(answer) => Some(answer),
            Answer::Unknown(reason) => {
                self.skip(subject, &reason);
                None
            }
        }
    }

    /// Notes that `subject` was not compared.
    pub(super) fn skip(&mut self, subject: &str, reason: &str) {
        let next = self.unchecked.len();
        let at = *self.reasons.entry(reason.to_owned()).or_insert(next);
        if at == next {
            let reason = reason.to_owned();
            self.unchecked.push(Unchecked { reason, subjects: Vec::new(), more: 0 });
        }
        self.unchecked[at].add(subject);
    }

    pub(super) fn finish(self) -> Freshness {
        let advice = self.findings.iter().map(|finding| finding.advice).max().unwrap_or_default();
        let unchecked = self.unchecked.into_iter().map(Unchecked::sentence).collect();
        let Self { findings, is_automatic, phase, elsewhere, .. } = self;
        Freshness { advice, findings, unchecked, is_automatic, phase, elsewhere }
    }
}

impl Unchecked {
    fn add(&mut self, subject: &str) {
        // Two comparisons may need the same answer.
        if self.subjects.iter().any(|known| known == subject) {
            return;
        }
        if self.subjects.len() < NAMED_MAX {
            self.subjects.push(subject.to_owned());
        } else {
            self.more += 1;
        }
    }

    fn sentence(self) -> String {
        let Self { reason, subjects, more } = self;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{reason}, so this was not compared: {}{more}", listed(subjects))
    }
}
