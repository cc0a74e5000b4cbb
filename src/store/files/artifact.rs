//! Captured files: each content is stored once, for as long as a checkpoint has it.
//!
//! A checkpoint has a row for each of its files, in the order of their paths, and every content a
//! row that tells how many checkpoints have it. Must never return a content whose hash differs, and
//! never remove one that might be another checkpoint's.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic;

use redb::{ReadableTable, Table, WriteTransaction};

use crate::checkpoint::{Artifact, Checkpoint, Entry, Hash, Id, NewArtifact};
use crate::codec::{
    Frame, Holders, decode_artifact, decode_holders, encode_artifact, encode_holders,
};
use crate::error::{Error, Result, Subject, Wanted};
use crate::key::{
    BlobBytes, FrameBytes, HolderBytes, Span, blob_hash, blob_row, blob_rows, frame_row,
    frame_rows, frame_sequence,
};
use crate::store::ask::read::Snapshot;
use crate::store::engine::fault::In;
use crate::store::engine::table::{ARTIFACTS, BLOBS, HOLDERS, open_if_made};
use crate::store::files::blobs::{insert_blob, is_stored_form, seed, stored, stored_bytes, unpack};
use crate::store::save::write::Writer;
use crate::store::{Draft, Shared, Store, not_found};

/// A file on its way into the store.
#[derive(Debug)]
pub(in crate::store) struct Captured {
    pub(in crate::store) artifact: Artifact,
    /// `None` if it was deleted.
    pub(in crate::store) content: Option<Vec<u8>>,
    /// The content as it is to be stored, if the store lacks it or has it damaged.
    frame: Option<Frame>,
}

impl Captured {
    pub(in crate::store) fn new(new: NewArtifact) -> Self {
        let NewArtifact { path, content, mode, status } = new;
        let sha256 = content.as_deref().map(Hash::of);
        let bytes = content.as_ref().map_or(0, Vec::len) as u64;
        let artifact = Artifact { path, sha256, mode, status, bytes };
        Self { artifact, content, frame: None }
    }
}

impl Store {
    /// Returns the files that were captured with a checkpoint, in the order of their paths.
    ///
    /// Reads no content.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Corrupt`] if the list is
    /// damaged.
    pub fn artifacts(&self, id: &Id) -> Result<Vec<Artifact>> {
        self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            snapshot.artifacts(&entry)
        })
    }

    /// Returns the content of a file that was captured with a checkpoint.
    ///
    /// Looks at a few rows, however many files there are, and reads one content.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint or it has no file of this path,
    /// [`Error::Invalid`] if the file was deleted and has no content, [`Error::Corrupt`] if that is
    /// damaged, [`Error::Limit`] if it is longer than this handle reads.
    pub fn artifact(&self, id: &Id, path: &str) -> Result<Vec<u8>> {
        self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            let artifact = snapshot.artifact_at(&entry, path)?;
            let missing = || Error::NotFound {
                wanted: Wanted::Artifact { checkpoint: id.to_string(), path: path.to_owned() },
            };
            snapshot.content(&entry, &artifact.ok_or_else(missing)?)
        })
    }

    /// Gives a checkpoint and the files that were captured with it to `work`, all out of one
    /// snapshot: they belong together, whatever is deleted or saved under the same id meanwhile.
    ///
    /// The files come in the order of their paths, with `None` for one that was deleted. Each
    /// content is read and checked when it is asked for, and nothing of it is kept: memory is that
    /// of the document and of one file.
    ///
    /// Other processes wait for the store until `work` returns. It must not use this store, and a
    /// panic in it is reported as an error.
    ///
    /// ```
    /// use waypost::{ArtifactStatus, NewArtifact, NewEntry, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let file = NewArtifact {
    ///     path: "notes.txt".to_owned(),
    ///     content: Some(b"as it was".to_vec()),
    ///     mode: None,
    ///     status: ArtifactStatus::Created,
    /// };
    /// let draft = store.draft(NewEntry::default(), &1)?.with_artifacts(vec![file])?;
    /// let saved = store.save_draft(draft)?;
    /// let longest = store.get_with_artifacts(&saved.id, |checkpoint, files| {
    ///     assert_eq!(checkpoint.state::<i32>()?, 1);
    ///     let mut longest = 0;
    ///     for file in files {
    ///         let (_, content) = file?;
    ///         longest = longest.max(content.map_or(0, |content| content.len()));
    ///     }
    ///     Ok(longest)
    /// })?;
    /// assert_eq!(longest, 9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Corrupt`] if it or the list of
    /// its files is damaged, and what `work` returns; for a file, as [`Store::artifact`].
    pub fn get_with_artifacts<T>(
        &self,
        id: &Id,
        work: impl FnOnce(
            Checkpoint,
            &mut dyn Iterator<Item = Result<(Artifact, Option<Vec<u8>>)>>,
        ) -> Result<T>,
    ) -> Result<T> {
        let work = Cell::new(Some(work));
        let outcome = self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            let artifacts = snapshot.artifacts(&entry)?;
            let checkpoint = snapshot.load(entry.clone())?;
            let mut files = artifacts.into_iter().map(|artifact| {
                let content = artifact.sha256.map(|_| snapshot.content(&entry, &artifact));
                Ok((artifact, content.transpose()?))
            });
            // What it fails with is not for us to try again.
            let Some(work) = work.take() else {
                unreachable!("it runs once, and nothing fails then")
            };
            Ok(work(checkpoint, &mut files))
        })?;
        self.shared.turn.note_broken(&outcome);
        outcome
    }
}

