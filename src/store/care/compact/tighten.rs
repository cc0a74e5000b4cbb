//! Compresses frames once more, more thoroughly: a saver waits for a frame, nobody for this.
//!
//! Every frame keeps its base, so chains and dependents stay as they are. What is compressed so
//! can be told by its look. So no later call does it again, and one that was ended goes on.
//!
//! Must never store what it has not read back.

use std::ops::ControlFlow;

use redb::ReadableTable as _;

use crate::checkpoint::Entry;
use crate::codec::FoundFrame;
use crate::error::{Error, Result, unless_damaged};
use crate::key::{RecordKey, frame_row, frame_sequence};
use crate::store::Store;
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::fault::In;
use crate::store::options::Limits;
use crate::store::save::shared::give_way;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::Writer;
use crate::store::turn::open::Open;
use crate::store::watch::{Stage, Step, Watch};

// Some hundred milliseconds of work, so that other processes can save in between.
const AT_ONCE: usize = 512;
const AT_ONCE_BYTES: u64 = 8 << 20;

impl Store {
    /// Compresses what was saved since this was last done.
    pub(super) fn tighten(&self, watch: Watch<'_>) -> Result<ControlFlow<()>> {
        let found = self.shared.with(|open| loose(&Snapshot::take(open, self.path())?))?;
        let mut rest = found.as_slice();
        while !rest.is_empty() {
            if watch(Step::of(Stage::Tighten, found.len() - rest.len(), found.len())).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let (part, after) = rest.split_at(at_once(rest));
            self.shared.write(|writer| part.iter().try_for_each(|it| writer.tighten(it.key)))?;
            rest = after;
            give_way();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A checkpoint whose frame may get smaller.
struct Loose {
    key: RecordKey,
    raw_bytes: u64,
}

/// How many of the first are compressed in one transaction: at least one.
fn at_once(found: &[Loose]) -> usize {
    let mut bytes = 0_u64;
    let fits = |it: &&Loose| {
        bytes = bytes.saturating_add(it.raw_bytes);
        bytes <= AT_ONCE_BYTES
    };
    found.iter().take(AT_ONCE).take_while(fits).count().max(1)
}

/// The checkpoints whose frames may get smaller, in the order of their sequences.
fn loose(snapshot: &Snapshot<'_>) -> Result<Vec<Loose>> {
    let mut sequences = Vec::new();
    for row in snapshot.frames().iter().within(snapshot.path)? {
        let (row, value) = row.within(snapshot.path)?;
        let sequence = frame_sequence(row.value());
        let is_first = row.value() == frame_row(sequence, 0);
        if is_first && let Some(raw_bytes) = loose_length(snapshot, sequence, value.value())? {
            sequences.push((sequence, raw_bytes));
        }
    }
    if sequences.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::with_capacity(sequences.len());
    for key in snapshot.keys()? {
        let key = key?;
        if let Ok(at) = sequences.binary_search_by_key(&key.sequence, |(sequence, _)| *sequence) {
            found.push(Loose { key, raw_bytes: sequences[at].1 });
        }
    }
    found.sort_unstable_by_key(|it| it.key.sequence);
    Ok(found)
}

/// The length of the document whose frame starts so, if it can be compressed again with the keys
/// that are at hand.
fn loose_length(snapshot: &Snapshot<'_>, sequence: u64, first: &[u8]) -> Result<Option<u64>> {
    let Ok(found) = FoundFrame::parse(first) else { return Ok(None) };
    if !may_change(snapshot.open, &found) {
        return Ok(None);
    }
    let raw_bytes = found.raw_bytes;
    let is_loose = |it: &FoundFrame<'_>| snapshot.open.frames.loose_bytes(it, sequence).is_some();
    if found.key.is_none() {
        return Ok(is_loose(&found).then_some(raw_bytes));
    }
    // A seal can only be opened as a whole.
    let bytes = snapshot.unpacker(snapshot.frames()).bytes(sequence)?;
    Ok(FoundFrame::parse(&bytes).is_ok_and(|it| is_loose(&it)).then_some(raw_bytes))
}

/// Whether the frame has the key of the store, and that is at hand.
fn may_change(open: &Open, found: &FoundFrame<'_>) -> bool {
    found.key == open.key() && open.has_key()
}

impl Writer<'_> {
    /// Stores a checkpoint in fewer bytes, if that is possible; one that is damaged stays as it is.
    fn tighten(&mut self, key: RecordKey) -> Result<()> {
        // Its length is in its record, so both change or neither.
        let Some(entry) = unless_damaged(self.entry(key))?.flatten() else { return Ok(()) };
        let before = self.unpacker().bytes(key.sequence)?;
        let Some(bytes) = self.tightened(key.sequence, &before)? else { return Ok(()) };
        let stored_bytes = bytes.len() as u64;
        self.remove_frame(&entry)?;
        self.insert_frame(&bytes, key.sequence)?;
        self.insert_record(&Entry { stored_bytes, ..entry })
    }

    /// A frame with the same content and base in fewer bytes, read back.
    fn tightened(&self, sequence: u64, before: &[u8]) -> Result<Option<Vec<u8>>> {
        let (open, frames) = (self.open, &self.open.frames);
        let Ok(found) = FoundFrame::parse(before) else { return Ok(None) };
        let loose = frames.loose_bytes(&found, sequence).filter(|_| may_change(open, &found));
        let (Some(loose), Ok(base)) = (loose, found.base(sequence)) else { return Ok(None) };
        let unpacker = Unpacker { limit: Limits::DOCUMENT_BYTES_MAX, ..self.unpacker() };
        let place = |sequence| move || format!("frame {sequence}");
        let raw_at = |sequence| match unpacker.raw_at(sequence, &place(sequence)) {
            // An unfinished rekey left a base under a key that is not at hand.
            Err(Error::Key { .. }) => Ok(None),
            raw => unless_damaged(raw),
        };
        let Some(raw) = raw_at(sequence)? else { return Ok(None) };
        let base_raw = base.map(raw_at).transpose()?.flatten();
        if base.is_some() != base_raw.is_some() {
            return Ok(None);
        }
        let base_raw = base_raw.as_ref().map(|it| it.as_slice());
        let against = base_raw.zip(found.link.map(|link| link.rank));
        let Some(frame) = frames.pack_tight(&raw, against, loose) else { return Ok(None) };
        let bytes = open.bytes_of(&frame, sequence, base)?;
        let is_same = FoundFrame::parse(&bytes).is_ok_and(|found| {
            let read_back = frames.unpack(&found, sequence, base_raw);
            read_back.is_ok_and(|it| it == *raw) && found.verify(sequence, &raw).is_ok()
        });
        Ok(is_same.then_some(bytes))
    }
}
