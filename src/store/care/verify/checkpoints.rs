//! Checkpoints: entry, document, captured files, and the rows that must lead to each.

use std::sync::Arc;

use serde::de::IgnoredAny;

use super::tables::Tables;
use super::tally::{Harm, Verification};
use crate::checkpoint::{Checkpoint, Entry};
use crate::codec::{FoundFrame, NameKind, cause, derived_tail};
use crate::error::{Error, Result};
use crate::key::{ANY_NAME, DeletedBytes, NameId, RecordBytes, RecordKey, index_row};
use crate::store::ask::restorable::restorable;
use crate::store::engine::fault::{In, without_panics};
use crate::store::files::artifact::artifacts_in;
use crate::store::transaction::listing::listed_names;
use crate::store::transaction::sources;

/// Checks a checkpoint that was not deleted.
pub(super) fn check_record(
    tables: &Tables<'_>,
    (key, record): &(RecordBytes, Vec<u8>),
    found: &mut Verification,
) {
    found.rows += 1;
    found.checkpoints += 1;
    let entry = match tables.lookup().decode(RecordKey::from_bytes(*key), record) {
        Ok(entry) => entry,
        Err(error) => return found.find_error(Harm::Reading, None, &error),
    };
    check_stored(tables, &entry, found);
    let length = without_panics(tables.path, || tables.unpacker().bytes(entry.sequence));
    // A deleted one may be stored anew; its entry is updated when it is restored.
    if length.is_ok_and(|bytes| bytes.len() as u64 != entry.stored_bytes) {
        found.find_at(Harm::Upkeep, &entry, "its entry says a different stored length");
    }
    let listed = without_panics(tables.path, || check_listed(tables, &entry, found));
    if let Err(error) = listed {
        blame((Harm::Listing, &entry), &error, found);
    }
}

/// Checks what is stored for an entry. A lost page hurts each checkpoint with a row on it, so each
/// is named.
fn check_stored(tables: &Tables<'_>, entry: &Entry, found: &mut Verification) {
    let checked = without_panics(tables.path, || {
        check_document(tables, entry, found);
        Ok(())
    });
    let captured = without_panics(tables.path, || {
        check_artifacts(tables, entry, found);
        Ok(())
    });
    for error in [checked, captured].into_iter().filter_map(Result::err) {
        blame((Harm::Reading, entry), &error, found);
    }
}

/// Names the checkpoint that an error is about, where the engine knows only the file.
fn blame((harm, entry): (Harm, &Entry), error: &Error, found: &mut Verification) {
    match error {
        Error::Corrupt { reason, .. } if error.is_of_engine() => {
            found.find_at(harm, entry, reason);
        }
        other => found.find_error(harm, Some(entry), other),
    }
}

/// Checks a checkpoint that was deleted and can be restored.
pub(super) fn check_deleted(
    tables: &Tables<'_>,
    (row, value): &(DeletedBytes, Vec<u8>),
    found: &mut Verification,
) {
    found.rows += 1;
    found.deleted += 1;
    match restorable(*row, value, |key, record| tables.lookup().decode(key, record)) {
        Ok(deleted) => check_stored(tables, &deleted.entry, found),
        Err(error) => found.find_error(Harm::Reading, None, &error),
    }
}

fn check_document(tables: &Tables<'_>, entry: &Entry, found: &mut Verification) {
    let checkpoint = match tables.unpacker().raw(entry) {
        Ok(raw) => Checkpoint { entry: entry.clone(), raw },
        Err(Error::Key { .. }) => return check_sealed(tables, entry, found),
        Err(error) => return blame((Harm::Reading, entry), &error, found),
    };
    let is_document = checkpoint.state::<IgnoredAny>();
    // A checkpoint from a file must give that file back.
    let has_style = entry.source.is_some_and(|source| source.style.is_some());
    let text = if has_style { checkpoint.source_text().map(drop) } else { Ok(()) };
    match is_document.map(drop).and(text) {
        Ok(()) => {
            found.documents += 1;
            found.document_bytes += entry.document_bytes;
            let head = tables.unpacker().head(entry.sequence).unwrap_or_default();
            if let Ok(frame) = FoundFrame::parse(&head) {
                found.compare(tables.sealing, frame.key);
            }
        }
        Err(error) => found.find_at(Harm::Reading, entry, error),
    }
}