impl Shared {
    /// Compresses the contents that the store lacks.
    ///
    /// What is there is read: a content that is damaged on disk is stored anew.
    pub(in crate::store) fn pack_artifacts(&self, drafts: &mut [Draft]) -> Result<()> {
        if drafts.iter().all(|draft| draft.artifacts.is_empty()) {
            return Ok(());
        }
        // What one draft brings, the others of its batch need not.
        let mut known: HashSet<Hash> = self.with(|open| {
            let snapshot = Snapshot::take(open, self.turn.path())?;
            snapshot.whole_among(drafts.iter().flat_map(|draft| &draft.artifacts))
        })?;
        for captured in drafts.iter_mut().flat_map(|draft| &mut draft.artifacts) {
            let Some((hash, content)) = captured.artifact.sha256.zip(captured.content.as_ref())
            else {
                continue;
            };
            if known.insert(hash) {
                captured.frame = Some(self.frames.pack(content));
            }
        }
        Ok(())
    }
}

impl Snapshot<'_> {
    pub(in crate::store) fn artifacts(&self, entry: &Entry) -> Result<Vec<Artifact>> {
        if entry.artifact_count == 0 {
            return Ok(Vec::new());
        }
        match open_if_made(&self.transaction, ARTIFACTS, self.path)? {
            Some(table) => artifacts_in(&table, entry, self.path),
            None => Err(lost(entry)),
        }
    }

    /// The file with a path, whether the others are damaged or not.
    ///
    /// Looks at as few rows as halving takes, and at all of them if one of these is damaged.
    fn artifact_at(&self, entry: &Entry, path: &str) -> Result<Option<Artifact>> {
        let Some(table) = open_if_made(&self.transaction, ARTIFACTS, self.path)? else {
            return if entry.artifact_count == 0 { Ok(None) } else { Err(lost(entry)) };
        };
        let (mut from, mut to) = (0, u16::try_from(entry.artifact_count).unwrap_or(u16::MAX));
        while from < to {
            let middle = from + (to - from) / 2;
            let row = frame_row(entry.sequence, middle);
            let value = table.get(row).within(self.path)?;
            let Some(found) = value.and_then(|value| decode_artifact(row, value.value())) else {
                return self.artifact_among(&table, entry, path);
            };
            match found.path.as_str().cmp(path) {
                Ordering::Equal => return Ok(Some(found)),
                Ordering::Less => from = middle + 1,
                Ordering::Greater => to = middle,
            }
        }
        Ok(None)
    }

    /// The file with a path among all rows, of which one at least is damaged.
    fn artifact_among(
        &self,
        table: &impl ReadableTable<FrameBytes, &'static [u8]>,
        entry: &Entry,
        path: &str,
    ) -> Result<Option<Artifact>> {
        for row in table.range(frame_rows(entry.sequence)).within(self.path)? {
            let (row, value) = row.within(self.path)?;
            let artifact = decode_artifact(row.value(), value.value());
            if let Some(artifact) = artifact.filter(|artifact| artifact.path == path) {
                return Ok(Some(artifact));
            }
        }
        Err(lost(entry))
    }

    pub(in crate::store) fn content(&self, entry: &Entry, artifact: &Artifact) -> Result<Vec<u8>> {
        let place = || place(entry, &artifact.path);
        let Some(hash) = artifact.sha256 else {
            return Err(Error::invalid(
                Subject::Artifact(place()),
                "it was deleted, and has no content",
            ));
        };
        let limit = self.open.artifact_bytes_max as u64;
        if artifact.bytes > limit {
            return Err(Error::Limit { what: format!("length in bytes of {}", place()), limit });
        }
        let missing = || Error::corrupt(place(), "its content is missing");
        let table = open_if_made(&self.transaction, BLOBS, self.path)?.ok_or_else(missing)?;
        let bytes = stored(&table, &hash, self.path)?.ok_or_else(missing)?;
        let content = unpack(&self.open.frames, &bytes, (&hash, artifact.bytes))
            .map_err(|flaw| self.open.flawed(place(), flaw))?;
        if Hash::of(&content) == hash {
            Ok(content)
        } else {
            Err(Error::corrupt(place(), "its hash differs"))
        }
    }

    /// Length of all contents as stored.
    pub(in crate::store) fn blob_bytes(&self) -> Result<u64> {
        let table = open_if_made(&self.transaction, BLOBS, self.path)?;
        table.map_or(Ok(0), |table| stored_bytes(&table, self.path))
    }

    /// Who has which contents, deleted checkpoints that can be restored included.
    ///
    /// [`Error::Corrupt`] if any row of a checkpoint is missing or damaged: then nobody can tell.
    pub(in crate::store) fn holding(&self) -> Result<Holding> {
        let mut holding = Holding::default();
        let restorable = self.restorable()?.into_iter().map(|it| Ok(it.entry));
        for entry in self.entries(Span::ALL)?.chain(restorable) {
            let entry = entry?;
            if entry.artifact_count == 0 {
                continue;
            }
            for hash in contents_of(&self.artifacts(&entry)?) {
                let holders = holding.contents.entry(hash).or_default();
                *holders = holders.with(entry.sequence);
            }
            holding.sequences.insert(entry.sequence);
        }
        Ok(holding)
    }

    /// The contents of these files that are in the store and not damaged.
    fn whole_among<'b>(
        &self,
        captured: impl Iterator<Item = &'b Captured>,
    ) -> Result<HashSet<Hash>> {
        let mut whole = HashSet::new();
        let Some(table) = open_if_made(&self.transaction, BLOBS, self.path)? else {
            return Ok(whole);
        };
        for Captured { artifact, content, .. } in captured {
            let hash = artifact.sha256.filter(|hash| !whole.contains(hash));
            let Some((hash, content)) = hash.zip(content.as_ref()) else { continue };
            let Some(bytes) = stored(&table, &hash, self.path)? else { continue };
            if is_stored_form(&self.open.frames, &bytes, &hash, content) {
                whole.insert(hash);
            }
        }
        Ok(whole)
    }
}

