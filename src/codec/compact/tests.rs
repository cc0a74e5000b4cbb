//! The compact writer and the writer of all styles make the same text of the same tokens.

use proptest::prelude::*;

use super::super::token::{ARRAY, END, OBJECT, TEXT};
use super::super::wire::{put, put_bytes};
use super::super::{Bounds, encode, text};
use super::*;
use crate::checkpoint::{Document, TextStyle};

/// The text by the writer of all styles.
fn styled(raw: &[u8]) -> Option<String> {
    let mut out = Vec::new();
    text::append_styled(raw, TextStyle::default(), &mut out, usize::MAX).ok()?;
    String::from_utf8(out).ok()
}

/// Compares both writers, the compact one in one go and in parts of any length.
pub(in crate::codec) fn writers_agree(raw: &[u8]) {
    let expected = styled(raw);
    let written = text::to_text(raw, TextStyle::default()).ok();
    assert_eq!(written, expected, "{raw:?}");
    for part in [1, 7, 64, 1000] {
        assert_eq!(in_parts(raw, part), expected, "{raw:?} in parts of {part}");
    }
    let mut out = b"before".to_vec();
    let is_appended = text::append(raw, &mut out).is_ok();
    assert_eq!(out, [b"before", expected.clone().unwrap_or_default().as_bytes()].concat());
    assert_eq!(is_appended, expected.is_some());
}

fn in_parts(raw: &[u8], bytes: usize) -> Option<String> {
    let (mut writer, mut text, mut part) = (Compact::new(raw), Vec::new(), Vec::new());
    loop {
        part.clear();
        let is_more = writer.append(&mut part, bytes).ok()?;
        assert!(part.len() >= bytes || !is_more, "a part is not shorter");
        text.extend_from_slice(&part);
        if !is_more {
            return String::from_utf8(text).ok();
        }
    }
}

fn of_text(text: &str) -> Vec<u8> {
    let mut raw = vec![ARRAY, TEXT];
    put_bytes(&mut raw, text.as_bytes());
    raw.push(END);
    raw
}

#[test]
fn every_length_with_every_special_byte_at_every_place() {
    for length in (0..70).chain([250, 251, 300, 70_000]) {
        let plain = "x".repeat(length);
        writers_agree(&of_text(&plain));
        for at in (0..length).rev().take(70) {
            for special in ["\"", "\\", "\n", "\u{1f}", "\u{7f}", "\0", " ", "!"] {
                let text = [&plain[..at], special, &plain[at + 1..]].concat();
                writers_agree(&of_text(&text));
            }
        }
    }
    let all: String = (0..0x180).filter_map(char::from_u32).collect();
    writers_agree(&of_text(&all));
    assert!(in_parts(&of_text("\u{1}\u{1f}\t"), 64).unwrap().contains(r"\u0001\u001f\t"));
}

#[test]
fn every_number_is_spelled_the_same() {
    for shift in 0..64 {
        for value in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
            let mut raw = vec![ARRAY, UINT];
            put(&mut raw, value);
            raw.push(INT);
            put(&mut raw, value.cast_signed());
            raw.push(INT);
            put(&mut raw, value.cast_signed().wrapping_neg());
            raw.push(FLOAT);
            put(&mut raw, f64::from_bits(value));
            raw.push(FLOAT);
            put(&mut raw, -f64::from_bits(value.rotate_left(13)));
            raw.push(END);
            writers_agree(&raw);
        }
    }
    for float in [0.1, -0.0, 1e300, 5e-324, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut raw = vec![FLOAT];
        put(&mut raw, float);
        writers_agree(&raw);
    }
}

/// An object that ends after a key, a key that is no text, and an end too many, among others.
#[test]
fn every_short_run_of_tokens_is_written_or_refused_alike() {
    let tags = [NULL, TRUE, TEXT, ARRAY, OBJECT, END, 12];
    for number in 0..tags.len().pow(6) {
        let mut raw = Vec::new();
        for at in 0..6 {
            let tag = tags[number / tags.len().pow(at) % tags.len()];
            raw.push(tag);
            // An empty text.
            raw.extend((tag == TEXT).then_some(0));
        }
        let expected = styled(&raw);
        assert_eq!(text::to_text(&raw, TextStyle::default()).ok(), expected, "{raw:?}");
    }
}

#[test]
fn a_text_longer_than_allowed_is_refused_and_nothing_is_appended() {
    let raw = encode(&vec!["word"; 1000], Bounds::DEFAULT, 0).unwrap();
    let length = styled(&raw).unwrap().len();
    let within = |limit| text::to_text_within(&raw, TextStyle::default(), limit).unwrap();
    assert!(within(length).is_some_and(|text| text.len() == length));
    assert_eq!((within(length - 1), within(0)), (None, None));
    let mut out = b"before".to_vec();
    assert!(text::append(&raw[..raw.len() - 1], &mut out).is_err());
    assert_eq!(out, b"before");
}

fn documents() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::Bool),
        (i64::MIN..0).prop_map(Document::Int),
        any::<u64>().prop_map(Document::Uint),
        any::<f64>().prop_map(Document::Float),
        "-?[1-9][0-9]{0,60}".prop_map(Document::Number),
        ".{0,40}".prop_map(Document::Text),
        "[a-z ]{0,40}".prop_map(Document::Text),
        any::<Vec<u8>>().prop_map(Document::Bytes),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Document::Array),
            prop::collection::vec(("[a-z\"\n]{0,20}", inner), 0..8).prop_map(Document::Object),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_has_the_same_text(document in documents()) {
        writers_agree(&encode(&document, Bounds::DEFAULT, 0).unwrap());
    }

    #[test]
    fn any_document_with_a_changed_byte_is_refused_or_has_the_same_text(
        document in documents(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut raw = encode(&document, Bounds::DEFAULT, 0).unwrap();
        let at = at.index(raw.len());
        raw[at] = byte;
        writers_agree(&raw);
        raw.truncate(at);
        writers_agree(&raw);
    }
}
