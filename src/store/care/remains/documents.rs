//! Documents of a damaged store: decodes every frame that it can, even if a chain is broken
//! elsewhere.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::chunks::versions;
use super::rows::{Rows, ValueSpan};
use crate::checkpoint::Hash;
use crate::codec::{Flaw, FoundFrame, Frames, KeyId};
use crate::key::{blob_row, blob_rows, frame_row, frame_rows};
use crate::store::chain::choice::STEPS_MAX;
use crate::store::chain::recent::Recent;
use crate::store::chain::unpack::{MISSING, reason_at};
use crate::store::chain::way::{FrameSource, Stored, Way};
use crate::store::engine::pages::UNREADABLE;
use crate::store::engine::table::{FORMAT_KEY, KEY_KEY};
use crate::store::files::blobs;
use crate::store::options::Limits;

// Bases of many documents are read again soon.
const KEPT_BYTES: usize = 64 << 20;

pub(super) struct Documents<'a> {
    rows: &'a Rows,
    /// Frames that only the journal has.
    journal: BTreeMap<u64, Vec<u8>>,
    pub(super) frames: Frames,
    kept: Recent<u64, Arc<Vec<u8>>>,
    /// The chunks of frames that were found outside of the tables and passed their sums; empty if
    /// no version of a frame did.
    found: HashMap<u64, Vec<ValueSpan>>,
    /// For a frame of which no version passed its checks: the key that was missing.
    locked: HashMap<u64, KeyId>,
    /// A missing key that something needs.
    pub(super) lacks: Cell<Option<KeyId>>,
}

impl<'a> Documents<'a> {
    pub(super) fn new(rows: &'a Rows, journal: BTreeMap<u64, Vec<u8>>, frames: Frames) -> Self {
        let (kept, lacks) = (Recent::new(KEPT_BYTES), Cell::default());
        let (found, locked) = (HashMap::new(), HashMap::new());
        Self { rows, journal, frames, kept, found, locked, lacks }
    }

    /// The frame at a sequence as it is stored; empty if there is none.
    pub(super) fn frame(&self, sequence: u64) -> Vec<u8> {
        if let Some(frame) = self.journal.get(&sequence) {
            return frame.clone();
        }
        if let Some(places) = self.found.get(&sequence).filter(|places| !places.is_empty()) {
            return self.rows.values(places.iter()).unwrap_or_default();
        }
        let chunks = self.rows.frames.range(frame_rows(sequence)).map(|(_, place)| place);
        self.rows.values(chunks).unwrap_or_default()
    }

    /// The raw bytes at a sequence, or why they cannot be read.
    pub(super) fn raw(&mut self, wanted: u64) -> Result<Arc<Vec<u8>>, String> {
        self.listed(wanted).or_else(|reason| {
            let lacked = self.lacks.get();
            let found = self.seek(wanted, 0);
            self.forget_former(lacked, found.is_some());
            found.ok_or(reason)
        })
    }

    /// Forgets a missing key that only frames outside of the tables need, if they are not needed,
    /// or the store is known to have another key or none.
    fn forget_former(&self, lacked: Option<KeyId>, is_found: bool) {
        let meta = &self.rows.meta;
        let key = meta.get(KEY_KEY).map(|number| KeyId::from_number(*number));
        if is_found || (meta.contains_key(FORMAT_KEY) && key != self.lacks.get()) {
            self.lacks.set(lacked);
        }
    }

    /// The raw bytes at a sequence, from any chunks, in the tables or not, that make a frame which
    /// passes its sum, on a base that does.
    fn seek(&mut self, sequence: u64, depth: usize) -> Option<Arc<Vec<u8>>> {
        if let Some(raw) = self.kept.get(&sequence) {
            return Some(raw.clone());
        }
        if depth > STEPS_MAX || self.rows.strays.frames.is_empty() {
            return None;
        }
        if let Some(bytes) = self.journal.get(&sequence).cloned() {
            return self.proven(sequence, &bytes, depth);
        }
        if let Some(key) = self.locked.get(&sequence) {
            self.lacks.set(Some(*key));
            return None;
        }
        let rows = self.rows;
        let before = self.lacks.take();
        let versions = match self.found.get(&sequence) {
            Some(places) => vec![places.clone()],
            None => versions(|chunk| {
                let row = frame_row(sequence, chunk);
                (rows.frames.get(&row), rows.strays.frames.get(&row))
            }),
        };
        for places in versions {
            let bytes = rows.values(places.iter()).unwrap_or_default();
            if let Some(raw) = self.proven(sequence, &bytes, depth) {
                self.kept.insert(sequence, raw.clone(), raw.len());
                self.found.insert(sequence, places);
                self.lacks.set(before);
                return Some(raw);
            }
        }
        self.found.insert(sequence, Vec::new());
        // Every frame that builds on this one needs its key, too.
        self.locked.extend(self.lacks.get().map(|key| (sequence, key)));
        self.lacks.set(self.lacks.get().or(before));
        None
    }

