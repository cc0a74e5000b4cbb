//! Pruning once a day: a whole store, with the first call of a day.

use redb::ReadableDatabase as _;

use crate::checkpoint::Timestamp;
use crate::error::Result;
use crate::retention::{Policy, plan};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{META, PRUNED_KEY};
use crate::store::keep::deleted::Deleted;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

impl Store {
    /// Prunes the whole store by a policy with the first call of a day, and returns what it
    /// removed; `None` if that was done today. It can be restored, as after [`Store::apply`].
    ///
    /// Days are those of UTC, by the clock of the store, which keeps the last one: another process
    /// does not prune again on the same day. Costs one look on any other call; the first of a day
    /// reads every entry.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub fn prune_daily(&self, policy: &Policy) -> Result<Option<Deleted>> {
        let now = (self.shared.options.clock)();
        let today = day(now);
        if self.last_pruned()? == Some(today) {
            return Ok(None);
        }
        let entries = self.inventory(None)?;
        let deleted = self.apply(&plan(&entries, policy, now))?;
        self.shared.write(|writer| {
            let mut meta = writer.transaction.open_table(META).within(writer.path)?;
            meta.insert(PRUNED_KEY, today).within(writer.path)?;
            Ok(())
        })?;
        Ok(Some(deleted))
    }

    fn last_pruned(&self) -> Result<Option<u64>> {
        self.shared.glance(|open| {
            let transaction = open.database.begin_read().within(self.path())?;
            let meta = transaction.open_table(META).within(self.path())?;
            Ok(meta.get(PRUNED_KEY).within(self.path())?.map(|day| day.value()))
        })
    }
}

/// The days since 1970; an earlier clock counts as day zero.
fn day(now: Timestamp) -> u64 {
    u64::try_from(now.as_micros().div_euclid(DAY_MICROS)).unwrap_or(0)
}
