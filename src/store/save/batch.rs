//! Saving many drafts with one sync.

use std::time::Instant;

use crate::checkpoint::Entry;
use crate::error::{Error, Result};
use crate::store::save::draft::Draft;
use crate::store::save::pack::Reach;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;

impl Shared {
    /// Saves many drafts together, or spools all of them if the store cannot be had in time.
    pub(in crate::store) fn save_batch(
        &self,
        mut drafts: Vec<Draft>,
    ) -> Result<Vec<Result<Entry>>> {
        let until = self.spools_at(Instant::now());
        let until = until.filter(|_| drafts.iter().all(Draft::can_be_spooled));
        let patience = until.map_or(Patience::Usual, Patience::Until);
        let packed = self.pack_by(&mut drafts, Reach::Turn(patience));
        match packed.and_then(|()| self.write_group(patience, &mut drafts)) {
            Err(Error::Locked { .. }) if until.is_some() => {}
            saved => return saved,
        }
        let entries = self.spool(&mut drafts);
        let left = entries.iter().zip(drafts).filter(|(entry, _)| entry.is_none());
        let mut left: Vec<Draft> = left.map(|(_, draft)| draft).collect();
        // Some are saved, so a later failure is reported for each of the others.
        let count = left.len();
        let saved =
            self.pack(&mut left).and_then(|()| self.write_group(Patience::Usual, &mut left));
        let saved: Vec<Result<Entry>> = match saved {
            Ok(saved) => saved,
            Err(error) => (0..count).map(|_| Err(error.share())).collect(),
        };
        let mut saved = saved.into_iter();
        let outcome = |entry: Option<Entry>| match entry {
            Some(entry) => Ok(entry),
            None => saved.next().expect("every draft that was left has an outcome"),
        };
        Ok(entries.into_iter().map(outcome).collect())
    }
}
