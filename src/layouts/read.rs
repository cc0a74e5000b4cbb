//! Parses texts into the types of the layouts.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::checkpoint::Document;
use crate::codec::{convert, read_json, read_yaml};
use crate::error::Result;

/// Reads a JSON text as one of the types of a layout.
///
/// The last value of a duplicate key counts, as in the systems' own readers.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with line and column if it is not JSON, with a JSON
/// pointer if a field is of another kind than the type says, or
/// [`Error::Limit`](crate::Error::Limit).
pub fn from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    from_json_of(json, "document")
}

/// Reads a YAML text as one of the types of a layout; as [`from_json`] in everything else.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) as there.
pub fn from_yaml<T: DeserializeOwned>(yaml: &[u8]) -> Result<T> {
    convert(&settled(read_yaml(yaml, "document")?), "document")
}

/// As [`from_json`]; errors call the text `place`.
pub(super) fn from_json_of<T: DeserializeOwned>(json: &[u8], place: &str) -> Result<T> {
    convert(&settled(read_json(json, place)?), place)
}

/// The document with every key once.
pub(super) fn settled(document: Document) -> Document {
    match document {
        Document::Array(items) => Document::Array(items.into_iter().map(settled).collect()),
        Document::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (key, settled(value)));
            Document::Object(last_of_each(fields.collect()))
        }
        other => other,
    }
}

/// A key keeps its first position and gets its last value, as in a dictionary.
fn last_of_each(fields: Vec<(String, Document)>) -> Vec<(String, Document)> {
    let mut places = BTreeMap::new();
    let mut found: Vec<(String, Document)> = Vec::with_capacity(fields.len());
    for (key, value) in fields {
        if let Some(at) = places.get(&key) {
            let earlier: &mut (String, Document) = &mut found[*at];
            earlier.1 = value;
        } else {
            places.insert(key.clone(), found.len());
            found.push((key, value));
        }
    }
    found
}
