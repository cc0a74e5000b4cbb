//! Documents as YAML: what is written is read back, by our own reader and in the eyes of people.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use waypost::layouts::{from_yaml, to_yaml};
use waypost::{Document, Error};

/// Texts that one reader or another takes for something else, or for two lines, or for none.
pub(super) const TRICKY: [&str; 96] = [
    "",
    " ",
    "a",
    "a ",
    " a",
    "null",
    "Null",
    "~",
    "true",
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "0",
    "-0",
    "1",
    "1_0",
    "0x1f",
    "0b1",
    "017",
    "0o17",
    "1e3",
    "1.0",
    "1.0e+3",
    ".5",
    ".",
    "..",
    "...",
    "---",
    "--- a",
    ".inf",
    "-.INF",
    ".nan",
    "NaN",
    "inf",
    "1:30",
    "12:30:45",
    "2025-01-14",
    "2025-01-14T10:00:00Z",
    "2001-12-14 21:59:43.10 -5",
    "<<",
    "=",
    "-",
    "- a",
    "?",
    "? a",
    ":",
    "a:",
    "a: b",
    "a:b",
    "a :b",
    "#",
    "# a",
    "a #b",
    "a#b",
    ",",
    "[",
    "[]",
    "{",
    "{}",
    "&a",
    "*a",
    "!a",
    "!!str a",
    "|",
    "|-",
    ">",
    "'",
    "''",
    "\"",
    "\"a\"",
    "%",
    "%YAML 1.2",
    "@",
    "`",
    "\\",
    "\\n",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "a\n\nb\n",
    "\na",
    "\n",
    " a\nb",
    "a\n b\n",
    "a\n  \nb",
    "a \nb",
    "a\tb\nc",
    "\ta\nb",
    "a\n\tb\n",
    "a\r\nb",
    "# a\n# b\n",
    "- a\n- b\n",
    "---\n...\n",
];

pub(super) const BEYOND_64_BITS: &str = "123456789012345678901234567890";

/// Characters that need care.
const ODD: [char; 24] = [
    '\0',
    '\u{1}',
    '\u{7}',
    '\t',
    '\n',
    '\r',
    '\u{1b}',
    '\u{7f}',
    '\u{80}',
    '\u{85}',
    '\u{9f}',
    '\u{a0}',
    '\u{e9}',
    '\u{2028}',
    '\u{2029}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{feff}',
    '\u{fffd}',
    '\u{fffe}',
    '\u{ffff}',
    '\u{1f600}',
    '\u{1fffe}',
    '\u{10ffff}',
];

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        select(TRICKY.to_vec()).prop_map(str::to_owned),
        select(ODD.to_vec()).prop_map(String::from),
        "[a-z0-9 :#,.'\"\n-]{0,12}",
    ];
    prop_oneof![
        select(TRICKY.to_vec()).prop_map(str::to_owned),
        any::<String>(),
        vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        "([a-z ]{0,9}\n){1,5}",
    ]
}

/// Any document that JSON can have; bytes become objects, so they are asked for on their own.
pub(super) fn any_document() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::Bool),
        any::<u64>().prop_map(Document::Uint),
        (i64::MIN..0).prop_map(Document::Int),
        any::<f64>().prop_map(Document::Float),
        select(vec!["1e3", "1E-7", "-1.50", "1.5e+300", "-0", BEYOND_64_BITS])
            .prop_map(|literal| Document::Number(literal.to_owned())),
        any_text().prop_map(Document::Text),
        any_text().prop_map(Document::Text),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let key = prop_oneof![any_text(), "[a-z_]{1,8}", "k{900,1100}"];
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Document::Array),
            btree_map(key, inner, 0..6).prop_map(|it| Document::Object(it.into_iter().collect())),
        ]
    })
}

/// Equal but for how numbers are spelled.
pub(super) fn is_same(one: &Document, other: &Document) -> bool {
    match (one, other) {
        (Document::Array(ones), Document::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(a, b)| is_same(a, b))
        }
        (Document::Object(ones), Document::Object(others)) => {
            let mut pairs = ones.iter().zip(others);
            ones.len() == others.len() && pairs.all(|(a, b)| a.0 == b.0 && is_same(&a.1, &b.1))
        }
        _ => match (number(one), number(other)) {
            (Some((digits, _)), Some((others, _))) if digits.is_some() || others.is_some() => {
                digits == others
            }
            (Some((_, value)), Some((_, other))) => {
                value.to_bits() == other.to_bits() || value.is_nan() && other.is_nan()
            }
            _ => one == other,
        },
    }
}

/// The digits of an integer, and the value of any number.
fn number(document: &Document) -> Option<(Option<String>, f64)> {
    let literal = match document {
        Document::Int(value) => value.to_string(),
        Document::Uint(value) => value.to_string(),
        Document::Number(literal) => literal.clone(),
        Document::Float(value) => return Some((None, *value)),
        _ => return None,
    };
    let is_integer = !literal.contains(['.', 'e', 'E']);
    let digits = if literal == "-0" { "0".to_owned() } else { literal.clone() };
    Some((is_integer.then_some(digits), literal.parse().ok()?))
}

