//! Limits of size: how much the checkpoints of an issue and of the store may take.
//!
//! Only adds up; the plan decides what goes.

use std::collections::HashMap;

use super::policy::Policy;
use super::verdict::Removed;
use crate::checkpoint::{Entry, Issue};

/// The size of the checkpoints kept so far.
pub(super) struct Sizes<'a> {
    entries: &'a [Entry],
    issue_bytes_max: Option<u64>,
    store_bytes_max: Option<u64>,
    issues: HashMap<&'a Issue, u128>,
    // Wide enough for any number of entries of any size.
    store: u128,
    /// Number of issues over their limit.
    excesses: usize,
}

impl<'a> Sizes<'a> {
    /// Adds up those of the entries that `is_kept` says are kept.
    pub(super) fn new(
        entries: &'a [Entry],
        policy: &Policy,
        is_kept: impl Fn(usize) -> bool,
    ) -> Self {
        let mut issues: HashMap<&Issue, u128> = HashMap::new();
        let mut store = 0;
        let kept = entries.iter().enumerate().filter(|(at, _)| is_kept(*at));
        for (_, entry) in kept {
            store += u128::from(entry.stored_bytes);
            if let Some(issue) = &entry.issue {
                *issues.entry(issue).or_default() += u128::from(entry.stored_bytes);
            }
        }
        let Policy { issue_bytes_max, store_bytes_max, .. } = *policy;
        let is_excess = |bytes: &&u128| is_more(**bytes, issue_bytes_max);
        let excesses = issues.values().filter(is_excess).count();
        Self { entries, issue_bytes_max, store_bytes_max, issues, store, excesses }
    }

    /// Whether any limit is exceeded.
    pub(super) fn exceed(&self) -> bool {
        self.excesses > 0 || is_more(self.store, self.store_bytes_max)
    }

    /// The limit that an entry is over, if any.
    pub(super) fn excess(&self, at: usize) -> Option<Removed> {
        let issue = self.entries[at].issue.as_ref().and_then(|issue| self.issues.get(issue));
        let is_issue = issue.is_some_and(|bytes| is_more(*bytes, self.issue_bytes_max));
        let is_store = is_more(self.store, self.store_bytes_max);
        let of_issue = self.issue_bytes_max.filter(|_| is_issue).map(Removed::IssueTooLarge);
        of_issue.or(self.store_bytes_max.filter(|_| is_store).map(Removed::StoreTooLarge))
    }

    /// Subtracts an entry that goes.
    pub(super) fn release(&mut self, at: usize) {
        let entry = &self.entries[at];
        let bytes = u128::from(entry.stored_bytes);
        self.store -= bytes;
        if let Some(of_issue) = entry.issue.as_ref().and_then(|issue| self.issues.get_mut(issue)) {
            let was_more = is_more(*of_issue, self.issue_bytes_max);
            *of_issue -= bytes;
            let is_less = was_more && !is_more(*of_issue, self.issue_bytes_max);
            self.excesses -= usize::from(is_less);
        }
    }
}

fn is_more(bytes: u128, max: Option<u64>) -> bool {
    max.is_some_and(|max| bytes > max.into())
}
