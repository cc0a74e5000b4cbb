//! Changes the key: stores frames and captured contents anew, a part at a time.
//!
//! Saves in the meantime have the new key already. If the call is ended or killed, the store has
//! frames under both keys, and the same call continues.

mod notes;
mod parts;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use redb::ReadableTable as _;
use serde::Serialize;

use crate::checkpoint::{Entry, Hash};
use crate::codec::{Flaw, FoundFrame, KeyId, check};
use crate::error::{Error, Result, unless_damaged};
use crate::key::{
    BlobBytes, RecordBytes, RecordKey, blob_hash, blob_row, blob_rows, frame_row, frame_sequence,
};
use crate::store::Store;
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::fault::In;
use crate::store::files::blobs::{insert_blob, seed, stored, unpack};
use crate::store::keep::operation::{Action, Operation};
use crate::store::options::Limits;
use crate::store::transaction::writer::Writer;
use crate::store::watch::{Stage, Step, Watch, unwatched};
use crate::sync::{lock, write};
use parts::{Done, Outcome, Part, each_part, row_by_row};

/// What [`Store::rekey`] has done.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "encrypt")] {
/// # use waypost::{NewEntry, Options, SecretKey, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let key = SecretKey::generate()?;
/// # Store::open(&path)?.save(NewEntry::issue("42")?, &"state")?;
/// let store = Store::open_with(&path, Options { keys: vec![key.clone()], ..Options::default() })?;
/// let rekeyed = store.rekey(Some(key.id()))?;
/// assert_eq!((rekeyed.documents, rekeyed.is_done), (1, true));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rekeyed {
    /// Number of documents stored anew, those of deleted checkpoints included.
    pub documents: u64,
    /// Number of captured contents stored anew.
    pub contents: u64,
    /// Number of damaged documents and contents, which were left unchanged.
    pub damaged: u64,
    /// Number of documents and contents left unchanged because they, or a base of theirs, need a
    /// key that was not given.
    pub sealed: u64,
    /// Whether all is done: `false` if the call was ended, or a key was missing. Until then, or
    /// while anything is damaged, [`Stats::is_rekeying`](crate::Stats::is_rekeying) stays true.
    pub is_done: bool,
}

