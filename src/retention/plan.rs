//! The plan: whether each checkpoint stays or goes, and why.
//!
//! The plan goes through the entries from the newest to the oldest, counts each group, and judges
//! each entry by the first rule that matches it. The `retention_days` of a checkpoint replace the
//! age of its rule, and add none to a rule without one. Age counts from `created_at`, or from
//! `updated_at` if that is later. Limits of size drop the oldest of what a rule may remove one day.

use std::collections::{BinaryHeap, HashMap};

use serde::{Serialize, Serializer};

use super::age::Age;
use super::forks::Forks;
use super::lines::Lines;
use super::policy::{OnSuccess, Per, Policy, Rule};
use super::size::Sizes;
use super::verdict::{Kept, Removed, Verdict};
use crate::checkpoint::{Entry, Series, Status, Timestamp};

/// The verdicts of a policy on checkpoints.
///
/// Only a decision: [`Store::apply`](crate::Store::apply) removes what it says.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::{NewEntry, Policy, Store, Timestamp, plan};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..6 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// let entries = store.inventory(None)?;
/// let plan = plan(&entries, &Policy::preset("last-5")?, Timestamp::now());
/// for planned in plan.removed() {
///     show(format!("{}: {}", planned.entry.id, planned.verdict));
/// }
/// assert_eq!(store.apply(&plan)?.checkpoints, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<'a> {
    entries: &'a [Entry],
    verdicts: Vec<Verdict>,
    forks: Forks,
    policy: Policy,
    now: Timestamp,
    completed: Option<Series>,
}

/// A checkpoint of a plan.
///
/// Serializes to the fields of the checkpoint and a `reason`.
///
/// See [`Plan`] for an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned<'a> {
    /// The checkpoint.
    pub entry: &'a Entry,
    /// What becomes of it, and why.
    pub verdict: Verdict,
}

impl Serialize for Planned<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            entry: &'a Entry,
            reason: String,
        }
        let Self { entry, verdict } = *self;
        Row { entry, reason: verdict.to_string() }.serialize(serializer)
    }
}

/// Decides what a policy keeps and removes at `now`.
///
/// `entries` are all checkpoints of the store, or all of some series and what was forked from them,
/// as [`Store::inventory`](crate::Store::inventory) has them; the order does not matter.
/// Takes well under a second for a million of them.
#[must_use]
pub fn plan<'a>(entries: &'a [Entry], policy: &Policy, now: Timestamp) -> Plan<'a> {
    Decision::new(entries, policy, now).plan()
}

/// Plans a series whose work has just been declared done.
///
/// Applies [`Policy::on_success`], or else the rules; all other series stay unchanged. Only this
/// plan may remove the newest of a series, too. `entries` are as in [`plan`].
#[must_use]
pub fn plan_completed<'a>(
    entries: &'a [Entry],
    series: &Series,
    policy: &Policy,
    now: Timestamp,
) -> Plan<'a> {
    let completed = Some(series.clone());
    Decision { completed, ..Decision::new(entries, policy, now) }.plan()
}

impl<'a> Plan<'a> {
    /// Every checkpoint with its verdict, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = Planned<'a>> {
        let entries = self.entries.iter().zip(&self.verdicts);
        entries.map(|(entry, verdict)| Planned { entry, verdict: *verdict })
    }

    /// The checkpoints to remove.
    pub fn removed(&self) -> impl Iterator<Item = Planned<'a>> {
        self.iter().filter(|planned| planned.verdict.removes())
    }

    /// The policy that it follows.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same plan, but removes only what `is_meant` admits.
    ///
    /// What it does not admit is kept, and so is its fork point.
    #[must_use]
    pub fn only(mut self, is_meant: impl Fn(&Entry) -> bool) -> Self {
        for (at, entry) in self.entries.iter().enumerate() {
            if self.verdicts[at].removes() && !is_meant(entry) {
                self.verdicts[at] = Verdict::Keep(Kept::NotMeant);
                self.keep_origins(at);
            }
        }
        self
    }

    /// The plan of the same policy for other entries at the same time.
    pub(crate) fn anew<'b>(&self, entries: &'b [Entry]) -> Plan<'b> {
        match &self.completed {
            Some(series) => plan_completed(entries, series, &self.policy, self.now),
            None => plan(entries, &self.policy, self.now),
        }
    }

    fn keep_origins(&mut self, fork: usize) {
        let mut origin = self.forks.origin(fork);
        while let Some(at) = origin.filter(|at| self.verdicts[*at].removes()) {
            self.verdicts[at] = Verdict::Keep(Kept::ForkPoint);
            origin = self.forks.origin(at);
        }
    }
}

