//! Pruning on save: the groups of what was just saved, in the transaction that adds it.
//!
//! Reads only as many checkpoints as the rule keeps and a few more, however long the series is. For
//! a rule that keeps many, it looks only now and then. It removes nothing that a plan of the whole
//! series would keep.
//!
//! The plan gets a part of the series: what was added last, and the newest of each cause (status
//! and trigger). Of each cause that a rule may cover, it also gets as many as the rule keeps, and
//! some more of the newest and of the oldest. In the part a checkpoint has at most as many newer
//! ones as in the whole series, so what goes there would go anyway. The newest of the series, whose
//! status counts, is always in the part. If a rule keeps N, a save looks only after N/256 more were
//! added. Limits of size are left to a prune of the whole store.
//!
//! A pruning call holds the journal, and a saver must not prune between looking at its base and
//! noting what it saved. So a full journal starts over before bases are looked at, and a saver puts
//! pending saves into the tables only after it has noted them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable as _;

use crate::checkpoint::{Entry, Series, Timestamp};
use crate::codec::{NameKind, parse_cause};
use crate::error::{Error, Result, unless_damaged};
use crate::key::{IndexBytes, NameId, RecordKey, index_row, indexed_key};
use crate::retention::{Planned, Policy, Rule, plan};
use crate::store::engine::fault::In;
use crate::store::keep::operation::{Action, Operation};
use crate::store::transaction::index::causes;
use crate::store::transaction::touched::Touched;
use crate::store::transaction::writer::{Writer, transact};
use crate::store::turn::open::Open;
use crate::store::turn::settings::{OnSave, Settings};
use crate::sync::lock;

// Checkpoints read beyond those that the rule keeps and that were added, from the newest on, and
// the same number from the oldest. If more is to go, each transaction removes a part of it.
const LOOKED_AT: usize = 64;

// A rule that keeps many is checked this many times while the group is replaced once.
const LOOKS_A_GROUP: usize = 256;
// Beyond this, the counts are forgotten, and every series is checked once more.
const LOOKED_SERIES_MAX: usize = 8192;
// A series with more causes abuses triggers; a plain prune can handle it.
const CAUSES_MAX: usize = 64;
// Tagged checkpoints skipped for each one without a tag.
const TAGGED_PASSED: usize = 16;

/// The part of a series that is read.
struct SeriesPart<'a> {
    /// The rules that may govern what was added.
    rules: Vec<&'a Rule>,
    /// How many checkpoints to read beyond those that the rule keeps.
    more: usize,
}

/// The keys to remove.
struct Going {
    entry: Entry,
    /// Whether the checkpoint would stay if the clock were behind.
    is_by_age: bool,
}

/// As [`Writer::prune_on_save`], as a callback for savers.
pub(in crate::store) fn prune(writer: &mut Writer<'_>, now: Timestamp) -> Result<()> {
    writer.prune_on_save(now)
}

/// Puts into the tables the saves of the journal that they lack, when a file is opened. Prunes that
/// a crash undid are repeated.
pub(in crate::store) fn settle(open: &Open, path: &Path, now: Timestamp) -> Result<()> {
    transact(open, path, redb::Durability::Immediate, |writer| writer.prune_on_save(now))
}

