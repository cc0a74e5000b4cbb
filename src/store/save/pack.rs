//! Packing: a draft is compressed on its saver's thread, before anything is locked.

use std::collections::{HashMap, HashSet};

use crate::checkpoint::{Hash, Series};
use crate::error::Result;
use crate::store::chain::choice::{Chain, DocumentRef, is_too_long};
use crate::store::chain::packed::{Base, Chosen, Epoch, Packed, compress};
use crate::store::log::journal::Journal;
use crate::store::save::draft::Draft;
use crate::store::save::shared::Shared;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;

/// The base for the next draft of a series.
struct Start {
    chain: Option<Chain>,
    seen: Epoch,
}

/// How packing gets the file.
#[derive(Clone, Copy)]
pub(in crate::store) enum Reach<'a> {
    /// The caller has the file.
    Open(&'a Open),
    /// Packing takes a turn for each access.
    Turn(Patience),
}

impl Shared {
    /// Compresses drafts, each against an earlier one of its series where that pays.
    pub(in crate::store) fn pack(&self, drafts: &mut [Draft]) -> Result<()> {
        self.pack_by(drafts, Reach::Turn(Patience::Usual))
    }

    /// As [`Shared::pack`], with another way to the file.
    pub(in crate::store) fn pack_by(&self, drafts: &mut [Draft], reach: Reach<'_>) -> Result<()> {
        // By series, with the drafts added since.
        let mut starts: HashMap<Series, Start> = HashMap::new();
        for at in 0..drafts.len() {
            let series = &drafts[at].entry.series;
            let (mut start, chosen) = match starts.remove(series) {
                Some(start) => {
                    let chosen = self.choose(&start, drafts, at, reach)?;
                    (start, chosen)
                }
                // One access finds the chain and reads the base.
                None => self.reach(reach, |open| {
                    let start = self.start(open, series)?;
                    let chosen = self.choose(&start, drafts, at, Reach::Open(open))?;
                    Ok((start, chosen))
                })?,
            };
            let packed = compress(&self.frames, &drafts[at].raw, chosen, start.chain.as_ref());
            if drafts.len() > 1 {
                start.add(at, &packed);
                starts.insert(drafts[at].entry.series.clone(), start);
            }
            drafts[at].packed = Some(packed);
        }
        self.pack_artifacts(drafts)
    }

    /// Packs again, without a base, the drafts whose base may be gone, or too many steps away after
    /// a crash.
    ///
    /// The journal must be held, so that nothing is removed from now on.
    pub(in crate::store) fn drop_lost_bases(
        &self,
        open: &Open,
        journal: &Journal,
        drafts: &mut [Draft],
    ) -> Result<()> {
        let now = open.bases.seen();
        let mut snapshot = None;
        for draft in drafts {
            let base = draft.packed.as_ref().and_then(|packed| packed.base);
            let Some(Base::Saved { sequence, seen }) = base else { continue };
            let is_far = journal.is_far(sequence);
            if now == Some(seen) && !is_far {
                continue;
            }
            if !is_far && now.is_some_and(|now| seen.is_of_same_opening(now)) {
                let snapshot = match &mut snapshot {
                    Some(snapshot) => snapshot,
                    none => none.insert(Snapshot::take(open, self.turn.path())?),
                };
                if snapshot.has_frame(sequence)? {
                    continue;
                }
            }
            draft.packed = Some(Packed::alone(&self.frames, &draft.raw));
        }
        Ok(())
    }

    /// The current chain of a series: the one kept in memory, or the one in the tables.
    fn start(&self, open: &Open, series: &Series) -> Result<Start> {
        let (kept, seen) = open.bases.chain(series);
        if kept.as_ref().is_some_and(|chain| !chain.is_lost()) {
            return Ok(Start { chain: kept, seen });
        }
        let snapshot = Snapshot::take(open, self.turn.path())?;
        let mut chain = unless_of_part(snapshot.chain(series))?.flatten();
        if let (Some(chain), Some(kept)) = (&mut chain, &kept) {
            chain.recall(kept);
        }
        if let Some(chain) = &chain {
            open.bases.keep_chain(series, chain, seen);
        }
        Ok(Start { chain, seen })
    }

