//! Decides what can be saved of a damaged store, checkpoint by checkpoint.
//!
//! Never writes. Must never invent content: everything kept has passed its sum.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::Lost;
use super::documents::Documents;
use super::keys::Keys;
use super::rows::Rows;
use super::strays::FOUND;
use crate::checkpoint::{
    Artifact, Entry, Id, Layout, NewArtifact, Series, SourceForm, Status, Timestamp, Trigger,
};
use crate::codec::{
    FoundFrame, Frames, KeyId, NameKind, Placed, decode_artifact, decode_deleted,
    decode_dependents, decode_entry, document_bytes,
};
use crate::error::{Error, Result};
use crate::key::{
    DeletedBytes, NameId, RecordBytes, RecordKey, deleted_at, frame_row, frame_rows, frame_sequence,
};
use crate::store::Store;
use crate::store::engine::sealing::bytes_of;

/// A checkpoint that is saved.
pub(in crate::store::care) struct Saved {
    pub(in crate::store::care) entry: Entry,
    pub(in crate::store::care) frame: Vec<u8>,
    /// When it was deleted, and by which operation, if it can be restored.
    pub(in crate::store::care) deleted: Option<(Timestamp, u64)>,
    pub(in crate::store::care) artifacts: Vec<NewArtifact>,
    /// Whether its entry was lost.
    pub(in crate::store::care) is_made_up: bool,
}

/// An entry; if it was deleted, when and by which operation.
type FoundEntry = (Entry, Option<(Timestamp, u64)>);

/// Where the entry of a checkpoint is.
enum Owner {
    Record(RecordBytes),
    Deleted(DeletedBytes),
    Journal(Box<Entry>),
}

pub(in crate::store::care) struct Salvage<'a> {
    rows: &'a Rows,
    documents: Documents<'a>,
    /// The key to seal frames with.
    key: Option<KeyId>,
    /// Damage may turn a key into that of another sequence, so there may be several.
    owners: BTreeMap<u64, Vec<Owner>>,
    /// Sequences not yet processed, in order.
    sequences: BTreeSet<u64>,
    /// When checkpoints were saved, according to their dependents and bases.
    times: BTreeMap<u64, Timestamp>,
    kept: HashSet<u64>,
    pub(in crate::store::care) lost: Vec<Lost>,
    /// Number of checkpoints of which nothing can be saved.
    pub(in crate::store::care) lost_checkpoints: u64,
    /// Why nothing can be stored anew.
    pub(in crate::store::care) failure: Option<Error>,
    pub(in crate::store::care) unsure: Vec<Lost>,
}

impl<'a> Salvage<'a> {
    /// `journal` has the saves that the tables lack.
    pub(in crate::store::care) fn new(rows: &'a Rows, journal: Vec<Placed>, keys: &Keys) -> Self {
        let mut owners: BTreeMap<u64, Vec<Owner>> = BTreeMap::new();
        let mut times = BTreeMap::new();
        for key in rows.records.keys() {
            let RecordKey { time, sequence } = RecordKey::from_bytes(*key);
            times.insert(sequence, time);
            owners.entry(sequence).or_default().push(Owner::Record(*key));
        }
        for row in rows.deleted.keys() {
            let RecordKey { time, sequence } = deleted_at(*row).1;
            times.insert(sequence, time);
            owners.entry(sequence).or_default().push(Owner::Deleted(*row));
        }
        let mut frames = BTreeMap::new();
        for Placed { entry, frame } in journal {
            frames.insert(entry.sequence, frame);
            owners.entry(entry.sequence).or_default().push(Owner::Journal(Box::new(entry)));
        }
        let stored = rows.frames.keys().map(|row| frame_sequence(*row));
        let lone = rows.strays.lone.iter().copied();
        let sequences = owners.keys().copied().chain(stored).chain(lone).collect();
        let documents = Documents::new(rows, frames, Frames::new(keys.ring.clone()));
        let (kept, lost, unsure) = (HashSet::new(), Vec::new(), Vec::new());
        let key = keys.store;
        let (lost_checkpoints, failure) = (0, None);
        let mut this = Self {
            rows,
            documents,
            key,
            owners,
            sequences,
            times,
            kept,
            lost,
            lost_checkpoints,
            failure,
            unsure,
        };
        this.learn_times();
        this
    }

    /// Number of checkpoints not yet processed.
    pub(in crate::store::care) fn left(&self) -> usize {
        self.sequences.len()
    }

