//! Frames: a document's raw bytes as they lie on disk, compressed and checked.
//!
//! A frame stands alone, or is the difference to an earlier one, its *base*. Must never return
//! bytes that fail their checksum, unless they are only a step to others that are checked.

use super::check;
use super::compress::Zstd;
use super::keyring::{KeyId, Keyring};
use super::sealed::Flaw;
use super::wire::{Malformed, Reader, put};

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

// Below this zstd's own header costs more than it saves.
const COMPRESS_FROM_BYTES: usize = 64;
pub(super) const CHECK_BYTES: usize = 8;

/// Compresses and decompresses frames, from any number of threads at once.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    zstd: Zstd,
    pub(super) keys: Keyring,
}

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

impl Frames {
    /// With the keys that sealed frames may need.
    pub(crate) fn new(keys: Keyring) -> Self {
        Self { keys, ..Self::default() }
    }

    pub(crate) fn keys(&self) -> &Keyring {
        &self.keys
    }

    /// A frame that stands alone.
    pub(crate) fn pack(&self, raw: &[u8]) -> Frame {
        let compressed = (raw.len() >= COMPRESS_FROM_BYTES)
            .then(|| self.zstd.compress(raw))
            .flatten()
            .filter(|(_, compressed)| compressed.len() < raw.len());
        match compressed {
            Some((None, payload)) => Frame::new(Form::Whole, raw, payload),
            Some((Some(number), payload)) => Frame::new(Form::Primed(number), raw, payload),
            None => Frame::new(Form::Plain, raw, raw.to_owned()),
        }
    }

    /// A delta to `base`, if that is possible.
    pub(crate) fn pack_delta(&self, raw: &[u8], base: &[u8], rank: u8) -> Option<Frame> {
        if raw.len() < COMPRESS_FROM_BYTES {
            return None;
        }
        let payload = self.zstd.compress_against(base, raw)?;
        Some(Frame::new(Form::Delta(rank), raw, payload))
    }

    /// The raw bytes of a frame, checked only if it is sealed; `base` has the raw bytes that its
    /// link leads to.
    ///
    /// Allocates at most the length in the frame, which the caller has compared with a limit.
    pub(crate) fn unpack(
        &self,
        found: &FoundFrame<'_>,
        sequence: u64,
        base: Option<&[u8]>,
    ) -> Result<Vec<u8>, Flaw> {
        const DAMAGED: &str = "zstd frame is damaged";
        let length = usize::try_from(found.raw_bytes).map_err(|_| "frame is too long")?;
        let (payload, sum) = self.payload(found, sequence)?;
        let raw = match found.kind {
            PLAIN => payload.into_owned(),
            WHOLE => self.zstd.decompress(&payload, length).ok_or(DAMAGED)?,
            PRIMED if !Zstd::has_dictionary(found.dictionary) => {
                return Err("frame names a dictionary that its format does not have".into());
            }
            PRIMED => {
                let raw = self.zstd.decompress_primed(found.dictionary, &payload, length);
                raw.ok_or(DAMAGED)?
            }
            DELTA => {
                let base = base.ok_or("frame has no base")?;
                self.zstd.decompress_against(base, &payload, length).ok_or(DAMAGED)?
            }
            _ => return Err("frame is of an unknown kind".into()),
        };
        if raw.len() != length {
            return Err("frame is not as long as it says".into());
        }
        if sum.is_some_and(|sum| sum != check(0, &raw)) {
            return Err("checksum differs".into());
        }
        Ok(raw)
    }
}

impl Frame {
    fn new(form: Form, raw: &[u8], payload: Vec<u8>) -> Self {
        let checks = [check(0, &payload), check(0, raw)];
        Self { form, raw_bytes: raw.len() as u64, payload, checks }
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

#[cfg(test)]
mod tests {
    use super::super::{Bounds, encode_json};
    use super::*;

    fn raw() -> Vec<u8> {
        "the same words again and again ".repeat(20).into_bytes()
    }

    fn other() -> Vec<u8> {
        "other words, and then: ".bytes().chain(raw()).collect()
    }

    /// What a reader does, without a store: checks everything.
    fn unpack(
        sequence: u64,
        bytes: &[u8],
        length: u64,
        base: Option<&[u8]>,
    ) -> Result<Vec<u8>, &'static str> {
        let found = FoundFrame::parse(bytes)?;
        if found.raw_bytes != length {
            return Err("another length");
        }
        match Frames::default().unpack(&found, sequence, base) {
            Ok(raw) => found.verify(sequence, &raw).map(|()| raw),
            Err(Flaw::Damaged(reason)) => Err(reason),
            Err(Flaw::NoKey(_)) => Err("no key"),
        }
    }

    /// A document as small as many of the layouts that the dictionary serves.
    fn small() -> Vec<u8> {
        let json = br#"{
            "version": 1,
            "timestamp": "2026-03-04T05:06:07.890123+00:00",
            "state": {
                "issue_no": 512, "current_stage": "review", "iteration": 3,
                "worktree": "/srv/trees/issue-512", "plan_file": null, "last_feedback": "",
                "last_score": 70,
                "history": [{
                    "stage": "impl", "iteration": 2, "timestamp": "2026-03-04T04:59:01.234567",
                    "result": "success", "score": 70
                }],
                "pr_number": null, "pr_url": null
            }
        }"#;
        encode_json(json, Bounds::DEFAULT).unwrap()
    }

