//! What is said about two documents, example by example.
//!
//! Covers the operations between two documents, patches that are applied (`apply`), random and
//! hostile documents, and large ones.

mod apply;
mod fuzz;
mod large;
mod random;

use std::fmt::Write as _;
use std::time::Instant;

use super::*;
use crate::checkpoint::TextStyle;

fn json(text: &str) -> Document {
    Document::from_json(text.as_bytes()).unwrap()
}

/// The patch between two texts, an operation a line; checked by applying it.
fn patch(old: &str, new: &str) -> String {
    let (old, new) = (json(old), json(new));
    let operations = diff(&old, &new).to_patch();
    apply::check(&old, &new, &operations);
    operations.iter().fold(String::new(), |mut text, operation| {
        let line = operation.to_document().to_json(TextStyle::default()).unwrap();
        let _ = writeln!(text, "{line}");
        text
    })
}

#[test]
fn fields_are_compared_by_key() {
    let old = r#"{"a": 1, "b": {"c": [], "d": 2}, "e": 3}"#;
    let new = r#"{"b": {"d": 5, "c": []}, "e": null, "f": "x"}"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"remove","path":"/a"}
    {"op":"replace","path":"/b/d","value":5}
    {"op":"replace","path":"/e","value":null}
    {"op":"add","path":"/f","value":"x"}
    "#);
}

#[test]
fn one_element_more_is_one_operation() {
    let numbers: Vec<String> = (0..187).map(|it| format!("{{\"step\": {it}}}")).collect();
    let old = format!("[{}]", numbers.join(","));
    for at in [0, 1, 90, 187] {
        let mut longer = numbers.clone();
        longer.insert(at, "\"new\"".to_owned());
        let new = format!("[{}]", longer.join(","));
        let added = format!("{{\"op\":\"add\",\"path\":\"/{at}\",\"value\":\"new\"}}\n");
        assert_eq!(patch(&old, &new), added);
        assert_eq!(patch(&new, &old), format!("{{\"op\":\"remove\",\"path\":\"/{at}\"}}\n"));
    }
}

