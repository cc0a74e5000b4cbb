//! Reads documents from their frames: back to a frame that stands alone, and forward again.

use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable;

use crate::checkpoint::Entry;
use crate::codec::{Flaw, FoundFrame, Frames};
use crate::error::{Error, Result};
use crate::key::{FrameBytes, frame_row, frame_rows};
use crate::store::chain::bases::Bases;
use crate::store::chain::way::{FrameSource, Stored, Way};
use crate::store::engine::fault::In;
use crate::store::engine::sealing::flawed;
use crate::store::options::Limits;

/// A chunk that is shorter is the last of its frame.
pub(in crate::store) const CHUNK_BYTES_MIN: usize = 1024;

pub(in crate::store) const MISSING: &str = "its document is missing";
const OTHER_LENGTH: &str = "frame has a different length than its entry says";

/// Reads documents, in a read or a write transaction.
pub(in crate::store) struct Unpacker<'a, T> {
    pub(in crate::store) bases: &'a Bases,
    pub(in crate::store) frames: &'a Frames,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) table: &'a T,
    /// Nothing longer is decompressed.
    pub(in crate::store) limit: usize,
}

/// Why a document cannot be read: `reason` is about the frame at `sequence`, on the way to it.
pub(in crate::store) fn reason_at(sequence: u64, wanted: u64, reason: &str) -> String {
    if sequence == wanted {
        return reason.to_owned();
    }
    format!("it is stored as a delta to frame {sequence}: {reason}")
}

/// How much is checked on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    /// The requested document, and what is kept. A wrong step would make the result wrong too.
    Ends,
    /// Every step, to find out which one is damaged.
    All,
}

impl<T: ReadableTable<FrameBytes, &'static [u8]>> Unpacker<'_, T> {
    /// The raw document of a checkpoint.
    pub(in crate::store) fn raw(&self, entry: &Entry) -> Result<Arc<Vec<u8>>> {
        let place = || format!("checkpoint {}", entry.id);
        let raw_bytes = entry.raw_bytes();
        if raw_bytes > self.limit as u64 {
            return Err(self.too_long(&format!("the document of {}", place())));
        }
        let raw = self.raw_of(entry.sequence, Some(raw_bytes), &place)?;
        if raw.len() as u64 != raw_bytes {
            return Err(Error::corrupt(place(), OTHER_LENGTH));
        }
        Ok(raw)
    }

    /// The raw bytes at a sequence; errors name `place` as damaged.
    pub(in crate::store) fn raw_at(
        &self,
        sequence: u64,
        place: &impl Fn() -> String,
    ) -> Result<Arc<Vec<u8>>> {
        self.raw_of(sequence, None, place)
    }

    fn raw_of(
        &self,
        sequence: u64,
        length: Option<u64>,
        place: &impl Fn() -> String,
    ) -> Result<Arc<Vec<u8>>> {
        match self.walk(sequence, length, place, Check::Ends) {
            // The walk that checks every step names the damage better. It may even succeed, if the
            // damage was in memory only.
            Err(Error::Corrupt { .. }) => self.walk(sequence, length, place, Check::All),
            other => other,
        }
    }

    /// The first chunk of a frame, which has its whole header; empty if there is none.
    pub(in crate::store) fn head(&self, sequence: u64) -> Result<Vec<u8>> {
        let first = self.table.get(frame_row(sequence, 0)).within(self.path)?;
        Ok(first.map(|first| first.value().to_owned()).unwrap_or_default())
    }

    /// The base of a frame; `None` if it stands alone, is damaged or missing.
    pub(in crate::store) fn base(&self, sequence: u64) -> Result<Option<u64>> {
        let head = self.head(sequence)?;
        let base = FoundFrame::parse(&head).and_then(|found| found.base(sequence));
        Ok(base.ok().flatten())
    }

