//! Applying a plan: everything that removes by a policy, except saves that prune their own group.
//!
//! A large plan is applied some thousand checkpoints at a time, so that other processes can save.
//! Each part is checked before it is removed, as if the earlier parts were still there, unless no
//! process wrote since the part before. The log has one operation for all parts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use redb::{ReadableTable as _, ReadableTableMetadata as _};

use crate::checkpoint::{Entry, Id, Series, Timestamp};
use crate::codec::NameKind;
use crate::error::{Error, Result};
use crate::key::{NameId, RecordKey, Span, index_row, indexed_key};
use crate::retention::Plan;
use crate::store::Store;
use crate::store::ask::reading::is_forbidden;
use crate::store::engine::fault::In;
use crate::store::engine::full::{after, lacks_room};
use crate::store::keep::at_once::AtOnce;
use crate::store::keep::deleted::{Deleted, Removal};
use crate::store::keep::operation::{Action, Operation};
use crate::store::save::shared::give_way;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::Writer;
use crate::store::turn::open::Open;
use crate::store::watch::{Stage, Step, Watch, unwatched};

// Bounds the length of one transaction: others can save between two of them.
// Few in tests of this module, where a few thousand would take too long.
pub(in crate::store) const REMOVED_AT_ONCE: usize = if cfg!(test) { 64 } else { 4096 };
// Few series are looked up one by one; for many, reading everything is faster.
const SERIES_LOOKED_UP: usize = 16;

impl Store {
    /// Returns what a [`plan`](crate::plan) needs to know: all entries, or those of a series.
    ///
    /// With a series these are its checkpoints, and those of others that were forked from them.
    /// Time grows with their number.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn inventory(&self, series: Option<&Series>) -> Result<Vec<Entry>> {
        let all = |open: &Open| {
            let snapshot = Snapshot::take(open, self.path())?;
            match series {
                Some(series) => snapshot.of_series(series),
                None => snapshot.entries(Span::ALL)?.collect(),
            }
        };
        // The plan is compared by sequences later, and spooled saves get their final ones in a
        // turn.
        match self.shared.read_in_turn(all) {
            Err(error) if is_forbidden(&error) => self.shared.read(all),
            entries => entries,
        }
    }

    /// Removes what a plan removes; it can be restored for some time, as after a delete.
    ///
    /// ```
    /// use waypost::{Policy, Store, Timestamp, plan};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let entries = store.inventory(None)?;
    /// let plan = plan(&entries, &Policy::preset("aiwg")?, Timestamp::now());
    /// let reasons = plan.removed().map(|it| format!("{}: {}", it.entry.id, it.verdict));
    /// let reasons: Vec<String> = reasons.collect();
    /// let removed = store.apply(&plan)?.checkpoints;
    /// # assert_eq!(removed, reasons.len() as u64);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A large plan is removed in parts of some thousand checkpoints, so that other processes can
    /// save meanwhile. After an interruption, plan and apply again. Planned checkpoints that are
    /// gone already are skipped.
    ///
    /// # Errors
    /// [`Error::Outdated`] if the plan no longer fits the store, because of something that was
    /// saved, tagged or deleted since. The error says how many were removed before.
    pub fn apply(&self, plan: &Plan<'_>) -> Result<Deleted> {
        self.apply_with(plan, &mut unwatched)
    }

    /// As [`Store::apply`]; `watch` gets each part and may end the call; see [`Step`].
    ///
    /// `done` counts all that the plan removes, even if another process removed it.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub fn apply_with(
        &self,
        plan: &Plan<'_>,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Deleted> {
        self.apply_as(plan, Removal::Restorable, watch)
    }

    /// As [`Store::apply`], but removes for good.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub fn apply_now(&self, plan: &Plan<'_>) -> Result<Deleted> {
        self.apply_now_with(plan, &mut unwatched)
    }

    /// As [`Store::apply_with`], but removes for good.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub fn apply_now_with(
        &self,
        plan: &Plan<'_>,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Deleted> {
        self.apply_as(plan, Removal::Final, watch)
    }

    fn apply_as(&self, plan: &Plan<'_>, removal: Removal, watch: Watch<'_>) -> Result<Deleted> {
        let now = (self.shared.options.clock)();
        let planned: Vec<&Entry> = plan.removed().map(|planned| planned.entry).collect();
        let mut total = Deleted::default();
        let mut checked = None;
        let (mut done, mut at_once) = (0, AtOnce::new(REMOVED_AT_ONCE, removal == Removal::Final));
        while done < planned.len() {
            if watch(Step::of(Stage::Prune, done, planned.len())).is_break() {
                return Ok(total);
            }
            let (gone, left) = planned.split_at(done);
            let part = &left[..left.len().min(at_once.many)];
            let remove = |writer: &mut Writer<'_>| {
                // Checking takes as long as planning, so it is done only after another write.
                let is_checked = checked == Some(writer.version());
                let outdated = |id: &Id, reason| Error::Outdated {
                    id: id.to_string(),
                    reason,
                    removed: total.checkpoints,
                };
                if !is_checked {
                    writer.check(plan, &planned, gone, outdated)?;
                }
                let entries = writer.left(part)?;
                let number = writer.log_prune(plan, now, &entries, total.operation)?;
                let deleted = writer.delete(&entries, removal, (now, number))?;
                Ok((deleted, number, writer.version().next()))
            };
            let (deleted, number, version) = match self.shared.write(remove) {
                Err(error) if lacks_room(&error) && at_once.can_retry(&self.shared.turn) => {
                    continue;
                }
                removed => removed
                    .map_err(|error| after(error, total.checkpoints, planned.len(), "pruned"))?,
            };
            at_once.has_freed = false;
            checked = Some(version);
            done += part.len();
            total.checkpoints += deleted.checkpoints;
            total.stored_bytes += deleted.stored_bytes;
            total.is_restorable = deleted.is_restorable;
            total.operation = Some(number).filter(|number| *number > 0);
            give_way();
        }
        // What the plan names is durably gone. Purging more takes room, which a full disk lacks.
        if at_once.many == REMOVED_AT_ONCE {
            match self.shared.write(|writer| writer.purge_expired(now)) {
                Err(error) if lacks_room(&error) && !planned.is_empty() => {}
                purged => purged?,
            }
        }
        Ok(total)
    }
}

