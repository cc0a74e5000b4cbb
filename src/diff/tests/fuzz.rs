//! Hostile documents: duplicate keys, numbers in all spellings, elements that are all alike.

use super::apply;
use crate::checkpoint::Document;
use crate::diff::{Line, Pointer, compare_numbers, diff, lines};
use crate::tape::Tape;

const DEPTH_MAX: usize = 12;

/// Few values and keys, so that equal ones meet often.
fn document(tape: &mut Tape<'_>, depth: usize) -> Document {
    match tape.byte() % 12 {
        0 => Document::Null,
        1 => Document::Bool(tape.once_in(2)),
        2 => Document::Uint(tape.number()),
        3 => Document::Int(-1 - tape.signed().saturating_abs()),
        4 => Document::Float(f64::from_bits(tape.number())),
        5 => Document::Number(
            tape.pick(&["1e0", "1.50", "1e999999999999", "-0", "12345678901234567890123", "0e-9"])
                .to_string(),
        ),
        6 => Document::Text(tape.text()),
        7 => Document::Bytes(vec![tape.byte()]),
        8..10 if depth < DEPTH_MAX => {
            Document::Array((0..tape.below(7)).map(|_| document(tape, depth + 1)).collect())
        }
        10..12 if depth < DEPTH_MAX => Document::Object(
            (0..tape.below(6)).map(|_| (key(tape), document(tape, depth + 1))).collect(),
        ),
        _ => Document::Uint(1),
    }
}

fn key(tape: &mut Tape<'_>) -> String {
    tape.pick(&["", "a", "b", "id", "name", "a/b", "~", "~1", "0"]).to_string()
}

/// Changes some of the values in a document.
fn change(tape: &mut Tape<'_>, document: &mut Document) {
    match document {
        Document::Array(items) if !items.is_empty() => {
            let at = tape.below(items.len());
            match tape.byte() % 5 {
                0 => drop(items.remove(at)),
                1 => items.insert(at, self::document(tape, DEPTH_MAX - 2)),
                2 => items.rotate_left(at),
                3 => items.push(items[at].clone()),
                _ => change(tape, &mut items[at]),
            }
        }
        Document::Object(fields) if !fields.is_empty() => {
            let at = tape.below(fields.len());
            match tape.byte() % 4 {
                0 => drop(fields.remove(at)),
                1 => fields.push((key(tape), self::document(tape, DEPTH_MAX - 2))),
                _ => change(tape, &mut fields[at].1),
            }
        }
        other => *other = self::document(tape, DEPTH_MAX - 2),
    }
}

#[test]
fn any_document_becomes_any_other_by_its_patch() {
    target!("diff", 2500, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let mut old = document(&mut tape, 0);
        if let Document::Array(items) = &mut old
            && tape.once_in(2)
        {
            // Many that are alike.
            let times = 1 + tape.below(12);
            *items = items.iter().cycle().take(times * items.len()).cloned().collect();
        }
        let mut new = old.clone();
        for _ in 0..tape.below(6) {
            change(&mut tape, &mut new);
        }
        if tape.once_in(5) {
            new = document(&mut tape, 0);
        }
        let found = diff(&old, &new);
        apply::check(&old, &new, &found.to_patch());
        assert_eq!(found.is_empty(), found.changes().is_empty());
        assert!(diff(&new, &new.clone()).is_empty());
    });
}

#[test]
fn any_two_texts_are_in_their_lines() {
    target!("lines", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let line = |tape: &mut Tape<'_>| tape.pick(&["a\n", "b\n", "\n", "c", "\r\n"]).to_string();
        let old: String = (0..tape.below(40)).map(|_| line(&mut tape)).collect();
        let new: String = (0..tape.below(40)).map(|_| line(&mut tape)).collect();
        let (mut was, mut is) = (String::new(), String::new());
        for line in lines(&old, &new) {
            match line {
                Line::Kept(line) => {
                    was.push_str(line);
                    is.push_str(line);
                }
                Line::Removed(line) => was.push_str(line),
                Line::Added(line) => is.push_str(line),
            }
        }
        assert_eq!((was, is), (old, new));
    });
}

#[test]
fn any_pointer_and_any_number_is_taken_or_refused() {
    target!("pointer", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let text = match std::str::from_utf8(input) {
            Ok(text) => text.to_owned(),
            Err(_) => (0..tape.below(5)).flat_map(|_| ["/".to_owned(), tape.text()]).collect(),
        };
        let document = document(&mut tape, 0);
        if let Ok(pointer) = text.parse::<Pointer>() {
            assert_eq!(pointer.as_str(), text);
            let _ = pointer.find(&document);
        }
        let (one, other) = (self::document(&mut tape, DEPTH_MAX), document);
        let compared = compare_numbers(&one, &other);
        assert_eq!(compare_numbers(&other, &one), compared.map(std::cmp::Ordering::reverse));
        let long = Document::Number(format!("{}e{}", tape.number(), tape.signed()));
        assert_eq!(compare_numbers(&long, &long), Some(std::cmp::Ordering::Equal));
    });
}
