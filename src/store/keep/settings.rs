//! Changing the settings of a store.

use std::sync::Arc;

use redb::ReadableTable as _;

use crate::codec::encode_note;
use crate::error::{Error, Result};
use crate::retention::Policy;
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{META, RING_KEY, SETTINGS};
use crate::store::keep::operation::{Action, Operation};
use crate::store::transaction::writer::Writer;
use crate::store::turn::settings::{KEY, SEED, Settings, load};
use crate::sync::{lock, write};

impl Store {
    /// Returns the settings of the store.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they are damaged or written by a newer release.
    pub fn settings(&self) -> Result<Settings> {
        self.shared.read(|open| load(&open.database, self.path()))
    }

    /// Changes the settings of the store, for every process that opens it from now on.
    ///
    /// # Errors
    /// [`Error::Invalid`] if every save is to be pruned and there is no policy.
    pub fn set_settings(&self, settings: &Settings) -> Result<()> {
        if settings.prune_on_save && settings.policy.as_ref().is_none_or(Policy::is_empty) {
            return Err(Error::invalid("prune_on_save", "there is no policy to prune by"));
        }
        let now = (self.shared.options.clock)();
        self.shared.write(|writer| {
            let before = writer.open.settings();
            writer.put_settings(settings)?;
            let is_new = before
                .is_none_or(|before| !before.prune_on_save || before.policy != settings.policy);
            if settings.prune_on_save && is_new {
                writer.start_ring()?;
            }
            let policy = settings.policy.as_ref().map(|policy| policy.name.clone());
            let operation = Operation { policy, ..Operation::new(Action::Settings, now) };
            writer.log_among(1, operation)?;
            Ok(())
        })?;
        // Another opening of the file reads them; this one keeps them in memory.
        self.shared.with(|open| {
            lock(&open.looked).clear();
            let mut known = write(&open.settings);
            *known = load(&open.database, self.path()).ok().map(Arc::new);
            Ok(())
        })
    }
}

impl Writer<'_> {
    fn put_settings(&mut self, settings: &Settings) -> Result<()> {
        let mut table = self.transaction.open_table(SETTINGS).within(self.path)?;
        table.insert(KEY, encode_note(SEED, settings).as_slice()).within(self.path)?;
        Ok(())
    }

    /// From now on pruning on save is final, except for what was saved under other rules.
    fn start_ring(&mut self) -> Result<()> {
        let next_sequence = lock(&self.open.intake).next_sequence();
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        meta.insert(RING_KEY, next_sequence).within(self.path)?;
        Ok(())
    }

    /// The first sequence that pruning on save removes for good.
    pub(in crate::store) fn ring_start(&self) -> Result<u64> {
        let meta = self.transaction.open_table(META).within(self.path)?;
        Ok(meta.get(RING_KEY).within(self.path)?.map_or(u64::MAX, |value| value.value()))
    }
}
