//! Rows that lead to checkpoints, and names: each must lead where it says.

use redb::ReadableTable as _;

use super::checkpoints::index_rows;
use super::tables::Tables;
use super::tally::{Harm, Verification};
use crate::error::Result;
use crate::key::{IndexBytes, RecordBytes, RecordKey, SourceBytes, indexed_key, sourced_key};
use crate::store::engine::fault::In;
use crate::store::engine::names;
use crate::store::transaction::sources;

/// A row of the index leads to an entry that has its name and cause.
pub(super) fn check_index(tables: &Tables<'_>, row: &IndexBytes, found: &mut Verification) {
    found.rows += 1;
    let key = indexed_key(*row);
    let place = || format!("table index, a row for {key}");
    match tables.entry(key) {
        Ok(Some(entry)) => match index_rows(tables, &entry) {
            Ok(rows) if rows.contains(&Ok(*row)) => {}
            Ok(_) => found.find(Harm::Listing, place(), "the entry has another name or cause"),
            Err(error) => found.find_error(Harm::Listing, Some(&entry), &error),
        },
        Ok(None) => found.find(Harm::Listing, place(), "there is no such entry"),
        // The check of entries reports it.
        Err(_) => {}
    }
}

/// A row of a file leads to an entry that came from it.
pub(super) fn check_source(tables: &Tables<'_>, row: &SourceBytes, found: &mut Verification) {
    found.rows += 1;
    let key = sourced_key(*row);
    let place = || format!("table sources, a row for {key}");
    match tables.entry(key) {
        Ok(Some(entry)) if sources::row_of(&entry) == Some(*row) => {}
        Ok(Some(_)) => found.find(Harm::Listing, place(), "the entry is of another file"),
        Ok(None) => found.find(Harm::Listing, place(), "there is no such entry"),
        // The check of entries reports it.
        Err(_) => {}
    }
}

/// A row of an id leads to the entry that has it.
pub(super) fn check_id(
    tables: &Tables<'_>,
    (id, key): &(String, RecordBytes),
    found: &mut Verification,
) {
    found.rows += 1;
    let place = || format!("table ids, row {id:?}");
    match tables.entry(RecordKey::from_bytes(*key)) {
        Ok(Some(entry)) if entry.id.as_str() == id => {}
        Ok(Some(_)) => found.find(Harm::Listing, place(), "it leads to another checkpoint"),
        Ok(None) => found.find(Harm::Listing, place(), "it leads to no checkpoint"),
        Err(_) => {}
    }
}

/// A row under a parent leads to an entry that names it.
pub(super) fn check_child(
    tables: &Tables<'_>,
    (parent, key): &(String, RecordBytes),
    found: &mut Verification,
) {
    found.rows += 1;
    let place = || format!("table children, a row under {parent:?}");
    match tables.entry(RecordKey::from_bytes(*key)) {
        Ok(Some(entry)) if entry.parent.as_ref().is_some_and(|it| it.as_str() == parent) => {}
        Ok(Some(_)) => found.find(Harm::Listing, place(), "the checkpoint has another parent"),
        Ok(None) => found.find(Harm::Listing, place(), "it leads to no checkpoint"),
        Err(_) => {}
    }
}

/// All names, both ways.
pub(super) fn check_names(tables: &Tables<'_>, found: &mut Verification) -> Result<()> {
    for row in tables.names.iter().within(tables.path)? {
        let (key, value) = row.within(tables.path)?;
        found.rows += 1;
        let (key, value) = (key.value(), value.value());
        let other = names::counterpart(key, value);
        let Some((other_key, other_value)) = other else {
            found.find(Harm::Reading, place(key), "it is damaged");
            continue;
        };
        let there = tables.names.get(other_key.as_slice()).within(tables.path)?;
        if there.is_none_or(|there| there.value() != other_value) {
            found.find(Harm::Listing, place(key), "the reverse row is lost or differs");
        }
    }
    Ok(())
}

fn place(key: &[u8]) -> String {
    match key {
        [0, number @ ..] => {
            let number = number.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
            format!("table names, row of number {number}")
        }
        [_, name @ ..] => format!("table names, row {:?}", String::from_utf8_lossy(name)),
        [] => "table names, a row without a key".to_owned(),
    }
}
