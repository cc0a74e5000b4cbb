//! The way to a document: its frame, and the frames below it, back to one that stands alone or
//! whose raw bytes are in memory.
//!
//! Must never unpack a frame.

use std::sync::Arc;

use crate::codec::FoundFrame;
use crate::store::chain::choice::STEPS_MAX;
use crate::store::options::Limits;

/// A frame on the way.
pub(in crate::store) struct Stored {
    pub(in crate::store) sequence: u64,
    pub(in crate::store) bytes: Vec<u8>,
    /// `None` if it stands alone.
    pub(in crate::store) rank: Option<u8>,
}

/// What to unpack for a document.
pub(in crate::store) struct Way {
    /// From the requested frame back, so the last is unpacked first.
    pub(in crate::store) frames: Vec<Stored>,
    /// The raw bytes that the last one refers to, if they are in memory.
    pub(in crate::store) start: Option<Arc<Vec<u8>>>,
}

/// Where the frames of a way are read: in the tables, or in what remains of them.
pub(in crate::store) trait FrameSource {
    type Error;

    /// The raw bytes at a sequence, if they are in memory.
    fn kept(&mut self, sequence: u64) -> Option<Arc<Vec<u8>>>;

    /// The bytes of a frame.
    fn stored(&mut self, sequence: u64) -> Result<Vec<u8>, Self::Error>;

    /// An error if a frame must not be unpacked.
    fn admit(&self, sequence: u64, found: &FoundFrame<'_>) -> Result<(), Self::Error>;

    /// The error for a frame that is damaged.
    fn damaged(&self, sequence: u64, reason: &str) -> Self::Error;
}

impl Way {
    /// The way to the document at a sequence.
    pub(in crate::store) fn to<S: FrameSource>(
        wanted: u64,
        source: &mut S,
    ) -> Result<Self, S::Error> {
        let mut way = Self { frames: Vec::new(), start: None };
        let mut next = Some(wanted);
        while let Some(sequence) = next {
            way.start = source.kept(sequence);
            if way.start.is_some() {
                break;
            }
            if way.frames.len() > STEPS_MAX {
                return Err(source.damaged(sequence, "it is too many steps from a whole one"));
            }
            let bytes = source.stored(sequence)?;
            let damaged = |reason| source.damaged(sequence, reason);
            let found = FoundFrame::parse(&bytes).map_err(damaged)?;
            source.admit(sequence, &found)?;
            if found.raw_bytes > Limits::DOCUMENT_BYTES_MAX as u64 {
                return Err(damaged("frame is longer than any document may be"));
            }
            next = found.base(sequence).map_err(damaged)?;
            let rank = found.link.map(|link| link.rank);
            way.frames.push(Stored { sequence, bytes, rank });
        }
        Ok(way)
    }
}
