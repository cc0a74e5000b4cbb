//! Documents of a layout in another version of its schema.
//!
//! A migration adds what the version has and the document lacks. Must never drop a field, and
//! reports every value that it changes besides the version itself.
//!
//! An added field has the value from the document's own state, else the default that the system's
//! own migration writes. Two values are replaced: an error and failing tests that a claude document
//! has in its state are copied to the top, where the check before a resume looks.

use super::{Code, Problem, Schema, agentize, aiwg, claude};
use crate::checkpoint::{Document, Layout};

/// A document during its migration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Migration {
    pub(super) document: Document,
    /// The JSON pointers of added fields.
    pub(super) added: Vec<String>,
    /// What else the report says.
    pub(super) notes: Vec<String>,
}

/// Returns the document in a version of its layout's schema.
pub(super) fn migrate(document: &Document, schema: Schema) -> Result<Migration, Vec<Problem>> {
    match schema.layout() {
        Layout::Agentize => agentize::migrate(document, schema.as_str()),
        Layout::Claude => claude::migrate(document, schema.as_str()),
        Layout::Aiwg => aiwg::migrate(document, schema.as_str()),
        Layout::Native | Layout::Crunch | Layout::Pipeline => Ok(Migration::of(document)),
    }
}

impl Migration {
    /// A document that is as it was.
    pub(super) fn of(document: &Document) -> Self {
        Self { document: document.clone(), added: Vec::new(), notes: Vec::new() }
    }

    /// The same, for a kind of file without versions.
    pub(super) fn none_of(document: &Document, kind: &str) -> Self {
        let note = format!("is no {kind}: it has no schema to change");
        Self { notes: vec![note], ..Self::of(document) }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a field to the object at a pointer of plain keys, unless it has the field.
    pub(super) fn add(&mut self, object: &str, key: &str, value: Document) {
        let Some(fields) = fields_at(&mut self.document, object) else { return };
        if fields.iter().all(|(name, _)| name != key) {
            fields.push((key.to_owned(), value));
            self.added.push(format!("{object}/{key}"));
        }
    }

    /// Gives a field of the object at a pointer another value.
    pub(super) fn set(&mut self, object: &str, key: &str, value: Document) {
        let Some(fields) = fields_at(&mut self.document, object) else { return };
        // Readers use the last value of a duplicate key.
        if let Some((_, found)) = fields.iter_mut().rfind(|(name, _)| name == key) {
            *found = value;
            return;
        }
        fields.push((key.to_owned(), value));
        self.added.push(format!("{object}/{key}"));
    }

    /// Removes the version field, for the version that has none.
    pub(super) fn remove(&mut self, key: &str) {
        if let Some(fields) = fields_at(&mut self.document, "") {
            fields.retain(|(name, _)| name != key);
        }
    }
}

fn fields_at<'a>(
    document: &'a mut Document,
    pointer: &str,
) -> Option<&'a mut Vec<(String, Document)>> {
    let keys = pointer.split('/').skip(1);
    let found = keys.into_iter().try_fold(document, |document, key| match document {
        Document::Object(fields) => {
            fields.iter_mut().rfind(|(name, _)| name == key).map(|(_, value)| value)
        }
        _ => None,
    });
    match found? {
        Document::Object(fields) => Some(fields),
        _ => None,
    }
}

/// Says that the version of a document is none that could be migrated.
pub(super) fn unknown_version(field: &str, layout: Layout) -> Vec<Problem> {
    let rule = format!("is not a version of {layout} that can be migrated");
    vec![Problem::new(Code::Version, field, rule)]
}
