//! Pruning on save: the groups of what was just saved, in the transaction that adds it.
//!
//! Looks at so many checkpoints as the rule keeps and a few more, however many there are. What it
//! takes for removable is so beyond doubt: of a part of a series a plan removes nothing that it
//! would not remove of the whole.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use redb::ReadableTable as _;

use super::operation::{Action, Operation};
use super::settings::Settings;
use super::table::{In, is_of_engine};
use super::write::Writer;
use crate::checkpoint::{Entry, Layout, Series, Status, Timestamp, Trigger};
use crate::codec::{NameKind, parse_cause};
use crate::error::{Error, Result};
use crate::key::{NameId, RecordKey, index_row, indexed_cause, indexed_key};
use crate::retention::{Policy, Rule, is_dated_by_store, plan};

// How many more than a rule keeps and than were added are looked at from the newest on, and as many
// from the oldest: where more is to go, each transaction takes so much of it.
const LOOKED_AT: usize = 64;

/// What tells which rule governs a checkpoint that was added.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Touched {
    series: Series,
    trigger: Trigger,
    status: Status,
    layout: Layout,
}

impl Touched {
    pub(super) fn by(entry: &Entry) -> Self {
        Self {
            series: entry.series.clone(),
            trigger: entry.trigger.clone(),
            status: entry.status,
            layout: entry.layout,
        }
    }
}

/// What was added of one kind.
#[derive(Debug, Default)]
pub(super) struct Added {
    count: usize,
    last: Option<RecordKey>,
}

impl Added {
    pub(super) fn add(&mut self, entry: &Entry) {
        self.count += 1;
        self.last = Some(RecordKey::of(entry));
    }
}

impl Writer<'_> {
    /// Removes what the policy of the store does not keep of the groups that were added to.
    ///
    /// The journal must be held: others rely on what they have seen.
    pub(super) fn prune_on_save(&mut self, now: Timestamp) -> Result<()> {
        let Some(settings) = self.on_save.clone() else { return Ok(()) };
        let mut by_series: BTreeMap<Series, Vec<(Touched, Added)>> = BTreeMap::new();
        for (touched, added) in self.touched.drain() {
            by_series.entry(touched.series.clone()).or_default().push((touched, added));
        }
        let mut removed = Vec::new();
        for (series, touched) in by_series {
            match self.removable(&series, &touched, &settings, now) {
                Ok(entries) => removed.extend(entries),
                Err(error) if is_of_engine(&error, self.path) => return Err(error),
                // Damage to what was saved before is no reason not to save.
                Err(_) => {}
            }
        }
        if removed.is_empty() {
            return Ok(());
        }
        let policy = settings.policy.as_ref().map(|policy| policy.name.clone());
        let operation = Operation { policy, ..Operation::new(Action::PruneOnSave, now) };
        let number = self.log_summed(operation.on(&removed))?;
        let start = self.ring_start()?;
        let (before, since): (Vec<Entry>, Vec<Entry>) =
            removed.into_iter().partition(|entry| entry.sequence < start);
        if !before.is_empty() {
            self.put_away(&before, now, number)?;
            self.purge_expired(now)?;
        }
        if !since.is_empty() {
            self.remove(&since)?;
        }
        Ok(())
    }

    fn removable(
        &mut self,
        series: &Series,
        touched: &[(Touched, Added)],
        settings: &Arc<Settings>,
        now: Timestamp,
    ) -> Result<Vec<Entry>> {
        let (Some(policy), Some(name)) =
            (&settings.policy, self.name(NameKind::Series, series.as_str())?)
        else {
            return Ok(Vec::new());
        };
        let entries = self.looked_at(name, touched, policy)?;
        if is_in_doubt(&entries) {
            return Ok(Vec::new());
        }
        // How much everything takes cannot be told from a part of it.
        let policy =
            Policy { issue_bytes_max: None, store_bytes_max: None, ..Policy::clone(policy) };
        let plan = plan(&entries, &policy, now);
        let mut removable = Vec::new();
        for entry in plan.removed().map(|planned| planned.entry) {
            // What was saved in this very transaction is about to be made a base of the next.
            let is_kept = self.fresh.contains(&entry.sequence)
                || self.is_fork_point(entry)?
                || !self.is_detachable(entry.sequence)?;
            if !is_kept {
                removable.push(entry.clone());
            }
        }
        Ok(removable)
    }

    /// The newest of a series for each cause, and of the causes that were added to as many as
    /// their rules keep and some more from both ends.
    fn looked_at(
        &self,
        name: NameId,
        touched: &[(Touched, Added)],
        policy: &Policy,
    ) -> Result<Vec<Entry>> {
        let count: usize = touched.iter().map(|(_, added)| added.count).sum();
        let more = count + LOOKED_AT;
        let last = touched.iter().filter_map(|(_, added)| added.last);
        // By arrival it is the newest, whenever it is dated.
        let mut keys: BTreeSet<RecordKey> = last.max_by_key(|it| it.sequence).into_iter().collect();
        for cause in self.causes(name)? {
            let text = self.lookup().name(NameKind::Cause, cause)?;
            let (status, trigger) =
                parse_cause(&text).ok_or_else(|| Error::corrupt("names", "unknown cause"))?;
            let limit = limit(policy, touched, status, &trigger);
            let (newest, oldest) = match limit {
                Some(keep) => (keep.saturating_add(more), more),
                None => (1, 0),
            };
            self.ends(name, cause, (newest, oldest), &mut keys)?;
        }
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys {
            match self.entry(key) {
                Ok(entry) => entries.extend(entry),
                Err(error) if is_of_engine(&error, self.path) => return Err(error),
                // It stays, whatever it was.
                Err(_) => {}
            }
        }
        Ok(entries)
    }

    /// The causes that checkpoints with the name were saved for.
    fn causes(&self, name: NameId) -> Result<Vec<NameId>> {
        let mut causes = Vec::new();
        let mut next = Some(0);
        while let Some(cause) = next {
            let from = index_row(name, cause, RecordKey::MIN);
            let to = index_row(name, NameId::MAX, RecordKey::MAX);
            let Some(row) = self.index.range(from..=to).within(self.path)?.next() else {
                break;
            };
            let found = indexed_cause(row.within(self.path)?.0.value());
            causes.push(found);
            next = found.checked_add(1);
        }
        Ok(causes)
    }

    /// Adds the keys of so many of the newest and so many of the oldest.
    fn ends(
        &self,
        name: NameId,
        cause: NameId,
        (newest, oldest): (usize, usize),
        keys: &mut BTreeSet<RecordKey>,
    ) -> Result<()> {
        let rows = || {
            let rows =
                index_row(name, cause, RecordKey::MIN)..=index_row(name, cause, RecordKey::MAX);
            self.index.range(rows).within(self.path)
        };
        for row in rows()?.rev().take(newest) {
            keys.insert(indexed_key(row.within(self.path)?.0.value()));
        }
        for row in rows()?.take(oldest) {
            keys.insert(indexed_key(row.within(self.path)?.0.value()));
        }
        Ok(())
    }

    /// Whether a checkpoint of another series was forked from this one.
    pub(super) fn is_fork_point(&mut self, entry: &Entry) -> Result<bool> {
        Ok(!self.forks(entry)?.is_empty())
    }

    /// The checkpoints of other series that were forked from this one.
    pub(super) fn forks(&mut self, entry: &Entry) -> Result<Vec<Entry>> {
        self.children()?;
        let Some(table) = &self.children else { return Ok(Vec::new()) };
        let id = entry.id.as_str();
        let rows = (id, RecordKey::MIN.to_bytes())..=(id, RecordKey::MAX.to_bytes());
        let mut forks = Vec::new();
        for row in table.range(rows).within(self.path)? {
            let key = RecordKey::from_bytes(row.within(self.path)?.0.value().1);
            forks.extend(self.entry(key)?.filter(|child| child.series != entry.series));
        }
        Ok(forks)
    }
}