    fn reach<T>(&self, reach: Reach<'_>, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        match reach {
            Reach::Open(open) => work(open),
            // Keeps the file open for the save that follows, which would otherwise forget the
            // bases.
            Reach::Turn(patience) => self.turn.within(patience, work).inspect_err(|_| self.tend()),
        }
    }

    fn choose(
        &self,
        start: &Start,
        drafts: &[Draft],
        at: usize,
        reach: Reach<'_>,
    ) -> Result<Option<Chosen>> {
        let Some((place, rank)) = start.chain.as_ref().and_then(Chain::base) else {
            return Ok(None);
        };
        let seen = start.seen;
        let raw_bytes = drafts[at].raw.len();
        let (base, raw) = match place {
            DocumentRef::Draft(at) => (Base::Draft(at), Some(drafts[at].raw.clone())),
            DocumentRef::Saved(sequence) => {
                let raw = self.reach(reach, |open| {
                    if !open.bases.seen().is_some_and(|now| now.is_of_same_opening(seen)) {
                        return Ok(None);
                    }
                    if let Some(raw) = open.bases.raw(sequence) {
                        return Ok(Some(raw));
                    }
                    let snapshot = Snapshot::take(open, self.turn.path())?;
                    let raw = unless_of_part(snapshot.base_for(raw_bytes, sequence))?;
                    Ok(raw.flatten())
                })?;
                (Base::Saved { sequence, seen }, raw)
            }
        };
        let raw = raw.filter(|raw| !is_too_long(raw.len(), raw_bytes));
        Ok(raw.map(|raw| Chosen { base, raw, rank }))
    }
}

/// `None` if a base cannot be read: that is no reason not to save, and a read of that checkpoint
/// reports it.
fn unless_of_part<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_of_engine() => Err(error),
        Err(_) => Ok(None),
    }
}

impl Start {
    /// Notes a draft that is not saved yet as a base for the next of its batch.
    fn add(&mut self, at: usize, packed: &Packed) {
        let place = DocumentRef::Draft(at);
        let Some(chain) = &mut self.chain else {
            self.chain = Some(Chain::new(place, packed.frame.payload_bytes()));
            return;
        };
        chain.note(packed.attempt);
        let base = packed.base.map(|base| match base {
            Base::Saved { sequence, .. } => DocumentRef::Saved(sequence),
            Base::Draft(at) => DocumentRef::Draft(at),
        });
        match base.zip(packed.frame.rank()) {
            Some((base, rank)) => {
                chain.step(place, base, rank, |_| {});
            }
            None => chain.restart(place, packed.frame.payload_bytes(), |_| {}),
        }
    }
}

impl Shared {
    /// Compresses the contents that the store lacks.
    ///
    /// What is there is read: a content that is damaged on disk is stored anew.
    pub(in crate::store) fn pack_artifacts(&self, drafts: &mut [Draft]) -> Result<()> {
        if drafts.iter().all(|draft| draft.artifacts.is_empty()) {
            return Ok(());
        }
        // A content that one draft brings need not come with the others of its batch.
        let mut known: HashSet<Hash> = self.with(|open| {
            let snapshot = Snapshot::take(open, self.turn.path())?;
            snapshot.whole_among(drafts.iter().flat_map(|draft| &draft.artifacts))
        })?;
        for captured in drafts.iter_mut().flat_map(|draft| &mut draft.artifacts) {
            let Some((hash, content)) = captured.artifact.sha256.zip(captured.content.as_ref())
            else {
                continue;
            };
            if known.insert(hash) {
                captured.frame = Some(self.frames.pack(content));
            }
        }
        Ok(())
    }
}
