//! `waypost save --lines --about`: a document that brings its own description.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use waypost::{Error, NewEntry, Result};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(default)]
    about: BTreeMap<String, Value>,
    #[serde(borrow)]
    document: &'a RawValue,
}

/// Puts what the line says into `about`, and returns its document as it is written.
pub(super) fn open<'a>(line: &'a [u8], about: &mut NewEntry) -> Result<&'a str> {
    let envelope: Envelope<'a> =
        serde_json::from_slice(line).map_err(|error| invalid("line", error.to_string()))?;
    for (name, value) in envelope.about {
        set(about, &name, value).map_err(|reason| invalid(&format!("about.{name}"), reason))?;
    }
    Ok(envelope.document.get())
}

/// Sets one field; `null` takes back what a flag says.
fn set(about: &mut NewEntry, name: &str, value: Value) -> Result<(), String> {
    match name {
        "id" => about.id = parsed(value)?,
        "series" => about.series = parsed(value)?,
        "issue" => about.issue = parsed(value)?,
        "loop_id" => about.loop_id = parsed(value)?,
        "workflow_id" => about.workflow_id = read(value)?,
        "workflow_type" => about.workflow_type = read(value)?,
        "session_id" => about.session_id = read(value)?,
        "agent" => about.agent = read(value)?,
        "trigger" => about.trigger = parsed(value)?.unwrap_or_default(),
        "phase" => about.phase = read(value)?,
        "step" => about.step = read(value)?,
        "iteration" => about.iteration = read(value)?,
        "status" => about.status = parsed(value)?.unwrap_or_default(),
        "created_at" => about.created_at = parsed(value)?,
        "updated_at" => about.updated_at = parsed(value)?,
        "parent" => about.parent = parsed(value)?,
        "tags" => about.tags = read::<Option<_>>(value)?.unwrap_or_default(),
        "can_resume" => about.can_resume = read(value)?,
        "resume_from" => about.resume_from = read(value)?,
        "warnings" => about.warnings = read::<Option<_>>(value)?.unwrap_or_default(),
        "retention_days" => about.retention_days = read(value)?,
        _ => return Err("no such field".to_owned()),
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn parsed<T: FromStr<Err = Error>>(value: Value) -> Result<Option<T>, String> {
    let text: Option<String> = read(value)?;
    text.map(|text| text.parse()).transpose().map_err(|error: Error| error.to_string())
}

fn invalid(what: &str, reason: String) -> Error {
    Error::Invalid { what: what.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_as_it_is_written() {
        let line = br#"{"document": {"b": 1.50, "a": [ ]}}"#;
        let document = open(line, &mut NewEntry::default()).unwrap();
        assert_eq!(document, r#"{"b": 1.50, "a": [ ]}"#);
    }

    #[test]
    fn what_a_line_says_comes_before_the_flags() {
        let flags =
            NewEntry { phase: Some("a".into()), step: Some("b".into()), ..NewEntry::default() };
        let mut about = flags.clone();
        let line = br#"{"about": {"phase": "c", "step": null, "iteration": 7}, "document": 1}"#;
        open(line, &mut about).unwrap();
        let expected =
            NewEntry { phase: Some("c".into()), step: None, iteration: Some(7), ..flags };
        assert_eq!(about, expected);
    }

    #[test]
    fn unknown_fields_and_wrong_types_are_refused() {
        for (line, message) in [
            (r#"{"about": {"phas": "a"}, "document": 1}"#, "invalid about.phas: no such field"),
            (
                r#"{"about": {"iteration": "7"}, "document": 1}"#,
                "invalid about.iteration: invalid type: string \"7\", expected u64",
            ),
            (
                r#"{"about": {"issue": ""}, "document": 1}"#,
                "invalid about.issue: invalid issue: empty",
            ),
        ] {
            let error = open(line.as_bytes(), &mut NewEntry::default()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        assert!(open(br#"{"about": {}}"#, &mut NewEntry::default()).is_err());
        assert!(open(br#"{"document": 1, "x": 2}"#, &mut NewEntry::default()).is_err());
    }
}
