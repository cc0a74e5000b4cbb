//! `RocksDB`, which compresses its blocks by zstd; a document is a value of its own block.
//!
//! Behind the feature `rocksdb`: its build makes bindings with libclang, compiles 343 files of C++,
//! which takes long, and needs no cmake. Where libclang is missing, a Python package has it, though
//! without the headers of the compiler:
//!
//! ```sh
//! python3 -m venv venv && venv/bin/pip install libclang
//! export LIBCLANG_PATH=$(dirname "$(find "$PWD/venv" -name 'libclang*.so')")
//! export BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include)"
//! cargo run --release --features rocksdb
//! ```
//!
//! Durable syncs the write-ahead log; relaxed leaves it to the kernel.

use std::path::Path;

use anyhow::Result;
use rocksdb::{
    BottommostLevelCompaction, CompactOptions, DB, DBCompressionType, Direction, FlushOptions,
    IteratorMode, Options, ReadOptions, Snapshot, WriteBatch, WriteOptions,
};

use super::{Change, Engine, Id, Table, View, bounds, id_of};
use crate::peer::Durability;

pub(in crate::peer) struct Rocks {
    database: DB,
    durability: Durability,
}

impl Engine for Rocks {
    type View<'a> = Reader<'a>;

    const IS_FRAMED: bool = false;

    fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_compression_type(DBCompressionType::Zstd);
        Ok(Self { database: DB::open(&options, directory)?, durability })
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for change in changes {
            let key = row_key(change.table, &change.key);
            match change.value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(self.durability == Durability::Durable);
        Ok(self.database.write_opt(batch, &options)?)
    }

    fn view(&self) -> Result<Reader<'_>> {
        Ok(Reader { snapshot: self.database.snapshot() })
    }

    fn flush(&self) -> Result<()> {
        Ok(self.database.flush_wal(true)?)
    }

    fn reclaim(self) -> Result<Self> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        self.database.flush_opt(&flush)?;
        let mut compact = CompactOptions::default();
        compact.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        self.database.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &compact);
        Ok(self)
    }

    fn close(self) -> Result<()> {
        self.flush()
    }
}

pub(in crate::peer) struct Reader<'a> {
    snapshot: Snapshot<'a>,
}

impl View for Reader<'_> {
    fn get(
        &self,
        table: Table,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let value = self.snapshot.get_pinned(row_key(table, key))?;
        value.as_ref().map(|value| found(value)).transpose()?;
        Ok(value.is_some())
    }

    fn newest(&self, prefix: &[u8], limit: usize) -> Result<Vec<Id>> {
        let (least, greatest) = bounds(prefix);
        let (least, greatest) = (row_key(Table::Index, &least), row_key(Table::Index, &greatest));
        let mut options = ReadOptions::default();
        options.set_iterate_lower_bound(least);
        let from = IteratorMode::From(&greatest, Direction::Reverse);
        let rows = self.snapshot.iterator_opt(from, options);
        rows.take(limit).map(|row| id_of(&row?.0)).collect()
    }

    fn documents(&self, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let start = row_key(Table::Documents, &[]);
        let from = IteratorMode::From(&start, Direction::Forward);
        for row in self.snapshot.iterator(from) {
            let (key, value) = row?;
            if !key.starts_with(&start) {
                break;
            }
            found(&value)?;
        }
        Ok(())
    }

    fn last(&self) -> Result<Option<Id>> {
        let start = row_key(Table::Entries, &[0xff; 8]);
        let from = IteratorMode::From(&start, Direction::Reverse);
        let Some(row) = self.snapshot.iterator(from).next() else { return Ok(None) };
        let (key, _) = row?;
        if key.first() == start.first() { Ok(Some(id_of(&key)?)) } else { Ok(None) }
    }
}

/// All tables are ranges of one keyspace.
fn row_key(table: Table, key: &[u8]) -> Vec<u8> {
    let tag: &[u8] = match table {
        Table::Entries => b"e",
        Table::Documents => b"d",
        Table::Index => b"i",
    };
    [tag, key].concat()
}