impl Store {
    /// Returns the key that the store is encrypted with, if it is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn key(&self) -> Result<Option<KeyId>> {
        self.shared.read(|open| Ok(open.key()))
    }

    /// Encrypts all documents and captured files with another key, or for the first time; or
    /// decrypts them, without one.
    ///
    /// This handle must have been given the new key, and the one that the store has. Frames under a
    /// third key, left by a killed rekey, are counted and left unchanged. Whatever any process
    /// saves meanwhile uses the new key. Old bytes stay in free pages of the file until these are
    /// used again or [`Store::compact`] gives them back.
    ///
    /// Time grows with the size of the store.
    ///
    /// # Errors
    /// [`Error::Key`] if one of the two keys was not given; nothing was changed. [`Error::Invalid`]
    /// if another rekey begins before this one is done: the other one goes on.
    pub fn rekey(&self, to: Option<KeyId>) -> Result<Rekeyed> {
        self.rekey_with(to, &mut unwatched)
    }

    /// As [`Store::rekey`]; `watch` gets each step and may end the call; see [`Step`].
    ///
    /// # Errors
    /// As [`Store::rekey`].
    pub fn rekey_with(
        &self,
        to: Option<KeyId>,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Rekeyed> {
        self.start_rekey(to)?;
        let mut done = Rekeyed::default();
        let result = self.rekey_all(to, watch, &mut done);
        let now = (self.shared.options.clock)();
        // Spool files under the old key that stay were there before the new key was noted.
        self.shared.spool.look_anew();
        let is_all = done.is_done && done.damaged == 0;
        self.shared.with(|open| {
            self.shared.take_in(open)?;
            let mut journal = lock(&open.journal);
            self.shared.write_durably(open, &mut journal, |writer| {
                if is_all {
                    writer.check_wanted(to)?;
                    writer.note_rekeyed()?;
                }
                let checkpoints = done.documents;
                writer.log(Operation { checkpoints, ..Operation::new(Action::Rekey, now) })
            })?;
            if is_all {
                open.is_rekeying.store(false, Ordering::Relaxed);
            }
            Ok(())
        })?;
        result.map(|()| done)
    }

    /// From now on every save uses the new key.
    fn start_rekey(&self, to: Option<KeyId>) -> Result<()> {
        self.shared.with(|open| {
            for id in open.key().into_iter().chain(to) {
                open.need_key(id)?;
            }
            // A saver holds the journal from sealing a frame until it is written.
            let mut journal = lock(&open.journal);
            if open.key() != to {
                // A spooling process must not use the old key from the lock file meanwhile.
                self.shared.turn.take_back_sealing(open)?;
                self.shared.write_durably(open, &mut journal, |writer| writer.expect_key(to))?;
                // The tables have all of the journal, which may hold plain text.
                journal.remove();
                *write(&open.key) = to;
                open.is_rekeying.store(true, Ordering::Relaxed);
                self.shared.turn.note_sealing(open, to.into())?;
            }
            Ok(())
        })
    }

    fn rekey_all(&self, to: Option<KeyId>, watch: Watch<'_>, done: &mut Rekeyed) -> Result<()> {
        let total = self.count()?;
        let mut seen = 0;
        // Records first, since they give the length of their frames.
        let records = each_part("records", RecordKey::MIN.to_bytes(), |from| {
            let step = Step { stage: Stage::Rekey, done: seen, total: Some(total) };
            if watch(step).is_break() {
                return Ok(None);
            }
            let part = self.shared.write(|writer| writer.rekey_records(from, to))?;
            seen += part.rows as u64;
            // Counts no unchanged frames: the loop over frames below reads them again and counts
            // them.
            done.documents += part.changed;
            Ok(Some(part))
        })?;
        if records.is_break() {
            return Ok(());
        }
        // Then frames without a record: of deleted checkpoints, and where a record is damaged.
        let frames = each_part("frames", 0, |from| {
            if watch(Step::named(Stage::Rekey, done.documents)).is_break() {
                return Ok(None);
            }
            let part = self.shared.write(|writer| writer.rekey_frames(from, to))?;
            done.documents += part.changed;
            done.note_unchanged(&part);
            Ok(Some(part))
        })?;
        if frames.is_break() {
            return Ok(());
        }
        let blobs = each_part("blobs", blob_row(&Hash::from_bytes([0; 32]), 0), |from| {
            if watch(Step::named(Stage::RekeyFiles, done.contents)).is_break() {
                return Ok(None);
            }
            let part = self.shared.write(|writer| writer.rekey_blobs(from, to))?;
            done.contents += part.changed;
            done.note_unchanged(&part);
            Ok(Some(part))
        })?;
        done.is_done = blobs.is_continue() && done.sealed == 0;
        Ok(())
    }
}

impl Rekeyed {
    fn note_unchanged<P>(&mut self, part: &Part<P>) {
        self.damaged += part.damaged;
        self.sealed += part.sealed;
    }
}

