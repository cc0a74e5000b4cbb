//! Whether a store is whole: everything that is listed can be read, and every row has its reason.
//!
//! Restates FORMAT.md, independently of the store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use redb::{Key, ReadTransaction, ReadableTable as _, TableDefinition, Value};

use super::model::{Model, STATED, Saved, plain};
use crate::checkpoint::{Entry, Hash, Series};
use crate::codec::{
    FoundFrame, Holders, KeyId, NameKind, cause, check as sum, decode_dependents, decode_holders,
    derived_tail,
};
use crate::error::{Error, Result};
use crate::key::{ANY_NAME, RecordKey, Span, blob_hash, deleted_at, frame_sequence, index_row};
use crate::store::Store;
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, CHILDREN, DELETED, FRAMES, HOLDERS, IDS, INDEX, NAMES, RECORDS, SETTINGS,
    open_if_made,
};
use crate::store::transaction::snapshot::Snapshot;

/// Models of stores that were read before, by what is in their tables.
///
/// Thousands of states hold the same, and reading it once is enough for most of them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    known: HashMap<u64, Arc<Model>>,
}

impl Reader {
    /// The settled result of [`read_all`]; read anew if `is_thorough`.
    pub(super) fn read(&mut self, store: &Store, is_thorough: bool) -> Result<Arc<Model>> {
        let content = store.read(|snapshot| digest_all(snapshot.transaction()))?;
        let content = sum(content, format!("{:?}", store.key()?).as_bytes());
        if let Some(model) = self.known.get(&content).filter(|_| !is_thorough) {
            return Ok(model.clone());
        }
        let model = Arc::new(read_all(store)?.settled());
        self.known.insert(content, model.clone());
        Ok(model)
    }

    /// As [`Reader::read`], but in a single read of the store.
    pub(super) fn read_view(&mut self, store: &Store, is_thorough: bool) -> Result<Arc<Model>> {
        let (content, model) = store.read(|snapshot| {
            let is_pruned = snapshot.open.settings().is_some_and(|it| it.prune_on_save);
            let facts = (is_pruned, snapshot.open.key());
            let content = digest_all(snapshot.transaction())?;
            let content = sum(content, format!("{:?}", facts.1).as_bytes());
            match self.known.get(&content).filter(|_| !is_thorough) {
                Some(model) => Ok((content, model.clone())),
                None => Ok((content, Arc::new(read_snapshot(snapshot, facts)?.settled()))),
            }
        })?;
        self.known.insert(content, model.clone());
        Ok(model)
    }
}

/// Differs where anything that [`read_all`] reads does.
fn digest_all(it: &ReadTransaction) -> Result<u64> {
    let mut hash = digest(it, RECORDS, 0)?;
    hash = digest(it, FRAMES, hash)?;
    hash = digest(it, INDEX, hash)?;
    hash = digest(it, NAMES, hash)?;
    hash = digest(it, IDS, hash)?;
    hash = digest(it, CHILDREN, hash)?;
    hash = digest(it, DELETED, hash)?;
    hash = digest(it, ARTIFACTS, hash)?;
    hash = digest(it, HOLDERS, hash)?;
    hash = digest(it, SETTINGS, hash)?;
    digest(it, BLOBS, hash)
}

fn digest<K: Key + 'static, V: Value + 'static>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, K, V>,
    hash: u64,
) -> Result<u64> {
    let Some(table) = open_if_made(transaction, definition, Path::new("tables"))? else {
        return Ok(sum(hash, &[0]));
    };
    let mut hash = sum(hash, &[1]);
    for row in table.iter().map_err(engine)? {
        let (key, value) = row.map_err(engine)?;
        hash = sum(hash, K::as_bytes(&key.value()).as_ref());
        hash = sum(hash, V::as_bytes(&value.value()).as_ref());
    }
    Ok(hash)
}

fn engine(error: redb::StorageError) -> Error {
    Error::corrupt("tables", error)
}

/// The whole content of a store, all of it read; an error if anything is wrong.
pub(super) fn read_all(store: &Store) -> Result<Model> {
    let is_pruned_on_save = store.settings()?.prune_on_save;
    let key = store.key()?;
    store.operations(usize::MAX)?;
    store.read(|snapshot| read_snapshot(snapshot, (is_pruned_on_save, key)))
}

