//! Acknowledged saves beside the store that cannot be taken in.

use super::tables::Tables;
use super::tally::{Harm, Verification};
use crate::error::Result;
use crate::store::engine::fault::In;
use crate::store::engine::table::{IDENTITY_KEY, META, TAKEN};
use crate::store::log::spool;
use crate::store::log::spool::taken::Taken;

// A repair cannot bring back a save that was never in the store.
const NEXT: &str = "save it again from where it came, then remove the file";

pub(super) fn check_spool(tables: &Tables<'_>, found: &mut Verification) -> Result<()> {
    let path = tables.path;
    let Some(meta) = tables.open(META)? else { return Ok(()) };
    let identity = meta.get(IDENTITY_KEY).within(path)?.map(|value| value.value());
    // Without the identity, no file is known to be the store's own. Its loss is a finding itself.
    let Some(identity) = identity else { return Ok(()) };
    let taken = Taken::read(tables.open(TAKEN)?, path)?;
    for (file, reason) in spool::lost(tables.place, identity, &taken) {
        let place = format!("spooled save {}", file.display());
        found.find(Harm::Aside, place, format!("{reason}; {NEXT}"));
    }
    Ok(())
}
