//! Frames: a document's raw bytes as they lie on disk, compressed and checked.
//!
//! A frame stands alone, or is the difference to an earlier one, its *base*. Must never return
//! bytes that fail their checksum, unless they are only a step to others that are checked.

mod packing;

use super::check;
use super::keyring::KeyId;
use super::wire::{Malformed, Reader, put};
pub(crate) use packing::Frames;

/// The raw bytes follow as they are.
const PLAIN: u8 = 0;
/// One zstd frame that stands alone.
const WHOLE: u8 = 1;
/// One zstd frame that refers to the raw bytes of an earlier frame.
const DELTA: u8 = 2;
/// One zstd frame that refers to a dictionary of the format.
const PRIMED: u8 = 3;
/// The bit of a sealed frame.
pub(super) const SEALED: u8 = 1 << 7;

pub(super) const CHECK_BYTES: usize = 8;

/// A compressed frame that has no place in a store yet.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(super) form: Form,
    pub(super) raw_bytes: u64,
    pub(super) payload: Vec<u8>,
    /// Sum of the payload and of the raw bytes.
    pub(super) checks: [u64; 2],
}

/// What unpacking needs besides the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Whole,
    /// With the rank of the step from the base.
    Delta(u8),
    /// With the number of the dictionary.
    Primed(u64),
}

/// Where the base of a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// How many sequences earlier it is.
    pub(crate) distance: u64,
    /// How long a step this is; see the store's chains.
    pub(crate) rank: u8,
}

/// A frame as parsed; nothing of it is checked yet.
#[derive(Debug)]
pub(crate) struct FoundFrame<'a> {
    kind: u8,
    pub(crate) raw_bytes: u64,
    pub(crate) link: Option<Link>,
    dictionary: u64,
    /// The key of a sealed frame.
    pub(crate) key: Option<KeyId>,
    pub(super) head: &'a [u8],
    pub(super) sealed: u64,
    pub(super) payload: &'a [u8],
}

impl Frame {
    /// The bytes on disk, bound to the place they are stored at; `base` if it is a delta.
    pub(crate) fn to_bytes(&self, sequence: u64, base: Option<u64>) -> Vec<u8> {
        let mut out = self.head(sequence, base, 0);
        let sealed = seal(sequence, &out, self.checks);
        out.extend_from_slice(&sealed.to_le_bytes());
        out.extend_from_slice(&self.payload);
        out
    }

    /// Everything before the sum, and before the key id of a sealed frame; `flag` is added to the
    /// kind.
    pub(super) fn head(&self, sequence: u64, base: Option<u64>, flag: u8) -> Vec<u8> {
        // Includes room for what follows.
        let mut out = Vec::with_capacity(self.payload.len() + 96);
        let kind = match self.form {
            Form::Plain => PLAIN,
            Form::Whole => WHOLE,
            Form::Delta(_) => DELTA,
            Form::Primed(_) => PRIMED,
        };
        put(&mut out, kind | flag);
        put(&mut out, self.raw_bytes);
        match self.form {
            Form::Delta(rank) => {
                let base = base.expect("a delta is placed after its base");
                put(&mut out, sequence - base);
                put(&mut out, rank);
            }
            Form::Primed(number) => put(&mut out, number),
            Form::Plain | Form::Whole => {}
        }
        out
    }

    /// The rank of the step from the base, if this is a delta.
    pub(crate) fn rank(&self) -> Option<u8> {
        match self.form {
            Form::Delta(rank) => Some(rank),
            _ => None,
        }
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        self.payload.len()
    }

    fn new(form: Form, raw: &[u8], payload: Vec<u8>) -> Self {
        let checks = [check(0, &payload), check(0, raw)];
        Self { form, raw_bytes: raw.len() as u64, payload, checks }
    }
}

impl Form {
    /// The form of a parsed frame; `None` if its kind and link do not match.
    pub(super) fn of(found: &FoundFrame<'_>) -> Option<Self> {
        match (found.kind, found.link) {
            (PLAIN, None) => Some(Self::Plain),
            (WHOLE, None) => Some(Self::Whole),
            (DELTA, Some(link)) => Some(Self::Delta(link.rank)),
            (PRIMED, None) => Some(Self::Primed(found.dictionary)),
            _ => None,
        }
    }
}

impl<'a> FoundFrame<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        Self::read(bytes).map_err(|_| "frame header is cut short")
    }

    /// The sequence of the base of this frame at `sequence`, if it has one.
    pub(crate) fn base(&self, sequence: u64) -> Result<Option<u64>, &'static str> {
        let Some(link) = self.link else {
            return Ok(None);
        };
        let base = sequence.checked_sub(link.distance).filter(|base| *base < sequence);
        base.map(Some).ok_or("frame has no base before it")
    }

    /// Whether these are the raw bytes of the frame, at this place.
    ///
    /// Of a sealed frame only the stored bytes are checked: opening it has checked the content.
    pub(crate) fn verify(&self, sequence: u64, raw: &[u8]) -> Result<(), &'static str> {
        if self.key.is_some() {
            return self.verify_stored(sequence);
        }
        let sealed = seal(sequence, self.head, [check(0, self.payload), check(0, raw)]);
        if sealed == self.sealed { Ok(()) } else { Err("checksum differs") }
    }

    fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let first = reader.take_byte()?;
        let kind = first & !SEALED;
        let raw_bytes = reader.take()?;
        let mut link = None;
        let mut dictionary = 0;
        match kind {
            DELTA => link = Some(Link { distance: reader.take()?, rank: reader.take()? }),
            PRIMED => dictionary = reader.take()?,
            _ => {}
        }
        let mut key = None;
        if first & SEALED != 0 {
            let id = reader.take_bytes(KeyId::BYTES)?.try_into().map_err(|_| Malformed)?;
            key = Some(KeyId::from_bytes(id));
        }
        let head = &bytes[..bytes.len() - reader.rest().len()];
        let sealed = reader.take_bytes(CHECK_BYTES)?.try_into().map_err(|_| Malformed)?;
        let sealed = u64::from_le_bytes(sealed);
        Ok(Self { kind, raw_bytes, link, dictionary, key, head, sealed, payload: reader.rest() })
    }
}

/// Binds raw and stored bytes to their header and place. So a frame in another's place is noticed,
/// and so is a flipped bit that zstd ignores.
fn seal(sequence: u64, head: &[u8], checks: [u64; 2]) -> u64 {
    check(check(sequence, head), checks.map(u64::to_le_bytes).as_flattened())
}