    /// The length of a frame that was found outside of the tables, if it was.
    pub(super) fn found_bytes(&self, sequence: u64) -> Option<u64> {
        let places = self.found.get(&sequence).filter(|places| !places.is_empty())?;
        Some(places.iter().map(|place| place.bytes as u64).sum())
    }

    /// The raw bytes of a frame, if it passes its sum.
    fn proven(&mut self, sequence: u64, bytes: &[u8], depth: usize) -> Option<Arc<Vec<u8>>> {
        let found = FoundFrame::parse(bytes).ok()?;
        if found.raw_bytes > Limits::DOCUMENT_BYTES_MAX as u64 {
            return None;
        }
        let base = match found.base(sequence).ok()? {
            Some(base) => Some(self.seek(base, depth + 1)?),
            None => None,
        };
        let (raw, is_right) = self.step(sequence, bytes, base.as_ref()).ok()?;
        is_right.then_some(raw)
    }

    /// The raw bytes at a sequence, from the rows of the tables.
    fn listed(&mut self, wanted: u64) -> Result<Arc<Vec<u8>>, String> {
        let damaged = |sequence: u64, reason: &str| reason_at(sequence, wanted, reason);
        let mut listed = Listed { documents: self, wanted };
        let Way { mut frames, start: mut raw } = Way::to(wanted, &mut listed)?;
        while let Some(Stored { sequence, bytes, .. }) = frames.pop() {
            let step = self.step(sequence, &bytes, raw.as_ref());
            let (unpacked, is_right) = step.map_err(|reason| damaged(sequence, reason))?;
            if is_right {
                self.kept.insert(sequence, unpacked.clone(), unpacked.len());
            } else if frames.is_empty() {
                return Err(damaged(sequence, "checksum differs"));
            }
            raw = Some(unpacked);
        }
        raw.ok_or_else(|| damaged(wanted, MISSING))
    }

    /// The raw bytes of a frame, and whether they pass their sum. Wrong bytes may still do as a
    /// base: a dependent need not use the wrong part.
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

    /// The reason that the bytes are missing. The caller checks for a missing key at the end.
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
        let rows = self.rows;
        let chunks = rows.blobs.range(blob_rows(hash)).map(|(_, place)| place);
        let bytes = rows.values(chunks).map_err(|error| error.to_string())?;
        self.unpacked(&bytes, hash, length).or_else(|reason| {
            if rows.strays.blobs.is_empty() {
                return Err(reason);
            }
            let versions = versions(|chunk| {
                let row = blob_row(hash, chunk);
                (rows.blobs.get(&row), rows.strays.blobs.get(&row))
            });
            let lacked = self.lacks.get();
            let mut bytes = versions.iter().filter_map(|places| rows.values(places.iter()).ok());
            let found = bytes.find_map(|bytes| self.unpacked(&bytes, hash, length).ok());
            self.forget_former(lacked, found.is_some());
            found.ok_or(reason)
        })
    }

    fn unpacked(&self, bytes: &[u8], hash: &Hash, length: u64) -> Result<Vec<u8>, String> {
        if bytes.is_empty() {
            return Err("its content is missing".to_owned());
        }
        let content = blobs::unpack(&self.frames, bytes, (hash, length));
        let content = content.map_err(|flaw| self.reason(flaw).to_owned())?;
        if Hash::of(&content) == *hash { Ok(content) } else { Err("its hash differs".to_owned()) }
    }
}

/// A document whose frames are read from the rows of the tables.
struct Listed<'a, 'b> {
    documents: &'a mut Documents<'b>,
    wanted: u64,
}

impl FrameSource for Listed<'_, '_> {
    type Error = String;

    fn kept(&mut self, sequence: u64) -> Option<Arc<Vec<u8>>> {
        self.documents.kept.get(&sequence).map(|raw| raw.clone())
    }

    fn stored(&mut self, sequence: u64) -> Result<Vec<u8>, String> {
        let bytes = self.documents.frame(sequence);
        if !bytes.is_empty() {
            return Ok(bytes);
        }
        let rows = &self.documents.rows.frames;
        let has_rows = rows.range(frame_rows(sequence)).next().is_some();
        Err(self.damaged(sequence, if has_rows { UNREADABLE } else { MISSING }))
    }

    fn admit(&self, _: u64, _: &FoundFrame<'_>) -> Result<(), String> {
        Ok(())
    }

    fn damaged(&self, sequence: u64, reason: &str) -> String {
        reason_at(sequence, self.wanted, reason)
    }
}