    /// A frame's bytes, its raw bytes, and those of its base.
    type Example = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

    /// A frame of each kind.
    fn kinds() -> Vec<Example> {
        let frames = Frames::default();
        let long = raw().repeat(2_000);
        vec![
            (frames.pack(b"short").to_bytes(7, None), b"short".to_vec(), None),
            (frames.pack(&raw()).to_bytes(7, None), raw(), None),
            (frames.pack(&small()).to_bytes(7, None), small(), None),
            (frames.pack(&long).to_bytes(7, None), long, None),
            (
                frames.pack_delta(&other(), &raw(), 1).unwrap().to_bytes(7, Some(3)),
                other(),
                Some(raw()),
            ),
        ]
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for (bytes, raw, base) in kinds() {
            assert_eq!(unpack(7, &bytes, raw.len() as u64, base.as_deref()).unwrap(), raw);
        }
        let frames = Frames::default();
        for raw in [Vec::new(), vec![0], (0..=255).collect()] {
            let bytes = frames.pack(&raw).to_bytes(7, None);
            assert_eq!(unpack(7, &bytes, raw.len() as u64, None).unwrap(), raw);
        }
    }

    #[test]
    fn every_kind_is_tried() {
        let kinds: Vec<u8> = kinds().iter().map(|(bytes, ..)| bytes[0]).collect();
        for kind in [PLAIN, WHOLE, DELTA, PRIMED] {
            assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
        }
    }

    #[test]
    fn a_small_document_is_much_smaller_with_the_dictionary() {
        let frames = Frames::default();
        let primed = frames.pack(&small());
        assert!(matches!(primed.form, Form::Primed(_)), "{:?}", primed.form);
        // An empty base means no dictionary.
        let alone = frames.pack_delta(&small(), &[], 0).unwrap();
        let (with, without) = (primed.payload_bytes(), alone.payload_bytes());
        assert!(with * 2 < without, "{with} with, {without} without");
    }

    #[test]
    fn a_dictionary_that_the_format_does_not_have_is_an_error_that_says_so() {
        for number in [0, 200, u64::MAX] {
            let frame = Frame { form: Form::Primed(number), ..Frames::default().pack(&small()) };
            let bytes = frame.to_bytes(7, None);
            let error = unpack(7, &bytes, small().len() as u64, None).unwrap_err();
            assert_eq!(error, "frame names a dictionary that its format does not have");
        }
    }

    #[test]
    fn a_delta_says_where_its_base_is_and_holds_only_what_is_new() {
        let (bytes, _, _) = kinds().pop().unwrap();
        let found = FoundFrame::parse(&bytes).unwrap();
        assert_eq!(found.link, Some(Link { distance: 4, rank: 1 }));
        assert!(bytes.len() < 80, "{}", bytes.len());
    }

    #[test]
    fn a_long_base_is_found_from_end_to_end() {
        // Numbers that do not compress, so that only the base can help.
        let mut number = 1_u64;
        let mut noise = || {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (number >> 33).to_le_bytes()[0]
        };
        for length in [1 << 10, 60 << 10, 70 << 10, 300 << 10, 3 << 20] {
            let base: Vec<u8> = (0..length).map(|_| noise()).collect();
            let mut raw = base.clone();
            raw[length / 2] ^= 1;
            let bytes = Frames::default().pack_delta(&raw, &base, 0).unwrap().to_bytes(2, Some(1));
            assert!(bytes.len() < 200 + length / 1000, "{length}: {}", bytes.len());
            assert_eq!(unpack(2, &bytes, length as u64, Some(&base)).unwrap(), raw);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_an_error() {
        for (bytes, raw, base) in kinds() {
            let length = raw.len() as u64;
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert!(unpack(7, &damaged, length, base.as_deref()).is_err(), "bit {bit}");
            }
            for cut in 0..bytes.len() {
                assert!(unpack(7, &bytes[..cut], length, base.as_deref()).is_err(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn another_place_or_another_base_is_an_error() {
        for (bytes, raw, base) in kinds() {
            let length = raw.len() as u64;
            assert_eq!(unpack(8, &bytes, length, base.as_deref()), Err("checksum differs"));
        }
        let (bytes, raw, base) = kinds().pop().unwrap();
        let other = base.unwrap().iter().map(|byte| byte ^ 1).collect::<Vec<u8>>();
        assert!(unpack(7, &bytes, raw.len() as u64, Some(&other)).is_err());
        assert!(unpack(7, &bytes, raw.len() as u64, None).is_err());
    }
}
