//! The readable part of a damaged store's journal.

use super::Lost;
use super::rows::Rows;
use crate::codec::Placed;
use crate::error::{Error, Result};
use crate::store::engine::disk::StorePath;
use crate::store::engine::location;
use crate::store::engine::sectors::Unreadable;
use crate::store::engine::table::IDENTITY_KEY;
use crate::store::log::journal;

/// Saves that are in the journal and not in the tables.
#[derive(Default)]
pub(in crate::store::care) struct Waiting {
    pub(in crate::store::care) placed: Vec<Placed>,
    pub(in crate::store::care) lost: Vec<Lost>,
    /// The last sequence in the journal.
    pub(in crate::store::care) last_sequence: u64,
    pub(in crate::store::care) unreadable: Vec<Unreadable>,
}

pub(in crate::store::care) fn waiting(old: &StorePath, rows: &Rows) -> Result<Waiting> {
    let path = location::beside(&old.path, ".journal");
    let identity = rows.meta.get(IDENTITY_KEY).copied();
    let next_sequence = rows.next_sequence();
    let scanned = match journal::scan(
        old.disk.as_ref(),
        (&path, journal::FILE_BYTES_MAX),
        identity,
        next_sequence,
    ) {
        Ok(scanned) => scanned.unwrap_or_default(),
        Err(error @ Error::Io { .. }) => return Err(error),
        Err(error) => {
            let (place, reason) = (path.display().to_string(), error.to_string());
            let lost = vec![Lost { place, reason, checkpoint: None }];
            return Ok(Waiting { lost, ..Waiting::default() });
        }
    };
    let lost = scanned.gaps.iter().filter(|gap| gap.is_lost).map(|gap| Lost {
        place: format!("byte {} of {}", gap.at, path.display()),
        reason: if gap.is_damage { "checksum differs" } else { "truncated or damaged" }.to_owned(),
        checkpoint: None,
    });
    let placed = scanned.items.into_iter().map(|mut item| {
        if !item.is_checked {
            let warning = "repair: its names could not be checked".to_owned();
            item.placed.entry.warnings.push(warning);
        }
        item.placed
    });
    Ok(Waiting {
        placed: placed.collect(),
        lost: lost.collect(),
        last_sequence: scanned.last_sequence,
        unreadable: scanned.unreadable,
    })
}
