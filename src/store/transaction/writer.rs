//! Writing: a record, its document and all its rows change in one transaction or not at all.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use redb::{Durability, ReadableTable as _, Table, WriteTransaction};

use crate::checkpoint::{Entry, Id};
use crate::codec::{NameKind, Placed};
use crate::error::Result;
use crate::key::{
    DeletedBytes, FrameBytes, IndexBytes, NameId, RecordBytes, RecordKey, SourceBytes, frame_row,
    frame_rows,
};
use crate::store::chain::unpack::{CHUNK_BYTES_MIN, Unpacker};
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::table::{CHILDREN, DELETED, FRAMES, IDS, INDEX, NAMES, RECORDS, begin};
use crate::store::options::Limits;
use crate::store::transaction::artifact_tables::ArtifactTables;
use crate::store::transaction::lookup::Lookup;
use crate::store::transaction::touched::Touched;
use crate::store::turn::open::Open;
use crate::store::turn::settings::OnSave;
use crate::sync::{lock, read, write};

// Three to a page of 4 KiB. A larger value takes a page whose length is a power of two.
const CHUNK_BYTES: usize = 1352;
// Documents this large fill pages of their own, one chunk each.
const LARGE_FROM_BYTES: usize = 64 << 10;
const LARGE_CHUNK_BYTES: usize = 4080;
// The last number of a chunk is never used.
const CHUNKS_MAX: usize = u16::MAX as usize;
const _: () = assert!(Limits::DOCUMENT_BYTES_MAX + 128 <= CHUNKS_MAX * LARGE_CHUNK_BYTES);
const _: () = assert!(CHUNK_BYTES >= CHUNK_BYTES_MIN);
const _: () = assert!(LARGE_FROM_BYTES <= CHUNKS_MAX * CHUNK_BYTES);

/// Runs `work` in one transaction, after putting pending saves into the tables.
///
/// A durable commit must hold the journal meanwhile: a sequence below one on disk counts as being
/// on disk too.
pub(in crate::store) fn transact<T>(
    open: &Open,
    path: &Path,
    durability: Durability,
    work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
) -> Result<T> {
    open.tables.forget();
    let mut next_name = lock(&open.next_name);
    let pending = lock(&open.intake).take();
    // A commit in memory is never synced, and a read waits for it.
    let durability = if open.is_in_memory() { Durability::None } else { durability };
    let run = || {
        let transaction = begin(&open.database, durability).within(path)?;
        let mut writer = Writer::new(open, path, &transaction, *next_name)?;
        pending.iter().try_for_each(|placed| writer.insert(placed))?;
        let value = work(&mut writer)?;
        let written = writer.finish();
        transaction.commit().within(path)?;
        Ok((value, written))
    };
    // A panic must not lose what was taken from the intake.
    match without_panics(path, run) {
        Ok((value, Written { next, new_names, removed, lag_max, has_sources })) => {
            *next_name = next;
            open.has_sources.store(has_sources, Ordering::Relaxed);
            *write(&open.lag_max) = lag_max;
            open.commits.fetch_add(1, Ordering::Release);
            open.tables.forget();
            if !removed.is_empty() {
                open.bases.forget(&removed);
            }
            for (pair, id) in &new_names {
                open.names.remember(*id, pair);
            }
            open.unsettled.fetch_sub(pending.len(), Ordering::Release);
            Ok(value)
        }
        Err(error) => {
            open.names.clear();
            // An error of the work itself is undone. Only a failed commit may be half done.
            if error.is_of_engine() {
                open.bases.distrust();
            }
            lock(&open.intake).put_back(pending);
            Err(error)
        }
    }
}

/// What becomes true once a transaction is committed.
struct Written {
    next: NameId,
    new_names: HashMap<(NameKind, Arc<str>), NameId>,
    /// The sequences of removed checkpoints.
    removed: HashSet<u64>,
    lag_max: Option<u64>,
    has_sources: bool,
}

/// A version of the store: while it is the same, no process has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Version {
    opening: u64,
    commits: u64,
    next_sequence: u64,
}

