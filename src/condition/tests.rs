//! Conditions by example, and of any text.

use proptest::prelude::*;

use super::Condition;
use crate::checkpoint::Document;
use crate::diff::Pointer;

/// A document that says something of every kind.
fn document() -> Document {
    let text = |text: &str| Document::Text(text.to_owned());
    let number = |literal: &str| Document::Number(literal.to_owned());
    let fields = [
        ("score", Document::Uint(49)),
        ("big", number("9007199254740993")),
        ("nan", Document::Float(f64::NAN)),
        ("phase", text("build review")),
        ("digits", text("42")),
        ("nothing", Document::Null),
        ("done", Document::Bool(true)),
        ("queue", Document::Array(vec![text("parser"), Document::Float(1.5), Document::Null])),
        ("a b", Document::Object(vec![("c/d".to_owned(), Document::Int(-3))])),
        ("x~", Document::Uint(1)),
    ];
    Document::Object(fields.map(|(key, value)| (key.to_owned(), value)).into())
}

fn holds(condition: &str) -> bool {
    let parsed = condition.parse::<Condition>();
    parsed.unwrap_or_else(|error| panic!("{condition}: {error}")).holds(&document())
}

#[test]
fn what_is_so_holds() {
    for condition in [
        "/score < 50",
        "/score<50",
        "/score <= 49.0",
        "/score >= 4.9e1",
        "/score > -1e400",
        "/score == 49",
        "/score != 48",
        "/big == 9007199254740993",
        "/big > 9007199254740992",
        "/nan == NaN",
        "/score < Infinity",
        "/phase == \"build review\"",
        "/phase ~ review",
        "/phase~ild",
        "/phase < c",
        "/digits == \"42\"",
        "/digits ~ 4",
        "/nothing == null",
        "/nothing exists",
        "/done == true",
        "/queue ~ parser",
        "/queue ~ 1.50",
        "/queue ~ null",
        "/queue/0 == parser",
        "\"/a b\" ~ c/d",
        "\"/a b/c~1d\" == -3",
        "\"\" ~ score",
        "/x~0==1",
        "/x~0 ~ 1 or /x~0 == 1",
        "/score/0 absent",
        "/none absent",
        "not /none == 1",
        "/none == 1 or /score == 49 and /done == true",
        "not (/none == 1 or /score == 48)",
        "((/score exists))",
        "not not /score exists",
        "/score != \"49\"",
    ] {
        assert!(holds(condition), "{condition}");
    }
}

#[test]
fn what_is_not_so_does_not() {
    for condition in [
        "/score < 49",
        "/score > 49",
        "/score == \"49\"",
        "/big == 9007199254740992",
        "/nan < 1",
        "/nan >= 1",
        "/nan == 1",
        "/nothing == false",
        "/done > false",
        "/digits == 42",
        "/digits < 50",
        "/phase ~ Review",
        "/queue ~ pars",
        "/score ~ 4",
        "/none == 1",
        "/none != 1",
        "/none exists",
        "/score absent",
        "not /score exists",
        "/score == 48 or /score == 49 and /none exists",
        "(/score == 49 or /none exists) and /none exists",
        "\"\" == null",
    ] {
        assert!(!holds(condition), "{condition}");
    }
}

