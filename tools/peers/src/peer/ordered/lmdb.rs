//! LMDB through heed.
//!
//! Durable is its default. Relaxed is `NO_SYNC` with `NO_META_SYNC`: the fastest it has, though a
//! loss of power may then cost the whole file, which no other rival risks. Space is given back as
//! its makers say: by a compacting copy that takes the place of the file.

use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use heed::types::Bytes;
use heed::{CompactionOption, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, WithTls};

use super::{Change, Engine, Id, Table, View, bounds, id_of};
use crate::peer::Durability;

// Address space, not memory or disk: more than any run fills.
const MAP_BYTES: usize = 64 << 30;

type Rows = Database<Bytes, Bytes>;

pub(in crate::peer) struct Lmdb {
    environment: Env,
    tables: Tables,
    directory: PathBuf,
    durability: Durability,
}

#[derive(Clone, Copy)]
struct Tables {
    entries: Rows,
    documents: Rows,
    index: Rows,
}

impl Tables {
    fn of(self, table: Table) -> Rows {
        match table {
            Table::Entries => self.entries,
            Table::Documents => self.documents,
            Table::Index => self.index,
        }
    }
}

impl Engine for Lmdb {
    type View<'a> = Snapshot<'a>;

    fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let environment = open_environment(directory, durability)?;
        let mut transaction = environment.write_txn()?;
        let tables = Tables {
            entries: environment.create_database(&mut transaction, Some("entries"))?,
            documents: environment.create_database(&mut transaction, Some("documents"))?,
            index: environment.create_database(&mut transaction, Some("index"))?,
        };
        transaction.commit()?;
        Ok(Self { environment, tables, directory: directory.to_owned(), durability })
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<()> {
        let mut transaction = self.environment.write_txn()?;
        for Change { table, key, value } in changes {
            let table = self.tables.of(*table);
            match value {
                Some(value) => table.put(&mut transaction, key, value)?,
                None => drop(table.delete(&mut transaction, key)?),
            }
        }
        Ok(transaction.commit()?)
    }

    fn view(&self) -> Result<Snapshot<'_>> {
        Ok(Snapshot { transaction: self.environment.read_txn()?, tables: self.tables })
    }

    fn flush(&self) -> Result<()> {
        Ok(self.environment.force_sync()?)
    }

    fn reclaim(self) -> Result<Self> {
        let (directory, durability) = (self.directory.clone(), self.durability);
        let copy = directory.join("copy.mdb");
        self.environment.copy_to_path(&copy, CompactionOption::Enabled)?.sync_all()?;
        self.close()?;
        fs::rename(copy, directory.join("data.mdb"))?;
        fs::File::open(&directory)?.sync_all()?;
        Self::open(&directory, durability)
    }

    fn close(self) -> Result<()> {
        self.flush()?;
        self.environment.prepare_for_closing().wait();
        Ok(())
    }
}

#[expect(unsafe_code, reason = "a map of a file is sound only while nobody else changes the file")]
fn open_environment(directory: &Path, durability: Durability) -> Result<Env> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES).max_dbs(3);
    // SAFETY: the flags leave the lock in place, and the directory is of this run alone.
    unsafe {
        if durability == Durability::Relaxed {
            options.flags(EnvFlags::NO_SYNC | EnvFlags::NO_META_SYNC);
        }
        options.open(directory).context("LMDB refuses the directory")
    }
}

pub(in crate::peer) struct Snapshot<'a> {
    transaction: RoTxn<'a, WithTls>,
    tables: Tables,
}

impl View for Snapshot<'_> {
    fn get(
        &self,
        table: Table,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let value = self.tables.of(table).get(&self.transaction, key)?;
        value.map(found).transpose()?;
        Ok(value.is_some())
    }

    fn newest(&self, prefix: &[u8], limit: usize) -> Result<Vec<Id>> {
        let (least, greatest) = bounds(prefix);
        let range = (Bound::Included(least.as_slice()), Bound::Included(greatest.as_slice()));
        let rows = self.tables.index.rev_range(&self.transaction, &range)?;
        rows.take(limit).map(|row| id_of(row?.0)).collect()
    }

    fn documents(&self, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for row in self.tables.documents.iter(&self.transaction)? {
            found(row?.1)?;
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<Id>> {
        self.tables.entries.last(&self.transaction)?.map(|(key, _)| id_of(key)).transpose()
    }
}
