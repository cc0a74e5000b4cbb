//! What is sealed, damaged: frames, files of the spool, and the text of a key.
//!
//! Public sums are recomputed, so that only the cipher can notice the change.

use std::sync::LazyLock;

use super::super::super::frame::{FoundFrame, Frames};
use super::super::super::keyring::Keyring;
use super::super::super::placed::Placed;
use super::super::super::seal::SecretKey;
use super::super::super::sealed::Flaw;
use super::super::super::{check, decode_spooled, encode_spooled};
use super::record;
use crate::checkpoint::{Id, Timestamp};
use crate::tape::Tape;

const SEQUENCE: u64 = 7;
const RAW_BYTES_MAX: u64 = 1 << 16;

fn key() -> SecretKey {
    SecretKey::from_bytes([1; 32])
}

fn frames(keys: Vec<SecretKey>) -> Frames {
    Frames::new(Keyring::new(keys))
}

/// Has the key, and another one.
static WITH: LazyLock<Frames> =
    LazyLock::new(|| frames(vec![SecretKey::from_bytes([2; 32]), key()]));
static WITHOUT: LazyLock<Frames> = LazyLock::new(|| frames(Vec::new()));

struct Example {
    raw: Vec<u8>,
    base: Option<Vec<u8>>,
    bytes: Vec<u8>,
}

/// One of each kind, sealed at a place.
fn examples(sequence: u64) -> Vec<Example> {
    let words = b"the same words again and again ".repeat(20);
    let other = [b"other words, and then: ".as_slice(), &words].concat();
    let alone = |raw: Vec<u8>| {
        let bytes = WITH.pack(&raw).to_sealed_bytes(sequence, None, &key()).unwrap();
        Example { raw, base: None, bytes }
    };
    let mut all = vec![alone(b"short".to_vec()), alone(words.clone()), alone(words.repeat(20))];
    if sequence > 0 {
        let delta = WITH.pack_delta(&other, &words, 1).unwrap();
        let bytes = delta.to_sealed_bytes(sequence, Some(sequence - 1), &key()).unwrap();
        all.push(Example { raw: other, base: Some(words), bytes });
    }
    all
}

fn unpacked(
    frames: &Frames,
    bytes: &[u8],
    sequence: u64,
    base: Option<&[u8]>,
) -> Result<Vec<u8>, Flaw> {
    let found = FoundFrame::parse(bytes)?;
    if found.raw_bytes > RAW_BYTES_MAX {
        return Err(Flaw::Damaged("longer than a store would unpack"));
    }
    let raw = frames.unpack(&found, sequence, base)?;
    found.verify(sequence, &raw)?;
    Ok(raw)
}

/// Recomputes the sum over the stored bytes.
fn resum(bytes: &mut [u8]) {
    let Ok(found) = FoundFrame::parse(bytes) else { return };
    if found.key.is_some() {
        let sum = check(check(SEQUENCE, found.head), &check(0, found.payload).to_le_bytes());
        let at = found.head.len();
        bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
    }
}

#[test]
fn any_sealed_frame_is_as_it_was_or_refused() {
    let examples = examples(SEQUENCE);
    target!("sealed", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let example = tape.pick(&examples);
        let mut bytes = example.bytes.clone();
        tape.mutate(&mut bytes);
        if tape.once_in(2) {
            resum(&mut bytes);
        }
        let mut base = example.base.clone().unwrap_or_default();
        if tape.once_in(4) {
            tape.mutate(&mut base);
        }
        if let Ok(raw) = unpacked(&WITH, &bytes, SEQUENCE, Some(&base)) {
            assert_eq!(bytes, example.bytes, "what the cipher vouches for is what was written");
            assert_eq!(raw, example.raw);
        }
        assert!(unpacked(&WITHOUT, &bytes, SEQUENCE, Some(&base)).is_err());
        let place = tape.number();
        if place != SEQUENCE {
            assert!(unpacked(&WITH, &bytes, place, Some(&base)).is_err(), "in another place");
        }
    });
}

#[test]
fn any_file_of_the_spool_is_read_or_refused() {
    let examples = examples(0);
    let name = Id::generate(Timestamp::from_micros(1_700_000_000_123_456));
    target!("spooled", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let identity = tape.number();
        let mut placed = Vec::new();
        for _ in 0..=tape.below(2) {
            let mut entry = record::entry(&mut tape);
            entry.sequence = 0;
            placed.push(Placed { entry, frame: tape.pick(&examples).bytes.clone() });
        }
        let mut bytes = encode_spooled(identity, &name, &placed);
        assert_eq!(decode_spooled(&bytes, identity, &name).as_ref(), Ok(&placed));
        assert!(decode_spooled(&bytes, !identity, &name).is_err(), "of another store");
        let whole = bytes.clone();
        tape.mutate(&mut bytes);
        if let Ok(read) = decode_spooled(&bytes, identity, &name) {
            assert_eq!((&bytes, &read), (&whole, &placed), "what passes its sum is as it was");
        }
        let content = bytes.len().saturating_sub(8);
        bytes.truncate(content);
        bytes.extend(check(identity, &bytes).to_le_bytes());
        for placed in decode_spooled(&bytes, identity, &name).unwrap_or_default() {
            assert!(placed.frame.len() <= bytes.len());
            if let Ok(raw) = unpacked(&WITH, &placed.frame, placed.entry.sequence, None) {
                let is_known = |it: &Example| it.bytes == placed.frame && it.raw == raw;
                // A frame in plain that is made up would need a sum of its own.
                assert!(examples.iter().any(is_known), "another document");
            }
        }
    });
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let six = |start: usize| (start..start + 6).fold(0, |six, at| six << 1 | bit(at));
    let digits = (0..bytes.len() * 8).step_by(6).map(|at| char::from(digits[usize::from(six(at))]));
    digits.collect()
}

#[test]
fn any_text_of_a_key_is_read_or_refused() {
    let bytes: [u8; 32] = std::array::from_fn(|at| u8::try_from(at * 8 + 3).unwrap());
    let hex = SecretKey::from_bytes(bytes).to_hex();
    let examples = [hex, base64(&bytes), format!(" {}=\n", base64(&bytes))].map(String::into_bytes);
    target!("key", 4000, |input: &[u8]| {
        let text = Tape::text_of(input, &examples);
        let Ok(text) = std::str::from_utf8(&text) else { return };
        match text.parse::<SecretKey>() {
            Ok(key) => {
                let hex = key.to_hex();
                assert_eq!(hex.parse::<SecretKey>().unwrap().id(), key.id());
                let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let base64 = base64(&(0..64).step_by(2).map(byte).collect::<Vec<_>>());
                let text = text.trim();
                let is_it =
                    text.to_lowercase() == hex || text.strip_suffix('=').unwrap_or(text) == base64;
                assert!(is_it, "there is one way to write a key in each of the two");
            }
            Err(error) => {
                let text = text.trim();
                assert!(text.len() < 20 || !error.to_string().contains(text), "it tells a secret");
            }
        }
    });
}
