//! What a repair would save and lose, for `verify`.
//!
//! Must never write, or report something as lost that only needs a key that was not given.

use super::keys::Keys;
use super::notes::Notes;
use super::salvage::{Salvage, Saved};
use super::waiting::{Waiting, waiting};
use super::{Lost, check, read_rows};
use crate::codec::{KeyId, Keyring};
use crate::error::Result;
use crate::store::engine::disk::StorePath;
use crate::store::engine::pages::Pages;
use crate::store::engine::sectors::Unreadable;
use crate::store::engine::table::{KEY_KEY, REKEY_KEY};
use crate::store::watch::{Stage, Step, Watch};

// Some milliseconds of work.
const PART: usize = 256;

/// What can be read of a store, and what is lost.
#[derive(Default)]
pub(in crate::store) struct Surveyed {
    pub(in crate::store) is_whole: bool,
    pub(in crate::store) checkpoints: u64,
    pub(in crate::store) deleted: u64,
    pub(in crate::store) documents: u64,
    pub(in crate::store) document_bytes: u64,
    pub(in crate::store) artifacts: u64,
    /// Number of checkpoints that need a key that was not given.
    pub(in crate::store) sealed: u64,
    /// Number of checkpoints in the journal.
    pub(in crate::store) waiting: u64,
    pub(in crate::store) is_rekeying: bool,
    /// Byte ranges of the journal that the disk cannot read.
    pub(in crate::store) unreadable: Vec<Unreadable>,
    pub(in crate::store) lost: Vec<Lost>,
}

/// Reads all rows of a store out of its pages.
pub(in crate::store) fn survey(
    place: &StorePath,
    pages: Pages,
    ring: Keyring,
    watch: Watch<'_>,
) -> Result<Surveyed> {
    let rows = read_rows(pages);
    check(&rows, &place.path)?;
    let store = rows.meta.get(KEY_KEY).map(|number| KeyId::from_number(*number));
    let Waiting { placed, lost, unreadable, .. } = waiting(place, &rows)?;
    let mut surveyed = Surveyed {
        waiting: placed.len() as u64,
        is_rekeying: rows.meta.contains_key(REKEY_KEY),
        unreadable,
        lost,
        ..Surveyed::default()
    };
    let mut salvage = Salvage::new(&rows, placed, &Keys { ring, store });
    let total = salvage.left();
    while salvage.left() > 0 {
        let done = total - salvage.left();
        if done.is_multiple_of(PART) && watch(Step::of(Stage::Documents, done, total)).is_break() {
            return Ok(surveyed);
        }
        let known = salvage.lost.len();
        match salvage.next() {
            Some(saved) => surveyed.count(&saved),
            None if salvage.lacked() => {
                salvage.lost.truncate(known);
                surveyed.sealed += 1;
                surveyed.checkpoints += 1;
            }
            None => {}
        }
    }
    surveyed.lost.append(&mut salvage.lost);
    surveyed.lost.append(&mut salvage.unsure);
    let notes = Notes::read(&rows);
    let damaged = notes.lost.iter().map(|place| Lost::of_rows(place, "it is damaged"));
    surveyed.lost.extend(damaged);
    let lost = rows.strays.lost.iter().map(|(place, reason)| Lost::of_rows(place, reason));
    surveyed.lost.extend(lost);
    surveyed.is_whole = true;
    Ok(surveyed)
}

impl Surveyed {
    fn count(&mut self, saved: &Saved) {
        let Saved { entry, deleted, artifacts, .. } = saved;
        match deleted {
            Some(_) => self.deleted += 1,
            None => self.checkpoints += 1,
        }
        self.documents += 1;
        self.document_bytes += entry.raw_bytes();
        self.artifacts += artifacts.len() as u64;
    }
}
