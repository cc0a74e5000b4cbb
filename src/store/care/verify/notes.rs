//! Small things: facts about the store, its settings, the log of operations, and the journal.

use redb::{ReadOnlyTable, ReadableTable as _};

use super::tables::Tables;
use super::tally::{Harm, Verification};
use crate::codec::decode_note;
use crate::error::Result;
use crate::key::frame_sequence;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::In;
use crate::store::engine::location;
use crate::store::engine::table::{
    FORMAT_KEY, HIGHEST_KEY, IDENTITY_KEY, KEY_KEY, LAG_KEY, META, OPERATIONS, REKEY_KEY, RING_KEY,
    SEQUENCE_KEY, SETTINGS,
};
use crate::store::keep::operation::Operation;
use crate::store::log::journal;
use crate::store::turn::settings::Settings;

pub(super) fn check_notes(tables: &Tables<'_>, found: &mut Verification) -> Result<()> {
    check_settings(tables, found)?;
    check_operations(tables, found)?;
    let Some(meta) = tables.open(META)? else { return Ok(()) };
    let known = [
        LAG_KEY,
        FORMAT_KEY,
        HIGHEST_KEY,
        IDENTITY_KEY,
        KEY_KEY,
        REKEY_KEY,
        RING_KEY,
        SEQUENCE_KEY,
    ];
    for row in meta.iter().within(tables.path)? {
        let (key, _) = row.within(tables.path)?;
        found.rows += 1;
        if !known.contains(&key.value()) {
            let place = format!("table meta, row {:?}", key.value());
            found.find(Harm::Upkeep, place, "no release writes such a row");
        }
    }
    found.is_rekeying = meta.get(REKEY_KEY).within(tables.path)?.is_some();
    check_journal(tables, &meta, found)
}

fn check_settings(tables: &Tables<'_>, found: &mut Verification) -> Result<()> {
    let Some(table) = tables.open(SETTINGS)? else { return Ok(()) };
    for row in table.iter().within(tables.path)? {
        let (_, value) = row.within(tables.path)?;
        found.rows += 1;
        if let Err(reason) = decode_note::<Settings>(0, value.value()) {
            let reason = format!("{reason}; nothing is pruned on save until they are set again");
            found.find(Harm::Upkeep, "settings", reason);
        }
    }
    Ok(())
}

fn check_operations(tables: &Tables<'_>, found: &mut Verification) -> Result<()> {
    let Some(table) = tables.open(OPERATIONS)? else { return Ok(()) };
    for row in table.iter().within(tables.path)? {
        let (number, value) = row.within(tables.path)?;
        found.rows += 1;
        if let Err(reason) = decode_note::<Operation>(number.value(), value.value()) {
            found.find(Harm::Upkeep, format!("operation {}", number.value()), reason);
        }
    }
    Ok(())
}

/// The journal can be read, and does not end before what was once on disk.
fn check_journal(
    tables: &Tables<'_>,
    meta: &ReadOnlyTable<&'static str, u64>,
    found: &mut Verification,
) -> Result<()> {
    let path = tables.path;
    let Some(identity) = meta.get(IDENTITY_KEY).within(path)?.map(|value| value.value()) else {
        found.find(Harm::Reading, "table meta", "the identity of the store is lost");
        return Ok(());
    };
    let last = tables.frames.last().within(path)?.map(|(row, _)| frame_sequence(row.value()) + 1);
    let noted = meta.get(SEQUENCE_KEY).within(path)?.map(|value| value.value());
    let next = last.unwrap_or(1).max(noted.unwrap_or(1));
    check_items(tables.place, identity, next, found);
    Ok(())
}

fn check_items(place: &StorePath, identity: u64, next: u64, found: &mut Verification) {
    let path = &location::beside(&place.path, ".journal");
    let scanned = match journal::scan(
        place.disk.as_ref(),
        (path, journal::FILE_BYTES_MAX),
        Some(identity),
        next,
    ) {
        Ok(Some(scanned)) => scanned,
        // There is none, or a foreign one, which the next process that opens the store sets aside.
        Ok(None) => return,
        Err(error) => return found.find_error(Harm::Reading, None, &error),
    };
    for unreadable in &scanned.unreadable {
        let is_hurt = scanned.gaps.iter().any(|gap| gap.is_damage);
        found.find_unreadable(if is_hurt { Harm::Reading } else { Harm::Upkeep }, unreadable);
    }
    let is_damaged = scanned.gaps.iter().any(|gap| gap.is_damage);
    // Nothing after a torn end was acknowledged, and opening the store skips it.
    let end = scanned.gaps.first().filter(|_| !is_damaged).map_or(usize::MAX, |gap| gap.at);
    found.waiting += scanned.items.iter().filter(|item| item.at < end).count() as u64;
    for gap in scanned.gaps.iter().filter(|gap| gap.is_damage) {
        let place = format!("journal {}, byte {}", path.display(), gap.at);
        let lost = if gap.is_lost { "; some of it is lost" } else { "" };
        found.find(Harm::Reading, place, format!("damaged before its end{lost}"));
    }
}
