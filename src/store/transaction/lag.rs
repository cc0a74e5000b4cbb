//! Dates that lag behind the order: what the store notes about them.

use redb::ReadableTable as _;

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::encode_entry;
use crate::error::Result;
use crate::store::engine::fault::In;
use crate::store::engine::table::{FORMAT_KEY, HIGHEST_KEY, LAG_FORMAT, LAG_KEY, META};
use crate::store::transaction::writer::Writer;

impl Writer<'_> {
    /// The bytes of a record that this transaction writes.
    pub(in crate::store) fn record(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        if let Some(time) = entry.ordered_at {
            self.note_lag(entry.created_at.micros_until(time))?;
        }
        encode_entry(entry, &mut |kind, name| self.intern(kind, name))
    }

    /// Whether the format of the store allows dates that lag once this transaction is committed.
    pub(in crate::store) fn may_lag(&self) -> bool {
        self.lag_max.is_some()
    }

    /// Notes a lag that is longer than all before. A search by date needs the longest, and the
    /// format keeps builds that do not know lags from opening the store.
    fn note_lag(&mut self, micros: u64) -> Result<()> {
        if self.lag_max.is_some_and(|max| micros <= max) {
            return Ok(());
        }
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        if self.lag_max.is_none() {
            meta.insert(FORMAT_KEY, u64::from(LAG_FORMAT)).within(self.path)?;
        }
        meta.insert(LAG_KEY, micros).within(self.path)?;
        self.lag_max = Some(micros);
        Ok(())
    }

    /// Notes the latest order time of any checkpoint that was ever deleted and could be restored: a
    /// save before it is restored must still be newer than it.
    pub(in crate::store) fn note_put_away(&mut self, entries: &[Entry]) -> Result<()> {
        let latest = entries.iter().map(|entry| entry.order().0).max();
        let Some(latest) = latest else { return Ok(()) };
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        let noted = meta.get(HIGHEST_KEY).within(self.path)?.map(|noted| noted.value());
        if noted.is_none_or(|noted| Timestamp::from_micros(noted.cast_signed()) < latest) {
            let latest = latest.as_micros().cast_unsigned();
            meta.insert(HIGHEST_KEY, latest).within(self.path)?;
        }
        Ok(())
    }
}