impl Version {
    /// The version after the current transaction.
    pub(in crate::store) fn next(self) -> Self {
        Self { commits: self.commits + 1, ..self }
    }
}

/// The tables of a write transaction.
pub(in crate::store) struct Writer<'a> {
    pub(in crate::store) open: &'a Open,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) transaction: &'a WriteTransaction,
    pub(in crate::store) records: Table<'a, RecordBytes, &'static [u8]>,
    pub(in crate::store) frames: Table<'a, FrameBytes, &'static [u8]>,
    pub(in crate::store) index: Table<'a, IndexBytes, ()>,
    pub(in crate::store) names: Table<'a, &'static [u8], &'static [u8]>,
    pub(in crate::store) ids: Table<'a, &'static str, RecordBytes>,
    // Opened when they are needed: each table that a transaction opens costs pages.
    pub(in crate::store) children: Option<Table<'a, (&'static str, RecordBytes), ()>>,
    pub(in crate::store) deleted: Option<Table<'a, DeletedBytes, &'static [u8]>>,
    pub(in crate::store) sources: Option<Table<'a, SourceBytes, ()>>,
    pub(in crate::store) artifacts: Option<ArtifactTables<'a>>,
    pub(in crate::store) next_name: NameId,
    /// Shared with readers once the transaction is committed.
    pub(in crate::store) new_names: HashMap<(NameKind, Arc<str>), NameId>,
    pub(in crate::store) removed: HashSet<u64>,
    /// The value of [`Open::lag_max`] once this is committed.
    pub(in crate::store) lag_max: Option<u64>,
    /// The value of [`Open::has_sources`] once this is committed.
    pub(in crate::store) has_sources: bool,
    /// The settings, if every save is to be pruned.
    pub(in crate::store) on_save: Option<OnSave>,
    /// What was added and how often, if every save is pruned.
    pub(in crate::store) touched: HashMap<Touched, usize>,
    /// The sequences saved here without the intake.
    pub(in crate::store) fresh: HashSet<u64>,
}

impl<'a> Writer<'a> {
    fn new(
        open: &'a Open,
        path: &'a Path,
        transaction: &'a WriteTransaction,
        next_name: NameId,
    ) -> Result<Self> {
        Ok(Self {
            open,
            path,
            transaction,
            records: transaction.open_table(RECORDS).within(path)?,
            frames: transaction.open_table(FRAMES).within(path)?,
            index: transaction.open_table(INDEX).within(path)?,
            names: transaction.open_table(NAMES).within(path)?,
            ids: transaction.open_table(IDS).within(path)?,
            children: None,
            deleted: None,
            sources: None,
            artifacts: None,
            on_save: open.on_save(),
            touched: HashMap::new(),
            fresh: HashSet::new(),
            next_name,
            new_names: HashMap::new(),
            removed: HashSet::new(),
            lag_max: *read(&open.lag_max),
            has_sources: open.has_sources.load(Ordering::Relaxed),
        })
    }

    /// Closes the tables, so that the transaction can be committed.
    fn finish(self) -> Written {
        let Self { next_name: next, new_names, removed, lag_max, has_sources, .. } = self;
        Written { next, new_names, removed, lag_max, has_sources }
    }

    /// Puts a checkpoint into the tables.
    pub(in crate::store) fn insert(&mut self, placed: &Placed) -> Result<()> {
        let Placed { entry, frame } = placed;
        self.insert_frame(frame, entry.sequence)?;
        self.add_dependent(frame, RecordKey::of(entry))?;
        self.insert_record(entry)?;
        self.list(entry)?;
        if self.on_save.is_some() {
            *self.touched.entry(Touched::by(entry)).or_default() += 1;
        }
        Ok(())
    }

