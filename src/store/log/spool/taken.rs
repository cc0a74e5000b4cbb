//! Names of logs, and the rows of the table `taken`: what of the spool the tables have.
//!
//! Must never say that a save was taken in unless a row names it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use redb::ReadableTable;

use crate::checkpoint::Id;
use crate::codec::check;
use crate::error::Result;
use crate::store::engine::fault::In;

// Behind the name of a log: the stamp of the last save that was taken in.
const UP_TO: char = '@';
// Behind the name of a log: the stamp of a save that is in the store though its append failed.
const LEFT: char = '!';

/// The name of a log, without its suffix: the id of the log, the boot of its writer, and the time
/// of that boot's clock at which it was started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct LogName {
    text: String,
    boot: u64,
    start: u64,
}

/// The rows of the table `taken`.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Taken(pub(in crate::store) BTreeSet<String>);

impl LogName {
    pub(super) fn new(id: &Id, boot: u64, start: u64) -> Self {
        Self { text: format!("{id}.{boot:016x}.{start:016x}"), boot, start }
    }

    /// `None` if no log has such a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let id = Id::new(parts.next()?).ok()?;
        id.parts()?;
        let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
        let name = Self::new(&id, number()?, number()?);
        (name.text == text).then_some(name)
    }

    pub(in crate::store) fn as_str(&self) -> &str {
        &self.text
    }

    pub(in crate::store) fn boot(&self) -> u64 {
        self.boot
    }

    /// No save in the log has a lower stamp.
    pub(in crate::store) fn start(&self) -> u64 {
        self.start
    }

    /// What the sum of its first item is seeded with, in the store with this identity.
    pub(in crate::store) fn seed(&self, identity: u64) -> u64 {
        check(identity, self.text.as_bytes())
    }

    /// The row that says that everything up to this stamp was taken in.
    pub(in crate::store) fn up_to(&self, stamp: u64) -> String {
        format!("{self}{UP_TO}{stamp:016x}")
    }

    /// The row that says that this save must not be taken in.
    pub(in crate::store) fn left(&self, stamp: u64) -> String {
        format!("{self}{LEFT}{stamp:016x}")
    }

    /// The range of the rows of [`LogName::up_to`].
    pub(in crate::store) fn ups(&self) -> (String, String) {
        (self.up_to(0), self.up_to(u64::MAX))
    }
}

impl fmt::Display for LogName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Taken {
    /// Reads the table, if there is one.
    pub(in crate::store) fn read(
        table: Option<impl ReadableTable<&'static str, ()>>,
        path: &Path,
    ) -> Result<Self> {
        let mut rows = BTreeSet::new();
        if let Some(table) = table {
            for row in table.iter().within(path)? {
                rows.insert(row.within(path)?.0.value().to_owned());
            }
        }
        Ok(Self(rows))
    }

    /// Whether a file with one group of saves was taken in.
    pub(in crate::store) fn has(&self, name: &Id) -> bool {
        self.0.contains(name.as_str())
    }

    /// The stamp after which a log has what was not taken in.
    pub(in crate::store) fn up_to(&self, log: &LogName) -> u64 {
        let (from, to) = log.ups();
        let last = self.0.range(from..=to).next_back();
        let stamp = last.and_then(|row| u64::from_str_radix(row.rsplit(UP_TO).next()?, 16).ok());
        stamp.unwrap_or(0)
    }

    /// Whether a save in a log must not be taken in.
    pub(in crate::store) fn is_left(&self, log: &LogName, stamp: u64) -> bool {
        self.0.contains(&log.left(stamp))
    }
}

/// The name of the log that a row is about, if it is about one.
pub(super) fn log_of(row: &str) -> Option<&str> {
    row.rsplit_once([UP_TO, LEFT]).map(|(log, _)| log)
}