/// Who has captured what.
#[derive(Debug, Default)]
pub(in crate::store) struct Holding {
    /// Those of all checkpoints with files.
    sequences: HashSet<u64>,
    /// All that a checkpoint has.
    contents: HashMap<Hash, Holders>,
}

/// The tables of captured files in a write transaction.
pub(in crate::store) struct ArtifactTables<'a> {
    pub(in crate::store) artifacts: Table<'a, FrameBytes, &'static [u8]>,
    pub(in crate::store) holders: Table<'a, HolderBytes, &'static [u8]>,
    pub(in crate::store) blobs: Table<'a, BlobBytes, &'static [u8]>,
}

impl<'a> ArtifactTables<'a> {
    fn open(transaction: &'a WriteTransaction) -> std::result::Result<Self, redb::TableError> {
        Ok(Self {
            artifacts: transaction.open_table(ARTIFACTS)?,
            holders: transaction.open_table(HOLDERS)?,
            blobs: transaction.open_table(BLOBS)?,
        })
    }

    /// Notes that one more checkpoint has a content, before that is stored.
    fn hold(&mut self, hash: &Hash, sequence: u64, path: &Path) -> Result<()> {
        let row = hash.as_bytes();
        let found = self.holders.get(row).within(path)?;
        let found = found.map(|value| decode_holders(row, value.value()));
        let before = match found {
            Some(Some(holders)) => holders,
            None if self.blobs.range(blob_rows(hash)).within(path)?.next().is_none() => {
                Holders::default()
            }
            // Who else has it can only be told by looking at everything, as compacting does. Until
            // then the content stays, whoever goes.
            Some(None) | None => return Ok(()),
        };
        let value = encode_holders(row, before.with(sequence));
        self.holders.insert(row, value.as_slice()).within(path)?;
        Ok(())
    }

