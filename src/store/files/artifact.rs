//! Captured files: each content is stored once, for as long as a checkpoint has it.
//!
//! A checkpoint has a row for each of its files, in the order of their paths. Every content has a
//! row that counts its checkpoints. Must never return a content whose hash differs, and never
//! remove one that might belong to another checkpoint.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use redb::ReadableTable;

use crate::checkpoint::{Artifact, Entry, Hash, NewArtifact};
use crate::codec::{Frame, decode_artifact, encode_artifact};
use crate::error::{Error, Result, Subject};
use crate::key::{FrameBytes, blob_row, frame_row, frame_rows};
use crate::store::engine::fault::In;
use crate::store::engine::table::{ARTIFACTS, BLOBS, open_if_made};
use crate::store::files::blobs::{insert_blob, is_stored_form, seed, stored, stored_bytes, unpack};
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::Writer;

/// A file on its way into the store.
#[derive(Debug)]
pub(in crate::store) struct Captured {
    pub(in crate::store) artifact: Artifact,
    /// `None` if it was deleted.
    pub(in crate::store) content: Option<Vec<u8>>,
    /// The content to be stored, if the store lacks it or has it damaged.
    pub(in crate::store) frame: Option<Frame>,
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

impl Snapshot<'_> {
    pub(in crate::store) fn artifacts(&self, entry: &Entry) -> Result<Vec<Artifact>> {
        if entry.artifact_count == 0 {
            return Ok(Vec::new());
        }
        match open_if_made(self.transaction(), ARTIFACTS, self.path)? {
            Some(table) => artifacts_in(&table, entry, self.path),
            None => Err(lost(entry)),
        }
    }

    /// The file with a path, whether the others are damaged or not.
    ///
    /// Reads the rows of a binary search, and all rows if one of these is damaged.
    pub(in crate::store) fn artifact_at(
        &self,
        entry: &Entry,
        path: &str,
    ) -> Result<Option<Artifact>> {
        let Some(table) = open_if_made(self.transaction(), ARTIFACTS, self.path)? else {
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

    /// The file with a path among all rows, at least one of which is damaged.
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
        let table = open_if_made(self.transaction(), BLOBS, self.path)?.ok_or_else(missing)?;
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
        let table = open_if_made(self.transaction(), BLOBS, self.path)?;
        table.map_or(Ok(0), |table| stored_bytes(&table, self.path))
    }

    /// The contents of these files that are in the store and not damaged.
    pub(in crate::store) fn whole_among<'b>(
        &self,
        captured: impl Iterator<Item = &'b Captured>,
    ) -> Result<HashSet<Hash>> {
        let mut whole = HashSet::new();
        let Some(table) = open_if_made(self.transaction(), BLOBS, self.path)? else {
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

impl Writer<'_> {
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
                // It was removed with its last checkpoint, or was to come with a draft that was
                // refused.
                None => open.bytes_of(&open.frames.pack(content), seed(hash), None)?,
            };
            insert_blob(blobs, hash, &bytes).within(path)?;
        }
        Ok(())
    }

    /// Removes the files of removed checkpoints, and the contents that no other checkpoint has.
    pub(in crate::store) fn release(&mut self, sequences: impl Iterator<Item = u64>) -> Result<()> {
        for sequence in sequences {
            let path = self.path;
            let tables = self.artifact_tables()?;
            let mut found = Vec::new();
            for row in tables.artifacts.range(frame_rows(sequence)).within(path)? {
                let (row, value) = row.within(path)?;
                // A damaged row does not tell its content; compacting finds that.
                found.extend(decode_artifact(row.value(), value.value()));
            }
            tables.artifacts.retain_in(frame_rows(sequence), |_, _| false).within(path)?;
            for hash in contents_of(&found) {
                tables.let_go(&hash, sequence, path)?;
            }
        }
        Ok(())
    }

    /// Whether these are the files of a checkpoint.
    ///
    /// Compares neither their status nor deleted files: these depend on what others saved before,
    /// and a retry may know more than the first try.
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
}

/// The files that are not deleted.
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
