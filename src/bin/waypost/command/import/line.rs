//! A line of an export: all that is known of a checkpoint, and its document.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use waypost::{Draft, Error, NewEntry, Store};

use super::super::save::envelope;

/// What the store finds out by itself.
const DERIVED: [&str; 5] =
    ["sequence", "document_bytes", "stored_bytes", "deleted_at", "operation"];

/// The checkpoint of a line, encoded.
pub(super) fn draft(store: &Store, line: &[u8]) -> Result<Draft, Error> {
    // serde's own wording quotes what it found, and that may be the document.
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(line).map_err(|error| {
        invalid("line", format!("not an object in JSON, at column {}", error.column()))
    })?;
    let document = fields.get("document").ok_or_else(|| {
        invalid("line", "has no `document`; `waypost export --jsonl` writes one".to_owned())
    })?;
    let mut about = NewEntry::default();
    for (name, value) in &fields {
        if name == "document" || DERIVED.contains(&name.as_str()) {
            continue;
        }
        let value = serde_json::from_str(value.get());
        let value = value.map_err(|_| invalid(name, "not JSON".to_owned()))?;
        envelope::set(&mut about, name, value).map_err(|reason| invalid(name, reason))?;
    }
    store.draft_json(about, document.get().as_bytes())
}

fn invalid(what: &str, reason: String) -> Error {
    Error::Invalid { what: what.to_owned(), reason }
}