/// Reads the content of a snapshot. Flag and key become part of the model.
fn read_snapshot(
    snapshot: &Snapshot<'_>,
    (is_pruned_on_save, key): (bool, Option<KeyId>),
) -> Result<Model> {
    let entries = snapshot.entries(Span::ALL)?.collect::<Result<Vec<Entry>>>()?;
    let deleted: Vec<Entry> = snapshot.restorable()?.into_iter().map(|it| it.entry).collect();
    check_order(&entries)?;
    check_index(snapshot, &entries)?;
    check_frames(snapshot, &entries, &deleted)?;
    check_contents(snapshot, entries.iter().chain(&deleted))?;
    let read = |entry: &Entry| Ok((entry.id.clone(), Arc::new(read_one(snapshot, entry)?)));
    Ok(Model {
        present: entries.iter().map(read).collect::<Result<_>>()?,
        deleted: deleted.iter().map(read).collect::<Result<_>>()?,
        is_pruned_on_save,
        key,
        is_mixed: stored(snapshot)?.iter().any(|(found, _)| *found != key),
    })
}

/// Every frame and every captured content as it is stored, with its key.
pub(super) fn stored(snapshot: &Snapshot<'_>) -> Result<Vec<(Option<KeyId>, Vec<u8>)>> {
    let it = snapshot.transaction();
    let mut stored: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let frames = rows(it, FRAMES, |key, value| (key, value.to_vec()))?;
    for (key, value) in frames.into_iter().filter(|(key, _)| !key.ends_with(&[0xff, 0xff])) {
        stored.entry(frame_sequence(key).to_be_bytes().into()).or_default().extend(value);
    }
    for (key, value) in rows(it, BLOBS, |key, value| (key, value.to_vec()))? {
        stored.entry(blob_hash(key).as_bytes().to_vec()).or_default().extend(value);
    }
    let parsed = stored.into_values().map(|bytes| {
        let found = FoundFrame::parse(&bytes).map_err(|reason| Error::corrupt("frame", reason))?;
        Ok((found.key, bytes))
    });
    parsed.collect()
}

fn read_one(snapshot: &Snapshot<'_>, entry: &Entry) -> Result<Saved> {
    let mut files = BTreeMap::new();
    for artifact in snapshot.artifacts(entry)? {
        let content = artifact.sha256.map(|_| snapshot.content(entry, &artifact)).transpose()?;
        files.insert(artifact.path, content);
    }
    let raw = snapshot.load(entry.clone())?.raw;
    Ok(Saved { entry: plain(entry.clone()), raw, files })
}

/// A checkpoint that the store dated is ordered after all earlier arrivals.
fn check_order(entries: &[Entry]) -> Result<()> {
    let mut first = u64::MAX;
    for entry in entries.iter().rev() {
        let is_by_clock = entry.agent.as_deref() != Some(STATED);
        if is_by_clock && entry.sequence > first {
            let reason = format_args!("{} is older than {first}, which came first", entry.sequence);
            return Err(Error::corrupt("order", reason));
        }
        first = first.min(entry.sequence);
    }
    Ok(())
}

/// Every row that leads to a checkpoint is there, and no other.
fn check_index(snapshot: &Snapshot<'_>, entries: &[Entry]) -> Result<()> {
    let mut index = BTreeSet::new();
    let mut ids = BTreeSet::new();
    let mut children = BTreeSet::new();
    for entry in entries {
        let key = RecordKey::of(entry);
        let name = |kind, name: &str| {
            let found = snapshot.name(kind, name)?;
            found.ok_or_else(|| Error::corrupt("names", format_args!("no number for {name}")))
        };
        let cause = name(NameKind::Cause, &cause(entry.status, &entry.trigger))?;
        let mut names = vec![ANY_NAME, name(NameKind::Series, entry.series.as_str())?];
        if let Some(phase) = &entry.phase {
            names.push(name(NameKind::Phase, phase)?);
        }
        for tag in &entry.tags {
            names.push(name(NameKind::Tag, tag)?);
        }
        for issue in entry.issue.iter().filter(|it| Series::of_issue(it) != entry.series) {
            names.push(name(NameKind::Issue, issue.as_str())?);
        }
        for it in entry.loop_id.iter().filter(|it| Series::of_loop(it) != entry.series) {
            names.push(name(NameKind::Loop, it.as_str())?);
        }
        index.extend(names.into_iter().map(|name| index_row(name, cause, key)));
        if derived_tail(entry).is_none() {
            ids.insert((entry.id.as_str().to_owned(), key.to_bytes()));
        }
        children.extend(entry.parent.iter().map(|it| (it.as_str().to_owned(), key.to_bytes())));
        let found = snapshot.find(&entry.id)?;
        same("the entry that an id leads to", &found.as_ref(), &Some(entry))?;
    }
    let it = snapshot.transaction();
    same("index", &rows(it, INDEX, |key, ()| key)?, &index)?;
    same("ids", &rows(it, IDS, |id, key| (id.to_owned(), key))?, &ids)?;
    same("children", &rows(it, CHILDREN, |(id, key), ()| (id.to_owned(), key))?, &children)?;
    check_names(it)
}

