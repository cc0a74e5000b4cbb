//! Policies: ordered rules, of which the first that matches a checkpoint governs it.

use serde::{Deserialize, Serialize};

use super::age::Age;
use crate::checkpoint::{Entry, Layout, Status, Trigger};

/// What is kept and for how long: a list of rules, and how much everything may take.
///
/// The first rule that matches a checkpoint governs it; one that no rule matches is kept. Whatever
/// the rules say, a plan never removes what is tagged, the newest of a series, the newest of a
/// series that can be resumed, and what another series was forked from.
///
/// ```
/// use waypost::retention::{Age, Rule};
/// use waypost::{Policy, Trigger};
///
/// let policy = Policy {
///     name: "ours".to_owned(),
///     rules: vec![
///         Rule { triggers: vec![Trigger::Manual], ..Rule::default() }, // Keeps all.
///         Rule { keep_last: Some(5), keep_within: Some(Age::days(2)), ..Rule::default() },
///     ],
///     ..Policy::default()
/// };
/// # assert!(!policy.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// What reports and the log of operations call it.
    pub name: String,
    /// In order: the first that matches governs.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// How much the checkpoints of one issue may take on disk.
    ///
    /// If it is more, the oldest go first, but only of those that a rule may remove one day. Only
    /// documents count, and no captured files: these may be of many checkpoints at once.
    #[serde(default)]
    pub issue_bytes_max: Option<u64>,
    /// How much all checkpoints may take on disk; removed are the oldest, as above.
    #[serde(default)]
    pub store_bytes_max: Option<u64>,
    /// What becomes of a series when its work is declared done.
    #[serde(default)]
    pub on_success: OnSuccess,
}

/// Which checkpoints it governs, and what it keeps of them.
///
/// Removed is what is older than `max_age`, and what is beyond the `keep_last` newest of its group
/// and older than `keep_within`. By default a rule matches everything and keeps it.
///
/// ```
/// use waypost::retention::{Age, Per, Rule};
/// use waypost::{Policy, Trigger};
///
/// // Of each phase the last two; heartbeats for a day.
/// let day = Age::days(1);
/// let policy = Policy {
///     rules: vec![
///         Rule { triggers: vec![Trigger::Heartbeat], max_age: Some(day), ..Rule::default() },
///         Rule { keep_last: Some(2), per: Per::Phase, ..Rule::default() },
///     ],
///     ..Policy::default()
/// };
/// assert!(!policy.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Saved for one of these reasons; for any if empty.
    #[serde(default)]
    pub triggers: Vec<Trigger>,
    /// Has one of these statuses; any if empty.
    #[serde(default)]
    pub statuses: Vec<Status>,
    /// The newest of its series has one of these statuses; any if empty.
    #[serde(default)]
    pub series_statuses: Vec<Status>,
    /// Came from one of these layouts; from any if empty.
    #[serde(default)]
    pub layouts: Vec<Layout>,
    /// What `keep_last` counts within.
    #[serde(default)]
    pub per: Per,
    /// Keeps this many of the newest of each group; all if absent.
    #[serde(default)]
    pub keep_last: Option<u32>,
    /// Keeps what is younger, however many there are.
    #[serde(default)]
    pub keep_within: Option<Age>,
    /// Removes what is older, however few there are.
    #[serde(default)]
    pub max_age: Option<Age>,
}

/// What [`Rule::keep_last`] counts within.
///
/// See [`Rule`] for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Those of a series that the rule governs.
    #[default]
    Series,
    /// Those of a series and a phase that the rule governs.
    Phase,
}

/// What becomes of a series when its work is declared done.
///
/// ```
/// use waypost::retention::{OnSuccess, plan_completed};
/// use waypost::{NewEntry, Policy, Series, Store, Timestamp};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..3 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// let policy = Policy { on_success: OnSuccess::KeepNewest, ..Policy::default() };
/// let entries = store.inventory(None)?;
/// let done = plan_completed(&entries, &Series::new("issue:42")?, &policy, Timestamp::now());
/// assert_eq!(done.removed().count(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSuccess {
    /// What the rules say.
    #[default]
    Rules,
    /// Its newest checkpoint is kept.
    KeepNewest,
    /// All of it is removed, but for what is tagged or was forked from.
    Remove,
}

impl Policy {
    /// Whether it says nothing at all, so that pruning by it is a mistake.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.has_size_limit()
    }

    /// Whether it limits how much checkpoints take: then it has to be asked about all of them.
    #[must_use]
    pub fn has_size_limit(&self) -> bool {
        self.issue_bytes_max.is_some() || self.store_bytes_max.is_some()
    }

    /// The number of the rule that governs an entry whose series is in the given state.
    pub(crate) fn rule(&self, entry: &Entry, series: Status) -> Option<usize> {
        self.rules.iter().position(|rule| rule.matches(entry, series))
    }
}

impl Rule {
    fn matches(&self, entry: &Entry, series: Status) -> bool {
        self.admits(entry.status, &entry.trigger)
            && is_any(&self.series_statuses, &series)
            && is_any(&self.layouts, &entry.layout)
    }

    /// Whether a checkpoint of this status and trigger may be governed by it.
    pub(crate) fn admits(&self, status: Status, trigger: &Trigger) -> bool {
        is_any(&self.triggers, trigger) && is_any(&self.statuses, &status)
    }
}

fn is_any<T: PartialEq>(wanted: &[T], found: &T) -> bool {
    wanted.is_empty() || wanted.contains(found)
}