    /// Notes that a checkpoint that had a content is gone, and the content with the last of them.
    fn let_go(&mut self, hash: &Hash, sequence: u64, path: &Path) -> Result<()> {
        let row = hash.as_bytes();
        let found = self.holders.get(row).within(path)?;
        let found = found.and_then(|value| decode_holders(row, value.value()));
        let Some(left) = found.and_then(|holders| holders.without(sequence)) else {
            // As above.
            return Ok(());
        };
        if left.is_empty() {
            self.holders.remove(row).within(path)?;
            return self.blobs.retain_in(blob_rows(hash), |_, _| false).within(path);
        }
        let value = encode_holders(row, left);
        self.holders.insert(row, value.as_slice()).within(path)?;
        Ok(())
    }
}

impl<'a> Writer<'a> {
    /// Adds the files of the checkpoint with this sequence.
    pub(in crate::store) fn insert_artifacts(
        &mut self,
        sequence: u64,
        captured: &[Captured],
    ) -> Result<()> {
        if captured.is_empty() {
            return Ok(());
        }
        let path = self.path;
        let tables = self.artifact_tables()?;
        for (captured, number) in captured.iter().zip(0..u16::MAX) {
            let row = frame_row(sequence, number);
            let value = encode_artifact(row, &captured.artifact);
            tables.artifacts.insert(row, value.as_slice()).within(path)?;
        }
        for hash in contents_of(captured.iter().map(|captured| &captured.artifact)) {
            tables.hold(&hash, sequence, path)?;
        }
        self.insert_blobs(captured)
    }

    /// Stores the contents that are not there, or were found to be damaged.
    pub(in crate::store) fn insert_blobs(&mut self, captured: &[Captured]) -> Result<()> {
        if captured.is_empty() {
            return Ok(());
        }
        let (path, open) = (self.path, self.open);
        let blobs = &mut self.artifact_tables()?.blobs;
        for Captured { artifact, content, frame } in captured {
            let Some((hash, content)) = artifact.sha256.as_ref().zip(content.as_ref()) else {
                continue;
            };
            let bytes = match frame {
                Some(frame) => open.bytes_of(frame, seed(hash), None)?,
                None if blobs.get(blob_row(hash, 0)).within(path)?.is_some() => continue,
                // It went with the last checkpoint that had it, or was to come with one that was
                // refused.
                None => open.bytes_of(&open.frames.pack(content), seed(hash), None)?,
            };
            insert_blob(blobs, hash, &bytes).within(path)?;
        }
        Ok(())
    }

    /// Removes the files of checkpoints that are gone, and the contents that no other has.
    pub(in crate::store) fn release(&mut self, sequences: impl Iterator<Item = u64>) -> Result<()> {
        for sequence in sequences {
            let path = self.path;
            let tables = self.artifact_tables()?;
            let mut found = Vec::new();
            for row in tables.artifacts.range(frame_rows(sequence)).within(path)? {
                let (row, value) = row.within(path)?;
                // Of a damaged row it cannot be told which content it had; compacting finds that.
                found.extend(decode_artifact(row.value(), value.value()));
            }
            tables.artifacts.retain_in(frame_rows(sequence), |_, _| false).within(path)?;
            for hash in contents_of(&found) {
                tables.let_go(&hash, sequence, path)?;
            }
        }
        Ok(())
    }

