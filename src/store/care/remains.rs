//! What remains of a damaged store: its rows, read page by page without the engine, and the
//! checkpoints that they still make.
//!
//! `repair` saves what this finds; `verify` only names what is lost. Must never write.

mod chunks;
mod documents;
pub(in crate::store::care) mod keys;
pub(in crate::store::care) mod notes;
pub(in crate::store::care) mod rows;
pub(in crate::store::care) mod salvage;
mod strays;
pub(in crate::store::care) mod survey;
mod trees;
pub(in crate::store::care) mod waiting;

use std::path::Path;

use serde::Serialize;

use crate::checkpoint::Id;
use crate::error::{Damage, Error, Result};
use crate::store::engine::pages::Pages;
use crate::store::engine::table::{FORMAT, FORMAT_KEY};
use rows::Rows;
use trees::Trees;

/// Something that a repair could not save, or is not sure of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lost {
    /// The checkpoint, the captured file, or the row.
    pub place: String,
    /// Why.
    pub reason: String,
    /// The checkpoint, if it is one and can be told.
    pub checkpoint: Option<Id>,
}

impl Lost {
    /// Something that is no checkpoint.
    pub(in crate::store::care) fn of_rows(place: &str, reason: &str) -> Self {
        Self { place: place.to_owned(), reason: reason.to_owned(), checkpoint: None }
    }
}

/// Reads all rows of a store: those of its tables, and then those that its tables may have lost.
pub(in crate::store::care) fn read_rows(pages: Pages) -> Rows {
    let mut trees = Trees::find(&pages);
    let mut rows = Rows::read(pages, &mut trees);
    strays::look(&mut rows, &trees);
    rows
}

/// Refuses what is no store, or a newer one.
pub(in crate::store::care) fn check(rows: &Rows, path: &Path) -> Result<()> {
    if !rows.is_store && rows.strays.frames.is_empty() {
        return Err(nothing(path));
    }
    let found = rows.meta.get(FORMAT_KEY).map_or(0, |it| u32::try_from(*it).unwrap_or(u32::MAX));
    if found > FORMAT {
        return Err(Error::TooNew { path: path.to_owned(), found, supported: FORMAT });
    }
    Ok(())
}

pub(in crate::store::care) fn nothing(path: &Path) -> Error {
    let reason = "nothing can be saved, nothing was changed; restore a backup";
    Error::corrupt_store(Damage::Everything, path, reason)
}
