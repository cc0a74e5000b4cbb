//! Hostile envelopes.

use serde_json::value::RawValue;

use super::open;
use crate::checkpoint::NewEntry;
use crate::error::Error;
use crate::tape::Tape;

#[test]
fn any_envelope_is_opened_or_refused() {
    let examples = [
        r#"{"about": {"id": "x", "trigger": "iteration", "iteration": 7}, "document": {"a": 1}}"#,
        r#"{"document": [2.50], "about": {"created_at": "2026-01-25T15:00:00Z", "tags": ["a"]}}"#,
        r#"{"about": {"status": "failed", "parent": null, "retention_days": 3}, "document": 1}"#,
    ];
    let examples = examples.map(|line| line.as_bytes().to_vec());
    target!("envelope", 3000, |input: &[u8]| {
        let line = Tape::text_of(input, &examples);
        let mut about = NewEntry::default();
        match open(&line, &mut about) {
            Ok(document) => {
                let within = line.windows(document.len()).any(|it| it == document.as_bytes());
                assert!(within, "the document is a part of the line as it is");
                assert!(serde_json::from_str::<&RawValue>(document).is_ok());
            }
            Err(Error::Invalid { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    });
}