impl Snapshot<'_> {
    fn of_series(&self, series: &Series) -> Result<Vec<Entry>> {
        let Some(name) = self.name(NameKind::Series, series.as_str())? else {
            return Ok(Vec::new());
        };
        let index = self.index();
        let mut entries = Vec::new();
        for cause in index.causes(name)? {
            for key in index.keys((name, cause), Span::ALL)? {
                let key = key?;
                let entry = self.entry(key)?.ok_or_else(|| unlisted(key))?;
                entries.push(entry);
            }
        }
        let forks = self.forks(&entries)?;
        entries.extend(forks);
        Ok(entries)
    }
}

impl Writer<'_> {
    /// Checks that the whole of a plan still fits the store.
    ///
    /// Checkpoints that this plan removed before, `gone`, count as if they were there.
    fn check(
        &mut self,
        plan: &Plan<'_>,
        planned: &[&Entry],
        gone: &[&Entry],
        outdated: impl Fn(&Id, &'static str) -> Error,
    ) -> Result<()> {
        let series: BTreeSet<&Series> = planned.iter().map(|entry| &entry.series).collect();
        let is_few = series.len() <= SERIES_LOOKED_UP && !plan.policy().has_size_limit();
        let looked_up = if is_few { self.of_few_series(&series)? } else { None };
        let mut found = match looked_up {
            Some(found) => found,
            None => self.all_entries()?,
        };
        let there: HashSet<u64> = found.iter().map(|entry| entry.sequence).collect();
        let gone = gone.iter().filter(|entry| !there.contains(&entry.sequence));
        found.extend(gone.map(|entry| Entry::clone(entry)));
        // What the plan keeps must still be there, and so must its fork points.
        let meant: HashMap<u64, &Entry> =
            planned.iter().map(|entry| (entry.sequence, *entry)).collect();
        let anew = plan.anew(&found).only(|entry| meant.contains_key(&entry.sequence));
        for now in anew.iter() {
            let Some(planned) = meant.get(&now.entry.sequence) else { continue };
            if !now.verdict.removes() {
                return Err(outdated(&planned.id, "is to be kept now"));
            }
            if !is_same(planned, now.entry) {
                return Err(outdated(&planned.id, "was changed"));
            }
        }
        Ok(())
    }

    /// The checkpoints of a part that still exist.
    fn left(&self, part: &[&Entry]) -> Result<Vec<Entry>> {
        let entry = |planned: &&Entry| self.entry(RecordKey::of(planned)).transpose();
        part.iter().filter_map(entry).collect()
    }

    fn all_entries(&self) -> Result<Vec<Entry>> {
        let rows = self.records.iter().within(self.path)?;
        rows.map(|row| {
            let (key, value) = row.within(self.path)?;
            self.lookup().decode(RecordKey::from_bytes(key.value()), value.value())
        })
        .collect()
    }

    /// The checkpoints of a series.
    pub(in crate::store) fn of_series(&self, name: NameId) -> Result<Vec<Entry>> {
        let rows =
            index_row(name, 0, RecordKey::MIN)..=index_row(name, NameId::MAX, RecordKey::MAX);
        let rows = self.index.range(rows).within(self.path)?;
        rows.map(|row| {
            let key = indexed_key(row.within(self.path)?.0.value());
            self.entry(key)?.ok_or_else(|| unlisted(key))
        })
        .collect()
    }

    /// The checkpoints of some series; `None` if others were forked from them.
    ///
    /// Whether a fork is kept depends on its whole series.
    fn of_few_series(&mut self, series: &BTreeSet<&Series>) -> Result<Option<Vec<Entry>>> {
        let mut found = Vec::new();
        for series in series {
            if let Some(name) = self.name(NameKind::Series, series.as_str())? {
                found.extend(self.of_series(name)?);
            }
        }
        if !self.children()?.is_empty().within(self.path)? {
            for entry in &found {
                if self.is_fork_point(entry)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }

    /// Notes what a plan removes, as one operation however many transactions it takes.
    fn log_prune(
        &mut self,
        plan: &Plan<'_>,
        now: Timestamp,
        entries: &[Entry],
        operation: Option<u64>,
    ) -> Result<u64> {
        let pruned = Operation {
            policy: Some(plan.policy().name.clone()),
            ..Operation::new(Action::Prune, now)
        };
        let pruned = pruned.on(entries);
        match operation {
            Some(number) => self.log_more(number, &pruned).map(|()| number),
            None if entries.is_empty() => Ok(0),
            None => self.log(pruned),
        }
    }
}

/// Whether an entry is as it was planned; its frame may have been stored anew.
fn is_same(planned: &Entry, found: &Entry) -> bool {
    planned == found || Entry { stored_bytes: found.stored_bytes, ..planned.clone() } == *found
}

fn unlisted(key: RecordKey) -> Error {
    Error::corrupt(key.to_string(), "the index knows it, but it is not there")
}