    /// What is saved of the next checkpoint; `None` if nothing is, and at the end.
    pub(in crate::store::care) fn next(&mut self) -> Option<Saved> {
        let sequence = self.sequences.pop_first()?;
        let owners = self.owners.remove(&sequence).unwrap_or_default();
        let entry = self.entry(owners);
        let raw = match self.documents.raw(sequence) {
            Ok(raw) => raw,
            Err(reason) => {
                self.lose_document(sequence, entry, reason);
                return None;
            }
        };
        let (entry, deleted, is_made_up) = match entry {
            Ok((entry, deleted)) if entry.raw_bytes() == raw.len() as u64 => {
                (entry, deleted, false)
            }
            other => {
                let made_up = self.make_up(sequence, &raw)?;
                let why = other.err().flatten().unwrap_or("all but the document is lost");
                self.lose(format!("entry {sequence}"), None, why);
                (made_up, None, true)
            }
        };
        let is_lone = is_made_up && self.rows.strays.lone.contains(&sequence);
        // A save that was cut short may have left a frame of the same sequence, which was given out
        // again afterwards. Mostly its length tells the two apart.
        let found_bytes = self.documents.found_bytes(sequence);
        let is_other = !is_made_up && found_bytes.is_some_and(|it| it != entry.stored_bytes);
        if is_lone || is_other || self.is_stray(sequence) {
            let (place, reason) = (format!("checkpoint {}", entry.id), FOUND.to_owned());
            self.unsure.push(Lost { place, reason, checkpoint: Some(entry.id.clone()) });
        }
        let frame = self.frame(sequence, &raw).map_err(|error| self.failure = Some(error)).ok()?;
        self.kept.insert(sequence);
        let artifacts = self.artifacts(&entry, is_made_up);
        let artifact_count = artifacts.len() as u64;
        let mut entry = Entry { stored_bytes: frame.len() as u64, artifact_count, ..entry };
        entry.warnings.extend(self.warned(&entry));
        Some(Saved { entry, frame, deleted, artifacts, is_made_up })
    }

