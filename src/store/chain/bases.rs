//! Bases kept in memory, so that a save need not read the document it is compressed against.
//!
//! The raw bytes at a sequence never change while the file is open, so they are never stale. But
//! the checkpoint may have been removed from the store, and then no new frame may refer to it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::checkpoint::Series;
use crate::store::chain::choice::{Chain, DocumentRef};
use crate::store::chain::packed::{Epoch, Packed};
use crate::store::chain::recent::Recent;
use crate::sync::lock;

// The memory that a chain takes is half a kilobyte.
const CHAINS_MAX: usize = 8192;

pub(in crate::store) struct Bases {
    kept: Mutex<Kept>,
}

struct Kept {
    raws: Recent<u64, Arc<Vec<u8>>>,
    chains: Recent<Series, Chain>,
    seen: Epoch,
    is_distrusted: bool,
}

/// A checkpoint that was just saved.
pub(in crate::store) struct Saved<'a> {
    pub(in crate::store) series: &'a Series,
    pub(in crate::store) sequence: u64,
    pub(in crate::store) packed: &'a Packed,
    pub(in crate::store) raw: &'a Arc<Vec<u8>>,
}

impl Bases {
    /// For a file that has just been opened; raw bytes may take this much memory.
    pub(in crate::store) fn new(raw_bytes_max: usize) -> Self {
        static OPENINGS: AtomicU64 = AtomicU64::new(0);
        let opening = OPENINGS.fetch_add(1, Ordering::Relaxed);
        let seen = Epoch { opening, removals: 0 };
        let raws = Recent::new(raw_bytes_max);
        let chains = Recent::new(CHAINS_MAX);
        Self { kept: Mutex::new(Kept { raws, chains, seen, is_distrusted: false }) }
    }

    /// A number that is unique to this opening of the file in this process.
    pub(in crate::store) fn opening(&self) -> u64 {
        lock(&self.kept).seen.opening
    }

    /// The epoch of the store, unless it is in doubt.
    pub(in crate::store) fn seen(&self) -> Option<Epoch> {
        let kept = lock(&self.kept);
        (!kept.is_distrusted).then_some(kept.seen)
    }

    /// Notes that a transaction failed: its outcome is unknown until the file is opened anew.
    pub(in crate::store) fn distrust(&self) {
        let mut kept = lock(&self.kept);
        kept.is_distrusted = true;
        kept.raws.clear();
        kept.chains.clear();
    }

    /// The chain of a series, if it is kept.
    pub(in crate::store) fn chain(&self, series: &Series) -> (Option<Chain>, Epoch) {
        let mut kept = lock(&self.kept);
        let chain = kept.chains.get(series).map(|chain| chain.clone());
        (chain, kept.seen)
    }

    /// Keeps a chain that was read at the epoch `seen`.
    pub(in crate::store) fn keep_chain(&self, series: &Series, chain: &Chain, seen: Epoch) {
        let mut kept = lock(&self.kept);
        if kept.seen == seen && kept.chains.get(series).is_none_or(|kept| kept.is_lost()) {
            kept.chains.insert(series.clone(), chain.clone(), 1);
        }
    }

    /// The raw bytes at a sequence, if they are kept.
    pub(in crate::store) fn raw(&self, sequence: u64) -> Option<Arc<Vec<u8>>> {
        lock(&self.kept).raws.get(&sequence).map(|raw| raw.clone())
    }

    /// Keeps raw bytes that have been checked.
    pub(in crate::store) fn keep_raw(&self, sequence: u64, raw: &Arc<Vec<u8>>) {
        lock(&self.kept).raws.insert(sequence, raw.clone(), weight(raw));
    }

    /// Keeps what was just saved, so that the next save of each series can refer to it.
    ///
    /// `of_draft` gives the sequence of a draft of the same batch.
    pub(in crate::store) fn learn<'a>(
        &self,
        saved: impl Iterator<Item = Saved<'a>>,
        of_draft: impl Fn(usize) -> Option<u64>,
    ) {
        let mut kept = lock(&self.kept);
        for it in saved {
            if kept.learn(&it, &of_draft) {
                kept.raws.insert(it.sequence, it.raw.clone(), weight(it.raw));
            }
        }
    }

    /// Notes that the checkpoints with these sequences were removed.
    pub(in crate::store) fn forget(&self, removed: &HashSet<u64>) {
        let mut kept = lock(&self.kept);
        kept.seen.removals += 1;
        kept.chains.for_each(|chain| chain.lose(removed));
    }
}

impl Kept {
    /// Adds a step to a chain; returns whether the next save can start from it.
    fn learn(&mut self, saved: &Saved<'_>, of_draft: impl Fn(usize) -> Option<u64>) -> bool {
        let Saved { series, sequence, packed, .. } = *saved;
        let Self { raws, chains, .. } = self;
        let place = DocumentRef::Saved(sequence);
        let forget = |place| {
            if let DocumentRef::Saved(sequence) = place {
                raws.remove(&sequence);
            }
        };
        let base = packed.base.as_ref().and_then(|base| base.sequence(of_draft));
        match (chains.get(series), base.zip(packed.frame.rank())) {
            (Some(chain), Some((base, rank))) => {
                chain.note(packed.attempt);
                // If the chain was lost meanwhile, the next saver reads it anew.
                chain.step(place, DocumentRef::Saved(base), rank, forget)
            }
            (Some(chain), None) => {
                chain.note(packed.attempt);
                chain.restart(place, packed.frame.payload_bytes(), forget);
                true
            }
            (None, None) => {
                let chain = Chain::new(place, packed.frame.payload_bytes());
                chains.insert(series.clone(), chain, 1);
                true
            }
            (None, Some(_)) => false,
        }
    }
}

/// Memory that raw bytes take, their place in a map included.
fn weight(raw: &Vec<u8>) -> usize {
    raw.capacity() + 96
}
