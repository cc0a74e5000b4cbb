//! Dependents: checkpoints that are stored as differences to others, when those are removed.
//!
//! Every base has a row that leads to its dependents, so removing it costs as much as there are of
//! them, whatever the store holds. Nothing that stays may become unreadable.

use std::collections::HashMap;

use redb::ReadableTable as _;

use super::pack::smaller;
use super::table::{In, is_of_engine};
use super::write::Writer;
use crate::checkpoint::Entry;
use crate::codec::{FoundFrame, Frame, decode_dependents, encode_dependents};
use crate::error::{Error, Result};
use crate::key::{RecordKey, dependents_row};

// A document seldom compresses as well as this alone, so there is no need to try.
const SURELY_PAYS_BY: usize = 16;

impl Writer<'_> {
    /// Notes that the checkpoint at `key`, stored as `frame`, depends on another, if it does.
    pub(super) fn add_dependent(&mut self, frame: &[u8], key: RecordKey) -> Result<()> {
        let link = FoundFrame::parse(frame).ok().and_then(|found| found.link);
        let Some(base) = link.and_then(|link| key.sequence.checked_sub(link.distance)) else {
            return Ok(());
        };
        self.change_dependents(base, |dependents| dependents.push(key))
    }

    /// Makes sure that nothing that stays depends on `entries`, which are about to be removed.
    pub(super) fn detach(&mut self, entries: &[Entry]) -> Result<()> {
        let mut bases = HashMap::with_capacity(entries.len());
        for entry in entries {
            bases.insert(entry.sequence, self.unpacker().base(entry.sequence)?);
        }
        let orphans = self.orphans(&bases)?;
        // Where the start of a chain goes, the first that stays takes its place.
        let mut heirs: HashMap<u64, u64> = HashMap::new();
        for (key, lost) in orphans {
            let (last, base) = first_to_stay(lost, &bases);
            let base = base.or_else(|| heirs.get(&last).copied());
            if self.rebase(key, base)? && base.is_none() {
                heirs.insert(last, key.sequence);
            }
        }
        for (sequence, base) in &bases {
            if let Some(base) = base.filter(|base| !bases.contains_key(base)) {
                self.change_dependents(base, |dependents| {
                    dependents.retain(|key| key.sequence != *sequence);
                })?;
            }
        }
        Ok(())
    }

    /// Those that stay, with the base that each of them loses, in the order of arrival.
    fn orphans(&self, bases: &HashMap<u64, Option<u64>>) -> Result<Vec<(RecordKey, u64)>> {
        let mut orphans = Vec::new();
        for base in bases.keys() {
            let dependents = self.dependents(*base)?.into_iter();
            let stay = dependents.filter(|key| !bases.contains_key(&key.sequence));
            orphans.extend(stay.map(|key| (key, *base)));
        }
        orphans.sort_unstable_by_key(|(key, _)| key.sequence);
        Ok(orphans)
    }

    /// Stores a checkpoint anew, as a difference to `base` if there is one; whether it could be.
    fn rebase(&mut self, key: RecordKey, base: Option<u64>) -> Result<bool> {
        let repacked = match self.repack(key, base) {
            Ok(repacked) => repacked,
            Err(error) if is_of_engine(&error, self.path) => return Err(error),
            // It could not be read before either, and whoever reads it hears why.
            Err(_) => None,
        };
        let Some((entry, frame)) = repacked else {
            return Ok(false);
        };
        let base = base.filter(|_| frame.rank().is_some());
        let bytes = frame.to_bytes(key.sequence, base);
        self.remove_frame(key.sequence)?;
        self.insert_frame(&bytes, key.sequence)?;
        self.add_dependent(&bytes, key)?;
        self.insert_record(&Entry { stored_bytes: bytes.len() as u64, ..entry })?;
        Ok(true)
    }

    /// `None` if there is no such checkpoint.
    fn repack(&self, key: RecordKey, base: Option<u64>) -> Result<Option<(Entry, Frame)>> {
        let Some(entry) = self.entry(key)? else {
            return Ok(None);
        };
        let unpacker = self.unpacker();
        let raw = unpacker.raw(&entry)?;
        let frames = &self.open.frames;
        let rank = FoundFrame::parse(&unpacker.bytes(key.sequence)?)
            .ok()
            .and_then(|found| found.link)
            .map_or(0, |link| link.rank);
        let base =
            base.map(|base| unpacker.raw_at(base, &|| format!("frame {base}"))).transpose()?;
        let delta = base.and_then(|base| frames.pack_delta(&raw, &base, rank));
        let frame = match delta {
            Some(delta) if delta.payload_bytes() * SURELY_PAYS_BY < raw.len() => delta,
            Some(delta) => smaller(frames, &raw, delta).unwrap_or_else(|whole| whole),
            None => frames.pack(&raw),
        };
        Ok(Some((entry, frame)))
    }

    fn dependents(&self, base: u64) -> Result<Vec<RecordKey>> {
        let Some(row) = self.frames.get(dependents_row(base)).within(self.path)? else {
            return Ok(Vec::new());
        };
        decode_dependents(base, row.value()).ok_or_else(|| {
            Error::corrupt(format!("frame {base}"), "the row of its dependents is damaged")
        })
    }

    fn change_dependents(
        &mut self,
        base: u64,
        change: impl FnOnce(&mut Vec<RecordKey>),
    ) -> Result<()> {
        let mut dependents = match self.dependents(base) {
            Ok(dependents) => dependents,
            Err(error) if is_of_engine(&error, self.path) => return Err(error),
            // While its row is damaged the base cannot be removed, so nothing can lose it.
            Err(_) => return Ok(()),
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

/// The last that is removed on the way back from `removed`, and the first that stays, if any.
fn first_to_stay(removed: u64, bases: &HashMap<u64, Option<u64>>) -> (u64, Option<u64>) {
    let mut last = removed;
    loop {
        match bases.get(&last) {
            // A base is always before what depends on it, so this ends.
            Some(Some(base)) if bases.contains_key(base) => last = *base,
            Some(base) => return (last, *base),
            None => return (last, None),
        }
    }
}