    /// The first readable entry, and when and by which operation it was deleted; else why the first
    /// of them cannot be read, if there is one.
    fn entry(&self, owners: Vec<Owner>) -> Result<FoundEntry, Option<&'static str>> {
        let mut why = None;
        for owner in owners {
            match self.entry_of(owner) {
                Ok(found) => return Ok(found),
                Err(reason) => _ = why.get_or_insert(reason),
            }
        }
        Err(why)
    }

    fn entry_of(&self, owner: Owner) -> Result<FoundEntry, &'static str> {
        match owner {
            Owner::Journal(entry) => Ok((*entry, None)),
            Owner::Record(key) => {
                let value = self.rows.records.get(&key).map(|place| self.rows.value(*place));
                let value = value.and_then(Result::ok).unwrap_or_default();
                self.decode(RecordKey::from_bytes(key), &value).map(|entry| (entry, None))
            }
            Owner::Deleted(row) => {
                let value = self.rows.deleted.get(&row).map(|place| self.rows.value(*place));
                let value = value.and_then(Result::ok).unwrap_or_default();
                let (at, key) = deleted_at(row);
                decode_deleted(&row, &value).ok_or("checksum differs").and_then(|found| {
                    let entry = self.decode(key, found.record)?;
                    Ok((entry, Some((at, found.operation))))
                })
            }
        }
    }

    /// Reads a record; a lost name is replaced by one that says so.
    fn decode(&self, key: RecordKey, record: &[u8]) -> Result<Entry, &'static str> {
        let lost: RefCell<BTreeSet<NameId>> = RefCell::default();
        let lookup = |kind: NameKind, id: NameId| -> Option<Arc<str>> {
            let found = self.rows.names.get(&id).filter(|(found, _)| *found == kind);
            Some(found.map_or_else(
                || {
                    lost.borrow_mut().insert(id);
                    match kind {
                        NameKind::Cause => Arc::from("unknown unknown"),
                        _ => Arc::from(format!("{}{id}", Store::LOST_NAME)),
                    }
                },
                |(_, name)| name.clone(),
            ))
        };
        let mut entry = decode_entry(key, record, &lookup)?;
        let lost = lost.into_inner();
        entry.warnings.extend(lost.iter().map(|id| format!("repair: name {id} was lost")));
        Ok(entry)
    }

    /// An entry for a document whose own entry is lost; `None` if the bytes are no document.
    fn make_up(&mut self, sequence: u64, raw: &[u8]) -> Option<Entry> {
        let place = format!("frame {sequence}");
        let Some(length) = document_bytes(raw) else {
            self.lose(place, None, "its bytes are not a document");
            return None;
        };
        let text_bytes = (raw.len() - length) as u64;
        let source = (text_bytes > 0).then(|| SourceForm { text_bytes, ..SourceForm::default() });
        let time = self.times.range(..=sequence).next_back().map(|(_, time)| *time);
        let created_at = time.unwrap_or(Timestamp::from_micros(0));
        Some(Entry {
            id: Id::generate(created_at),
            series: Series::new(Store::SALVAGED).ok()?,
            issue: None,
            loop_id: None,
            workflow_id: None,
            workflow_type: None,
            session_id: None,
            agent: None,
            trigger: Trigger::Unknown,
            phase: None,
            step: None,
            iteration: None,
            status: Status::Archived,
            created_at,
            ordered_at: None,
            updated_at: None,
            parent: None,
            tags: BTreeSet::new(),
            can_resume: None,
            resume_from: None,
            warnings: vec!["repair: all but the document was lost".to_owned()],
            retention_days: None,
            layout: Layout::Native,
            source_path: None,
            source,
            sequence,
            document_bytes: length as u64,
            stored_bytes: 0,
            artifact_count: 0,
        })
    }

    /// A missing key that the last frame needed.
    pub(in crate::store::care) fn lacks(&self) -> Option<KeyId> {
        self.documents.lacks.get()
    }

    /// Whether the last frame needed a key that was not given; resets this.
    pub(in crate::store::care) fn lacked(&mut self) -> bool {
        let is_locked = matches!(self.failure.take(), Some(Error::Key { .. }));
        self.documents.lacks.take().is_some() || is_locked
    }

    /// The frame unchanged, if its base is saved and it has the key that it should have; else a
    /// frame that stands alone.
    fn frame(&self, sequence: u64, raw: &[u8]) -> Result<Vec<u8>> {
        let bytes = self.documents.frame(sequence);
        let found = FoundFrame::parse(&bytes).ok().filter(|found| found.key == self.key);
        let base = found.and_then(|found| found.base(sequence).ok());
        match base {
            Some(base) if base.is_none_or(|base| self.kept.contains(&base)) => Ok(bytes),
            _ => {
                let frames = &self.documents.frames;
                let bytes = bytes_of(frames, &frames.pack(raw), (sequence, None), self.key);
                bytes.map_err(|why| why.error(frames.keys()))
            }
        }
    }

    /// The captured files that are intact.
    fn artifacts(&mut self, entry: &Entry, is_made_up: bool) -> Vec<NewArtifact> {
        let mut saved = Vec::new();
        let numbers = 0..u16::try_from(entry.artifact_count).unwrap_or(u16::MAX);
        let there = self.rows.artifacts.range(frame_rows(entry.sequence));
        let rows: BTreeSet<_> = if is_made_up {
            there.map(|(row, _)| *row).collect()
        } else {
            numbers.map(|number| frame_row(entry.sequence, number)).collect()
        };
        for row in rows {
            let value = self.rows.artifacts.get(&row).map(|place| self.rows.value(*place));
            let value = value.and_then(Result::ok).unwrap_or_default();
            let Some(artifact) = decode_artifact(row, &value) else {
                let place = format!("a captured file of checkpoint {}", entry.id);
                self.lose(place, Some(&entry.id), "its row is missing or damaged");
                continue;
            };
            saved.extend(self.artifact(entry, artifact));
        }
        saved
    }

    fn artifact(&mut self, entry: &Entry, artifact: Artifact) -> Option<NewArtifact> {
        let Artifact { path, sha256, mode, status, bytes } = artifact;
        let content = sha256.map(|hash| self.documents.content(&hash, bytes)).transpose();
        match content {
            Ok(content) => Some(NewArtifact { path, content, mode, status }),
            Err(reason) => {
                let place = format!("artifact {path:?} of checkpoint {}", entry.id);
                self.lose(place, Some(&entry.id), reason);
                None
            }
        }
    }

    /// The warning for a checkpoint that lost some of its files.
    fn warned(&self, entry: &Entry) -> Option<String> {
        let is_of = |lost: &&Lost| lost.checkpoint.as_ref() == Some(&entry.id);
        let count = self.lost.iter().rev().take_while(is_of).count();
        (count > 0).then(|| format!("repair: {count} of its captured files were lost"))
    }

    fn lose_document(
        &mut self,
        sequence: u64,
        entry: Result<FoundEntry, Option<&'static str>>,
        reason: String,
    ) {
        self.lost_checkpoints += 1;
        match entry {
            Ok((entry, _)) => {
                let doubt =
                    if self.is_stray(sequence) { "; may have been deleted before" } else { "" };
                let reason = format!("{reason}{doubt}");
                self.lose(format!("checkpoint {}", entry.id), Some(&entry.id), reason);
            }
            // Bytes that only look like a document were never one.
            Err(_) if self.rows.strays.lone.contains(&sequence) => self.lost_checkpoints -= 1,
            Err(None) => self.lose(format!("frame {sequence}"), None, reason),
            Err(Some(why)) => {
                let reason = format!("its entry: {why}; its document: {reason}");
                self.lose(format!("entry {sequence}"), None, reason);
            }
        }
    }

    /// Whether no table leads to its entry.
    fn is_stray(&self, sequence: u64) -> bool {
        self.rows.strays.entries.contains(&sequence)
    }

    pub(in crate::store::care) fn lose(
        &mut self,
        place: String,
        id: Option<&Id>,
        reason: impl Into<String>,
    ) {
        self.lost.push(Lost { place, reason: reason.into(), checkpoint: id.cloned() });
    }

    /// Bases note when their dependents were saved.
    fn learn_times(&mut self) {
        for (row, place) in &self.rows.frames {
            let sequence = frame_sequence(*row);
            if *row != crate::key::dependents_row(sequence) {
                continue;
            }
            let value = self.rows.value(*place).unwrap_or_default();
            for key in decode_dependents(sequence, &value).unwrap_or_default() {
                self.times.insert(key.sequence, key.time);
            }
        }
    }
}