/// A plan under construction.
struct Decision<'a> {
    entries: &'a [Entry],
    policy: Policy,
    now: Timestamp,
    lines: Lines,
    /// The series whose work is done, if it is about that.
    completed: Option<Series>,
}

/// Those of which a rule keeps the last few.
#[derive(PartialEq, Eq, Hash)]
struct Group<'a> {
    series: u32,
    rule: usize,
    phase: Option<&'a str>,
}

impl<'a> Decision<'a> {
    fn new(entries: &'a [Entry], policy: &Policy, now: Timestamp) -> Self {
        let lines = Lines::new(entries);
        Self { entries, policy: policy.clone(), now, lines, completed: None }
    }

    fn plan(self) -> Plan<'a> {
        let mut verdicts = self.by_rules();
        let mut forks = Forks::new(self.entries, &self.lines);
        release_removed(&verdicts, &mut forks);
        if self.policy.has_size_limit() && self.completed.is_none() {
            self.drop_by_size(&mut verdicts, &mut forks);
        }
        for (at, verdict) in verdicts.iter_mut().enumerate() {
            if forks.hold(at) && !verdict.is_for_ever() {
                *verdict = Verdict::Keep(Kept::ForkPoint);
            }
        }
        let Self { entries, policy, now, completed, .. } = self;
        Plan { entries, verdicts, forks, policy, now, completed }
    }

    /// The verdicts of the rules and of protection, except for fork points.
    fn by_rules(&self) -> Vec<Verdict> {
        let statuses = self.series_statuses();
        let status = |at: usize| statuses[self.lines.series[at] as usize];
        let rule = |(at, entry)| self.policy.rule(entry, status(at));
        let rules: Vec<Option<usize>> = self.entries.iter().enumerate().map(rule).collect();
        let ranks = self.ranks(&rules);
        let mut verdicts = vec![Verdict::Keep(Kept::NoRule); self.entries.len()];
        let mut has_resumable = vec![false; self.lines.series_count];
        for at in self.lines.newest_first.iter().map(|at| *at as usize) {
            let entry = &self.entries[at];
            let known = &mut has_resumable[self.lines.series[at] as usize];
            let is_resumable = entry.can_resume != Some(false);
            let is_newest_resumable = is_resumable && !*known;
            *known |= is_resumable;
            let by_rule = || match rules[at] {
                Some(number) => judge(entry, &self.policy.rules[number], ranks[at], self.now),
                None => Verdict::Keep(Kept::NoRule),
            };
            let ending = self.ending(entry);
            verdicts[at] = if !entry.tags.is_empty() {
                Verdict::Keep(Kept::Tagged)
            } else if ending == Some(OnSuccess::Remove) {
                Verdict::Remove(Removed::Done)
            } else if self.lines.is_newest(at) {
                Verdict::Keep(Kept::Newest)
            } else if ending == Some(OnSuccess::KeepNewest) {
                Verdict::Remove(Removed::Done)
            } else if is_newest_resumable {
                Verdict::Keep(Kept::NewestResumable)
            } else if ending.is_none() && self.completed.is_some() {
                Verdict::Keep(Kept::NotMeant)
            } else {
                by_rule()
            };
        }
        verdicts
    }

    /// What the policy says of success, if the series of an entry is done.
    fn ending(&self, entry: &Entry) -> Option<OnSuccess> {
        let is_done = self.completed.as_ref() == Some(&entry.series);
        is_done.then_some(self.policy.on_success)
    }

    /// The status of each series: that of its newest checkpoint.
    fn series_statuses(&self) -> Vec<Status> {
        let mut statuses: Vec<Option<Status>> = vec![None; self.lines.series_count];
        for at in self.lines.newest_first.iter().map(|at| *at as usize) {
            statuses[self.lines.series[at] as usize].get_or_insert(self.entries[at].status);
        }
        statuses.into_iter().flatten().collect()
    }

    /// The rank of each entry in its group, counted from the newest.
    fn ranks(&self, rules: &[Option<usize>]) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.entries.len()];
        let mut counts: HashMap<Group<'_>, u32> = HashMap::new();
        for at in self.lines.newest_first.iter().map(|at| *at as usize) {
            let Some(number) = rules[at] else { continue };
            let rule = &self.policy.rules[number];
            if rule.keep_last.is_none() {
                continue;
            }
            let phase = self.entries[at].phase.as_deref().filter(|_| rule.per == Per::Phase);
            let group = Group { series: self.lines.series[at], rule: number, phase };
            let count = counts.entry(group).or_default();
            *count += 1;
            ranks[at] = *count;
        }
        ranks
    }

    /// Removes the oldest of what exceeds a size limit, if a rule may remove it one day.
    fn drop_by_size(&self, verdicts: &mut [Verdict], forks: &mut Forks) {
        let is_kept = |at: usize| forks.hold(at) || !verdicts[at].removes();
        let mut sizes = Sizes::new(self.entries, &self.policy, is_kept);
        if !sizes.exceed() {
            return;
        }
        let mut ranks = vec![0; self.entries.len()];
        for (at, rank) in self.lines.newest_first.iter().zip(0_u32..) {
            ranks[*at as usize] = rank;
        }
        let may_go = |verdict: Verdict| !verdict.removes() && !verdict.is_for_ever();
        let is_free = |at: &usize| may_go(verdicts[*at]) && !forks.hold(*at);
        let mut left: BinaryHeap<u32> =
            (0..self.entries.len()).filter(is_free).map(|at| ranks[at]).collect();
        while sizes.exceed()
            && let Some(oldest) = left.pop()
        {
            let at = self.lines.newest_first[oldest as usize] as usize;
            let Some(why) = sizes.excess(at) else { continue };
            verdicts[at] = Verdict::Remove(why);
            let mut gone = Some(at);
            while let Some(at) = gone {
                sizes.release(at);
                let origin = forks.release(at);
                left.extend(origin.filter(|at| may_go(verdicts[*at])).map(|at| ranks[at]));
                gone = origin.filter(|at| verdicts[*at].removes());
            }
        }
    }
}

