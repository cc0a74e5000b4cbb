//! What a store notes about its key while the key changes.

use redb::ReadableTable as _;

use crate::codec::KeyId;
use crate::error::Result;
use crate::store::engine::fault::In;
use crate::store::engine::table::{
    FORMAT_KEY, KEY_KEY, META, PLAIN_FORMAT, REKEY_KEY, SEALED_FORMAT,
};
use crate::store::transaction::writer::Writer;

impl Writer<'_> {
    /// Notes the key of all frames from now on, in a store that may have frames of two keys.
    pub(in crate::store) fn expect_key(&mut self, key: Option<KeyId>) -> Result<()> {
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        if !self.may_lag() {
            meta.insert(FORMAT_KEY, u64::from(SEALED_FORMAT)).within(self.path)?;
        }
        match key {
            Some(id) => meta.insert(KEY_KEY, id.number()).within(self.path)?,
            None => meta.remove(KEY_KEY).within(self.path)?,
        };
        // A killed rekey leaves this mark, so that no process takes all frames for sealed.
        meta.insert(REKEY_KEY, 1).within(self.path)?;
        Ok(())
    }

    /// Notes that all frames have the key. If nothing is sealed, builds that do not know encryption
    /// can read the store again.
    pub(in crate::store) fn note_rekeyed(&mut self) -> Result<()> {
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        meta.remove(REKEY_KEY).within(self.path)?;
        if meta.get(KEY_KEY).within(self.path)?.is_none() && !self.may_lag() {
            meta.insert(FORMAT_KEY, u64::from(PLAIN_FORMAT)).within(self.path)?;
        }
        Ok(())
    }
}
