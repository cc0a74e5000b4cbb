//! The log of operations: what was done to a store besides saving, when, and by which policy.

use std::collections::BTreeMap;
use std::fmt;

use redb::{ReadableDatabase, ReadableTable};
use serde::{Deserialize, Serialize};

use crate::checkpoint::{Entry, Id, Timestamp, Trigger};
use crate::codec::{decode_note, encode_note};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{OPERATIONS, open_if_made};
use crate::store::transaction::writer::Writer;

// Years of a daily prune, in some 200 KB. The log must not make a store grow.
const OPERATIONS_MAX: u64 = 1000;
// Enough to see what an operation was about.
const IDS_MAX: usize = 20;
// Repeated operations of one kind are added up over this time.
const SUMMED_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

// Prunes on save alternate with purges of what expired, and deletes with purges.
const SUMMED_AMONG: usize = 2;
// A hook imports a handful of files in turn, time and again.
const IMPORTS_SUMMED_AMONG: usize = 16;

/// Something that was done to a store beside saving.
///
/// ```
/// use waypost::keep::Action;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// store.delete(&[saved.id.clone()])?;
/// let newest = &store.operations(1)?[0];
/// assert_eq!((newest.action, newest.checkpoints), (Action::Delete, 1));
/// assert_eq!(newest.ids, [saved.id]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Operation {
    /// Counts operations from one.
    pub number: u64,
    /// What was done.
    pub action: Action,
    /// When it was done, or first done if several are added up.
    pub at: Timestamp,
    /// When it was last done, if several are added up.
    pub until: Option<Timestamp>,
    /// How often it was done: more than once if several are added up.
    ///
    /// Operations that were added up before this was counted say 1, and have an `until`.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Bytes of their documents on disk; unknown for purges and imports.
    pub stored_bytes: u64,
    /// Where they came from, if they were imported.
    #[serde(default)]
    pub source: Option<String>,
    /// The name of the policy that was applied.
    pub policy: Option<String>,
    /// Number of checkpoints by trigger; unknown for purges and imports.
    pub triggers: BTreeMap<Trigger, u64>,
    /// The ids of the first 20.
    pub ids: Vec<Id>,
}

/// What was done to a store.
///
/// See [`Operation`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Checkpoints were deleted by name.
    Delete,
    /// Checkpoints were removed by a policy.
    Prune,
    /// Saves removed what a policy did not keep of their groups; added up for a day.
    PruneOnSave,
    /// Deleted checkpoints were restored.
    Undelete,
    /// What was deleted before was removed for good; what expired is added up for a day.
    Purge,
    /// Checkpoints were declared completed.
    Complete,
    /// Checkpoints were declared failed.
    Fail,
    /// Checkpoints were archived.
    Archive,
    /// Checkpoints got another status.
    Mark,
    /// The settings of the store were set; to the same policy, they are added up for a day.
    Settings,
    /// Checkpoints were imported; from one source, they are added up for a day.
    Import,
    /// Documents and captured files were stored under another key.
    Rekey,
}

