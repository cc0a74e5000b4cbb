//! Sealed frames: only a holder of the key can read them.
//!
//! They are compressed first. A public sum covers the stored bytes. The sum over the raw bytes is
//! inside the seal: outside, it would confirm a guess at a short document.
//!
//! A sealed frame is 56 bytes longer: key id, nonce, tag and inner sum. A document has no hash
//! outside the seal; a captured file has, its SHA-256.

use std::borrow::Cow;
use std::io;

use super::check;
use super::frame::{CHECK_BYTES, Form, FoundFrame, Frame, Frames, SEALED};
use super::keyring::KeyId;
#[cfg(not(feature = "encrypt"))]
use super::keyring::SecretKey;
#[cfg(feature = "encrypt")]
use super::seal::SecretKey;

/// The reason that the raw bytes of a frame cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    Damaged(&'static str),
    /// They are sealed with a key that is not at hand.
    NoKey(KeyId),
}

impl From<&'static str> for Flaw {
    fn from(reason: &'static str) -> Self {
        Self::Damaged(reason)
    }
}

impl Frame {
    /// As [`Frame::to_bytes`], sealed with a key. Takes random numbers.
    pub(crate) fn to_sealed_bytes(
        &self,
        sequence: u64,
        base: Option<u64>,
        key: &SecretKey,
    ) -> io::Result<Vec<u8>> {
        Ok(self.sealed_with(sequence, base, key, &key.nonce()?))
    }

    fn sealed_with(
        &self,
        sequence: u64,
        base: Option<u64>,
        key: &SecretKey,
        nonce: &[u8; 24],
    ) -> Vec<u8> {
        let mut out = self.head(sequence, base, SEALED);
        out.extend_from_slice(key.id().as_bytes());
        let associated = associated(sequence, &out);
        let sum_at = out.len();
        out.extend_from_slice(&[0; CHECK_BYTES]);
        out.extend_from_slice(nonce);
        let content_at = out.len();
        out.extend_from_slice(&self.checks[1].to_le_bytes());
        out.extend_from_slice(&self.payload);
        let tag = key.seal(nonce, &associated, &mut out[content_at..]);
        out.extend_from_slice(&tag);
        let sum = sum(sequence, &out[..sum_at], &out[sum_at + CHECK_BYTES..]);
        out[sum_at..sum_at + CHECK_BYTES].copy_from_slice(&sum.to_le_bytes());
        out
    }
}

impl Frames {
    /// The payload of a frame, and the sum of its raw bytes if it is sealed.
    pub(super) fn payload<'a>(
        &self,
        found: &FoundFrame<'a>,
        sequence: u64,
    ) -> Result<(Cow<'a, [u8]>, Option<u64>), Flaw> {
        let Some(id) = found.key else {
            return Ok((Cow::Borrowed(found.payload), None));
        };
        let Some(key) = self.keys.get(id) else {
            // The id itself may be damaged.
            found.verify_stored(sequence)?;
            return Err(Flaw::NoKey(id));
        };
        let opened = key.open(&associated(sequence, found.head), found.payload);
        let mut content = opened.ok_or("frame cannot be decrypted with its key")?;
        let (check, _) = content.split_first_chunk::<CHECK_BYTES>().ok_or("frame is cut short")?;
        let check = u64::from_le_bytes(*check);
        content.drain(..CHECK_BYTES);
        Ok((Cow::Owned(content), Some(check)))
    }

    /// Whether a frame has these raw bytes, without unpacking it.
    pub(crate) fn is_of(&self, found: &FoundFrame<'_>, sequence: u64, raw: &[u8]) -> bool {
        if found.key.is_none() {
            return found.verify(sequence, raw).is_ok();
        }
        let payload = self.payload(found, sequence);
        payload.is_ok_and(|(_, sum)| sum == Some(check(0, raw)))
    }

    /// A frame before placing, so that it can be stored under another key.
    ///
    /// A plain frame does not contain the sum of its raw bytes alone.
    pub(crate) fn reopen(
        &self,
        found: &FoundFrame<'_>,
        sequence: u64,
        raw_sum: Option<u64>,
    ) -> Result<Frame, Flaw> {
        let (payload, sum) = self.payload(found, sequence)?;
        let form = Form::of(found).ok_or("frame has an unknown kind")?;
        let raw_sum = sum.or(raw_sum).ok_or("the checksum of its content is unknown")?;
        let checks = [check(0, &payload), raw_sum];
        Ok(Frame { form, raw_bytes: found.raw_bytes, payload: payload.into_owned(), checks })
    }
}

impl FoundFrame<'_> {
    /// Whether the stored bytes of a sealed frame are intact, and in their place.
    pub(super) fn verify_stored(&self, sequence: u64) -> Result<(), &'static str> {
        let is_right = sum(sequence, self.head, self.payload) == self.sealed;
        if is_right { Ok(()) } else { Err("checksum differs") }
    }
}

/// What the cipher authenticates besides the content: header and place.
fn associated(sequence: u64, head: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.len() + 8);
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(head);
    out
}

fn sum(sequence: u64, head: &[u8], stored: &[u8]) -> u64 {
    check(check(sequence, head), &check(0, stored).to_le_bytes())
}

#[cfg(test)]
#[cfg(feature = "encrypt")]
mod tests {
    use super::super::keyring::Keyring;
    use super::*;

    fn key(number: u8) -> SecretKey {
        SecretKey::from_bytes([number; 32])
    }

    fn frames(keys: &[u8]) -> Frames {
        Frames::new(Keyring::new(keys.iter().copied().map(key).collect()))
    }

