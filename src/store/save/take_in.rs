//! Taking in: spooled saves go into the tables, each exactly once.
//!
//! The transaction that adds saves of a log also notes up to where it has them, and is on disk
//! before the log goes. Nothing before that place is ever taken in again. A log is forgotten only
//! once it is certain that it cannot come back. The page of `log/spool.rs` has the proof.

use std::path::{Path, PathBuf};

use crate::codec::Frames;
use crate::error::{Error, Result};
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::In;
use crate::store::engine::sealing::no_key;
use crate::store::engine::table::TAKEN;
use crate::store::log::spool::folder::Folder;
use crate::store::log::spool::logs::remains;
use crate::store::log::spool::taken::Taken;
use crate::store::save::draft::Draft;
use crate::store::save::gather::{Gathered, Refusal};
use crate::store::save::shared::Shared;
use crate::store::transaction::writer::Writer;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::sync::lock;

impl Shared {
    /// Puts spooled saves into the tables durably.
    ///
    /// An error with one file is reported by the next call that can, and does not block the store.
    pub(in crate::store) fn take_in(&self, open: &Open) -> Result<()> {
        let all = || -> Result<()> {
            loop {
                let mut gathered = self.gather(open)?;
                match self.take_in_some(open, &mut gathered) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    // A read must not leave saves out silently.
                    Err(error) if open.is_in_memory() => return Err(error),
                    Err(error) => {
                        self.pass_over(error)?;
                        gathered.rest();
                        return Ok(());
                    }
                }
            }
        };
        match all() {
            Err(error) if !open.is_in_memory() => self.pass_over(error),
            outcome => outcome,
        }
    }

    /// Skips files that could not be taken in, unless the engine itself has failed.
    pub(in crate::store) fn pass_over(&self, error: Error) -> Result<()> {
        let is_of_folder = matches!(&error, Error::Io { path, .. } if self.spool.folder.has(path));
        if error.is_of_engine() && !is_of_folder {
            return Err(error);
        }
        self.tell(error);
        Ok(())
    }

    /// Takes in all spooled saves except the last part, which the caller puts into its own
    /// transaction.
    pub(in crate::store) fn take_in_most(&self, open: &Open) -> Result<Gathered<'_>> {
        loop {
            let mut gathered = match self.gather(open) {
                Ok(gathered) => gathered,
                Err(error) => return self.pass_over(error).map(|()| Gathered::none()),
            };
            if !gathered.is_part {
                return Ok(gathered);
            }
            if let Err(error) = self.take_in_some(open, &mut gathered) {
                self.pass_over(error)?;
                gathered.rest();
                return Ok(Gathered::none());
            }
        }
    }

    /// Saves what waits in the spool of another store, which this store replaces. Returns how many,
    /// and which files cannot be read, with the reasons. Their files stay unchanged. They may need
    /// other keys than this store: those of `frames`.
    pub(in crate::store) fn adopt(
        &self,
        other: &StorePath,
        identity: Option<u64>,
        taken: &Taken,
        frames: &Frames,
    ) -> Result<(u64, Vec<(PathBuf, String)>)> {
        let folder = Folder::of(other);
        let (mut count, mut lost) = (0, Vec::new());
        let listing = folder.list()?;
        let mut waiting: Vec<Vec<Draft>> = Vec::new();
        for name in listing.saved.iter().filter(|name| !taken.has(name)) {
            match self.read_from(&folder, name, identity, frames) {
                Ok(drafts) => waiting.push(drafts),
                Err(refusal) => {
                    let path = folder.saved(name);
                    let reason = reason(frames, &path, &refusal)?;
                    lost.push((path, reason));
                }
            }
        }
        let logs = remains(&folder, &listing.logs, identity, taken);
        lost.extend(logs.lost);
        for (path, mut placed) in logs.items {
            placed.entry.sequence = 0;
            match self.unpacked(placed, frames) {
                Ok(draft) => waiting.push(vec![draft]),
                Err(refusal) => lost.push((path.clone(), reason(frames, &path, &refusal)?)),
            }
        }
        for mut drafts in waiting {
            self.pack(&mut drafts)?;
            for saved in self.write_group(Patience::Usual, &mut drafts)? {
                match saved {
                    Ok(_) => count += 1,
                    // The store took it in before, and it was tagged or marked since.
                    Err(Error::Exists { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok((count, lost))
    }

    /// Removes the files whose checkpoints are durable in the tables.
    pub(in crate::store) fn discard(&self, open: &Open, gathered: &Gathered<'_>) {
        let mut logs = lock(&open.logs);
        logs.confirm();
        // In memory, only the files have them durably.
        if open.is_in_memory() {
            return;
        }
        // The name stays noted in case the file stays, or comes back after a crash.
        for (name, _) in &gathered.files {
            self.spool.folder.remove(name);
        }
        logs.over().iter().for_each(|name| self.spool.folder.remove_log(name));
    }

    /// Whether there may be more files.
    fn take_in_some(&self, open: &Open, gathered: &mut Gathered<'_>) -> Result<bool> {
        if gathered.is_empty() {
            return Ok(false);
        }
        let mut journal = lock(&open.journal);
        self.drop_lost_bases(open, &journal, &mut gathered.drafts)?;
        self.write_durably(open, &mut journal, |writer| writer.take_in(gathered))?;
        self.discard(open, gathered);
        Ok(gathered.is_part)
    }
}

impl Writer<'_> {
    /// Adds the checkpoints of the spool, and notes the names of their files.
    pub(in crate::store) fn take_in(&mut self, gathered: &mut Gathered<'_>) -> Result<()> {
        let transaction = self.transaction;
        let mut taken = transaction.open_table(TAKEN).within(self.path)?;
        for name in gathered.gone.drain(..) {
            taken.remove(name.as_str()).within(self.path)?;
        }
        for (name, places) in &gathered.files {
            for at in places.clone() {
                self.add_spooled(&mut gathered.drafts, at)?;
            }
            taken.insert(name.as_str(), ()).within(self.path)?;
        }
        for at in gathered.of_logs.clone() {
            self.add_spooled(&mut gathered.drafts, at)?;
        }
        for (log, stamp) in &gathered.logs {
            let (from, to) = log.ups();
            taken.retain_in(from.as_str()..=to.as_str(), |_, ()| false).within(self.path)?;
            taken.insert(log.up_to(*stamp).as_str(), ()).within(self.path)?;
        }
        Ok(())
    }

    /// Notes what is left in a log of a save that then waited for the store. If a power loss
    /// brought that back, it could restore a checkpoint deleted meanwhile.
    pub(in crate::store) fn note_left(&self, draft: &Draft) -> Result<()> {
        let Some(row) = &draft.left else { return Ok(()) };
        let mut taken = self.transaction.open_table(TAKEN).within(self.path)?;
        taken.insert(row.as_str(), ()).within(self.path)?;
        Ok(())
    }

    fn add_spooled(&mut self, drafts: &mut [Draft], at: usize) -> Result<()> {
        let is_there = match self.find(&drafts[at].entry.id) {
            Ok(found) => found.is_some(),
            Err(error) if error.is_of_engine() => return Err(error),
            // Damaged, but there.
            Err(_) => true,
        };
        if is_there {
            return Ok(());
        }
        // The caller knows the date, so it stays, whatever the clock shows now.
        let now = drafts[at].entry.created_at;
        let placed = lock(&self.open.intake).place((drafts, at), self.open, now)?;
        self.insert(&placed)
    }
}

/// Why a file cannot be taken in. Its place is taken, so this is its last chance.
fn reason(frames: &Frames, path: &Path, refusal: &Refusal) -> Result<String> {
    match refusal {
        Refusal::Damaged(reason) => Ok((*reason).to_owned()),
        Refusal::NoKey(id) => Err(no_key(frames.keys(), path.display().to_string(), *id)),
        Refusal::NotNow | Refusal::Io(_) => Ok("it cannot be read here".to_owned()),
    }
}
