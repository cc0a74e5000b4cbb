//! Bare redb, of the release that Waypost uses: what its journal and format add shows beside it.
//!
//! Relaxed is `Durability::None`, which even a kill of the process undoes; every hundredth save is
//! durable, since the engine reuses no page until then.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Result;
use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};

use super::{Change, Engine, Id, Table, View, bounds, id_of};
use crate::peer::Durability;

const RELAXED_RUN: u32 = 100;

type Rows = TableDefinition<'static, &'static [u8], &'static [u8]>;

pub(in crate::peer) struct Redb {
    database: Database,
    path: PathBuf,
    durability: Durability,
    written: AtomicU32,
}

impl Redb {
    fn begin(&self, durability: redb::Durability) -> Result<WriteTransaction> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(durability)?;
        Ok(transaction)
    }
}

impl Engine for Redb {
    type View<'a> = Snapshot;

    fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let path = directory.join("store.redb");
        let database = Database::create(&path)?;
        let redb = Self { database, path, durability, written: AtomicU32::new(0) };
        let transaction = redb.begin(redb::Durability::Immediate)?;
        for table in [Table::Entries, Table::Documents, Table::Index] {
            transaction.open_table(rows(table))?;
        }
        transaction.commit()?;
        Ok(redb)
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<()> {
        let written = self.written.fetch_add(1, Ordering::Relaxed);
        let transaction = self.begin(match self.durability {
            Durability::Relaxed if !written.is_multiple_of(RELAXED_RUN) => redb::Durability::None,
            Durability::Durable | Durability::Relaxed => redb::Durability::Immediate,
        })?;
        {
            let mut entries = transaction.open_table(rows(Table::Entries))?;
            let mut documents = transaction.open_table(rows(Table::Documents))?;
            let mut index = transaction.open_table(rows(Table::Index))?;
            for change in changes {
                let table = match change.table {
                    Table::Entries => &mut entries,
                    Table::Documents => &mut documents,
                    Table::Index => &mut index,
                };
                match change.value {
                    Some(value) => drop(table.insert(change.key.as_slice(), value)?),
                    None => drop(table.remove(change.key.as_slice())?),
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn view(&self) -> Result<Snapshot> {
        Ok(Snapshot(self.database.begin_read()?))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.begin(redb::Durability::Immediate)?.commit()?)
    }

    fn reclaim(mut self) -> Result<Self> {
        while self.database.compact()? {}
        // Closing writes where free pages are, and cuts the file.
        drop(self.database);
        self.database = Database::create(&self.path)?;
        Ok(self)
    }

    fn close(self) -> Result<()> {
        self.flush()
    }
}

pub(in crate::peer) struct Snapshot(ReadTransaction);

impl View for Snapshot {
    fn get(
        &self,
        table: Table,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let value = self.0.open_table(rows(table))?.get(key)?;
        value.as_ref().map(|value| found(value.value())).transpose()?;
        Ok(value.is_some())
    }

    fn newest(&self, prefix: &[u8], limit: usize) -> Result<Vec<Id>> {
        let (least, greatest) = bounds(prefix);
        let index = self.0.open_table(rows(Table::Index))?;
        let range = index.range(least.as_slice()..=greatest.as_slice())?;
        range.rev().take(limit).map(|row| id_of(row?.0.value())).collect()
    }

    fn documents(&self, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for row in self.0.open_table(rows(Table::Documents))?.iter()? {
            found(row?.1.value())?;
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<Id>> {
        let entries = self.0.open_table(rows(Table::Entries))?;
        entries.last()?.map(|(key, _)| id_of(key.value())).transpose()
    }
}

fn rows(table: Table) -> Rows {
    TableDefinition::new(match table {
        Table::Entries => "entries",
        Table::Documents => "documents",
        Table::Index => "index",
    })
}