    /// Removes what belongs to no checkpoint, not even to one that can be restored, and makes the
    /// rows anew that tell how many have a content.
    pub(in crate::store) fn sweep_artifacts(&mut self, holding: Holding) -> Result<()> {
        let Holding { sequences, mut contents } = holding;
        let path = self.path;
        let ArtifactTables { artifacts, holders, blobs } = self.artifact_tables()?;
        artifacts.retain(|row, _| sequences.contains(&frame_sequence(row))).within(path)?;
        blobs.retain(|row, _| contents.contains_key(&blob_hash(row))).within(path)?;
        let is_right = |row: HolderBytes, value: &[u8]| {
            let hash = Hash::from_bytes(row);
            let found = decode_holders(&row, value);
            let is_right = found.is_some() && found.as_ref() == contents.get(&hash);
            if is_right {
                contents.remove(&hash);
            }
            is_right
        };
        holders.retain(is_right).within(path)?;
        for (hash, left) in contents {
            let value = encode_holders(hash.as_bytes(), left);
            holders.insert(hash.as_bytes(), value.as_slice()).within(path)?;
        }
        Ok(())
    }

    /// Whether these are the files of a checkpoint.
    ///
    /// What had become of them is not compared, nor which are gone: that depends on what others
    /// saved before, and with a retry this may be more than with the first try.
    pub(in crate::store) fn has_artifacts(
        &mut self,
        entry: &Entry,
        captured: &[Captured],
    ) -> Result<bool> {
        let path = self.path;
        let found = match entry.artifact_count {
            0 => Vec::new(),
            _ => artifacts_in(&self.artifact_tables()?.artifacts, entry, path)?,
        };
        let captured = captured.iter().map(|captured| &captured.artifact);
        Ok(files_in(&found).eq(files_in(captured)))
    }

    pub(in crate::store) fn artifact_tables(&mut self) -> Result<&mut ArtifactTables<'a>> {
        match &mut self.artifacts {
            Some(tables) => Ok(tables),
            none => {
                self.open.has_artifacts.store(true, atomic::Ordering::Relaxed);
                let tables = ArtifactTables::open(self.transaction).within(self.path)?;
                Ok(none.insert(tables))
            }
        }
    }
}

/// What there is of files that are not gone.
fn files_in<'a>(
    artifacts: impl IntoIterator<Item = &'a Artifact>,
) -> impl Iterator<Item = (&'a str, Hash, Option<u32>)> {
    artifacts.into_iter().filter_map(|it| Some((it.path.as_str(), it.sha256?, it.mode)))
}

/// The contents of some files, each once.
pub(in crate::store) fn contents_of<'a>(
    artifacts: impl IntoIterator<Item = &'a Artifact>,
) -> BTreeSet<Hash> {
    artifacts.into_iter().filter_map(|artifact| artifact.sha256).collect()
}

/// All files of a checkpoint.
pub(in crate::store) fn artifacts_in(
    table: &impl ReadableTable<FrameBytes, &'static [u8]>,
    entry: &Entry,
    path: &Path,
) -> Result<Vec<Artifact>> {
    let mut artifacts = Vec::new();
    for row in table.range(frame_rows(entry.sequence)).within(path)? {
        let (row, value) = row.within(path)?;
        artifacts.push(decode_artifact(row.value(), value.value()).ok_or_else(|| lost(entry))?);
    }
    if artifacts.len() as u64 == entry.artifact_count { Ok(artifacts) } else { Err(lost(entry)) }
}

fn place(entry: &Entry, path: &str) -> String {
    format!("artifact {path:?} of checkpoint {}", entry.id)
}

fn lost(entry: &Entry) -> Error {
    Error::corrupt(format!("artifacts of checkpoint {}", entry.id), "a row is missing or damaged")
}
