//! Our own form of a checkpoint as a file: all of its entry, and its document.
//!
//! `native/SERIES/ID.json`, where both are safe names of any text; see [`safe_name`].

mod standing;

use super::Problem;
use super::part::safe_name;
use super::write::{LayoutFile, Paths, misfit};
use crate::checkpoint::{Document, Entry, Format, SourceForm, Spacing, TextStyle};
use crate::codec::convert;

pub(super) use standing::{DONE, LAST_ACTION, REMAINING, standing};

pub(super) const FORM: SourceForm = SourceForm {
    format: Format::Json,
    style: Some(TextStyle {
        spacing: Spacing::Indent(2),
        is_ascii: false,
        has_final_newline: true,
        has_byte_order_mark: false,
    }),
    is_gzip: false,
    mode: Some(0o600),
    modified_at: None,
    line: None,
    text_bytes: 0,
};

pub(super) fn file(entry: &Entry, document: &Document) -> Result<LayoutFile, Vec<Problem>> {
    let paths = paths(entry);
    let mut whole: Document = convert(entry, "entry").map_err(|error| vec![misfit(&error)])?;
    if let Document::Object(fields) = &mut whole {
        fields.push(("document".to_owned(), document.clone()));
    }
    Ok(LayoutFile::new(paths, whole, FORM))
}

/// Ids are unique in a store, so no other path is ever needed.
pub(super) fn paths(entry: &Entry) -> Paths {
    let (series, id) = (safe_name(entry.series.as_str()), safe_name(entry.id.as_str()));
    Paths { path: format!("native/{series}/{id}.json"), other_path: None }
}
