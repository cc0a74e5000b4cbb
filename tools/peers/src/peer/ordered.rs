//! Checkpoints in ordered key-value engines: the same rows in each, as a careful user lays them.
//!
//! An engine puts rows in and reads them back in order; what the rows mean is known here alone.

mod fjall;
mod lmdb;
mod record;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use waypost::NewEntry;

pub(super) use self::fjall::Fjall;
pub(super) use self::lmdb::Lmdb;
pub(super) use self::redb::Redb;
#[cfg(feature = "rocksdb")]
pub(super) use self::rocksdb::Rocks;
use super::{Document, Durability, PAGE, Peer, Record, frame};
use crate::document::LoopState;

/// What an engine must be able to do.
pub(super) trait Engine: Sized + Send + Sync {
    /// A snapshot to read from.
    type View<'a>: View
    where
        Self: 'a;

    /// Whether documents are compressed before they are put in, because it does not do it.
    const IS_FRAMED: bool = true;

    fn open(directory: &Path, durability: Durability) -> Result<Self>;

    /// Makes all changes in one transaction, as durable as the store was opened.
    fn write(&self, changes: &[Change<'_>]) -> Result<()>;

    fn view(&self) -> Result<Self::View<'_>>;

    /// Makes every write durable.
    fn flush(&self) -> Result<()>;

    /// Gives free space back, and returns the store again.
    fn reclaim(self) -> Result<Self>;

    fn close(self) -> Result<()>;
}

pub(super) trait View {
    /// Hands over the value of a key, and returns whether there is one.
    fn get(
        &self,
        table: Table,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool>;

    /// The ends of the greatest keys of the index that start with `prefix`, greatest first.
    fn newest(&self, prefix: &[u8], limit: usize) -> Result<Vec<Id>>;

    /// Hands over all documents in order.
    fn documents(&self, found: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// The greatest key among the entries.
    fn last(&self) -> Result<Option<Id>>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Entries,
    Documents,
    Index,
}

/// A sequence, big-endian so that the order of bytes is that of time.
pub(super) type Id = [u8; 8];

/// A row to put in, or to take out if it has no value.
pub(super) struct Change<'a> {
    table: Table,
    key: Vec<u8>,
    value: Option<&'a [u8]>,
}

/// A store in engine `E`.
pub(super) struct Ordered<E> {
    /// Taken out only while space is given back.
    engine: Option<E>,
    directory: PathBuf,
    next_id: AtomicU64,
}

impl<E: Engine> Ordered<E> {
    pub(super) fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let engine = E::open(directory, durability)
            .with_context(|| format!("cannot open {}", directory.display()))?;
        let last = engine.view()?.last()?.map_or(0, u64::from_be_bytes);
        let next_id = AtomicU64::new(last + 1);
        Ok(Self { engine: Some(engine), directory: directory.to_owned(), next_id })
    }

    fn engine(&self) -> Result<&E> {
        self.engine.as_ref().with_context(|| format!("{} is lost", self.directory.display()))
    }

    fn document(view: &E::View<'_>, id: Id) -> Result<Document> {
        let mut json = String::new();
        let is_there = view.get(Table::Documents, &id, &mut |value| {
            json = text::<E>(value)?;
            Ok(())
        })?;
        is_there.then_some(Document::Text(json)).context("no such document")
    }

    fn records(view: &E::View<'_>, prefix: &[u8], limit: usize) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for id in view.newest(prefix, limit)? {
            let is_there = view.get(Table::Entries, &id, &mut |value| {
                records.push(record::decode(value)?);
                Ok(())
            })?;
            is_there.then_some(()).context("an index row without its entry")?;
        }
        Ok(records)
    }
}

impl<E: Engine> Peer for Ordered<E> {
    fn save(&self, about: NewEntry, state: &LoopState) -> Result<String> {
        let entry = Record::new(&about);
        let mut document = serde_json::to_vec(state)?;
        if E::IS_FRAMED {
            document = frame::pack(&document)?;
        }
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (id, encoded) = (number.to_be_bytes(), record::encode(&entry)?);
        let mut changes = vec![
            Change { table: Table::Entries, key: id.to_vec(), value: Some(&encoded) },
            Change { table: Table::Documents, key: id.to_vec(), value: Some(&document) },
        ];
        changes.extend(index_keys(&entry, id).map(|key| Change {
            table: Table::Index,
            key,
            value: Some(&[]),
        }));
        self.engine()?.write(&changes)?;
        Ok(number.to_string())
    }