impl Writer<'_> {
    /// Stops once another process has begun to change the key.
    fn check_wanted(&self, to: Option<KeyId>) -> Result<()> {
        let wanted = self.open.key() == to;
        let reason = "another rekey began meanwhile, and only that one continues";
        if wanted { Ok(()) } else { Err(Error::invalid("key", reason)) }
    }

    fn rekey_records(&mut self, from: RecordBytes, to: Option<KeyId>) -> Result<Part<RecordBytes>> {
        self.check_wanted(to)?;
        row_by_row(from, |from| {
            let first = self.records.range(from..).within(self.path)?.next();
            let first = first.transpose().within(self.path)?;
            let Some(key) = first.map(|(row, _)| RecordKey::from_bytes(row.value())) else {
                return Ok(None);
            };
            let outcome = self.rekey_frame(key.sequence, to)?;
            // If the record is damaged, nothing shows that it would be wrong.
            if let Outcome::Changed { stored_bytes } = outcome
                && let Some(entry) = unless_damaged(self.entry(key))?.flatten()
            {
                self.insert_record(&Entry { stored_bytes: stored_bytes as u64, ..entry })?;
            }
            Ok(Some(Done { outcome, next: key.next().map(RecordKey::to_bytes) }))
        })
    }

    fn rekey_frames(&mut self, from: u64, to: Option<KeyId>) -> Result<Part<u64>> {
        self.check_wanted(to)?;
        row_by_row(from, |from| {
            let first = self.frames.range(frame_row(from, 0)..).within(self.path)?.next();
            let first = first.transpose().within(self.path)?;
            let Some(sequence) = first.map(|(row, _)| frame_sequence(row.value())) else {
                return Ok(None);
            };
            let outcome = self.rekey_frame(sequence, to)?;
            Ok(Some(Done { outcome, next: Some(sequence + 1) }))
        })
    }

    /// Stores a frame anew, with the same payload under another key.
    fn rekey_frame(&mut self, sequence: u64, to: Option<KeyId>) -> Result<Outcome> {
        let place = || format!("frame {sequence}");
        // All of it has to change, whatever the limits of this handle.
        let unpacker = Unpacker { limit: Limits::DOCUMENT_BYTES_MAX, ..self.unpacker() };
        let old = unpacker.bytes(sequence)?;
        let Ok(found) = FoundFrame::parse(&old) else { return Ok(Outcome::Damaged) };
        if found.key == to {
            return Ok(Outcome::AsWanted);
        }
        let raw_sum = match found.key {
            Some(_) => Ok(None),
            None => unpacker.raw_at(sequence, &place).map(|raw| Some(check(0, &raw))),
        };
        let frames = &self.open.frames;
        let frame = raw_sum.and_then(|sum| {
            let frame = frames.reopen(&found, sequence, sum);
            frame.map_err(|flaw| self.open.flawed(place(), flaw))
        });
        let base = found.base(sequence);
        // Many more may use keys that are at hand.
        if let Err(Error::Key { .. }) = frame {
            return Ok(Outcome::Sealed);
        }
        let (Some(frame), Ok(base)) = (unless_damaged(frame)?, base) else {
            return Ok(Outcome::Damaged);
        };
        let bytes = self.open.bytes_of(&frame, sequence, base)?;
        self.remove_frame_of(sequence)?;
        self.insert_frame(&bytes, sequence)?;
        Ok(Outcome::Changed { stored_bytes: bytes.len() })
    }

    fn rekey_blobs(&mut self, from: BlobBytes, to: Option<KeyId>) -> Result<Part<BlobBytes>> {
        self.check_wanted(to)?;
        let has_any = self.open.has_artifacts.load(Ordering::Relaxed);
        row_by_row(from, |from| {
            if !has_any {
                return Ok(None);
            }
            let path = self.path;
            let blobs = &self.artifact_tables()?.blobs;
            let first = blobs.range(from..).within(path)?.next().transpose().within(path)?;
            let Some(hash) = first.map(|(row, _)| blob_hash(row.value())) else {
                return Ok(None);
            };
            let outcome = self.rekey_blob(&hash, to)?;
            Ok(Some(Done { outcome, next: after(*blob_rows(&hash).end()) }))
        })
    }

    fn rekey_blob(&mut self, hash: &Hash, to: Option<KeyId>) -> Result<Outcome> {
        let (open, path) = (self.open, self.path);
        let blobs = &mut self.artifact_tables()?.blobs;
        let old = stored(blobs, hash, path)?.unwrap_or_default();
        let Ok(found) = FoundFrame::parse(&old) else { return Ok(Outcome::Damaged) };
        if found.key == to {
            return Ok(Outcome::AsWanted);
        }
        let raw_sum = match found.key {
            Some(_) => Ok(None),
            None => unpack(&open.frames, &old, (hash, found.raw_bytes))
                .map(|content| Some(check(0, &content))),
        };
        let frame = raw_sum.and_then(|sum| open.frames.reopen(&found, seed(hash), sum));
        let frame = match frame {
            Ok(frame) => frame,
            Err(Flaw::Damaged(_)) => return Ok(Outcome::Damaged),
            Err(Flaw::NoKey(_)) => return Ok(Outcome::Sealed),
        };
        let bytes = open.bytes_of(&frame, seed(hash), None)?;
        insert_blob(blobs, hash, &bytes).within(path)?;
        Ok(Outcome::Changed { stored_bytes: bytes.len() })
    }
}

/// The row right after one, if there can be any.
fn after(mut row: BlobBytes) -> Option<BlobBytes> {
    for byte in row.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return Some(row);
        }
    }
    None
}