    /// All chunks of a frame; empty if there is none.
    pub(in crate::store) fn bytes(&self, sequence: u64) -> Result<Vec<u8>> {
        let mut bytes = self.head(sequence)?;
        // Most frames are deltas of one chunk, and looking one up is twice as fast as a range.
        if bytes.len() < CHUNK_BYTES_MIN {
            return Ok(bytes);
        }
        for row in self.table.range(frame_rows(sequence)).within(self.path)?.skip(1) {
            bytes.extend_from_slice(row.within(self.path)?.1.value());
        }
        Ok(bytes)
    }

    fn walk(
        &self,
        wanted: u64,
        length: Option<u64>,
        place: &impl Fn() -> String,
        check: Check,
    ) -> Result<Arc<Vec<u8>>> {
        let mut asked = Asked { unpacker: self, wanted, length, place };
        let Way { mut frames, start: mut raw } = Way::to(wanted, &mut asked)?;
        while let Some(Stored { sequence, bytes, rank }) = frames.pop() {
            // The last of each rank is kept, since many others start from it. Where memory
            // suffices, reads of any document then take a third of the steps.
            let is_last = frames.last().is_none_or(|next| next.rank < rank || rank.is_none());
            let is_checked = check == Check::All || is_last;
            let unpacked = self.unpack(sequence, &bytes, raw.as_deref(), is_checked);
            raw = Some(unpacked.map_err(|flaw| match flaw {
                Flaw::Damaged(reason) => asked.damaged(sequence, reason),
                flaw @ Flaw::NoKey(_) => flawed(self.frames, place(), flaw),
            })?);
        }
        raw.ok_or_else(|| asked.damaged(wanted, MISSING))
    }

    fn unpack(
        &self,
        sequence: u64,
        bytes: &[u8],
        base: Option<&Vec<u8>>,
        is_checked: bool,
    ) -> Result<Arc<Vec<u8>>, Flaw> {
        let found = FoundFrame::parse(bytes)?;
        let raw = self.frames.unpack(&found, sequence, base.map(Vec::as_slice))?;
        if is_checked {
            found.verify(sequence, &raw)?;
        }
        let raw = Arc::new(raw);
        if is_checked {
            self.bases.keep_raw(sequence, &raw);
        }
        Ok(raw)
    }

    fn too_long(&self, what: &str) -> Error {
        let what = format!("length in bytes of {what}");
        Error::Limit { what, limit: self.limit as u64 }
    }
}

/// A document that an unpacker was asked for.
struct Asked<'a, 'b, T, P> {
    unpacker: &'a Unpacker<'b, T>,
    wanted: u64,
    /// Its length, if the caller knows it.
    length: Option<u64>,
    place: &'a P,
}

impl<T, P> FrameSource for Asked<'_, '_, T, P>
where
    T: ReadableTable<FrameBytes, &'static [u8]>,
    P: Fn() -> String,
{
    type Error = Error;

    fn kept(&mut self, sequence: u64) -> Option<Arc<Vec<u8>>> {
        self.unpacker.bases.raw(sequence)
    }

    fn stored(&mut self, sequence: u64) -> Result<Vec<u8>> {
        let bytes = self.unpacker.bytes(sequence)?;
        if bytes.is_empty() { Err(self.damaged(sequence, MISSING)) } else { Ok(bytes) }
    }

    fn admit(&self, sequence: u64, found: &FoundFrame<'_>) -> Result<()> {
        if sequence == self.wanted && self.length.is_some_and(|length| length != found.raw_bytes) {
            return Err(self.damaged(sequence, OTHER_LENGTH));
        }
        let limit = self.unpacker.limit as u64;
        if found.raw_bytes > limit && found.raw_bytes <= Limits::DOCUMENT_BYTES_MAX as u64 {
            let what = format!("what {} is stored as a difference to", (self.place)());
            return Err(self.unpacker.too_long(&what));
        }
        Ok(())
    }

    fn damaged(&self, sequence: u64, reason: &str) -> Error {
        Error::corrupt((self.place)(), reason_at(sequence, self.wanted, reason))
    }
}
