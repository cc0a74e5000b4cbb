//! A document as it will be stored: alone, or as a delta to a base where that pays.
//!
//! Must never read the store: the caller brings the base.

use std::sync::Arc;

use crate::codec::{Frame, Frames};
use crate::error::Result;
use crate::store::chain::choice::{Attempt, Chain, pays};

/// A document as it will be stored.
#[derive(Debug)]
pub(in crate::store) struct Packed {
    pub(in crate::store) frame: Frame,
    /// The base of the frame, if it is a delta.
    pub(in crate::store) base: Option<Base>,
    pub(in crate::store) attempt: Attempt,
}

/// The checkpoint that another is stored as a difference to.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Base {
    /// A base that existed at the epoch `seen`.
    Saved { sequence: u64, seen: Epoch },
    /// An earlier one of the same batch.
    Draft(usize),
}

/// The state of the store in which a base was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Epoch {
    /// Which opening of the file. In another one, the same sequence may be another checkpoint.
    pub(super) opening: u64,
    /// Number of removals since then.
    pub(super) removals: u64,
}

impl Epoch {
    pub(in crate::store) fn is_of_same_opening(self, other: Self) -> bool {
        self.opening == other.opening
    }
}

impl Base {
    /// The sequence of the base, once it has one.
    pub(in crate::store) fn sequence(
        &self,
        of_draft: impl Fn(usize) -> Option<u64>,
    ) -> Option<u64> {
        match self {
            Self::Saved { sequence, .. } => Some(*sequence),
            Self::Draft(at) => of_draft(*at),
        }
    }
}

/// A base with its raw bytes and the rank of the step from it.
pub(in crate::store) struct Chosen {
    pub(in crate::store) base: Base,
    pub(in crate::store) raw: Arc<Vec<u8>>,
    pub(in crate::store) rank: u8,
}

impl Packed {
    /// A frame that stands alone.
    pub(in crate::store) fn alone(frames: &Frames, raw: &[u8]) -> Self {
        Self { frame: frames.pack(raw), base: None, attempt: Attempt::None }
    }
}

pub(in crate::store) fn compress(
    frames: &Frames,
    raw: &[u8],
    chosen: Option<Chosen>,
    chain: Option<&Chain>,
) -> Packed {
    let delta = chosen.and_then(|Chosen { base, raw: base_raw, rank }| {
        Some((base, frames.pack_delta(raw, &base_raw, rank)?))
    });
    let Some((base, delta)) = delta else {
        return Packed::alone(frames, raw);
    };
    let taken = |frame, attempt| Packed { frame, base: Some(base), attempt };
    let bytes = delta.payload_bytes();
    if chain.is_some_and(|chain| chain.pays(bytes, raw.len())) {
        return taken(delta, Attempt::Paid);
    }
    // After a single leap the delta is kept. Compressing it twice would gain nothing, since what
    // does not match its base is compressed as if it had none.
    if bytes < raw.len() && chain.is_some_and(Chain::may_leap) {
        return taken(delta, Attempt::Failed);
    }
    match smaller(frames, raw, delta) {
        Ok(delta) => taken(delta, Attempt::Paid),
        Err(frame) => Packed { frame, base: None, attempt: Attempt::Failed },
    }
}

/// The delta if it pays, else a frame that stands alone.
pub(in crate::store) fn smaller(frames: &Frames, raw: &[u8], delta: Frame) -> Result<Frame, Frame> {
    let whole = frames.pack(raw);
    if pays(delta.payload_bytes(), whole.payload_bytes()) { Ok(delta) } else { Err(whole) }
}
