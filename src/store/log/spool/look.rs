//! Counts what waits in the spool, without touching it.

use std::path::PathBuf;
use std::slice;

use serde::Serialize;

use super::BYTES_MAX;
use super::folder::Folder;
use super::logs::remains;
use super::taken::{LogName, Taken};
use crate::codec::{SPOOLED_HEAD_BYTES, decode_spooled, spooled_count};
use crate::store::engine::disk::StorePath;
use crate::store::engine::sectors::is_bad_sector;

/// What lies in the spool of a store: the folder beside it for saves that could not wait.
///
/// See [`Stats`](crate::Stats) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spooled {
    /// Number of checkpoints that the holder of the store has yet to take in, as their files say.
    pub checkpoints: u64,
    /// Length of these files.
    pub bytes: u64,
    /// Number of files that are damaged, which the next holder sets aside, or which the disk cannot
    /// read.
    pub damaged: u64,
    /// Number of files that were damaged or of another store, and so were set aside.
    pub set_aside: u64,
    /// Number of things in the folder that do not belong there, and are left as they are.
    pub strange: u64,
    /// What lies in the place of the folder and is no directory, such as "a symbolic link" or
    /// "a FIFO". While it does, no save can be spooled.
    pub obstacle: Option<&'static str>,
}

impl Spooled {
    /// Reads the beginning of every file and all of each log, and changes nothing. `taken` says
    /// what the store has of the logs.
    pub(in crate::store) fn of(store: &StorePath, taken: impl FnOnce(&StorePath) -> Taken) -> Self {
        let folder = Folder::of(store);
        let listing = folder.list().unwrap_or_default();
        let set_aside = folder.count_aside();
        let (strange, obstacle) = (listing.strange, folder.obstacle());
        let mut spooled = Self { set_aside, strange, obstacle, ..Self::default() };
        for name in &listing.saved {
            let (bytes, head) = match folder.head(name, SPOOLED_HEAD_BYTES) {
                Ok(found) => found,
                Err(error) => {
                    // If it is gone, another process has just taken it in.
                    spooled.damaged += u64::from(is_bad_sector(&error));
                    continue;
                }
            };
            match spooled_count(&head) {
                Some(count) => spooled.checkpoints += u64::from(count),
                None => spooled.damaged += 1,
            }
            spooled.bytes += bytes;
        }
        if !listing.logs.is_empty() {
            let taken = taken(store);
            listing.logs.iter().for_each(|name| spooled.add(&folder, name, &taken));
        }
        spooled
    }

    fn add(&mut self, folder: &Folder, name: &LogName, taken: &Taken) {
        let found = remains(folder, slice::from_ref(name), None, taken);
        if found.items.is_empty() && found.lost.is_empty() {
            return;
        }
        self.checkpoints += found.items.len() as u64;
        self.damaged += u64::from(!found.lost.is_empty());
        self.bytes += folder.disk().look(&folder.log(name)).map_or(0, |log| log.bytes);
    }
}

/// The saves in the spool that cannot be taken in, now or ever: where each is, and why.
///
/// The store has all saves of files whose names are in `taken`.
pub(in crate::store) fn lost(
    store: &StorePath,
    identity: u64,
    taken: &Taken,
) -> Vec<(PathBuf, String)> {
    let folder = Folder::of(store);
    let aside = folder
        .aside()
        .into_iter()
        .map(|path| (path, "it was set aside as damaged or of another store".to_owned()));
    let mut lost: Vec<(PathBuf, String)> = aside.collect();
    let listing = folder.list().unwrap_or_default();
    for name in listing.saved.iter().filter(|name| !taken.has(name)) {
        // A failed read may succeed later, or the file has been taken in meanwhile.
        let flaw = match folder.read(name, BYTES_MAX) {
            Ok(Some(bytes)) => decode_spooled(&bytes, identity, name).err(),
            Ok(None) => Some("it is too long"),
            Err(error) if is_bad_sector(&error) => Some("the disk cannot read some of it"),
            Err(_) => None,
        };
        lost.extend(flaw.map(|flaw| (folder.saved(name), flaw.to_owned())));
    }
    lost.extend(remains(&folder, &listing.logs, Some(identity), taken).lost);
    lost
}