/// Releases the fork points of removed forks, and the fork points of those.
fn release_removed(verdicts: &[Verdict], forks: &mut Forks) {
    let goes = |at: &usize| verdicts[*at].removes();
    let ends: Vec<usize> = (0..verdicts.len()).filter(|at| goes(at) && !forks.hold(*at)).collect();
    for end in ends {
        let mut gone = Some(end);
        while let Some(at) = gone {
            gone = forks.release(at).filter(goes);
        }
    }
}

/// The verdict of a rule on an entry that is the `rank`th newest of its group.
fn judge(entry: &Entry, rule: &Rule, rank: u32, now: Timestamp) -> Verdict {
    // The end of the work counts where it is known; of two clocks the one that keeps longer.
    let since = entry.updated_at.map_or(entry.created_at, |end| end.max(entry.created_at));
    let age = now.saturating_since(since);
    let own = entry.retention_days.map(Age::days);
    if let Some(max) = rule.max_age.map(|max| own.unwrap_or(max))
        && age > max.duration()
    {
        return Verdict::Remove(Removed::TooOld(max));
    }
    let within = rule.keep_within.map(|within| own.unwrap_or(within));
    match (rule.keep_last, rule.max_age) {
        (None, None) => Verdict::Keep(Kept::All),
        (None, Some(max)) => Verdict::Keep(Kept::Within(own.unwrap_or(max))),
        (Some(count), _) if rank <= count => Verdict::Keep(Kept::Last { count, per: rule.per }),
        (Some(count), _) => match within {
            Some(within) if age <= within.duration() => Verdict::Keep(Kept::Within(within)),
            within => Verdict::Remove(Removed::Beyond { count, per: rule.per, within }),
        },
    }
}
