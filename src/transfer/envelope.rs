//! A document with its own description, as one object of JSON: `{"about": {...}, "document": ...}`.
//!
//! Must never quote the document in an error: messages end up in logs.

#[cfg(test)]
mod fuzz;

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::checkpoint::NewEntry;
use crate::error::{Error, Result, Subject};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(default)]
    about: BTreeMap<String, Value>,
    #[serde(borrow)]
    document: &'a RawValue,
}

/// Sets the fields of `about` that the object names, and returns its document as it is spelled
/// there. The others keep their values, and `null` resets a field.
///
/// ```
/// use waypost::transfer::envelope::open;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let line = br#"{"about": {"issue": "42", "iteration": 7}, "document": {"score": 71}}"#;
/// let mut about = NewEntry { phase: Some("build".to_owned()), ..NewEntry::default() };
/// let document = open(line, &mut about)?;
/// let entry = store.save_draft(store.draft_json(about, document.as_bytes())?)?;
/// assert_eq!((entry.iteration, entry.phase.as_deref()), (Some(7), Some("build")));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Invalid`] if it is no such object, or if a field is unknown or of the wrong type.
pub fn open<'a>(line: &'a [u8], about: &mut NewEntry) -> Result<&'a str> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        // serde would take an array for the fields in their order.
        return Err(Error::invalid("line", "expected an object with `document`"));
    }
    // serde's own wording quotes what it found, and that may be the document.
    let envelope: Envelope<'a> = serde_json::from_slice(line).map_err(|error| {
        let reason = if error.is_data() {
            "expected an object with `document` and perhaps `about`, and nothing else"
        } else {
            "not JSON"
        };
        Error::invalid("line", format!("{reason}, at column {}", error.column()))
    })?;
    for (name, value) in envelope.about {
        set(about, &name, value)
            .map_err(|reason| Error::invalid(Subject::About(name.clone()), reason))?;
    }
    Ok(envelope.document.get())
}

/// Sets one field, or says what is wrong. `null` resets it.
pub(super) fn set(about: &mut NewEntry, name: &str, value: Value) -> Result<(), String> {
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
        "ordered_at" => about.ordered_at = parsed(value)?,
        "updated_at" => about.updated_at = parsed(value)?,
        "parent" => about.parent = parsed(value)?,
        "tags" => about.tags = read::<Option<_>>(value)?.unwrap_or_default(),
        "can_resume" => about.can_resume = read(value)?,
        "resume_from" => about.resume_from = read(value)?,
        "warnings" => about.warnings = read::<Option<_>>(value)?.unwrap_or_default(),
        "retention_days" => about.retention_days = read(value)?,
        "layout" => about.layout = parsed(value)?.unwrap_or_default(),
        "source_path" => about.source_path = read(value)?,
        _ => return Err("no such field".to_owned()),
    }
    Ok(())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|_| "of the wrong type".to_owned())
}

fn parsed<T: FromStr<Err = Error>>(value: Value) -> Result<Option<T>, String> {
    let text: Option<String> = read(value)?;
    text.map(|text| text.parse()).transpose().map_err(|error: Error| error.to_string())
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
                "invalid about.iteration: of the wrong type",
            ),
            (
                r#"{"about": {"issue": ""}, "document": 1}"#,
                "invalid about.issue: invalid issue: empty",
            ),
        ] {
            let error = open(line.as_bytes(), &mut NewEntry::default()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn a_line_that_is_no_envelope_is_refused_without_being_quoted() {
        for line in ["\"secret\"", "[\"secret\"]", "{\"about\": {}}", "{\"secret\": 2}", "secret"] {
            let error = open(line.as_bytes(), &mut NewEntry::default()).unwrap_err().to_string();
            assert!(error.starts_with("invalid line: "), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
