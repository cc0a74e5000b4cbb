//! The versions of the schema: 2.0 names the loop, 1.0 knows a single one.
//!
//! A file stays where it is: the schema moves no checkpoint of a single loop to those of many.

use super::SchemaVersion;
use crate::checkpoint::{Document, Layout};
use crate::layouts::Problem;
use crate::layouts::given::object;
use crate::layouts::migrate::{Migration, unknown_version};
use crate::layouts::reading::{at, is_object, text, word};

pub(in crate::layouts) fn migrate(
    document: &Document,
    to: &str,
) -> Result<Migration, Vec<Problem>> {
    const KEY: &str = "schema_version";
    if text(document, "checkpoint_id").is_none() || !is_object(document, "state") {
        return Ok(Migration::none_of(document, "checkpoint of the schema"));
    }
    let from = word(document, "metadata.schema_version");
    let known = [SchemaVersion::V1, SchemaVersion::V2].map(SchemaVersion::as_str);
    if from.as_ref().is_some_and(|from| !known.contains(&&**from)) {
        return Err(unknown_version("/metadata/schema_version", Layout::Aiwg));
    }
    let mut migration = Migration::of(document);
    if from.as_deref() == Some(to) {
        return Ok(migration);
    }
    if at(document, "metadata").is_none() {
        migration.set("", "metadata", object([]));
    }
    migration.set("/metadata", KEY, Document::Text(to.to_owned()));
    let names_loop = at(document, "loop_id").is_some();
    if to == SchemaVersion::V1.as_str() && names_loop {
        migration.note("/loop_id is kept: schema 1.0 has none");
    } else if !names_loop && text(document, "workflow_type") == Some("ralph_loop") {
        migration.note("names no loop: it stays one of a single loop");
    }
    Ok(migration)
}