impl Writer<'_> {
    /// Removes what the policy of the store does not keep of the groups that were added to.
    ///
    /// The journal must be held: savers rely on the bases that they have seen.
    pub(in crate::store) fn prune_on_save(&mut self, now: Timestamp) -> Result<()> {
        let Some(OnSave { settings, is_final }) = self.on_save.clone() else { return Ok(()) };
        let mut by_series: BTreeMap<Series, Vec<(Touched, usize)>> = BTreeMap::new();
        for (touched, added) in self.touched.drain() {
            by_series.entry(touched.series.clone()).or_default().push((touched, added));
        }
        let mut going = Vec::new();
        for (series, touched) in by_series {
            match self.removable(&series, &touched, &settings, now) {
                Ok(entries) => going.extend(entries),
                Err(error) if error.is_of_engine() => return Err(error),
                // Damage to older checkpoints must not fail a save.
                Err(_) => {}
            }
        }
        if going.is_empty() {
            return Ok(());
        }
        let start = if is_final { self.ring_start()? } else { u64::MAX };
        // A clock that is wrong for a moment makes everything look old. That must not be final.
        let is_kept = |it: &Going| it.is_by_age || it.entry.sequence < start;
        let (kept, gone): (Vec<Going>, Vec<Going>) = going.into_iter().partition(is_kept);
        let entries = |going: Vec<Going>| going.into_iter().map(|it| it.entry);
        let (kept, gone): (Vec<Entry>, Vec<Entry>) =
            (entries(kept).collect(), entries(gone).collect());
        let policy = settings.policy.as_ref().map(|policy| policy.name.clone());
        let operation = Operation { policy, ..Operation::new(Action::PruneOnSave, now) };
        let number = self.log_summed(operation.on(&kept).on(&gone))?;
        if !kept.is_empty() {
            self.put_away(&kept, now, number)?;
            self.purge_expired(now)?;
        }
        if !gone.is_empty() {
            self.remove(&gone)?;
        }
        Ok(())
    }

    fn removable(
        &mut self,
        series: &Series,
        touched: &[(Touched, usize)],
        settings: &Arc<Settings>,
        now: Timestamp,
    ) -> Result<Vec<Going>> {
        let (Some(policy), Some(name)) =
            (&settings.policy, self.name(NameKind::Series, series.as_str())?)
        else {
            return Ok(Vec::new());
        };
        let Some(look) = self.due(series, touched, policy) else { return Ok(Vec::new()) };
        let entries = self.looked_at((series, name), &look)?;
        // A part of a series does not show how much the whole takes.
        let policy =
            Policy { issue_bytes_max: None, store_bytes_max: None, ..Policy::clone(policy) };
        let plan = plan(&entries, &policy, now);
        let mut removable = Vec::new();
        for Planned { entry, verdict } in plan.removed() {
            // A checkpoint saved in this transaction is about to become a base.
            // Another process has other clocks, and only what goes on disk may go by this one.
            let is_kept = (self.open.is_in_memory() && verdict.is_by_age())
                || self.fresh.contains(&entry.sequence)
                || self.is_fork_point(entry)?
                || !self.is_detachable(entry.sequence)?;
            if !is_kept {
                removable.push(Going { entry: entry.clone(), is_by_age: verdict.is_by_age() });
            }
        }
        Ok(removable)
    }

    /// The part of a series to read, if it is due.
    ///
    /// A rule that keeps many is checked once for each 256th of them that is added, so that a save
    /// costs the same however many it keeps.
    fn due<'b>(
        &self,
        series: &Series,
        touched: &'b [(Touched, usize)],
        policy: &'b Policy,
    ) -> Option<SeriesPart<'b>> {
        let rules: BTreeSet<usize> =
            touched.iter().flat_map(|(touched, _)| governing(&policy.rules, touched)).collect();
        let rules: Vec<&Rule> = rules.into_iter().map(|number| &policy.rules[number]).collect();
        let keep = rules.iter().map(|rule| rule.keep_last.unwrap_or(0) as usize).max()?;
        let added: usize = touched.iter().map(|(_, added)| added).sum();
        let mut looked = lock(&self.open.looked);
        let since = looked.get(series).map(|since| since + added);
        if looked.len() >= LOOKED_SERIES_MAX {
            looked.clear();
        }
        let is_due = since.is_none_or(|since| since > keep / LOOKS_A_GROUP);
        looked.insert(series.clone(), if is_due { 0 } else { since.unwrap_or(0) });
        is_due.then(|| SeriesPart { rules, more: since.unwrap_or(added) + LOOKED_AT })
    }

    /// The newest of a series for each cause. Of the causes that may be in the group, also as many
    /// as their rules keep and some more from both ends.
    fn looked_at(
        &self,
        (series, name): (&Series, NameId),
        look: &SeriesPart<'_>,
    ) -> Result<Vec<Entry>> {
        let causes = causes(&self.index, name, self.path)?;
        if causes.len() > CAUSES_MAX {
            return Ok(Vec::new());
        }
        let mut keys: BTreeSet<RecordKey> = BTreeSet::new();
        for cause in causes {
            let text = self.lookup().name(NameKind::Cause, cause)?;
            let (status, trigger) =
                parse_cause(&text).ok_or_else(|| Error::corrupt("names", "unknown cause"))?;
            let rules = look.rules.iter().filter(|rule| rule.admits(status, &trigger));
            let keep = rules.map(|rule| rule.keep_last.unwrap_or(0) as usize).max();
            self.add_newest((name, cause), keep.map_or(1, |keep| keep + look.more), &mut keys)?;
            if keep.is_some() {
                self.add_oldest((name, cause), look.more, &mut keys)?;
            }
        }
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys {
            // A damaged checkpoint stays.
            let entry = unless_damaged(self.entry(key))?.flatten();
            // The row itself may be damaged, and lead elsewhere.
            entries.extend(entry.filter(|entry| entry.series == *series));
        }
        Ok(entries)
    }

    fn add_newest(
        &self,
        place: (NameId, NameId),
        count: usize,
        keys: &mut BTreeSet<RecordKey>,
    ) -> Result<()> {
        for row in self.rows(place)?.rev().take(count) {
            keys.insert(indexed_key(row.within(self.path)?.0.value()));
        }
        Ok(())
    }

    /// Adds the keys of the oldest without a tag: tagged ones stay anyway.
    fn add_oldest(
        &self,
        place: (NameId, NameId),
        count: usize,
        keys: &mut BTreeSet<RecordKey>,
    ) -> Result<()> {
        let mut left = count;
        for row in self.rows(place)?.take(count.saturating_mul(TAGGED_PASSED)) {
            let key = indexed_key(row.within(self.path)?.0.value());
            let entry = unless_damaged(self.entry(key))?.flatten();
            if left == 0 || keys.contains(&key) {
                break;
            }
            if entry.is_some_and(|entry| entry.tags.is_empty()) {
                keys.insert(key);
                left -= 1;
            }
        }
        Ok(())
    }

    fn rows(&self, (name, cause): (NameId, NameId)) -> Result<redb::Range<'_, IndexBytes, ()>> {
        let first = index_row(name, cause, RecordKey::MIN);
        self.index.range(first..=index_row(name, cause, RecordKey::MAX)).within(self.path)
    }

    /// Whether a checkpoint of another series was forked from this one.
    pub(in crate::store) fn is_fork_point(&mut self, entry: &Entry) -> Result<bool> {
        Ok(!self.forks(entry)?.is_empty())
    }

    /// The checkpoints of other series that were forked from this one.
    pub(in crate::store) fn forks(&mut self, entry: &Entry) -> Result<Vec<Entry>> {
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

/// The rules that may govern what was added, whatever the state of its series.
fn governing<'a>(rules: &'a [Rule], touched: &'a Touched) -> impl Iterator<Item = usize> + 'a {
    let is_first = rules
        .iter()
        .position(|rule| rule.series_statuses.is_empty() && is_of(touched, rule))
        .unwrap_or(rules.len());
    (0..rules.len()).filter(move |number| *number <= is_first && is_of(touched, &rules[*number]))
}

/// Whether a rule may govern what was added.
fn is_of(touched: &Touched, rule: &Rule) -> bool {
    rule.admits(touched.status, &touched.trigger)
        && (rule.layouts.is_empty() || rule.layouts.contains(&touched.layout))
}
