//! Size limits still exceeded after a plan, because rules keep the rest.

use std::collections::BTreeMap;

use super::plan::{Plan, Planned};
use crate::checkpoint::Issue;

/// An issue, or the whole store, that still takes more than the policy allows.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::{NewEntry, Policy, Store, Timestamp, plan};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::default(), &"the newest of a series always stays")?;
/// let entries = store.inventory(None)?;
/// let policy = Policy { store_bytes_max: Some(1), ..Policy::preset("keep-all")? };
/// let excesses = plan(&entries, &policy, Timestamp::now()).excesses();
/// assert!(excesses[0].issue.is_none() && excesses[0].bytes > excesses[0].bytes_max);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excess {
    /// The issue; `None` for the whole store.
    pub issue: Option<Issue>,
    /// How much is left.
    pub bytes: u64,
    /// How much the policy allows.
    pub bytes_max: u64,
}

impl Plan<'_> {
    /// Returns what exceeds the policy's limits once the plan is done: the store first, then issues
    /// by name.
    #[must_use]
    pub fn excesses(&self) -> Vec<Excess> {
        let mut issues: BTreeMap<&Issue, u64> = BTreeMap::new();
        let mut store = 0;
        for Planned { entry, .. } in self.iter().filter(|planned| !planned.verdict.removes()) {
            store += entry.stored_bytes;
            if let Some(issue) = &entry.issue {
                *issues.entry(issue).or_default() += entry.stored_bytes;
            }
        }
        let policy = self.policy();
        let excess = |issue: Option<&Issue>, bytes: u64, max: Option<u64>| {
            let bytes_max = max.filter(|max| bytes > *max)?;
            Some(Excess { issue: issue.cloned(), bytes, bytes_max })
        };
        let of_store = excess(None, store, policy.store_bytes_max);
        let of_issue = |(issue, bytes)| excess(Some(issue), bytes, policy.issue_bytes_max);
        of_store.into_iter().chain(issues.into_iter().filter_map(of_issue)).collect()
    }
}
