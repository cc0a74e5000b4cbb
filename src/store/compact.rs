//! Compacting: names that nobody has any more go, and free pages back to the file system.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use redb::Durability;
use serde::Serialize;

use super::Store;
use super::read::Snapshot;
use super::table::In;
use super::turn::Open;
use super::write::transact;
use crate::codec::encode_entry;
use crate::error::{At, Error, Result};
use crate::key::{NameId, Span};

/// What [`Store::compact`] achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Compacted {
    /// Length of the file before.
    pub before_bytes: u64,
    /// Length of the file after.
    pub after_bytes: u64,
}

impl Store {
    /// Gives free space back to the file system. No other call runs meanwhile.
    ///
    /// Time grows with the size of the store.
    ///
    /// # Errors
    /// If the store cannot be read or written; it is then as it was.
    pub fn compact(&self) -> Result<Compacted> {
        let path = self.path();
        let before_bytes = fs::metadata(path).at(path)?.len();
        self.shared.turn.alone(|open| {
            self.shared.settle_for_good(open)?;
            sweep_names(open, path)?;
            // Each round can free what the next one moves; it says when nothing is left.
            while open.database.compact().within(path)? {}
            Ok(())
        })?;
        // Closing writes a few pages more; the length that stays is that of the closed file.
        self.shared.let_go();
        let after_bytes = fs::metadata(path).at(path)?.len();
        Ok(Compacted { before_bytes, after_bytes })
    }
}

/// Removes the names of checkpoints that are gone: of a million loops that were deleted, a store
/// would keep the names for ever.
fn sweep_names(open: &Open, path: &Path) -> Result<()> {
    let used = match used_names(open, path) {
        Ok(used) => used,
        // Which names a damaged entry has cannot be known, so all of them stay.
        Err(Error::Corrupt { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    transact(open, path, Durability::Immediate, |writer| writer.retain_names(&used))?;
    open.names.clear();
    Ok(())
}

fn used_names(open: &Open, path: &Path) -> Result<HashSet<NameId>> {
    let snapshot = Snapshot::take(open, path)?;
    let mut used = HashSet::new();
    for entry in snapshot.entries(Span::ALL)? {
        // Writing an entry asks for each of its names.
        encode_entry(&entry?, &mut |kind, name| {
            let id = snapshot.name(kind, name)?;
            let id = id.ok_or_else(|| Error::corrupt("names", "a name has no number"))?;
            used.insert(id);
            Ok::<_, Error>(id)
        })?;
    }
    Ok(used)
}
