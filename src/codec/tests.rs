//! Any value goes in and comes out the same, through types, trees and JSON text.
//!
//! Covers round trips of values, trees and JSON text, limits, and hostile bytes (`fuzz`).

pub(crate) mod fuzz;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Bounds, JsonStyle, decode, encode_json, text};
use crate::checkpoint::Document;
use crate::error::Error;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 128 };

fn encode(value: &(impl Serialize + ?Sized), bounds: Bounds) -> Result<Vec<u8>, Error> {
    super::encode(value, bounds, 0)
}

fn decode<'de, T: Deserialize<'de>>(raw: &'de [u8]) -> Result<T, Error> {
    let mut decoder = decode::Decoder::new(raw, BOUNDS.depth);
    T::deserialize(&mut decoder)
        .and_then(|value| decoder.finish().map(|()| value))
        .map_err(|fault| fault.into_error("document"))
}

fn to_json(raw: &[u8], style: JsonStyle) -> String {
    let mut out = Vec::new();
    text::write(raw, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let raw = encode(value, BOUNDS).unwrap();
    assert_eq!(decode::<T>(&raw).unwrap(), *value);
    // A tree of it is the same document.
    let tree: Document = decode(&raw).unwrap();
    assert_eq!(encode(&tree, BOUNDS).unwrap(), raw);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Step {
    Idle,
    Wait(u32),
    Move(i8, i8),
    Call { tool: String, retries: Option<u8> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Flag(bool),
    Count(u64),
    Score(f64),
    Text(String),
    List(Vec<Answer>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Event {
    Start { at: u64 },
    Stop,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    depth: u16,
    note: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Outer {
    id: u64,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, Answer>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapper(u32);

/// A type that stores bytes as bytes, as `serde_bytes` does.
#[derive(Debug, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Blob;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_owned()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[test]
fn every_kind_of_type_comes_back() {
    comes_back(&(true, 'x', -1_i8, 250_u8, i64::MIN, u64::MAX, 0.1_f32, f64::MIN_POSITIVE));
    comes_back(&(i128::MIN, i128::MAX, u128::MAX, 0_i128, 1_u128 << 64));
    comes_back(&(Some(1), None::<u8>, Unit, Wrapper(7), ()));
    comes_back(&[Step::Idle, Step::Wait(3), Step::Move(-1, 1)]);
    comes_back(&Step::Call { tool: "rg".to_owned(), retries: None });
    comes_back(&[Event::Start { at: 9 }, Event::Stop]);
    comes_back(&Blob(vec![0, 255, 10]));
    comes_back(&HashMap::from([(1_u32, "a"), (2, "b")].map(|(k, v)| (k, v.to_owned()))));
    comes_back(&BTreeMap::from([(true, 1), (false, 0)]));
    comes_back(&BTreeMap::from([(i128::MIN, Step::Idle)]));
    comes_back(&[
        Answer::Flag(true),
        Answer::Count(3),
        Answer::Score(2.5),
        Answer::Text("a".to_owned()),
        Answer::List(vec![Answer::Count(1), Answer::List(Vec::new())]),
    ]);
    comes_back(&Outer {
        id: 1,
        inner: Inner { depth: 2, note: "n".to_owned() },
        rest: BTreeMap::from([("x".to_owned(), Answer::Score(0.5))]),
    });
}

#[test]
fn not_a_number_and_infinities_come_back() {
    let raw = encode(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY], BOUNDS).unwrap();
    let back: [f64; 3] = decode(&raw).unwrap();
    assert!(back[0].is_nan() && back[1] == f64::INFINITY && back[2] == f64::NEG_INFINITY);
    let json = to_json(&raw, JsonStyle::Compact);
    assert_eq!(json, "[NaN,Infinity,-Infinity]");
    assert_eq!(encode_json(json.as_bytes(), BOUNDS).unwrap(), raw);
}

#[test]
fn bytes_are_shown_as_base64() {
    let show = |bytes: &[u8]| {
        to_json(&encode(&Blob(bytes.to_owned()), BOUNDS).unwrap(), JsonStyle::Compact)
    };
    assert_eq!(show(b""), r#"{"$bytes":""}"#);
    assert_eq!(show(b"f"), r#"{"$bytes":"Zg=="}"#);
    assert_eq!(show(b"fo"), r#"{"$bytes":"Zm8="}"#);
    assert_eq!(show(b"foobar"), r#"{"$bytes":"Zm9vYmFy"}"#);
}

#[test]
fn a_program_can_ask_for_less_than_there_is() {
    let raw = encode_json(br#"{"skip":[{"deep":[1,[2]]}],"note":"n","depth":3}"#, BOUNDS).unwrap();
    assert_eq!(decode::<Inner>(&raw).unwrap(), Inner { depth: 3, note: "n".to_owned() });
}

#[test]
fn a_number_literal_is_read_as_the_type_that_is_asked_for() {
    let raw = encode_json(b"[-0, 1e3, 340282366920938463463374607431768211455]", BOUNDS).unwrap();
    assert_eq!(decode::<(i64, f64, u128)>(&raw).unwrap(), (0, 1000.0, u128::MAX));
    let tree: Document = decode(&raw).unwrap();
    assert_eq!(to_json(&encode(&tree, BOUNDS).unwrap(), JsonStyle::Compact).len(), 48);
    // What no type can hold exactly is an error, not a rounded value.
    let error = decode::<(i64, f64, serde_json::Value)>(&raw).unwrap_err().to_string();
    assert!(error.starts_with("invalid document at /2: "), "{error}");
}

#[test]
fn a_mismatch_names_the_place_and_not_the_content() {
    type Asked = BTreeMap<String, BTreeMap<String, Vec<u8>>>;
    let raw = encode_json(br#"{"a":{"b":[1,"secret"]}}"#, BOUNDS).unwrap();
    let error = decode::<Asked>(&raw).unwrap_err();
    assert_eq!(error.to_string(), "invalid document at /a/b/1: found text, expected u8");
    let error = decode::<(u8, u8)>(&encode(&[1, 2, 3], BOUNDS).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "invalid document: more elements than expected");
}

#[test]
fn what_has_no_place_in_a_document_is_refused_with_its_path() {
    let keyed = BTreeMap::from([(vec![1], 1)]);
    let error = encode(&BTreeMap::from([("a", [keyed])]), BOUNDS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid document at /a/0: a key must be text, a number, a boolean or a variant without \
         content"
    );
    let error = encode(&Document::Number("12x".to_owned()), BOUNDS).unwrap_err();
    assert_eq!(error.to_string(), "invalid document: not a number literal");
}

#[test]
fn depth_is_limited_on_the_way_in_and_out() {
    let nested =
        |depth: usize| (0..depth).fold(Document::Null, |inner, _| Document::Array(vec![inner]));
    let raw = encode(&nested(128), BOUNDS).unwrap();
    assert_eq!(decode::<Document>(&raw).unwrap(), nested(128));
    assert!(matches!(encode(&nested(129), BOUNDS), Err(Error::Limit { limit: 128, .. })));
    let mut decoder = decode::Decoder::new(&raw, 127);
    let fault = Document::deserialize(&mut decoder).unwrap_err();
    assert!(matches!(fault.into_error("document"), Error::Limit { limit: 127, .. }));
}

#[test]
fn the_deepest_document_fits_a_small_stack() {
    let json = format!("{}{}", "[".repeat(512), "]".repeat(512));
    let bounds = Bounds { depth: 512, ..BOUNDS };
    let raw = encode_json(json.as_bytes(), bounds).unwrap();
    let mut decoder = decode::Decoder::new(&raw, 512);
    let tree = Document::deserialize(&mut decoder).unwrap();
    assert_eq!(to_json(&encode(&tree, bounds).unwrap(), JsonStyle::Compact), json);
}

/// These bytes are on disks.
#[test]
fn the_stored_form_is_pinned() {
    let json = br#"{"n":null,"b":[true,false],"i":[1,-1,300],"f":0.5,"l":1e3,"t":"hi","e":{}}"#;
    let raw = encode_json(json, BOUNDS).unwrap();
    #[rustfmt::skip]
    let expected = [
        10,
        7, 1, b'n', 0,
        7, 1, b'b', 9, 2, 1, 11,
        7, 1, b'i', 9, 3, 1, 4, 1, 3, 251, 44, 1, 11,
        7, 1, b'f', 5, 0, 0, 0, 0, 0, 0, 224, 63,
        7, 1, b'l', 6, 3, b'1', b'e', b'3',
        7, 1, b't', 7, 2, b'h', b'i',
        7, 1, b'e', 10, 11,
        11,
    ];
    assert_eq!(raw, expected);
    assert_eq!(encode(&Blob(vec![9]), BOUNDS).unwrap(), [8, 1, 9]);
    assert_eq!(to_json(&raw, JsonStyle::Compact).as_bytes(), json);
}

#[test]
fn pretty_text_has_one_element_a_line() {
    let raw = encode_json(br#"{"a":[1,{"b":[]}],"c":{}}"#, BOUNDS).unwrap();
    let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}";
    assert_eq!(to_json(&raw, JsonStyle::Pretty), expected);
}

fn documents() -> impl Strategy<Value = Document> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?";
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::Bool),
        (i64::MIN..0).prop_map(Document::Int),
        any::<u64>().prop_map(Document::Uint),
        any::<f64>().prop_map(Document::Float),
        number.prop_map(Document::Number),
        ".*".prop_map(Document::Text),
        any::<Vec<u8>>().prop_map(Document::Bytes),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Document::Array),
            prop::collection::vec((".*", inner), 0..8).prop_map(Document::Object),
        ]
    })
}

proptest! {
    #[test]
    fn any_tree_comes_back(tree in documents()) {
        let raw = encode(&tree, BOUNDS).unwrap();
        let back: Document = decode(&raw).unwrap();
        // NaN is not equal to itself; its bytes are.
        prop_assert_eq!(encode(&back, BOUNDS).unwrap(), raw);
    }

    #[test]
    fn any_json_comes_back_with_equal_text(tree in documents()) {
        let json = to_json(&encode(&tree, BOUNDS).unwrap(), JsonStyle::Compact);
        let raw = encode_json(json.as_bytes(), BOUNDS).unwrap();
        prop_assert_eq!(to_json(&raw, JsonStyle::Compact), json);
        let pretty = to_json(&raw, JsonStyle::Pretty);
        prop_assert_eq!(encode_json(pretty.as_bytes(), BOUNDS).unwrap(), raw);
    }

    /// Our reader agrees with `serde_json` on what JSON is and what it says.
    #[test]
    fn json_is_read_as_serde_json_reads_it(text in r#"[\[\]{}",:0-9a-z.\\ -]{0,40}"#) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        let ours = encode_json(text.as_bytes(), BOUNDS);
        match (&theirs, &ours) {
            (Ok(theirs), Ok(ours)) => {
                let back = serde_json::from_str::<serde_json::Value>(
                    &to_json(ours, JsonStyle::Compact),
                );
                prop_assert_eq!(&back.unwrap(), theirs);
            }
            // It refuses numbers that overflow a double, which we keep as text.
            (Err(error), Ok(_)) => prop_assert!(error.to_string().contains("out of range")),
            (Ok(_), Err(error)) => prop_assert!(false, "{}", error),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(raw in any::<Vec<u8>>()) {
        let _ = decode::<Document>(&raw);
        let _ = decode::<Outer>(&raw);
        let _ = decode::<serde::de::IgnoredAny>(&raw);
        let _ = text::write(&raw, JsonStyle::Pretty, &mut Vec::new());
        let _ = encode_json(&raw, BOUNDS);
    }
}
