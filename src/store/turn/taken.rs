//! What of the spool the last durable commit has, whatever process has the store.
//!
//! Must never fail a call: it only counts.

use redb::ReadableDatabase as _;

use crate::error::Result;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::table::{TAKEN, open_if_made};
use crate::store::log::spool::taken::Taken;
use crate::store::options::Options;
use crate::store::turn::file;

/// Nothing if that cannot be read now.
pub(in crate::store) fn taken(place: &StorePath) -> Taken {
    read(place).ok().flatten().unwrap_or_default()
}

fn read(place: &StorePath) -> Result<Option<Taken>> {
    let opened = file::open_view(place, &Options::default(), true)?;
    let Some((database, _, overlay)) = opened else { return Ok(None) };
    let path = place.path.as_path();
    let read = without_panics(path, || {
        let transaction = database.begin_read().within(path)?;
        Taken::read(open_if_made(&transaction, TAKEN, path)?, path)
    });
    let is_current = overlay.is_current().unwrap_or(false);
    // The engine would write to the overlay when it closes.
    overlay.end();
    let _ = without_panics(path, || {
        drop(database);
        Ok(())
    });
    read.map(|taken| is_current.then_some(taken))
}