impl Action {
    /// The name in commands and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Prune => "prune",
            Self::PruneOnSave => "prune_on_save",
            Self::Undelete => "undelete",
            Self::Purge => "purge",
            Self::Complete => "complete",
            Self::Fail => "fail",
            Self::Archive => "archive",
            Self::Mark => "mark",
            Self::Settings => "settings",
            Self::Import => "import",
            Self::Rekey => "rekey",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Operation {
    pub(in crate::store) fn new(action: Action, at: Timestamp) -> Self {
        Self {
            number: 0,
            action,
            at,
            until: None,
            times: 1,
            checkpoints: 0,
            stored_bytes: 0,
            source: None,
            policy: None,
            triggers: BTreeMap::new(),
            ids: Vec::new(),
        }
    }

    /// The same operation on more checkpoints.
    pub(in crate::store) fn on(mut self, entries: &[Entry]) -> Self {
        for entry in entries {
            self.checkpoints += 1;
            self.stored_bytes = self.stored_bytes.saturating_add(entry.stored_bytes);
            *self.triggers.entry(entry.trigger.clone()).or_default() += 1;
            if self.ids.len() < IDS_MAX {
                self.ids.push(entry.id.clone());
            }
        }
        self
    }

    /// Adds what the same operation did later on.
    pub(in crate::store) fn add(&mut self, other: &Self) {
        self.until = Some(other.at);
        self.checkpoints = self.checkpoints.saturating_add(other.checkpoints);
        self.stored_bytes = self.stored_bytes.saturating_add(other.stored_bytes);
        for (trigger, count) in &other.triggers {
            let sum = self.triggers.entry(trigger.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        // Those of the first are as good as any.
    }

    /// Whether `other` is the same kind of operation, soon after.
    fn goes_on_as(&self, other: &Self) -> bool {
        let since = other.at.as_micros().saturating_sub(self.at.as_micros());
        let is_same = self.action == other.action
            && self.policy == other.policy
            && self.source == other.source;
        // A clock that was ahead once must not collect everything until that time.
        is_same && since.unsigned_abs() < SUMMED_MICROS.unsigned_abs()
    }
}

impl Store {
    /// Notes in the log that this many checkpoints were imported from `source`.
    ///
    /// Imports from one source are added up for a day: a hook that imports a file with every change
    /// of it makes one entry a day.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn log_import(&self, source: &str, checkpoints: u64) -> Result<()> {
        let now = (self.shared.options.clock)();
        let source = Some(source.to_owned());
        let operation = Operation { checkpoints, source, ..Operation::new(Action::Import, now) };
        self.shared.write(|writer| writer.log_among(IMPORTS_SUMMED_AMONG, operation).map(drop))
    }

    /// Lists what was done to the store beside saving, the last first.
    ///
    /// # Errors
    /// [`Error::Corrupt`] names an operation that cannot be read.
    pub fn operations(&self, limit: usize) -> Result<Vec<Operation>> {
        let path = self.path();
        self.shared.read(|open| {
            let transaction = open.database.begin_read().within(path)?;
            let Some(table) = open_if_made(&transaction, OPERATIONS, path)? else {
                return Ok(Vec::new());
            };
            let rows = table.iter().within(path)?.rev().take(limit);
            rows.map(|row| {
                let (number, value) = row.within(path)?;
                read(number.value(), value.value())
            })
            .collect()
        })
    }
}

impl Writer<'_> {
    /// Adds an operation to the log, and returns its number.
    pub(in crate::store) fn log(&mut self, operation: Operation) -> Result<u64> {
        let mut table = self.transaction.open_table(OPERATIONS).within(self.path)?;
        let last = table.last().within(self.path)?.map(|(number, _)| number.value());
        let number = last.unwrap_or(0).saturating_add(1);
        let operation = Operation { number, ..operation };
        table.insert(number, encode_note(number, &operation).as_slice()).within(self.path)?;
        // More than one if an earlier build kept more of them.
        let kept_from = number.saturating_sub(OPERATIONS_MAX - 1);
        table.retain_in(..kept_from, |_, _| false).within(self.path)?;
        Ok(number)
    }

    /// Adds to an unfinished operation.
    pub(in crate::store) fn log_more(&mut self, number: u64, more: &Operation) -> Result<()> {
        self.change_logged(number, |operation| operation.add(more))
    }

    fn change_logged(&mut self, number: u64, change: impl FnOnce(&mut Operation)) -> Result<()> {
        let mut table = self.transaction.open_table(OPERATIONS).within(self.path)?;
        let found = table.get(number).within(self.path)?.map(|row| read(number, row.value()));
        // A damaged log must not stop the operation that it would record.
        let Some(Ok(mut operation)) = found else { return Ok(()) };
        change(&mut operation);
        table.insert(number, encode_note(number, &operation).as_slice()).within(self.path)?;
        Ok(())
    }

    /// Adds an operation to one of the last if that was of the same kind, else to the log.
    pub(in crate::store) fn log_summed(&mut self, operation: Operation) -> Result<u64> {
        self.log_among(SUMMED_AMONG, operation)
    }

    /// As [`Writer::log_summed`], with the number of the last ones that are compared.
    pub(in crate::store) fn log_among(
        &mut self,
        compared: usize,
        operation: Operation,
    ) -> Result<u64> {
        let mut same = None;
        let table = self.transaction.open_table(OPERATIONS).within(self.path)?;
        for row in table.iter().within(self.path)?.rev().take(compared) {
            let (number, value) = row.within(self.path)?;
            let last = read(number.value(), value.value()).ok();
            same = last.filter(|last| last.goes_on_as(&operation)).map(|it| it.number);
            if same.is_some() {
                break;
            }
        }
        drop(table);
        let Some(number) = same else { return self.log(operation) };
        self.change_logged(number, |last| {
            last.add(&operation);
            last.times = last.times.saturating_add(1);
        })?;
        Ok(number)
    }
}

fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_once(times: &u64) -> bool {
    *times == 1
}

fn read(number: u64, bytes: &[u8]) -> Result<Operation> {
    let found = decode_note(number, bytes);
    found.map_err(|reason| Error::corrupt(format!("operation {number}"), reason))
}

#[cfg(test)]
mod tests;
