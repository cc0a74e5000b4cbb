//! JSON text, compared with another reader.

use serde_json::Value;

use super::super::super::{Bounds, encode_json, text, token};
use crate::checkpoint::{Spacing, TextStyle};
use crate::error::Error;
use crate::tape::Tape;

/// What this reader accepts and the other does not.
fn is_beyond_standard(text: &str, error: &serde_json::Error) -> bool {
    let message = error.to_string();
    text.starts_with('\u{feff}')
        || text.contains("NaN")
        || text.contains("Infinity")
        || message.starts_with("number out of range")
        // The same depth; the other counts the last one as too deep.
        || message.starts_with("recursion limit exceeded")
}

fn check(input: &[u8]) {
    let ours = encode_json(input, Bounds::DEFAULT);
    let theirs = serde_json::from_slice::<Value>(input);
    let (raw, text) = match (ours, std::str::from_utf8(input)) {
        (Ok(raw), Ok(text)) => (raw, text),
        (Ok(_), Err(_)) => panic!("read what is no text"),
        (Err(Error::Limit { .. }), _) => return,
        (Err(error), _) => {
            assert!(theirs.is_err(), "refused, and the other reads it: {error}");
            return;
        }
    };
    assert!(raw.first().is_some_and(|tag| *tag < token::END));
    // A tag and a length take no more than quotes and commas.
    assert!(raw.len() <= 9 * input.len(), "{} of {}", raw.len(), input.len());
    for spacing in [Spacing::Compact, Spacing::Spaced, Spacing::Tab, Spacing::Indent(3)] {
        for is_ascii in [false, true] {
            let style = TextStyle { spacing, is_ascii, ..TextStyle::default() };
            let written = text::to_text(&raw, style).expect("what is read can be written");
            assert!(!is_ascii || written.is_ascii());
            let again = encode_json(written.as_bytes(), Bounds::DEFAULT).unwrap();
            assert_eq!(again, raw, "what is written is read as the same");
        }
    }
    match theirs {
        Ok(theirs) => {
            let compact = text::to_text(&raw, TextStyle::default()).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&compact).unwrap(), theirs);
        }
        Err(error) => assert!(is_beyond_standard(text, &error), "{text:?}: {error}"),
    }
}

#[test]
fn any_text_is_read_as_another_reader_reads_it() {
    target!("json", 4000, |input: &[u8]| {
        if std::str::from_utf8(input).is_ok() {
            return check(input);
        }
        let mut tape = Tape::new(input);
        let mut text = tape.json().into_bytes();
        if tape.once_in(2) {
            tape.mutate(&mut text);
        }
        check(&text);
    });
}
