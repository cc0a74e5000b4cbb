//! Dependents: deltas whose bases are removed.
//!
//! Every base has a row that leads to its dependents, so removing it costs as much as it has
//! dependents, however large the store is. Whatever stays must stay readable.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use redb::ReadableTable as _;

use crate::checkpoint::Entry;
use crate::codec::{FoundFrame, Frame, decode_dependents, encode_dependents};
use crate::error::{Error, Result, unless_damaged};
use crate::key::{RecordKey, dependents_row, frame_row};
use crate::store::chain::choice::{STEPS_MAX, is_too_long};
use crate::store::chain::packed::smaller;
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::fault::In;
use crate::store::options::Limits;
use crate::store::transaction::writer::Writer;

// A document that compresses this well alone needs no delta.
const SURELY_PAYS_BY: usize = 16;

const DEPENDENTS_DAMAGED: &str = "the row of its dependents is damaged, so it cannot be removed \
     for good; `waypost repair` makes that row anew";

/// The base of each checkpoint that is removed, by sequence.
type Removed = HashMap<u64, Option<u64>>;

impl Writer<'_> {
    /// Notes that the checkpoint at `key`, stored as `frame`, depends on another, if it does.
    pub(in crate::store) fn add_dependent(&mut self, frame: &[u8], key: RecordKey) -> Result<()> {
        let base = FoundFrame::parse(frame).and_then(|found| found.base(key.sequence));
        match base.ok().flatten() {
            Some(base) => {
                // An error is no fault here: a view that a commit has overtaken cannot be read.
                debug_assert!(
                    !matches!(self.frames.get(frame_row(base, 0)), Ok(None)),
                    "frame {base}, the base of {}, is gone",
                    key.sequence
                );
                self.change_dependents(base, |dependents| dependents.push(key))
            }
            None => Ok(()),
        }
    }

    /// Makes sure that no remaining checkpoint depends on those about to be removed.
    ///
    /// Returns by how much longer the remaining frames are.
    pub(in crate::store) fn detach(&mut self, sequences: &[u64]) -> Result<i64> {
        let mut removed = Removed::with_capacity(sequences.len());
        for sequence in sequences {
            removed.insert(*sequence, self.unpacker().base(*sequence)?);
        }
        // If the start of a chain is removed, the first that stays replaces it.
        let mut heirs: HashMap<u64, u64> = HashMap::new();
        let mut grown = 0;
        for (key, lost) in self.orphans(&removed)? {
            let (last, base) = first_to_stay(lost, &removed);
            let base = base.or_else(|| heirs.get(&last).copied());
            let Some(by) = self.rebase(key, base)? else { continue };
            grown += by;
            if base.is_none() {
                heirs.insert(last, key.sequence);
            }
        }
        let mut left: HashMap<u64, HashSet<u64>> = HashMap::new();
        for (sequence, base) in &removed {
            if let Some(base) = base.filter(|base| !removed.contains_key(base)) {
                left.entry(base).or_default().insert(*sequence);
            }
        }
        for (base, gone) in left {
            self.change_dependents(base, |dependents| {
                dependents.retain(|key| !gone.contains(&key.sequence));
            })?;
        }
        Ok(grown)
    }

    /// Whether the dependents of a frame are known and can be stored anew, so that the frame can be
    /// removed.
    pub(in crate::store) fn is_detachable(&self, sequence: u64) -> Result<bool> {
        let Some(dependents) = unless_damaged(self.dependents(sequence))? else {
            return Ok(false);
        };
        // Only an unfinished rekey leaves frames under another key.
        if !self.open.is_rekeying.load(Ordering::Relaxed) {
            return Ok(true);
        }
        for key in &dependents {
            if !self.is_openable(key.sequence)? {
                return Ok(false);
            }
        }
        Ok(dependents.is_empty() || self.is_readable(sequence)?)
    }

    /// Whether all keys needed to read a document are at hand. During a rekey a document may need
    /// several.
    fn is_readable(&self, sequence: u64) -> Result<bool> {
        let mut next = Some(sequence);
        for _ in 0..=STEPS_MAX {
            let Some(sequence) = next else { break };
            if !self.is_openable(sequence)? {
                return Ok(false);
            }
            next = self.unpacker().base(sequence)?;
        }
        Ok(true)
    }

    /// Whether the key of a frame is at hand. Plain and damaged frames need none.
    fn is_openable(&self, sequence: u64) -> Result<bool> {
        let head = self.unpacker().head(sequence)?;
        let key = FoundFrame::parse(&head).ok().and_then(|found| found.key);
        Ok(key.is_none_or(|id| self.open.frames.keys().get(id).is_some()))
    }

    /// Names the sequence that keeps the others from being removed, if it is one of these.
    pub(in crate::store) fn named(&self, error: Error, entries: &[Entry]) -> Error {
        let is_hurt =
            |it: &&Entry| matches!(unless_damaged(self.dependents(it.sequence)), Ok(None));
        match entries.iter().find(is_hurt) {
            Some(it) if matches!(error, Error::Corrupt { .. }) => {
                Error::corrupt(format!("checkpoint {}", it.id), DEPENDENTS_DAMAGED)
            }
            _ => error,
        }
    }

    /// The dependents that stay, with the base that each loses, in the order of arrival.
    fn orphans(&self, removed: &Removed) -> Result<Vec<(RecordKey, u64)>> {
        let mut orphans = Vec::new();
        for base in removed.keys() {
            let dependents = self.dependents(*base)?.into_iter();
            let stay = dependents.filter(|key| !removed.contains_key(&key.sequence));
            orphans.extend(stay.map(|key| (key, *base)));
        }
        orphans.sort_unstable_by_key(|(key, _)| key.sequence);
        Ok(orphans)
    }

    /// Stores a checkpoint anew, as a delta to `base` if there is one.
    ///
    /// Returns by how much longer it is; `None` if it is damaged, and so was not readable before
    /// either.
    fn rebase(&mut self, key: RecordKey, base: Option<u64>) -> Result<Option<i64>> {
        let Some(frame) = unless_damaged(self.pack_anew(key.sequence, base))? else {
            return Ok(None);
        };
        // The frame may be intact though the entry is damaged; a repair needs it.
        let entry = unless_damaged(self.entry(key))?.flatten();
        let base = base.filter(|_| frame.rank().is_some());
        let bytes = self.open.bytes_of(&frame, key.sequence, base)?;
        let length = bytes.len() as u64;
        let before = entry.as_ref().map_or(length, |entry| entry.stored_bytes);
        match entry {
            Some(entry) => {
                self.remove_frame(&entry)?;
                self.insert_record(&Entry { stored_bytes: length, ..entry })?;
            }
            None => self.remove_frame_of(key.sequence)?,
        }
        self.insert_frame(&bytes, key.sequence)?;
        self.add_dependent(&bytes, key)?;
        Ok(Some(length.cast_signed().wrapping_sub(before.cast_signed())))
    }

    /// The frame of a checkpoint without the base it has.
    fn pack_anew(&self, sequence: u64, base: Option<u64>) -> Result<Frame> {
        // The limits of this handle do not count: what others can read must stay readable.
        let unpacker = Unpacker { limit: Limits::DOCUMENT_BYTES_MAX, ..self.unpacker() };
        let raw = unpacker.raw_at(sequence, &|| format!("frame {sequence}"))?;
        let head = unpacker.head(sequence)?;
        let rank =
            FoundFrame::parse(&head).ok().and_then(|found| found.link).map_or(0, |it| it.rank);
        let base = match base {
            Some(base) => unless_damaged(unpacker.raw_at(base, &|| format!("frame {base}")))?,
            None => None,
        };
        let frames = &self.open.frames;
        let base = base.filter(|base| !is_too_long(base.len(), raw.len()));
        let delta = base.and_then(|base| frames.pack_delta(&raw, &base, rank));
        Ok(match delta {
            Some(delta) if delta.payload_bytes() * SURELY_PAYS_BY < raw.len() => delta,
            Some(delta) => smaller(frames, &raw, delta).unwrap_or_else(|whole| whole),
            None => frames.pack(&raw),
        })
    }

    fn dependents(&self, base: u64) -> Result<Vec<RecordKey>> {
        let Some(row) = self.frames.get(dependents_row(base)).within(self.path)? else {
            return Ok(Vec::new());
        };
        decode_dependents(base, row.value())
            .ok_or_else(|| Error::corrupt(format!("frame {base}"), DEPENDENTS_DAMAGED))
    }

    fn change_dependents(
        &mut self,
        base: u64,
        change: impl FnOnce(&mut Vec<RecordKey>),
    ) -> Result<()> {
        // While its row is damaged the base cannot be removed, so no dependent can lose it.
        let Some(mut dependents) = unless_damaged(self.dependents(base))? else {
            return Ok(());
        };
        change(&mut dependents);
        let row = dependents_row(base);
        if dependents.is_empty() {
            self.frames.remove(row).within(self.path)?;
        } else {
            let bytes = encode_dependents(base, &dependents);
            self.frames.insert(row, bytes.as_slice()).within(self.path)?;
        }
        Ok(())
    }
}

/// The last removed base on the way back from a removed one, and the first that stays, if any.
fn first_to_stay(from: u64, removed: &Removed) -> (u64, Option<u64>) {
    let mut last = from;
    loop {
        match removed.get(&last) {
            // A base is always older than its dependents, so this ends.
            Some(Some(base)) if removed.contains_key(base) => last = *base,
            Some(base) => return (last, *base),
            None => return (last, None),
        }
    }
}
