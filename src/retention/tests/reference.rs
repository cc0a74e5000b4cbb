//! The definition of a plan, written for clarity and not for speed.

use std::collections::HashMap;

use super::super::{Kept, OnSuccess, Per, Removed, Verdict};
use super::*;

/// What is planned: what becomes of these entries at this time.
pub(super) struct Reference<'a> {
    entries: &'a [Entry],
    policy: &'a Policy,
    now: Timestamp,
    // Looked up thousands of times: the only optimization.
    rules: HashMap<&'a Id, usize>,
}

impl<'a> Reference<'a> {
    pub(super) fn new(entries: &'a [Entry], policy: &'a Policy, now: Timestamp) -> Self {
        let mut new = Self { entries, policy, now, rules: HashMap::new() };
        let rule = |entry: &'a Entry| Some((&entry.id, new.rule_number(entry)?));
        new.rules = entries.iter().filter_map(rule).collect();
        new
    }

    /// Each entry's verdict, if the work of `done` is.
    pub(super) fn verdicts(&self, done: Option<&Series>) -> Vec<Verdict> {
        let by_rules = |entry| self.by_rules(entry, done);
        let mut verdicts: Vec<Verdict> = self.entries.iter().map(by_rules).collect();
        while done.is_none()
            && let Some((at, why)) = self.next_to_drop(&verdicts)
        {
            verdicts[at] = Verdict::Remove(why);
        }
        let held = self.held(&verdicts);
        for (verdict, held) in verdicts.iter_mut().zip(held) {
            if held && !is_for_ever(*verdict) {
                *verdict = Verdict::Keep(Kept::ForkPoint);
            }
        }
        verdicts
    }

    fn is_newer(entry: &Entry, than: &Entry) -> bool {
        let time = |entry: &Entry| entry.ordered_at.unwrap_or(entry.created_at);
        let (one, other) = (time(entry), time(than));
        one > other || one == other && entry.sequence > than.sequence
    }

    /// Whether it is the newest of those of its series that pass.
    pub(super) fn is_newest(&self, entry: &Entry, passes: impl Fn(&Entry) -> bool) -> bool {
        let is_rival = |other: &&Entry| other.series == entry.series && passes(other);
        passes(entry)
            && !self.entries.iter().filter(is_rival).any(|other| Self::is_newer(other, entry))
    }

    pub(super) fn rule(&self, entry: &Entry) -> Option<&Rule> {
        self.rules.get(&entry.id).map(|number| &self.policy.rules[*number])
    }

    fn rule_number(&self, entry: &Entry) -> Option<usize> {
        let is_newest = |it: &&Entry| it.series == entry.series && self.is_newest(it, |_| true);
        let newest = self.entries.iter().find(is_newest).unwrap();
        self.policy.rules.iter().position(|rule| {
            (rule.triggers.is_empty() || rule.triggers.contains(&entry.trigger))
                && (rule.statuses.is_empty() || rule.statuses.contains(&entry.status))
                && (rule.series_statuses.is_empty()
                    || rule.series_statuses.contains(&newest.status))
                && (rule.layouts.is_empty() || rule.layouts.contains(&entry.layout))
        })
    }

    /// Whether the same rule counts both in one group.
    pub(super) fn is_same_group(&self, one: &Entry, other: &Entry) -> bool {
        let is_per_phase = self.rule(one).is_some_and(|rule| rule.per == Per::Phase);
        one.series == other.series
            && self.rules.get(&one.id) == self.rules.get(&other.id)
            && (!is_per_phase || one.phase == other.phase)
    }

    fn by_rules(&self, entry: &Entry, done: Option<&Series>) -> Verdict {
        let ending = done.filter(|it| **it == entry.series).map(|_| self.policy.on_success);
        if !entry.tags.is_empty() {
            return Verdict::Keep(Kept::Tagged);
        }
        if ending == Some(OnSuccess::Remove) {
            return Verdict::Remove(Removed::Done);
        }
        if self.is_newest(entry, |_| true) {
            return Verdict::Keep(Kept::Newest);
        }
        if ending == Some(OnSuccess::KeepNewest) {
            return Verdict::Remove(Removed::Done);
        }
        if self.is_newest(entry, |it| it.can_resume != Some(false)) {
            return Verdict::Keep(Kept::NewestResumable);
        }
        if done.is_some_and(|it| *it != entry.series) {
            return Verdict::Keep(Kept::NotMeant);
        }
        self.rule(entry).map_or(Verdict::Keep(Kept::NoRule), |rule| self.by_rule(entry, rule))
    }

