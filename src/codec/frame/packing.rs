//! Packs raw bytes into frames, and unpacks them: what is compressed, and how.

use super::{DELTA, Form, FoundFrame, Frame, PLAIN, PRIMED, WHOLE};
use crate::codec::check;
use crate::codec::compress::{Zstd, is_tight};
use crate::codec::keyring::Keyring;
use crate::codec::sealed::Flaw;

// Below this zstd's own header costs more than it saves.
const COMPRESS_FROM_BYTES: usize = 64;

/// Compresses and decompresses frames, from any number of threads at once.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    zstd: Zstd,
    pub(in crate::codec) keys: Keyring,
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

    /// As [`Frames::pack`] and [`Frames::pack_delta`], but smaller, and several times as slow;
    /// `None` if the payload would take more than this many bytes.
    pub(crate) fn pack_tight(
        &self,
        raw: &[u8],
        base: Option<(&[u8], u8)>,
        payload_bytes_max: usize,
    ) -> Option<Frame> {
        let base_raw = base.map(|(raw, _)| raw);
        let fits = |packed: &(_, Vec<u8>)| packed.1.len() <= payload_bytes_max;
        let tight = self.zstd.compress_tight(raw, base_raw).filter(fits);
        let marked = || self.zstd.compress_marked(raw, base_raw).filter(fits);
        let (dictionary, payload) = tight.or_else(marked)?;
        let form = match (base, dictionary) {
            (Some((_, rank)), _) => Form::Delta(rank),
            (None, Some(number)) => Form::Primed(number),
            (None, None) => Form::Whole,
        };
        Some(Frame::new(form, raw, payload))
    }

    /// The length of the payload if [`Frames::pack_tight`] did not make it, and may make it
    /// smaller.
    pub(crate) fn loose_bytes(&self, found: &FoundFrame<'_>, sequence: u64) -> Option<usize> {
        if found.kind == PLAIN {
            return None;
        }
        let (payload, _) = self.payload(found, sequence).ok()?;
        (!is_tight(&payload)).then_some(payload.len())
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
            _ => return Err("frame has an unknown kind".into()),
        };
        if raw.len() != length {
            return Err("frame does not have the length in its header".into());
        }
        if sum.is_some_and(|sum| sum != check(0, &raw)) {
            return Err("checksum differs".into());
        }
        Ok(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DELTA, Link, PLAIN, PRIMED, WHOLE};
    use super::*;
    use crate::codec::{Bounds, encode_json};

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

    /// What is done once must not be done again.
    #[test]
    fn what_is_packed_tight_is_the_same_and_known_by_its_look() {
        let frames = Frames::default();
        for (bytes, raw, base) in kinds() {
            let found = FoundFrame::parse(&bytes).unwrap();
            let Some(loose) = frames.loose_bytes(&found, 7) else {
                assert_eq!(found.kind, PLAIN);
                continue;
            };
            let base = base.as_deref();
            let frame = frames.pack_tight(&raw, base.map(|base| (base, 1)), loose).unwrap();
            assert!(frame.payload_bytes() <= loose, "{} of {loose}", frame.payload_bytes());
            let tight = frame.to_bytes(7, base.map(|_| 3));
            assert_eq!(tight[0], bytes[0], "another kind");
            assert_eq!(unpack(7, &tight, raw.len() as u64, base).unwrap(), raw);
            assert_eq!(frames.loose_bytes(&FoundFrame::parse(&tight).unwrap(), 7), None);
            assert!(frames.pack_tight(&raw, base.map(|base| (base, 1)), 8).is_none());
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