#[test]
fn an_element_that_moved_is_one_operation() {
    for (old, new, operation) in [
        ("[1, 2, 3, 4, 5]", "[5, 1, 2, 3, 4]", r#"{"op":"move","from":"/4","path":"/0"}"#),
        ("[1, 2, 3, 4, 5]", "[2, 3, 4, 1, 5]", r#"{"op":"move","from":"/0","path":"/3"}"#),
        ("[1, 2, 3, 4, 5]", "[2, 3, 4, 5, 1]", r#"{"op":"move","from":"/0","path":"/4"}"#),
    ] {
        assert_eq!(patch(old, new).trim_end(), operation);
    }
}

#[test]
fn an_element_that_changed_inside_stays_in_its_place() {
    let old = r#"[{"id": 1, "s": "open"}, {"id": 2, "s": "open"}, {"id": 3, "s": "open"}]"#;
    let new = r#"[{"id": 0, "s": "new"}, {"id": 1, "s": "open"}, {"id": 2, "s": "done"}]"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"replace","path":"/1/s","value":"done"}
    {"op":"remove","path":"/2"}
    {"op":"add","path":"/0","value":{"id":0,"s":"new"}}
    "#);
}

#[test]
fn an_element_that_moved_and_changed_is_known_by_its_name() {
    let old = r#"[{"id": "a", "s": 1}, {"id": "b", "s": 1}, {"id": "c", "s": 1}, {"id": "d"}]"#;
    let new = r#"[{"id": "d", "s": 0}, {"id": "a", "s": 1}, {"id": "b", "s": 1}, {"id": "x"}]"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"add","path":"/3/s","value":0}
    {"op":"replace","path":"/2","value":{"id":"x"}}
    {"op":"move","from":"/3","path":"/0"}
    "#);
}

/// Each path would be as long as the key: a gigabyte in all.
#[test]
fn a_long_key_is_not_told_again_and_again() {
    let inside = |from: u64| (from..from + 1_000).map(Document::Uint).collect::<Vec<_>>();
    let object = |numbers: Vec<Document>| {
        let field = |value| Document::Object(vec![("n".to_owned(), value)]);
        let array = Document::Array(numbers.into_iter().map(field).collect());
        Document::Object(vec![("k".repeat(1 << 20), array), ("a".to_owned(), Document::Null)])
    };
    let (old, new) = (object(inside(0)), object(inside(1_000)));
    let operations = diff(&old, &new).to_patch();
    apply::check(&old, &new, &operations);
    let [PatchOperation::Replace { path, .. }] = &operations[..] else {
        panic!("it is one change")
    };
    assert_eq!(path.as_str().len(), 1 + (1 << 20));
}

#[test]
fn what_is_most_alike_is_taken_for_the_same() {
    let old = r#"[[1, 2, 3], "the tests of the parser fail"]"#;
    let new = r#"["something else", [1, 2, 4], "more", "the tests of the parser pass"]"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"replace","path":"/0/2","value":4}
    {"op":"replace","path":"/1","value":"the tests of the parser pass"}
    {"op":"add","path":"/0","value":"something else"}
    {"op":"add","path":"/2","value":"more"}
    "#);
}

#[test]
fn where_nothing_is_left_the_new_value_says_it_all() {
    let old = r#"{"a": [1, 2, 3], "b": [1], "c": []}"#;
    let new = r#"{"a": [4, 5], "b": [2], "c": [1, 2]}"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"replace","path":"/a","value":[4,5]}
    {"op":"replace","path":"/b/0","value":2}
    {"op":"replace","path":"/c","value":[1,2]}
    "#);
    assert_eq!(patch("1", "[]"), "{\"op\":\"replace\",\"path\":\"\",\"value\":[]}\n");
}

#[test]
fn elements_move_come_and_go_at_the_same_time() {
    let old = r#"[1, 2, 3, 4, 5, 6, 7, 8, {"a": 1, "b": [1, 2]}]"#;
    let new = r#"[8, 1, "x", 3, 2, 7, {"a": 1, "b": [2, 1]}, 5, "y"]"#;
    insta::assert_snapshot!(patch(old, new), @r#"
    {"op":"move","from":"/8/b/0","path":"/8/b/1"}
    {"op":"remove","path":"/5"}
    {"op":"remove","path":"/3"}
    {"op":"move","from":"/5","path":"/0"}
    {"op":"add","path":"/3","value":"x"}
    {"op":"move","from":"/2","path":"/5"}
    {"op":"move","from":"/4","path":"/7"}
    {"op":"add","path":"/8","value":"y"}
    "#);
}

#[test]
fn changes_are_told_by_where_values_were_and_are() {
    let old = json(r#"{"q": [1, 2, {"a": 1}, 4, 5], "gone": 1}"#);
    let new = json(r#"{"q": [5, 0, 1, {"a": 2}, 4], "come": 2}"#);
    let text = diff(&old, &new).changes().iter().fold(String::new(), |mut text, change| {
        let _ = match change {
            Change::Added { at, .. } => writeln!(text, "+ {at}"),
            Change::Removed { from, .. } => writeln!(text, "- {from}"),
            Change::Replaced { at, .. } => writeln!(text, "= {at}"),
            Change::Moved { from, at, .. } => writeln!(text, "~ {from} {at}"),
        };
        text
    });
    insta::assert_snapshot!(text, @"
    - /gone
    ~ /q/4 /q/0
    + /q/1
    - /q/1
    = /q/3/a
    + /come
    ");
}

#[test]
fn keys_of_any_kind_are_pointed_to() {
    let new = r#"{"": 1, "a/b": 1, "m~n": 1, "~1": 1, "\u0000\n": 1, "0": 1}"#;
    insta::assert_snapshot!(patch("{}", new), @r#"
    {"op":"add","path":"/","value":1}
    {"op":"add","path":"/a~1b","value":1}
    {"op":"add","path":"/m~0n","value":1}
    {"op":"add","path":"/~01","value":1}
    {"op":"add","path":"/\u0000\n","value":1}
    {"op":"add","path":"/0","value":1}
    "#);
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(patch(r#"{"a": 1, "a": 2}"#, r#"{"a": 2}"#), "");
    assert_eq!(patch(r#"{"a": 2, "b": 3, "a": 1}"#, r#"{"b": 3, "a": 0, "a": 1}"#), "");
    let added = "{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}\n";
    assert_eq!(patch(r#"{"a": 1, "a": 2}"#, r#"{"a": 2, "a": 1}"#), added);
    let many: Vec<String> = (0..50).map(|it| format!("\"{it}\": 0, ")).collect();
    let many = many.concat();
    assert_eq!(patch(&format!("{{{many}\"7\": 1}}"), &format!("{{{many}\"7\": 1}}")), "");
}

#[test]
fn looks_are_told_where_nothing_else_differs() {
    for (old, new, is_reordered, is_respelled) in [
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, true, false),
        ("[1, 1.50, -0.0]", "[1.0, 15e-1, 0]", false, true),
        ("[NaN, -Infinity]", "[NaN, -Infinity]", false, false),
        (r#"[{"a": 1, "b": [2]}]"#, r#"[{"b": [2e0], "a": 1}]"#, true, true),
    ] {
        let (old, new) = (json(old), json(new));
        let diff = diff(&old, &new);
        assert!(diff.is_empty());
        assert_eq!((diff.is_reordered(), diff.is_respelled()), (is_reordered, is_respelled));
    }
}

#[test]
fn numbers_are_compared_exactly() {
    for (old, new) in [
        ("9007199254740993", "9007199254740992"),
        ("123456789012345678901234567890", "123456789012345678901234567891"),
        ("NaN", "null"),
        ("Infinity", "-Infinity"),
        ("1", "\"1\""),
        ("1", "true"),
    ] {
        assert_ne!(patch(old, new), "", "{old} {new}");
    }
}

#[test]
fn what_is_too_deep_is_not_looked_into() {
    let nested = |inner: Document, depth: usize| {
        (0..depth).fold(inner, |inner, _| Document::Array(vec![Document::Null, inner]))
    };
    let (old, new) = (nested(Document::Uint(1), 511), nested(Document::Uint(2), 511));
    let shallow = diff(&old, &new).to_patch();
    let [PatchOperation::Replace { path, .. }] = &shallow[..] else { panic!("{shallow:?}") };
    assert_eq!(path.as_str(), "/1".repeat(511));
    let (old, new) = (nested(Document::Uint(1), 2_000), nested(Document::Uint(2), 2_000));
    assert_eq!(diff(&old, &new).to_patch().len(), 1);
    // Who can tell? It is right in any case.
    assert!(!diff(&old, &old).is_empty());
}

/// Each of these would take many minutes if pairs of elements were compared.
#[test]
fn long_arrays_take_time_in_proportion() {
    let numbers = |from: u64, to: u64| (from..to).map(Document::Uint).collect::<Vec<_>>();
    let objects = |from: u64, to: u64| -> Vec<Document> {
        (from..to).map(|it| Document::Object(vec![("n".to_owned(), Document::Uint(it))])).collect()
    };
    let reversed = |mut items: Vec<Document>| {
        items.reverse();
        items
    };
    for (old, new) in [
        (numbers(0, 100_000), numbers(100_000, 200_000)),
        (numbers(0, 100_000), reversed(numbers(0, 100_000))),
        (objects(0, 50_000), objects(60_000, 120_000)),
        (vec![Document::Null; 100_000], vec![Document::Bool(true); 80_000]),
    ] {
        let (old, new) = (Document::Array(old), Document::Array(new));
        let started = Instant::now();
        let _ = diff(&old, &new).to_patch();
        assert!(started.elapsed().as_secs() < 60);
    }
}