    fn by_rule(&self, entry: &Entry, rule: &Rule) -> Verdict {
        let worked_at = entry.updated_at.unwrap_or(entry.created_at).max(entry.created_at);
        let is_older = |age: Age| self.now.saturating_since(worked_at) > age.duration();
        let own = entry.retention_days.map(Age::days);
        let max_age = rule.max_age.map(|age| own.unwrap_or(age));
        if let Some(age) = max_age.filter(|age| is_older(*age)) {
            return Verdict::Remove(Removed::TooOld(age));
        }
        let Some(count) = rule.keep_last else {
            return Verdict::Keep(max_age.map_or(Kept::All, Kept::Within));
        };
        let is_of_group = |other: &&Entry| self.is_same_group(entry, other);
        let group = self.entries.iter().filter(is_of_group);
        let newer = group.filter(|it| Self::is_newer(it, entry)).count();
        let is_one_of_last = newer < count as usize;
        let per = rule.per;
        if is_one_of_last {
            return Verdict::Keep(Kept::Last { count, per });
        }
        let within = rule.keep_within.map(|age| own.unwrap_or(age));
        match within.filter(|age| !is_older(*age)) {
            Some(age) => Verdict::Keep(Kept::Within(age)),
            None => Verdict::Remove(Removed::Beyond { count, per, within }),
        }
    }

    /// Whether each is the parent of one of another series that stays.
    fn held(&self, verdicts: &[Verdict]) -> Vec<bool> {
        let mut held = vec![true; self.entries.len()];
        loop {
            let stays = |at: usize| held[at] || !verdicts[at].removes();
            let is_held = |origin: &Entry| {
                self.entries.iter().enumerate().any(|(at, fork)| {
                    fork.parent.as_ref() == Some(&origin.id)
                        && fork.series != origin.series
                        && stays(at)
                })
            };
            let still: Vec<bool> = self.entries.iter().map(is_held).collect();
            if still == held {
                return held;
            }
            held = still;
        }
    }

    /// The oldest that may go of an issue or a store that is too large.
    fn next_to_drop(&self, verdicts: &[Verdict]) -> Option<(usize, Removed)> {
        let held = self.held(verdicts);
        let stays = |at: usize| held[at] || !verdicts[at].removes();
        let bytes_of = |counts: &dyn Fn(&Entry) -> bool| -> u64 {
            let kept = self.entries.iter().enumerate().filter(|(at, _)| stays(*at));
            kept.map(|(_, entry)| entry).filter(|it| counts(it)).map(|it| it.stored_bytes).sum()
        };
        let why = |entry: &Entry| {
            let issue_max = self.policy.issue_bytes_max.filter(|max| {
                entry.issue.is_some() && bytes_of(&|it| it.issue == entry.issue) > *max
            });
            let store_max = self.policy.store_bytes_max.filter(|max| bytes_of(&|_| true) > *max);
            issue_max.map(Removed::IssueTooLarge).or(store_max.map(Removed::StoreTooLarge))
        };
        let mut oldest: Option<(usize, Removed)> = None;
        for (at, entry) in self.entries.iter().enumerate() {
            if held[at] || verdicts[at].removes() || is_for_ever(verdicts[at]) {
                continue;
            }
            let is_older =
                oldest.is_none_or(|(than, _)| Self::is_newer(&self.entries[than], entry));
            if let Some(why) = why(entry).filter(|_| is_older) {
                oldest = Some((at, why));
            }
        }
        oldest
    }
}

/// Whether no rule would ever remove it.
fn is_for_ever(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Remove(_) | Verdict::Keep(Kept::Last { .. } | Kept::Within(_)) => false,
        Verdict::Keep(
            Kept::Tagged
            | Kept::Newest
            | Kept::NewestResumable
            | Kept::ForkPoint
            | Kept::NoRule
            | Kept::NotMeant
            | Kept::All,
        ) => true,
    }
}
