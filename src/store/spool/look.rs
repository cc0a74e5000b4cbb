//! What lies in the spool, without touching it.

use std::path::PathBuf;

use serde::Serialize;

use super::super::disk::Place;
use super::folder::Folder;
use crate::codec::{SPOOLED_HEAD_BYTES, spooled_count};

/// What lies in the spool of a store: the folder beside it for saves that could not wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spooled {
    /// Number of checkpoints that wait for whoever has the store next, as their files say.
    pub checkpoints: u64,
    /// Length of these files.
    pub bytes: u64,
    /// Number of files that were damaged or of another store, and so were set aside.
    pub set_aside: u64,
    /// Number of things that do not belong there, and are left as they are.
    pub strange: u64,
}

/// A file of the spool that was not taken in, and where it was moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Where it is now. Nothing removes it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl Spooled {
    /// Reads the beginning of every file, and changes nothing.
    pub(in crate::store) fn of(store: &Place) -> Self {
        let folder = Folder::of(store);
        let listing = folder.list().unwrap_or_default();
        let set_aside = folder.count_aside();
        let strange = listing.strange + u64::from(folder.is_link());
        let mut spooled = Self { set_aside, strange, ..Self::default() };
        for name in &listing.saved {
            // Whoever takes it in just now has been quicker.
            let Ok((bytes, head)) = folder.head(name, SPOOLED_HEAD_BYTES) else { continue };
            spooled.checkpoints += spooled_count(&head).map_or(0, u64::from);
            spooled.bytes += bytes;
        }
        spooled
    }
}