#[test]
fn what_is_no_condition_is_refused_with_its_column() {
    for (condition, reason) in [
        ("", "expected a pointer such as /score, `not` or `(` at column 1"),
        ("score < 50", "expected a pointer such as /score, `not` or `(` at column 1"),
        ("/a", "expected one of < <= > >= == != ~ exists absent at column 3"),
        ("/a = 1", "expected == and not = at column 4"),
        ("/a=1", "expected == and not = at column 3"),
        ("/a exists && /b exists", "expected `and` and not && at column 11"),
        ("/a exists || /b exists", "expected `or` and not || at column 11"),
        ("/a exists AND /b exists", "expected `and` and not AND at column 11"),
        ("!/a exists", "expected `not` and not !/a at column 1"),
        ("/a == 'b'", "expected double quotes and not 'b' at column 7"),
        ("'/a b' == 1", "expected double quotes and not '/a at column 1"),
        (
            "/a == b c",
            "expected `and`, `or`, the end, or double quotes around several words at column 9",
        ),
        ("state.score > 1", "expected a pointer such as /state/score, `not` or `(` at column 1"),
        ("$.a>1", "expected a pointer such as /a, `not` or `(` at column 1"),
        ("/a <", "expected a number, a word or a text in double quotes at column 5"),
        ("/a < (1)", "expected a number, a word or a text in double quotes at column 6"),
        ("/a == \"x", "expected the end of the text in quotes that starts at column 7"),
        ("/a == \"\\x\"", "expected a text as in JSON at column 7"),
        ("/a exists /b", "expected `and`, `or` or the end at column 11"),
        ("(/a exists", "expected `and`, `or` or `)` at column 11"),
        ("/a exists)", "expected `and`, `or` or the end at column 10"),
        ("/\u{e9} exists and", "expected a pointer such as /score, `not` or `(` at column 14"),
        (
            "\"a\" exists",
            "expected a pointer such as /score, with ~0 for ~ and ~1 for /, at column 1",
        ),
    ] {
        let error = condition.parse::<Condition>().unwrap_err();
        assert_eq!(error.to_string(), format!("invalid condition: {reason}"), "{condition}");
    }
}

#[test]
fn places_are_told_once_and_in_order() {
    let condition: Condition = "/b < 1 or not (/a exists and /b == 2)".parse().unwrap();
    let places: Vec<&str> = condition.pointers().iter().map(Pointer::as_str).collect();
    assert_eq!(places, ["/b", "/a"]);
}

#[test]
fn what_is_too_long_or_too_deep_is_refused() {
    let nested = |depth: usize| "(".repeat(depth) + "/a exists" + &")".repeat(depth);
    assert!(nested(64).parse::<Condition>().is_ok());
    let error = nested(65).parse::<Condition>().unwrap_err().to_string();
    assert!(error.ends_with("nested too deep at column 65"), "{error}");
    let error = ("not ".repeat(1000) + "/a exists").parse::<Condition>().unwrap_err().to_string();
    assert!(error.ends_with("nested too deep at column 257"), "{error}");
    let long = format!("/a == {}", "x".repeat(4096));
    assert!(long.parse::<Condition>().unwrap_err().to_string().contains("the limit of 4096"));
    // As many tests as fit, beside each other.
    assert!(("/a exists or ".repeat(300) + "/score == 49").parse::<Condition>().is_ok());
}

/// Texts that are made of the words of a condition, in any order.
fn likely() -> impl Strategy<Value = String> {
    let words = [
        "/a", "/a~0", "/a~", "\"/a b\"", "\"", "\\", "<", "<=", "==", "!=", "~", "exists",
        "absent", "and", "or", "not", "(", ")", "1", "-1.5e3", "x", "\u{e9}", " ", "null",
    ];
    let word = proptest::sample::select(words.to_vec());
    proptest::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_a_condition_or_is_refused(text in prop_oneof![likely(), any::<String>()]) {
        if let Ok(condition) = text.parse::<Condition>() {
            prop_assert!(!condition.pointers().is_empty());
            let opposite: Condition = format!("not ({text})").parse().unwrap();
            prop_assert_ne!(condition.holds(&document()), opposite.holds(&document()));
        }
    }

    #[test]
    fn of_two_numbers_one_relation_of_three_holds(one: f64, other: i64) {
        let document = Document::Float(one);
        let holds = |relation: &str| {
            let text = format!("\"\" {relation} {other}");
            text.parse::<Condition>().unwrap().holds(&document)
        };
        let relations = ["<", "==", ">"];
        let held = relations.into_iter().filter(|relation| holds(relation)).count();
        prop_assert_eq!(held, usize::from(!one.is_nan()));
        prop_assert_eq!(holds("<="), holds("<") || holds("=="));
        prop_assert_eq!(holds(">="), holds(">") || holds("=="));
        prop_assert_eq!(holds("!="), !holds("=="));
    }
}
