//! Documents out of their frames: back to one that stands alone, and forward again.

use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable;

use super::chain::STEPS_MAX;
use super::table::In;
use super::turn::Open;
use crate::checkpoint::Entry;
use crate::codec::FoundFrame;
use crate::error::{Error, Result};
use crate::key::{FrameBytes, frame_row, frame_rows};

/// A chunk that is shorter is the last of its frame.
pub(super) const CHUNK_BYTES_MIN: usize = 1024;

/// Reads documents, in a read or a write transaction.
pub(super) struct Unpacker<'a, T> {
    pub(super) open: &'a Open,
    pub(super) path: &'a Path,
    pub(super) table: &'a T,
}

/// The bytes of a frame, and where they were.
struct Stored {
    sequence: u64,
    bytes: Vec<u8>,
}

impl<T: ReadableTable<FrameBytes, &'static [u8]>> Unpacker<'_, T> {
    /// The raw document of a checkpoint.
    pub(super) fn raw(&self, entry: &Entry) -> Result<Arc<Vec<u8>>> {
        let place = || format!("checkpoint {}", entry.id);
        let limit = self.open.document_bytes_max;
        if entry.document_bytes > limit as u64 {
            let what = format!("length in bytes of the document of {}", place());
            return Err(Error::Limit { what, limit: limit as u64 });
        }
        let raw = self.raw_at(entry.sequence, &place)?;
        if raw.len() as u64 != entry.document_bytes {
            let reason = "frame is of another length than its entry says";
            return Err(Error::corrupt(place(), reason));
        }
        Ok(raw)
    }

    /// The raw bytes at a sequence; `place` says what is damaged if they cannot be had.
    pub(super) fn raw_at(
        &self,
        sequence: u64,
        place: &impl Fn() -> String,
    ) -> Result<Arc<Vec<u8>>> {
        let mut frames: Vec<Stored> = Vec::new();
        let mut next = Some(sequence);
        let mut raw = None;
        while let Some(sequence) = next {
            raw = self.open.bases.raw(sequence);
            if raw.is_some() {
                break;
            }
            if frames.len() > STEPS_MAX {
                return Err(Error::corrupt(
                    place(),
                    "its frame is too many steps from a whole one",
                ));
            }
            let bytes = self.bytes(sequence)?;
            let base = base_of(sequence, &bytes);
            next = base.map_err(|reason| damaged(place, frames.first(), sequence, reason))?;
            frames.push(Stored { sequence, bytes });
        }
        for (steps, Stored { sequence, bytes }) in frames.iter().enumerate().rev() {
            let is_asked_for = steps == 0;
            let unpacked = self.unpack(*sequence, bytes, raw.as_deref(), is_asked_for);
            let unpacked =
                unpacked.map_err(|reason| damaged(place, frames.first(), *sequence, reason))?;
            raw = Some(unpacked);
        }
        raw.ok_or_else(|| Error::corrupt(place(), "its document is missing"))
    }

    /// The base of a frame; `None` if it stands alone, is damaged or missing.
    pub(super) fn base(&self, sequence: u64) -> Result<Option<u64>> {
        // The first chunk has all of the header.
        let first = self.table.get(frame_row(sequence, 0)).within(self.path)?;
        Ok(first.and_then(|first| base_of(sequence, first.value()).ok().flatten()))
    }

    /// All chunks of a frame; nothing if there is none.
    pub(super) fn bytes(&self, sequence: u64) -> Result<Vec<u8>> {
        let first = self.table.get(frame_row(sequence, 0)).within(self.path)?;
        let mut bytes = first.map(|first| first.value().to_owned()).unwrap_or_default();
        // Most frames are deltas of one chunk, and looking one up is twice as fast as a range.
        if bytes.len() < CHUNK_BYTES_MIN {
            return Ok(bytes);
        }
        for row in self.table.range(frame_rows(sequence)).within(self.path)?.skip(1) {
            bytes.extend_from_slice(row.within(self.path)?.1.value());
        }
        Ok(bytes)
    }

    /// Checks what is asked for and what is kept; what is only a step to it need not be, since it
    /// could not be wrong without the result being wrong.
    fn unpack(
        &self,
        sequence: u64,
        bytes: &[u8],
        base: Option<&Vec<u8>>,
        is_asked_for: bool,
    ) -> Result<Arc<Vec<u8>>, &'static str> {
        let found = FoundFrame::parse(bytes)?;
        if found.raw_bytes > self.open.document_bytes_max as u64 {
            return Err("frame is longer than documents may be");
        }
        let raw = self.open.frames.unpack(&found, base.map(Vec::as_slice))?;
        let is_kept = is_asked_for || found.link.is_none_or(|link| link.rank > 0);
        if is_kept {
            found.verify(sequence, &raw)?;
        }
        let raw = Arc::new(raw);
        if is_kept {
            self.open.bases.keep_raw(sequence, &raw);
        }
        Ok(raw)
    }
}

/// Where the base of a frame is, or what is wrong with the frame.
fn base_of(sequence: u64, bytes: &[u8]) -> Result<Option<u64>, &'static str> {
    if bytes.is_empty() {
        return Err("its document is missing");
    }
    let Some(link) = FoundFrame::parse(bytes)?.link else {
        return Ok(None);
    };
    match sequence.checked_sub(link.distance) {
        Some(base) if base < sequence => Ok(Some(base)),
        _ => Err("frame has no base before it"),
    }
}

fn damaged(
    place: &impl Fn() -> String,
    first: Option<&Stored>,
    sequence: u64,
    reason: &str,
) -> Error {
    match first {
        Some(first) if first.sequence != sequence => {
            let reason = format!("it is stored as a difference to frame {sequence}, and {reason}");
            Error::corrupt(place(), reason)
        }
        _ => Error::corrupt(place(), reason),
    }
}
