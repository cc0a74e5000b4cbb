//! JSON as it is, as Python writes it, and as it should not be.

use super::super::token::Token;
use super::super::wire::Reader;
use super::*;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 128 };

fn first_token(text: &str) -> String {
    let raw = read(text.as_bytes(), BOUNDS).unwrap();
    format!("{:?}", Token::read(&mut Reader::new(&raw)).unwrap())
}

#[test]
fn a_number_is_kept_as_text_where_no_machine_number_gives_it_back() {
    for (text, token) in [
        ("0", "Uint(0)"),
        ("-1", "Int(-1)"),
        ("18446744073709551615", "Uint(18446744073709551615)"),
        ("-9223372036854775808", "Int(-9223372036854775808)"),
        ("0.1", "Float(0.1)"),
        ("-0.0", "Float(-0.0)"),
        ("1700000000.123456", "Float(1700000000.123456)"),
        ("18446744073709551616", "Number(\"18446744073709551616\")"),
        ("-9223372036854775809", "Number(\"-9223372036854775809\")"),
        ("-0", "Number(\"-0\")"),
        ("1e3", "Number(\"1e3\")"),
        ("1.50", "Number(\"1.50\")"),
        ("1e999", "Number(\"1e999\")"),
        ("0.1000000000000000055", "Number(\"0.1000000000000000055\")"),
        ("NaN", "Float(NaN)"),
        ("-Infinity", "Float(-inf)"),
    ] {
        assert_eq!(first_token(text), token, "{text}");
    }
}

#[test]
fn escapes_are_resolved() {
    assert_eq!(
        first_token(r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z""#),
        format!("{:?}", Token::Text("a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}z"))
    );
}

#[test]
fn what_is_not_json_is_refused_with_line_column_and_path() {
    let long = "[".repeat(200_000);
    for (text, message) in [
        ("", "invalid document: the text is empty"),
        ("[", "invalid document at /0: the text ends before the document does at line 1 column 2"),
        ("{\n \"a\": [1, x]}", "invalid document at /a/1: expected a value at line 2 column 11"),
        ("{\"a\" 1}", "invalid document: expected a colon after the key at line 1 column 6"),
        ("{a:1}", "invalid document: expected a key in double quotes at line 1 column 2"),
        ("[1 2]", "invalid document: expected a comma or the end of the list at line 1 column 4"),
        ("[1,]", "invalid document at /1: expected a value at line 1 column 4"),
        (
            "01",
            "invalid document: unexpected text after the end of the document at line 1 \
             column 2",
        ),
        ("-", "invalid document: malformed number at line 1 column 1"),
        ("1.", "invalid document: malformed number at line 1 column 1"),
        ("nul", "invalid document: expected a value at line 1 column 1"),
        ("\"a", "invalid document: the text ends inside a string at line 1 column 3"),
        ("\"\t\"", "invalid document: control character in a string at line 1 column 2"),
        ("\"\\x\"", "invalid document: unknown escape in a string at line 1 column 2"),
        (
            "{\"a/b\": \"\\ud800\"}",
            "invalid document at /a~1b: half of a surrogate pair, which no text can hold at \
             line 1 column 10",
        ),
        (
            "\"\\u12\"",
            "invalid document: expected four hexadecimal digits after \\u at line 1 column 2",
        ),
        (
            &long,
            "depth of the document at /0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/... is beyond the limit \
             of 128",
        ),
    ] {
        let error = read(text.as_bytes(), BOUNDS).unwrap_err().into_error("document");
        assert_eq!(error.to_string(), message);
    }
    let error = read(b"[\"\xff\"]", BOUNDS).unwrap_err().into_error("document");
    assert_eq!(error.to_string(), "invalid document: not UTF-8 at line 1 column 3");
}

#[test]
fn a_document_beyond_the_size_limit_is_refused() {
    let bounds = Bounds { bytes: 10, depth: 128 };
    let error = read(b"[1,2,3,4,5,6,7,8,9]", bounds).unwrap_err().into_error("document");
    assert_eq!(
        error.to_string(),
        "length in bytes of the document at /5 is beyond the limit of 10"
    );
}
