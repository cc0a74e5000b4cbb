//! Stored documents: any tokens at all, as a tree, as text, and passed over.

use serde::de::{Deserialize, IgnoredAny};

use super::super::super::compact::tests::writers_agree;
use super::super::super::{Bounds, DEPTH_READ, decode, encode, json, read_json, text, token};
use crate::checkpoint::{Document, Spacing, TextStyle};
use crate::tape::Tape;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: DEPTH_READ };

/// Tokens in any order, some of them where they may not be.
fn tokens(tape: &mut Tape<'_>) -> Vec<u8> {
    let mut raw = Vec::new();
    if tape.once_in(32) {
        raw = vec![*tape.pick(&[token::ARRAY, token::OBJECT]); tape.below(2 * DEPTH_READ)];
    }
    while !tape.has_ended() {
        let tag = tape.byte() % 13;
        raw.push(tag);
        match tag {
            token::UINT | token::INT => raw.push(tape.byte()),
            token::FLOAT => raw.extend(tape.number().to_le_bytes()),
            token::NUMBER | token::TEXT | token::BYTES => {
                let text = tape.text();
                raw.push(u8::try_from(text.len()).unwrap_or(250));
                raw.extend(text.into_bytes());
            }
            _ => {}
        }
    }
    raw
}

fn tree(raw: &[u8]) -> Option<Document> {
    let mut decoder = decode::Decoder::new(raw, DEPTH_READ);
    let tree = Document::deserialize(&mut decoder).ok()?;
    decoder.finish().ok().map(|()| tree)
}

fn depth(document: &Document) -> usize {
    match document {
        Document::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Document::Object(fields) => 1 + fields.iter().map(|it| depth(&it.1)).max().unwrap_or(0),
        _ => 0,
    }
}

fn values(document: &Document) -> usize {
    1 + match document {
        Document::Array(items) => items.iter().map(values).sum(),
        Document::Object(fields) => fields.iter().map(|(_, value)| values(value)).sum(),
        _ => 0,
    }
}

fn has_only_numbers(document: &Document) -> bool {
    match document {
        Document::Array(items) => items.iter().all(has_only_numbers),
        Document::Object(fields) => fields.iter().all(|(_, value)| has_only_numbers(value)),
        Document::Number(literal) => json::is_number(literal),
        _ => true,
    }
}

fn check(raw: &[u8]) {
    let style = TextStyle { spacing: Spacing::Indent(1), ..TextStyle::default() };
    let texts = [TextStyle::default(), TextStyle { is_ascii: true, ..style }];
    let [compact, indented] = texts.map(|style| text::to_text(raw, style).ok());
    assert_eq!(compact.is_some(), indented.is_some());
    writers_agree(raw);
    let mut decoder = decode::Decoder::new(raw, DEPTH_READ);
    let is_passed = IgnoredAny::deserialize(&mut decoder).is_ok() && decoder.finish().is_ok();
    let Some(tree) = tree(raw) else { return };
    assert!(is_passed, "what is read can be passed over");
    assert!(compact.is_some(), "what is a tree is a text");
    assert!(depth(&tree) <= DEPTH_READ);
    assert!(values(&tree) <= raw.len());
    let again = encode(&tree, BOUNDS, 0);
    assert_eq!(again.is_ok(), has_only_numbers(&tree));
    let Ok(again) = again else { return };
    let second = self::tree(&again).expect("what is written is read");
    // Bytes, since NaN is not like itself.
    assert_eq!(encode(&second, BOUNDS, 0).unwrap(), again);
    let has_bytes = format!("{tree:?}").contains("Bytes(");
    if depth(&tree) <= Bounds::DEFAULT.depth && !has_bytes {
        for text in [compact, indented].into_iter().flatten() {
            let read = read_json(text.as_bytes(), "text").expect("what is shown is JSON");
            assert_eq!(
                read.to_json(TextStyle::default()).ok(),
                text::to_text(&again, TextStyle::default()).ok()
            );
        }
    }
}

#[test]
fn any_tokens_are_a_document_or_refused() {
    target!("tokens", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        if tape.once_in(4) {
            return check(tape.rest());
        }
        if tape.once_in(2) {
            return check(&tokens(&mut tape));
        }
        let Ok(mut raw) = json::read(tape.json().as_bytes(), Bounds::DEFAULT) else { return };
        assert!(tree(&raw).is_some());
        tape.mutate(&mut raw);
        check(&raw);
    });
}
