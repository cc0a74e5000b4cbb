//! Files on their way in: what is kept reproduces the very bytes.

use super::super::super::{Source, text};
use crate::checkpoint::{Format, Spacing, TextStyle};
use crate::tape::Tape;

/// The bytes that a checkpoint of this source gives back.
fn given_back(source: &Source) -> Vec<u8> {
    let (document, kept) = source.raw.split_at(source.document_bytes);
    let Some(style) = source.form.style else {
        assert_eq!(kept.len() as u64, source.form.text_bytes);
        return kept.to_owned();
    };
    assert!(kept.is_empty());
    text::to_text(document, style).unwrap().into_bytes()
}

fn check(source: &Source, input: &[u8]) {
    assert_eq!(given_back(source), input);
    let document = source.document().expect("a source has a document");
    assert!(source.outline().unwrap().to_json(TextStyle::default()).is_ok());
    if source.form.format == Format::Unreadable {
        return;
    }
    let json = document.to_json(TextStyle::default()).unwrap();
    let kept = source.form.style.is_none().then_some(input);
    let restored = Source::restored(json.as_bytes(), source.form, kept).unwrap();
    assert_eq!(given_back(&restored), input, "after it was exported and imported");
}

/// A text as programs write it, or with something that no program writes.
fn any_json(tape: &mut Tape<'_>) -> Vec<u8> {
    let indent = Spacing::Indent(tape.byte());
    let style = TextStyle {
        spacing: *tape.pick(&[Spacing::Compact, Spacing::Spaced, Spacing::Tab, indent]),
        is_ascii: tape.once_in(2),
        has_final_newline: tape.once_in(2),
        has_byte_order_mark: tape.once_in(2),
    };
    let json = tape.json();
    let document = crate::checkpoint::Document::from_json(json.as_bytes());
    let styled = document.and_then(|document| document.to_json(style));
    let mut text = styled.unwrap_or(json).into_bytes();
    if tape.once_in(2) {
        tape.mutate(&mut text);
    }
    text
}

#[test]
fn any_file_comes_back_byte_for_byte() {
    target!("source", 3000, |input: &[u8]| {
        let made = match std::str::from_utf8(input) {
            Ok(_) => input.to_owned(),
            Err(_) => any_json(&mut Tape::new(input)),
        };
        check(&Source::unreadable(&made), &made);
        if let Ok(source) = Source::from_yaml(&made) {
            check(&source, &made);
        }
        let Ok(source) = Source::from_json(&made) else { return };
        check(&source, &made);
        let is_line = !made.contains(&b'\n');
        if is_line {
            let line = source.at_line(3, true);
            assert_eq!(given_back(&line), [made.as_slice(), b"\n"].concat());
        }
    });
}
