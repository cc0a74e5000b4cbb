//! Frames of every kind, damaged, on bases that are not theirs, and of any content.

use std::sync::LazyLock;

use super::super::super::frame::{FoundFrame, Frames};
use crate::tape::Tape;

const SEQUENCE: u64 = 7;
// Lengths that a store would refuse are not unpacked here either.
const RAW_BYTES_MAX: u64 = 1 << 16;

static FRAMES: LazyLock<Frames> = LazyLock::new(Frames::default);

struct Example {
    bytes: Vec<u8>,
    base: Option<Vec<u8>>,
}

/// One of each kind.
static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let words = b"the same words again and again ".repeat(20);
    let other = [b"other words, and then: ".as_slice(), &words].concat();
    let alone =
        |raw: &[u8]| Example { bytes: FRAMES.pack(raw).to_bytes(SEQUENCE, None), base: None };
    let delta = FRAMES.pack_delta(&other, &words, 1).unwrap().to_bytes(SEQUENCE, Some(3));
    let all = vec![
        alone(b"short"),
        alone(&words),
        alone(&words.repeat(20)),
        Example { bytes: delta, base: Some(words) },
    ];
    let kinds: Vec<u8> = all.iter().map(|example| example.bytes[0]).collect();
    assert_eq!(kinds, [0, 3, 1, 2], "each kind is tried");
    all
});

fn unpacked(bytes: &[u8], base: Option<&[u8]>) -> Option<Vec<u8>> {
    let found = FoundFrame::parse(bytes).ok()?;
    let _ = found.base(SEQUENCE);
    if found.raw_bytes > RAW_BYTES_MAX {
        return None;
    }
    let raw = FRAMES.unpack(&found, SEQUENCE, base).ok()?;
    assert_eq!(raw.len() as u64, found.raw_bytes);
    // A plain frame is as long as what was read.
    assert!(raw.capacity() as u64 <= found.raw_bytes.max(bytes.len() as u64));
    found.verify(SEQUENCE, &raw).ok().map(|()| raw)
}

#[test]
fn any_frame_is_read_or_refused() {
    target!("frame", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let example = tape.pick(&EXAMPLES);
        let mut bytes = example.bytes.clone();
        if tape.once_in(8) {
            bytes = tape.rest().to_owned();
        } else {
            tape.mutate(&mut bytes);
        }
        let mut base = example.base.clone().unwrap_or_default();
        if tape.once_in(2) {
            tape.mutate(&mut base);
        }
        if let Some(raw) = unpacked(&bytes, Some(&base)) {
            assert_eq!(bytes, example.bytes, "what passes its sum is what was written");
            assert!(!raw.is_empty());
        }
        let _ = unpacked(&bytes, None);
    });
}

#[test]
fn any_content_is_packed_and_unpacked() {
    target!("frame_content", 2000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let unit = tape.rest();
        let raw = unit.repeat(1 + tape.below(40));
        let mut base = raw.clone();
        tape.mutate(&mut base);
        let alone = FRAMES.pack(&raw).to_bytes(SEQUENCE, None);
        assert_eq!(unpacked(&alone, None).as_deref(), Some(raw.as_slice()));
        assert!(alone.len() <= raw.len() + 32, "never longer but for its head");
        if let Some(delta) = FRAMES.pack_delta(&raw, &base, tape.byte()) {
            let bytes = delta.to_bytes(SEQUENCE, Some(tape.below(7) as u64));
            assert_eq!(unpacked(&bytes, Some(&base)).as_deref(), Some(raw.as_slice()));
        }
    });
}
