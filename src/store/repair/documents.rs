//! Documents of a damaged store: whatever frame can be decoded is, wherever a chain is broken.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::rows::Rows;
use crate::checkpoint::Hash;
use crate::codec::{Flaw, FoundFrame, Frames, KeyId};
use crate::key::{blob_rows, frame_rows};
use crate::store::blobs;
use crate::store::chain::STEPS_MAX;
use crate::store::options::Limits;
use crate::store::recent::Recent;

// What many others stand on is read again soon.
const KEPT_BYTES: usize = 64 << 20;

pub(super) struct Documents<'a> {
    rows: &'a Rows,
    /// Frames that only the journal has.
    journal: BTreeMap<u64, Vec<u8>>,
    pub(super) frames: Frames,
    kept: Recent<u64, Arc<Vec<u8>>>,
    /// A key that something takes and that is not at hand.
    pub(super) lacks: Cell<Option<KeyId>>,
}

impl<'a> Documents<'a> {
    pub(super) fn new(rows: &'a Rows, journal: BTreeMap<u64, Vec<u8>>, frames: Frames) -> Self {
        let (kept, lacks) = (Recent::new(KEPT_BYTES), Cell::default());
        Self { rows, journal, frames, kept, lacks }
    }

    /// The frame at a sequence as it is stored; empty if there is none.
    pub(super) fn frame(&self, sequence: u64) -> Vec<u8> {
        if let Some(frame) = self.journal.get(&sequence) {
            return frame.clone();
        }
        let chunks = self.rows.frames.range(frame_rows(sequence)).map(|(_, place)| place);
        self.rows.values(chunks).unwrap_or_default()
    }

    /// The raw bytes at a sequence, or why they cannot be had.
    pub(super) fn raw(&mut self, wanted: u64) -> Result<Arc<Vec<u8>>, String> {
        let damaged = |sequence: u64, reason: &str| match sequence {
            same if same == wanted => reason.to_owned(),
            other => format!("it is stored as a difference to frame {other}, and {reason}"),
        };
        let mut frames: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut raw = None;
        let mut next = Some(wanted);
        while let Some(sequence) = next {
            raw = self.kept.get(&sequence).map(|raw| raw.clone());
            if raw.is_some() {
                break;
            }
            if frames.len() > STEPS_MAX {
                return Err(damaged(sequence, "it is too many steps from a whole one"));
            }
            let bytes = self.frame(sequence);
            if bytes.is_empty() {
                return Err(damaged(sequence, "its document is missing"));
            }
            let found = FoundFrame::parse(&bytes).map_err(|reason| damaged(sequence, reason))?;
            if found.raw_bytes > Limits::DOCUMENT_BYTES_MAX as u64 {
                return Err(damaged(sequence, "frame is longer than any document may be"));
            }
            next = found.base(sequence).map_err(|reason| damaged(sequence, reason))?;
            frames.push((sequence, bytes));
        }
        while let Some((sequence, bytes)) = frames.pop() {
            let step = self.step(sequence, &bytes, raw.as_ref());
            let (unpacked, is_right) = step.map_err(|reason| damaged(sequence, reason))?;
            if is_right {
                self.kept.insert(sequence, unpacked.clone(), unpacked.len());
            } else if frames.is_empty() {
                return Err(damaged(sequence, "checksum differs"));
            }
            raw = Some(unpacked);
        }
        raw.ok_or_else(|| damaged(wanted, "its document is missing"))
    }

    /// The raw bytes of a frame, and whether they are right: a step to others may be wrong in what
    /// those do not use.
    fn step(
        &self,
        sequence: u64,
        bytes: &[u8],
        base: Option<&Arc<Vec<u8>>>,
    ) -> Result<(Arc<Vec<u8>>, bool), &'static str> {
        let found = FoundFrame::parse(bytes)?;
        let raw = self.frames.unpack(&found, sequence, base.map(|base| base.as_slice()));
        let raw = raw.map_err(|flaw| self.reason(flaw))?;
        let is_right = found.verify(sequence, &raw).is_ok();
        Ok((Arc::new(raw), is_right))
    }

    /// Why there is nothing; whoever asks for many looks at the end whether a key is lacking.
    fn reason(&self, flaw: Flaw) -> &'static str {
        match flaw {
            Flaw::Damaged(reason) => reason,
            Flaw::NoKey(id) => {
                self.lacks.set(Some(id));
                self.frames.keys().lack()
            }
        }
    }

    /// A captured content of this length.
    pub(super) fn content(&self, hash: &Hash, length: u64) -> Result<Vec<u8>, String> {
        let chunks = self.rows.blobs.range(blob_rows(hash)).map(|(_, place)| place);
        let bytes = self.rows.values(chunks).map_err(|error| error.to_string())?;
        if bytes.is_empty() {
            return Err("its content is missing".to_owned());
        }
        let content = blobs::unpack(&self.frames, &bytes, (hash, length));
        let content = content.map_err(|flaw| self.reason(flaw).to_owned())?;
        if Hash::of(&content) == *hash { Ok(content) } else { Err("its hash differs".to_owned()) }
    }
}