    pub(in crate::store) fn children(
        &mut self,
    ) -> Result<&mut Table<'a, (&'static str, RecordBytes), ()>> {
        match &mut self.children {
            Some(table) => Ok(table),
            none => Ok(none.insert(self.transaction.open_table(CHILDREN).within(self.path)?)),
        }
    }

    pub(in crate::store) fn deleted(
        &mut self,
    ) -> Result<&mut Table<'a, DeletedBytes, &'static [u8]>> {
        match &mut self.deleted {
            Some(table) => Ok(table),
            none => Ok(none.insert(self.transaction.open_table(DELETED).within(self.path)?)),
        }
    }

    pub(in crate::store) fn artifact_tables(&mut self) -> Result<&mut ArtifactTables<'a>> {
        match &mut self.artifacts {
            Some(tables) => Ok(tables),
            none => {
                self.open.has_artifacts.store(true, Ordering::Relaxed);
                let tables = ArtifactTables::open(self.transaction).within(self.path)?;
                Ok(none.insert(tables))
            }
        }
    }

    /// Replaces `old` by `new`, and keeps its id, time and document.
    pub(in crate::store) fn replace(&mut self, old: &Entry, new: &Entry) -> Result<()> {
        let before = self.index_rows(old)?;
        let after = self.index_rows(new)?;
        for row in before.iter().filter(|row| !after.contains(row)) {
            self.index.remove(row).within(self.path)?;
        }
        for row in after.iter().filter(|row| !before.contains(row)) {
            self.index.insert(row, ()).within(self.path)?;
        }
        self.insert_record(new)
    }

    pub(in crate::store) fn find(&self, id: &Id) -> Result<Option<Entry>> {
        self.lookup().find(&self.ids, &self.records, id)
    }

    /// The entry at `key`, or `None` if there is none.
    pub(in crate::store) fn entry(&self, key: RecordKey) -> Result<Option<Entry>> {
        let row = self.records.get(key.to_bytes()).within(self.path)?;
        row.map(|row| self.lookup().decode(key, row.value())).transpose()
    }

    /// The version of the store before this transaction is committed.
    pub(in crate::store) fn version(&self) -> Version {
        let commits = self.open.commits.load(Ordering::Relaxed);
        // Saves that are pending now come with the next transaction.
        let next_sequence = lock(&self.open.intake).next_sequence();
        Version { opening: self.open.bases.opening(), commits, next_sequence }
    }

    pub(in crate::store) fn lookup(&self) -> Lookup<'_, Table<'a, &'static [u8], &'static [u8]>> {
        Lookup { known: &self.open.names, path: self.path, names: &self.names }
    }

    pub(in crate::store) fn unpacker(&self) -> Unpacker<'_, Table<'a, FrameBytes, &'static [u8]>> {
        let Open { bases, frames, document_bytes_max, .. } = self.open;
        let limit = *document_bytes_max;
        Unpacker { bases, frames, path: self.path, table: &self.frames, limit }
    }

    pub(in crate::store) fn remove_frame(&mut self, entry: &Entry) -> Result<()> {
        // Most frames have one chunk, and removing one row is faster than a range. Either of the
        // two may be damaged, but hardly both.
        if entry.stored_bytes < CHUNK_BYTES_MIN as u64 {
            let first = self.frames.remove(frame_row(entry.sequence, 0)).within(self.path)?;
            if first.is_some_and(|first| first.value().len() < CHUNK_BYTES_MIN) {
                return Ok(());
            }
        }
        self.remove_frame_of(entry.sequence)
    }

    pub(in crate::store) fn remove_frame_of(&mut self, sequence: u64) -> Result<()> {
        self.frames.retain_in(frame_rows(sequence), |_, _| false).within(self.path)
    }

    pub(in crate::store) fn insert_frame(&mut self, bytes: &[u8], sequence: u64) -> Result<()> {
        let large = bytes.len() >= LARGE_FROM_BYTES;
        let chunks = bytes.chunks(if large { LARGE_CHUNK_BYTES } else { CHUNK_BYTES });
        for (chunk, number) in chunks.zip(0..u16::MAX) {
            self.frames.insert(frame_row(sequence, number), chunk).within(self.path)?;
        }
        Ok(())
    }

    pub(in crate::store) fn insert_record(&mut self, entry: &Entry) -> Result<()> {
        let record = self.record(entry)?;
        self.records
            .insert(RecordKey::of(entry).to_bytes(), record.as_slice())
            .within(self.path)?;
        Ok(())
    }
}