    fn long() -> Vec<u8> {
        "the same words again and again ".repeat(20).into_bytes()
    }

    /// A frame's raw bytes, those of its base if it has one, and its sealed bytes at 7.
    type Example = (Vec<u8>, Option<Vec<u8>>, Vec<u8>);

    /// A frame of each kind.
    fn kinds() -> Vec<Example> {
        let frames = frames(&[]);
        let huge = long().repeat(2_000);
        let changed = [b"other words: ", long().as_slice()].concat();
        let delta = frames.pack_delta(&changed, &long(), 1).unwrap();
        let alone = |raw: Vec<u8>| {
            let bytes = frames.pack(&raw).to_sealed_bytes(7, None, &key(1)).unwrap();
            (raw, None, bytes)
        };
        vec![
            alone(b"short".to_vec()),
            alone(Vec::new()),
            alone(long()),
            alone(huge),
            (changed, Some(long()), delta.to_sealed_bytes(7, Some(3), &key(1)).unwrap()),
        ]
    }

    fn unpack(
        frames: &Frames,
        sequence: u64,
        bytes: &[u8],
        base: Option<&[u8]>,
    ) -> Result<Vec<u8>, Flaw> {
        let found = FoundFrame::parse(bytes)?;
        let raw = frames.unpack(&found, sequence, base)?;
        found.verify(sequence, &raw)?;
        Ok(raw)
    }

    #[test]
    fn who_has_the_key_reads_what_was_sealed_and_nobody_else() {
        for (raw, base, bytes) in kinds() {
            let base = base.as_deref();
            assert_eq!(unpack(&frames(&[2, 1]), 7, &bytes, base).unwrap(), raw);
            let no_key = Err(Flaw::NoKey(key(1).id()));
            assert_eq!(unpack(&frames(&[]), 7, &bytes, base), no_key);
            assert_eq!(unpack(&frames(&[2]), 7, &bytes, base), no_key);
        }
    }

    #[test]
    fn damage_is_told_from_a_missing_key_even_without_one() {
        for (_, base, bytes) in kinds() {
            for keys in [&[1][..], &[]] {
                for bit in (0..bytes.len() * 8).step_by(7) {
                    let mut wrong = bytes.clone();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    let outcome = unpack(&frames(keys), 7, &wrong, base.as_deref());
                    assert!(matches!(outcome, Err(Flaw::Damaged(_))), "bit {bit}: {outcome:?}");
                }
                let outcome = unpack(&frames(keys), 8, &bytes, base.as_deref());
                assert!(matches!(outcome, Err(Flaw::Damaged(_))), "in another place");
            }
        }
    }

    #[test]
    fn a_delta_to_another_base_is_damaged() {
        let (_, base, bytes) = kinds().pop().unwrap();
        let other: Vec<u8> = base.unwrap().iter().map(|byte| byte ^ 1).collect();
        let outcome = unpack(&frames(&[1]), 7, &bytes, Some(&other));
        assert!(matches!(outcome, Err(Flaw::Damaged(_))), "{outcome:?}");
    }

    /// A guess at a short document must not be confirmed without the key.
    #[test]
    fn nothing_that_is_stored_depends_on_the_content_alone() {
        let frame = frames(&[]).pack(b"yes");
        let one = frame.to_sealed_bytes(7, None, &key(1)).unwrap();
        let other = frame.to_sealed_bytes(7, None, &key(1)).unwrap();
        let same = one.iter().zip(&other).filter(|(one, other)| one == other).count();
        // The header, and what randomness adds.
        assert!(same < 10 + 8, "{same} of {}", one.len());
    }

    #[test]
    fn a_frame_goes_from_key_to_key_and_back_to_none() {
        for (raw, base, bytes) in kinds() {
            let both = frames(&[1, 2]);
            let at = base.as_ref().map(|_| 3);
            let base = base.as_deref();
            let frame = both.reopen(&FoundFrame::parse(&bytes).unwrap(), 7, None).unwrap();
            let second = frame.to_sealed_bytes(7, at, &key(2)).unwrap();
            assert_eq!(unpack(&frames(&[2]), 7, &second, base).unwrap(), raw);
            assert!(both.is_of(&FoundFrame::parse(&second).unwrap(), 7, &raw));
            assert!(!both.is_of(&FoundFrame::parse(&second).unwrap(), 7, b"else"));
            let frame = both.reopen(&FoundFrame::parse(&second).unwrap(), 7, None).unwrap();
            let plain = frame.to_bytes(7, at);
            assert_eq!(unpack(&frames(&[]), 7, &plain, base).unwrap(), raw);
            let sum = Some(check(0, &raw));
            let frame = both.reopen(&FoundFrame::parse(&plain).unwrap(), 7, sum).unwrap();
            let again = frame.to_sealed_bytes(7, at, &key(1)).unwrap();
            assert_eq!(unpack(&frames(&[1]), 7, &again, base).unwrap(), raw);
        }
    }

    /// Disks hold these bytes.
    #[test]
    fn the_sealed_form_is_pinned() {
        let frame = frames(&[]).pack(b"yes");
        let bytes = frame.sealed_with(7, None, &key(1), &[9; 24]);
        let (head, sum) = ("80039c37e6099c082bc5", "43527bb9a343985f");
        let (content, tag) = ("2c44ccc95373a5d92a4883", "be53acb06b0f6c1c466aa5b41bad668e");
        let hex = [head, sum, &"09".repeat(24), content, tag].concat();
        let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
        assert_eq!(bytes, (0..hex.len() / 2).map(byte).collect::<Vec<u8>>());
    }
}
