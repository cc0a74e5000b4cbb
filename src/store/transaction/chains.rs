//! Chains as a snapshot finds them: the steps to the newest document of a series.

use std::sync::Arc;

use redb::ReadableTable;

use crate::checkpoint::Series;
use crate::codec::{FoundFrame, NameKind, decode_dependents};
use crate::error::{Error, Result};
use crate::key::{FrameBytes, Order, RecordKey, Span, dependents_row, frame_row};
use crate::store::chain::choice::{Chain, STEPS_MAX, is_too_long};
use crate::store::engine::fault::In;
use crate::store::transaction::snapshot::Snapshot;

// The newest save is still found if at most this many of its series are dated ahead of it.
const DATED_AHEAD_MAX: usize = 16;

impl Snapshot<'_> {
    /// The raw bytes at a sequence, as a base for a document of this length.
    pub(in crate::store) fn base_for(
        &self,
        raw_bytes: usize,
        sequence: u64,
    ) -> Result<Option<Arc<Vec<u8>>>> {
        let frames = self.frames();
        let unpacker = self.unpacker(frames);
        let head = unpacker.head(sequence)?;
        let place = || format!("frame {sequence}");
        let found = FoundFrame::parse(&head).map_err(|reason| Error::corrupt(place(), reason))?;
        let base_bytes = usize::try_from(found.raw_bytes).unwrap_or(usize::MAX);
        if is_too_long(base_bytes, raw_bytes) {
            return Ok(None);
        }
        unpacker.raw_at(sequence, &place).map(Some)
    }

    #[cfg(test)]
    pub(in crate::store) fn frame_bytes(&self, sequence: u64) -> Result<usize> {
        Ok(self.unpacker(self.frames()).bytes(sequence)?.len())
    }

    pub(in crate::store) fn has_frame(&self, sequence: u64) -> Result<bool> {
        Ok(self.frames().get(frame_row(sequence, 0)).within(self.path)?.is_some())
    }

    /// The steps to the newest checkpoint of a series, if there is one.
    pub(in crate::store) fn chain(&self, series: &Series) -> Result<Option<Chain>> {
        let Some(newest) = self.newest(series)? else {
            return Ok(None);
        };
        let frames = self.frames();
        let unpacker = self.unpacker(frames);
        let mut sequence = self.last_dependent(frames, newest)?;
        let mut steps = Vec::new();
        loop {
            let bytes = unpacker.head(sequence)?;
            let damaged = |reason| Error::corrupt(format!("frame {sequence}"), reason);
            let found = FoundFrame::parse(&bytes).map_err(damaged)?;
            let Some((base, link)) = found.base(sequence).map_err(damaged)?.zip(found.link) else {
                steps.reverse();
                let whole_bytes = unpacker.bytes(sequence)?.len();
                return Ok(Some(Chain::found(sequence, whole_bytes, steps)));
            };
            if steps.len() >= STEPS_MAX {
                return Err(damaged("it is too many steps from a whole one"));
            }
            steps.push((sequence, link.rank));
            sequence = base;
        }
    }

    /// The last save of a series.
    fn newest(&self, series: &Series) -> Result<Option<u64>> {
        let Some(name) = self.name(NameKind::Series, series.as_str())? else {
            return Ok(None);
        };
        let index = self.index();
        let mut newest: Option<RecordKey> = None;
        for cause in index.causes(name)? {
            let span = Span { order: Order::Newest, ..Span::ALL };
            for key in index.keys((name, cause), span)?.take(DATED_AHEAD_MAX) {
                let key = key?;
                newest = newest.filter(|newest| newest.sequence > key.sequence).or(Some(key));
            }
        }
        let Some(key) = newest else {
            return Ok(None);
        };
        // A row may be damaged and lead elsewhere.
        let entry = self.entry(key)?.filter(|entry| entry.series == *series);
        Ok(entry.map(|entry| entry.sequence))
    }

    /// The last save among the dependents of a frame.
    ///
    /// If many are dated ahead of later saves, one of them is found instead. If all later saves
    /// were based on it directly, its dependents would grow without bound.
    fn last_dependent(
        &self,
        frames: &impl ReadableTable<FrameBytes, &'static [u8]>,
        mut sequence: u64,
    ) -> Result<u64> {
        for _ in 0..STEPS_MAX {
            let Some(row) = frames.get(dependents_row(sequence)).within(self.path)? else {
                break;
            };
            let dependents = decode_dependents(sequence, row.value()).unwrap_or_default();
            let Some(last) = dependents.iter().map(|key| key.sequence).max() else {
                break;
            };
            sequence = last;
        }
        Ok(sequence)
    }
}