/// Every name leads to a number that leads back.
fn check_names(transaction: &ReadTransaction) -> Result<()> {
    let all = rows(transaction, NAMES, |key, value| (key.to_vec(), value.to_vec()))?;
    let (numbers, names): (BTreeSet<_>, BTreeSet<_>) =
        all.into_iter().partition(|(key, _)| key[0] == 0);
    let back = numbers
        .into_iter()
        .map(|(key, value)| (value[..value.len() - 8].to_vec(), key[1..].to_vec()));
    same("names", &names, &back.collect())
}

/// Every checkpoint has one frame, and every base a row that leads to all its dependents.
fn check_frames(snapshot: &Snapshot<'_>, entries: &[Entry], deleted: &[Entry]) -> Result<()> {
    let mut frames: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut dependents = BTreeSet::new();
    let times = entries.iter().chain(deleted).map(|entry| (entry.sequence, entry.order().0));
    let times: BTreeMap<u64, _> = times.collect();
    for (key, value) in rows(snapshot.transaction(), FRAMES, |key, value| (key, value.to_vec()))? {
        let sequence = frame_sequence(key);
        if key.ends_with(&[0xff, 0xff]) {
            let found = decode_dependents(sequence, &value);
            let found = found.ok_or_else(|| Error::corrupt("dependents", "checksum differs"))?;
            dependents.extend(found.into_iter().map(|key| (sequence, key)));
        } else {
            frames.entry(sequence).or_default().extend(value);
        }
    }
    same("frames", &frames.keys().collect::<Vec<_>>(), &times.keys().collect())?;
    let mut wanted = BTreeSet::new();
    for (sequence, bytes) in &frames {
        let found = FoundFrame::parse(bytes).map_err(|reason| Error::corrupt("frame", reason))?;
        let base = found.base(*sequence).map_err(|reason| Error::corrupt("frame", reason))?;
        let key = RecordKey { time: times[sequence], sequence: *sequence };
        wanted.extend(base.map(|base| (base, key)));
    }
    same("dependents", &dependents, &wanted)?;
    for entry in entries {
        same("stored_bytes", &entry.stored_bytes, &(frames[&entry.sequence].len() as u64))?;
    }
    let rows = rows(snapshot.transaction(), DELETED, |key, _| deleted_at(key).1)?;
    same("deleted", &rows, &deleted.iter().map(RecordKey::of).collect())
}

/// Every captured content exists once, with the number of its checkpoints.
fn check_contents<'a>(
    snapshot: &Snapshot<'_>,
    entries: impl Iterator<Item = &'a Entry>,
) -> Result<()> {
    let mut holders: BTreeMap<Hash, Holders> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for entry in entries.filter(|entry| entry.artifact_count > 0) {
        let artifacts = snapshot.artifacts(entry)?;
        let hashes: BTreeSet<Hash> = artifacts.iter().filter_map(|it| it.sha256).collect();
        for hash in hashes {
            let held = holders.entry(hash).or_default();
            *held = held.with(entry.sequence);
        }
        counts.insert(entry.sequence, entry.artifact_count);
    }
    let it = snapshot.transaction();
    let mut found = BTreeMap::new();
    for (key, value) in rows(it, HOLDERS, |key, value| (key, value.to_vec()))? {
        let held = decode_holders(&key, &value);
        let held = held.ok_or_else(|| Error::corrupt("holders", "checksum differs"))?;
        found.insert(Hash::from_bytes(key), held);
    }
    same("holders", &format!("{found:?}"), &format!("{holders:?}"))?;
    let blobs = rows(it, BLOBS, |key, _| blob_hash(key))?;
    same("blobs", &blobs, &holders.into_keys().collect())?;
    let mut found = BTreeMap::new();
    for row in rows(it, ARTIFACTS, |key, _| key)? {
        *found.entry(frame_sequence(row)).or_default() += 1;
    }
    same("artifacts", &found, &counts)
}

/// The result of `take` for each row of a table, if there is such a table.
fn rows<K: Key + 'static, V: Value + 'static, T: Ord>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, K, V>,
    take: impl for<'a> Fn(K::SelfType<'a>, V::SelfType<'a>) -> T,
) -> Result<BTreeSet<T>> {
    let Some(table) = open_if_made(transaction, definition, Path::new("tables"))? else {
        return Ok(BTreeSet::new());
    };
    let rows = table.iter().map_err(engine)?.map(|row| {
        let (key, value) = row.map_err(engine)?;
        Ok(take(key.value(), value.value()))
    });
    rows.collect()
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, wanted: &T) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::corrupt(what, format_args!("{found:?} is not {wanted:?}")))
}