/// Checks a document as stored, without the key that it or a base of it needs.
fn check_sealed(tables: &Tables<'_>, entry: &Entry, found: &mut Verification) {
    found.sealed += 1;
    let bytes = match tables.unpacker().bytes(entry.sequence) {
        Ok(bytes) => bytes,
        Err(error) => return blame((Harm::Reading, entry), &error, found),
    };
    let stored = FoundFrame::parse(&bytes).and_then(|frame| {
        // The sum of a plain document is over its raw bytes, which cannot be had here.
        if frame.key.is_some() {
            frame.verify(entry.sequence, &[])?;
        }
        Ok(frame.key)
    });
    match stored {
        Ok(key) => found.compare(tables.sealing, key),
        Err(reason) => found.find_at(Harm::Reading, entry, reason),
    }
}

fn check_artifacts(tables: &Tables<'_>, entry: &Entry, found: &mut Verification) {
    if entry.artifact_count == 0 {
        return;
    }
    let artifacts = match &tables.artifacts {
        Some(table) => artifacts_in(table, entry, tables.path),
        None => Err(Error::corrupt("artifacts", "the table is missing")),
    };
    match artifacts {
        Ok(artifacts) => found.artifacts += artifacts.len() as u64,
        Err(error) => blame((Harm::Reading, entry), &error, found),
    }
}

/// Every row that leads to an entry is there.
fn check_listed(tables: &Tables<'_>, entry: &Entry, found: &mut Verification) -> Result<()> {
    let Tables { path, ids, children, index, .. } = tables;
    let key = RecordKey::of(entry);
    if derived_tail(entry).is_none() {
        let row = ids.get(entry.id.as_str()).within(path)?.map(|row| row.value());
        if row != Some(key.to_bytes()) {
            found.find_at(Harm::Listing, entry, "the row of its id is lost or leads elsewhere");
        }
    }
    let lag = entry.ordered_at.map_or(0, |time| entry.created_at.micros_until(time));
    if lag > tables.lag_max {
        let reason = "its date lags behind its place in the order by more than the longest lag in \
                      `meta`, so `--until` may miss it";
        found.find_at(Harm::Listing, entry, reason);
    }
    if let Some(parent) = &entry.parent {
        let row = (parent.as_str(), key.to_bytes());
        let is_there = match children {
            Some(children) => children.get(row).within(path)?.is_some(),
            None => false,
        };
        if !is_there {
            found.find_at(Harm::Listing, entry, "the row under its parent is lost");
        }
    }
    if let Some((sources, row)) = tables.sources.as_ref().zip(sources::row_of(entry))
        && sources.get(row).within(path)?.is_none()
    {
        found.find_at(Harm::Listing, entry, "the row that leads to it from its file is lost");
    }
    for row in index_rows(tables, entry)? {
        let is_there = match row {
            Ok(row) => index.get(row).within(path)?.is_some(),
            Err(()) => false,
        };
        if !is_there {
            found.find_at(Harm::Listing, entry, "a row of the index that leads to it is lost");
        }
    }
    Ok(())
}

/// The rows of the index that lead to an entry; an error for a name that has no number.
pub(super) fn index_rows(
    tables: &Tables<'_>,
    entry: &Entry,
) -> Result<Vec<std::result::Result<[u8; 22], ()>>> {
    let number = |kind: NameKind, name: &str| -> Result<Option<NameId>> {
        tables.known.find(&tables.names, &(kind, Arc::from(name)), tables.path)
    };
    let Some(cause) = number(NameKind::Cause, &cause(entry.status, &entry.trigger))? else {
        return Ok(vec![Err(())]);
    };
    let key = RecordKey::of(entry);
    let mut rows = vec![Ok(index_row(ANY_NAME, cause, key))];
    for (kind, name) in listed_names(entry) {
        rows.push(number(kind, name)?.map(|name| index_row(name, cause, key)).ok_or(()));
    }
    Ok(rows)
}
