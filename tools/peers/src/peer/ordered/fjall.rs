//! fjall: a log-structured tree for each kind of row, documents apart from their keys.
//!
//! Durable is `PersistMode::SyncAll` of each batch; relaxed leaves the journal to the kernel. A
//! journal of up to 64 MB stays beside the trees, and nothing that can be called makes it shorter:
//! in a small store it is most of what lies on disk.

use std::path::Path;

use anyhow::Result;
use fjall::config::CompressionPolicy;
use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode,
    Readable, Snapshot,
};

use super::{Change, Engine, Id, Table, View, bounds, id_of};
use crate::peer::Durability;

pub(in crate::peer) struct Fjall {
    database: Database,
    tables: Tables,
    persist: Option<PersistMode>,
}

struct Tables {
    entries: Keyspace,
    documents: Keyspace,
    index: Keyspace,
}

impl Tables {
    fn of(&self, table: Table) -> &Keyspace {
        match table {
            Table::Entries => &self.entries,
            Table::Documents => &self.documents,
            Table::Index => &self.index,
        }
    }
}

impl Engine for Fjall {
    type View<'a> = Reader<'a>;

    fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let persist = match durability {
            Durability::Durable => Some(PersistMode::SyncAll),
            Durability::Relaxed => None,
        };
        // Frames do not get shorter by being compressed again, in the tree or in the journal.
        let database =
            Database::builder(directory).journal_compression(CompressionType::None).open()?;
        let large = || {
            // Files of every age may be written anew, or most of what is deleted would stay.
            let apart =
                KvSeparationOptions::default().compression(CompressionType::None).age_cutoff(1.0);
            KeyspaceCreateOptions::default()
                .with_kv_separation(Some(apart))
                .data_block_compression_policy(CompressionPolicy::disabled())
        };
        let tables = Tables {
            entries: database.keyspace("entries", KeyspaceCreateOptions::default)?,
            documents: database.keyspace("documents", large)?,
            index: database.keyspace("index", KeyspaceCreateOptions::default)?,
        };
        Ok(Self { database, tables, persist })
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<()> {
        let mut batch = self.database.batch().durability(self.persist);
        for change in changes {
            let (table, key) = (self.tables.of(change.table), change.key.as_slice());
            match change.value {
                Some(value) => batch.insert(table, key, value),
                None => batch.remove(table, key),
            }
        }
        Ok(batch.commit()?)
    }

    fn view(&self) -> Result<Reader<'_>> {
        Ok(Reader { snapshot: self.database.snapshot(), tables: &self.tables })
    }

    fn flush(&self) -> Result<()> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn reclaim(self) -> Result<Self> {
        for table in [&self.tables.entries, &self.tables.documents, &self.tables.index] {
            table.rotate_memtable_and_wait()?;
            // The first finds out which documents are dead, the second leaves them behind.
            table.major_compact()?;
            table.major_compact()?;
        }
        Ok(self)
    }

    fn close(self) -> Result<()> {
        self.flush()
    }
}

pub(in crate::peer) struct Reader<'a> {
    snapshot: Snapshot,
    tables: &'a Tables,
}

impl View for Reader<'_> {
    fn get(
        &self,
        table: Table,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let value = self.snapshot.get(self.tables.of(table), key)?;
        value.as_ref().map(|value| found(value)).transpose()?;
        Ok(value.is_some())
    }

    fn newest(&self, prefix: &[u8], limit: usize) -> Result<Vec<Id>> {
        let (least, greatest) = bounds(prefix);
        let rows = self.snapshot.range(&self.tables.index, least..=greatest);
        rows.rev().take(limit).map(|row| id_of(&row.key()?)).collect()
    }

    fn documents(&self, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for row in self.snapshot.iter(&self.tables.documents) {
            found(&row.value()?)?;
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<Id>> {
        let last = self.snapshot.last_key_value(&self.tables.entries);
        last.map(|row| id_of(&row.key()?)).transpose()
    }
}
