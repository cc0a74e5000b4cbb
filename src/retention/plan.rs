//! The plan: every checkpoint with what becomes of it and why.

use std::collections::{BinaryHeap, HashMap};

use super::age::Age;
use super::forks::Forks;
use super::lines::Lines;
use super::policy::{OnSuccess, Per, Policy, Rule};
use super::size::Sizes;
use super::verdict::{Kept, Removed, Verdict};
use crate::checkpoint::{Entry, Status, Timestamp};

/// What a policy makes of checkpoints: each of them with a verdict.
///
/// A decision and no act: [`Store::apply`](crate::Store::apply) removes what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<'a> {
    entries: &'a [Entry],
    verdicts: Vec<Verdict>,
    forks: Forks,
    policy: Policy,
    now: Timestamp,
    is_completed: bool,
}

/// A checkpoint of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned<'a> {
    /// The checkpoint.
    pub entry: &'a Entry,
    /// What becomes of it, and why.
    pub verdict: Verdict,
}

/// Decides what a policy keeps and removes at `now`.
///
/// `entries` are all checkpoints of the store, or all of some series and what was forked from them,
/// as [`Store::inventory`](crate::Store::inventory) has them; the order does not matter.
/// Takes well under a second for a million of them.
#[must_use]
pub fn plan<'a>(entries: &'a [Entry], policy: &Policy, now: Timestamp) -> Plan<'a> {
    Decision::new(entries, policy, now).plan(None)
}

/// Decides what a policy keeps and removes of series whose work has just been declared done.
///
/// As [`plan`], and beyond that what [`Policy::on_success`] says: this, and nothing else, removes
/// the newest of a series too.
#[must_use]
pub fn plan_completed<'a>(entries: &'a [Entry], policy: &Policy, now: Timestamp) -> Plan<'a> {
    Decision::new(entries, policy, now).plan(Some(policy.on_success))
}

impl<'a> Plan<'a> {
    /// Every checkpoint with its verdict, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = Planned<'a>> {
        let entries = self.entries.iter().zip(&self.verdicts);
        entries.map(|(entry, verdict)| Planned { entry, verdict: *verdict })
    }

    /// Those that go.
    pub fn removed(&self) -> impl Iterator<Item = Planned<'a>> {
        self.iter().filter(|planned| planned.verdict.removes())
    }

    /// The policy that it follows.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same plan, but nothing goes that `is_meant` does not admit.
    ///
    /// What it does not admit is kept, and so is what that was forked from.
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

    /// What the same policy makes of other entries at the same time.
    pub(crate) fn anew<'b>(&self, entries: &'b [Entry]) -> Plan<'b> {
        let make = if self.is_completed { plan_completed } else { plan };
        make(entries, &self.policy, self.now)
    }

    fn keep_origins(&mut self, fork: usize) {
        let mut origin = self.forks.origin(fork);
        while let Some(at) = origin.filter(|at| self.verdicts[*at].removes()) {
            self.verdicts[at] = Verdict::Keep(Kept::ForkPoint);
            origin = self.forks.origin(at);
        }
    }
}

/// What is being decided, entry by entry, from the newest on.
struct Decision<'a> {
    entries: &'a [Entry],
    policy: Policy,
    now: Timestamp,
    lines: Lines,
}

/// What is known of a series while going from its newest checkpoint to its oldest.
#[derive(Clone, Copy, Default)]
struct Line {
    status: Option<Status>,
    has_resumable: bool,
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
        Self { entries, policy: policy.clone(), now, lines: Lines::new(entries) }
    }

    fn plan(self, ending: Option<OnSuccess>) -> Plan<'a> {
        let mut verdicts = self.by_rules(ending);
        let mut forks = Forks::new(self.entries, &self.lines);
        release_removed(&verdicts, &mut forks);
        if self.policy.has_size_limit() {
            self.drop_by_size(&mut verdicts, &mut forks);
        }
        for (at, verdict) in verdicts.iter_mut().enumerate() {
            if forks.hold(at) && !verdict.is_for_ever() {
                *verdict = Verdict::Keep(Kept::ForkPoint);
            }
        }
        let Self { entries, policy, now, .. } = self;
        Plan { entries, verdicts, forks, policy, now, is_completed: ending.is_some() }
    }

    /// What the rules say, and what is protected from them, but for fork points.
    fn by_rules(&self, ending: Option<OnSuccess>) -> Vec<Verdict> {
        let mut verdicts = vec![Verdict::Keep(Kept::NoRule); self.entries.len()];
        let mut lines = vec![Line::default(); self.lines.series_count];
        let mut counts: HashMap<Group<'_>, u32> = HashMap::new();
        for at in self.lines.newest_first.iter().map(|at| *at as usize) {
            let entry = &self.entries[at];
            let line = &mut lines[self.lines.series[at] as usize];
            let is_newest = line.status.is_none() || self.lines.is_latest(at);
            let status = *line.status.get_or_insert(entry.status);
            let is_resumable = entry.can_resume != Some(false);
            let is_newest_resumable = is_resumable && !line.has_resumable;
            line.has_resumable |= is_resumable;
            let by_rule = self.by_rule(at, status, &mut counts);
            let protected = if !entry.tags.is_empty() {
                Some(Kept::Tagged)
            } else if ending == Some(OnSuccess::Remove) {
                None
            } else if is_newest {
                Some(Kept::Newest)
            } else if is_newest_resumable && ending != Some(OnSuccess::KeepNewest) {
                Some(Kept::NewestResumable)
            } else {
                None
            };
            verdicts[at] = match (protected, ending) {
                (Some(kept), _) => Verdict::Keep(kept),
                (None, Some(OnSuccess::KeepNewest | OnSuccess::Remove)) => {
                    Verdict::Remove(Removed::Done)
                }
                (None, Some(OnSuccess::Rules) | None) => by_rule,
            };
        }
        verdicts
    }

    /// What the rule says that governs an entry.
    fn by_rule(
        &self,
        at: usize,
        series_status: Status,
        counts: &mut HashMap<Group<'a>, u32>,
    ) -> Verdict {
        let entry = &self.entries[at];
        let Some(number) = self.policy.rule(entry, series_status) else {
            return Verdict::Keep(Kept::NoRule);
        };
        let rule = &self.policy.rules[number];
        let mut rank = 0;
        if rule.keep_last.is_some() {
            let phase = if rule.per == Per::Phase { entry.phase.as_deref() } else { None };
            let group = Group { series: self.lines.series[at], rule: number, phase };
            let count = counts.entry(group).or_default();
            *count += 1;
            rank = *count;
        }
        judge(entry, rule, rank, self.now)
    }

    /// Removes the oldest of what takes too much, as far as a rule may remove it one day.
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

/// Releases what the forks were forked from that go, and what that was forked from.
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

/// What a rule makes of an entry that is the `rank`th newest of its group.
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