/// Whether it cannot be told from a part of a series which of its checkpoints is newer.
///
/// That is so where the store's clock was set back between some of them, and others were dated by
/// the caller. A prune of the whole series can tell.
fn is_in_doubt(entries: &[Entry]) -> bool {
    let mut dated: Vec<&Entry> = entries.iter().filter(|it| is_dated_by_store(it)).collect();
    dated.sort_unstable_by_key(|entry| entry.sequence);
    dated.len() < entries.len() && !dated.is_sorted_by_key(|entry| entry.created_at)
}

/// How many of a cause the rules keep that govern what was added, if it may be in its group.
fn limit(
    policy: &Policy,
    touched: &[(Touched, Added)],
    status: Status,
    trigger: &Trigger,
) -> Option<usize> {
    let rules: HashSet<usize> =
        touched.iter().flat_map(|(touched, _)| governing(&policy.rules, touched)).collect();
    let admits = |rule: &&Rule| rule.admits(status, trigger);
    let rules = rules.into_iter().map(|number| &policy.rules[number]).filter(admits);
    rules.map(|rule| rule.keep_last.map_or(0, |count| count as usize)).max()
}

/// The rules of which one governs what was added, whatever state its series is in.
fn governing<'a>(rules: &'a [Rule], touched: &'a Touched) -> impl Iterator<Item = usize> + 'a {
    let is_first = rules
        .iter()
        .position(|rule| rule.series_statuses.is_empty() && touched.is_of(rule))
        .unwrap_or(rules.len());
    (0..rules.len()).filter(move |number| *number <= is_first && touched.is_of(&rules[*number]))
}

impl Touched {
    fn is_of(&self, rule: &Rule) -> bool {
        rule.admits(self.status, &self.trigger)
            && (rule.layouts.is_empty() || rule.layouts.contains(&self.layout))
    }
}