fn yaml_of(json: &str) -> String {
    to_yaml(&Document::from_json(json.as_bytes()).unwrap()).unwrap()
}

#[test]
fn tricky_texts_come_back_as_values_keys_and_items() {
    for text in TRICKY.map(str::to_owned).into_iter().chain(ODD.map(|it| format!("a{it}b"))) {
        let value = Document::Text(text.clone());
        let document = Document::Object(vec![
            (text.clone(), value.clone()),
            ("list".to_owned(), Document::Array(vec![value.clone(), value.clone()])),
        ]);
        for document in [value, document] {
            let yaml = to_yaml(&document).unwrap();
            let again: Document =
                from_yaml(yaml.as_bytes()).unwrap_or_else(|e| panic!("{e}: {yaml}"));
            assert_eq!(again, document, "{yaml}");
        }
    }
}

/// Some of them are text to `PyYAML` and to our reader, but not to every one.
#[test]
fn what_any_reader_takes_for_a_boolean_null_or_number_is_in_quotes() {
    for word in ["y", "N", "yes", "No", "on", "OFF", "true", "Null", "NaN", "Infinity", "0o17"] {
        let text = |word: &str| Document::Text(word.to_owned());
        assert_eq!(to_yaml(&text(word)).unwrap(), format!("\"{word}\"\n"));
        let plain = format!("x{word}");
        assert_eq!(to_yaml(&text(&plain)).unwrap(), format!("{plain}\n"));
    }
}

#[test]
fn a_document_reads_as_a_person_would_write_it() {
    let json = r##"{"id": "CP-x-20250114-a3f2", "version": "1.0", "at": "2025-01-14T10:00:00Z",
        "label": "state:enrich", "path": ".claude/crunch/42/spec.md", "off": false, "none": null,
        "body": "first\n\n  second\n", "open": "a\nb", "list": [1, [2, [], {}], {"a": 1, "b": [3]}],
        "42": "#1", "say": "he said: \"no\"", "smile": "\ud83d\ude00", "bell": "\u0007\u2028",
        "numbers": [1e3, -0.5, 1E-7, 12345678901234567890123]}"##;
    let yaml = "id: CP-x-20250114-a3f2
version: \"1.0\"
at: \"2025-01-14T10:00:00Z\"
label: state:enrich
path: .claude/crunch/42/spec.md
\"off\": false
none: null
body: |
  first

    second
open: |-
  a
  b
list:
  - 1
  - - 2
    - []
    - {}
  - a: 1
    b:
      - 3
\"42\": \"#1\"
say: \"he said: \\\"no\\\"\"
smile: \"\u{1f600}\"
bell: \"\\x07\\u2028\"
numbers:
  - 1.0e+3
  - -0.5
  - 1.0e-7
  - 12345678901234567890123
";
    assert_eq!(yaml_of(json), yaml);
}

#[test]
fn what_json_cannot_say_is_said() {
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300].map(Document::Float);
    let yaml = to_yaml(&Document::Array(floats.to_vec())).unwrap();
    assert_eq!(yaml, "- .nan\n- .inf\n- -.inf\n- -0.0\n- 1.0e+300\n");
    for (bytes, text) in [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v")] {
        let yaml = to_yaml(&Document::Bytes(bytes.to_vec())).unwrap();
        assert_eq!(yaml, format!("{{\"$bytes\": \"{text}\"}}\n"));
    }
}

#[test]
fn of_a_key_that_stands_twice_the_last_value_is_written_where_the_first_stands() {
    assert_eq!(yaml_of(r#"{"a": 1, "b": 2, "a": 3}"#), "a: 3\nb: 2\n");
}

#[test]
fn what_is_too_deep_or_no_number_is_refused() {
    let nested = |depth| (0..depth).fold(Document::Null, |inner, _| Document::Array(vec![inner]));
    assert!(to_yaml(&nested(512)).is_ok());
    let error = to_yaml(&nested(513)).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 512, .. }), "{error}");
    for wrong in ["", "x", "1\na: 2", "--1", "0x1", "1 ", "[]"] {
        assert!(to_yaml(&Document::Number(wrong.to_owned())).is_err(), "{wrong}");
    }
}

/// Each line of a text of 16 MB, deep in a document, took 254 blanks: 2 GB of text.
#[test]
fn lines_that_stand_deep_do_not_make_a_text_beyond_all_bounds() {
    let mut document = Document::Text("a\n".repeat(8 << 20));
    for _ in 0..127 {
        document = Document::Array(vec![document]);
    }
    assert!(matches!(to_yaml(&document), Err(Error::Limit { .. })));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(document in any_document()) {
        let yaml = to_yaml(&document).unwrap();
        let again: Document = from_yaml(yaml.as_bytes())
            .map_err(|error| TestCaseError::fail(format!("{error}:\n{yaml}")))?;
        prop_assert!(is_same(&again, &document), "{yaml}\n{again:?}");
    }
}