    fn latest(&self, series: &str) -> Result<Document> {
        let view = self.engine()?.view()?;
        let newest = view.newest(&series_prefix(series), 1)?;
        Self::document(&view, *newest.first().context("nothing in the series")?)
    }

    fn get(&self, id: &str) -> Result<Document> {
        Self::document(&self.engine()?.view()?, parse(id)?)
    }

    fn list(&self, issue: &str, limit: usize) -> Result<Vec<Record>> {
        Self::records(&self.engine()?.view()?, &issue_prefix(issue), limit)
    }

    fn filter(&self, series: &str, trigger: &str) -> Result<Vec<Record>> {
        Self::records(&self.engine()?.view()?, &trigger_prefix(trigger, series), PAGE)
    }

    fn export(&self, out: &mut dyn Write) -> Result<()> {
        self.engine()?.view()?.documents(&mut |value| {
            let mut line = text::<E>(value)?;
            line.push('\n');
            Ok(out.write_all(line.as_bytes())?)
        })
    }

    fn delete(&self, ids: &[String]) -> Result<()> {
        let view = self.engine()?.view()?;
        let mut changes = Vec::new();
        for id in ids {
            let id = parse(id)?;
            let mut remove = |table, key| changes.push(Change { table, key, value: None });
            let is_there = view.get(Table::Entries, &id, &mut |value| {
                for key in index_keys(&record::decode(value)?, id) {
                    remove(Table::Index, key);
                }
                remove(Table::Entries, id.to_vec());
                remove(Table::Documents, id.to_vec());
                Ok(())
            })?;
            is_there.then_some(()).context("no such checkpoint")?;
        }
        drop(view);
        self.engine()?.write(&changes)
    }

    fn reclaim(&mut self) -> Result<()> {
        let engine = self.engine.take().context("it was lost before")?;
        self.engine = Some(engine.reclaim()?);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        self.engine()?.flush()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.engine.context("it was lost before")?.close()
    }
}

/// A stored document as JSON.
fn text<E: Engine>(value: &[u8]) -> Result<String> {
    if E::IS_FRAMED { frame::unpack(value) } else { Ok(str::from_utf8(value)?.to_owned()) }
}

fn parse(id: &str) -> Result<Id> {
    Ok(id.parse::<u64>()?.to_be_bytes())
}

fn index_keys(record: &Record, id: Id) -> [Vec<u8>; 3] {
    let prefixes = [
        series_prefix(&record.series),
        issue_prefix(&record.issue),
        trigger_prefix(&record.trigger, &record.series),
    ];
    prefixes.map(|prefix| [prefix.as_slice(), &id].concat())
}

// A name cannot contain the byte that ends it.

fn series_prefix(series: &str) -> Vec<u8> {
    [b"s", series.as_bytes(), &[0]].concat()
}

fn issue_prefix(issue: &str) -> Vec<u8> {
    [b"i", issue.as_bytes(), &[0]].concat()
}

fn trigger_prefix(trigger: &str, series: &str) -> Vec<u8> {
    [b"t", trigger.as_bytes(), &[0], series.as_bytes(), &[0]].concat()
}

/// The least and the greatest key of the index that start with `prefix`.
fn bounds(prefix: &[u8]) -> (Vec<u8>, Vec<u8>) {
    ([prefix, &Id::default()].concat(), [prefix, &[0xff; 8]].concat())
}

/// The id at the end of a key.
fn id_of(key: &[u8]) -> Result<Id> {
    key.last_chunk().copied().context("a key without an id")
}
