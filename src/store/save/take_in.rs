//! Taking in: what was spooled goes into the tables, each file once and for good.
//!
//! The transaction that adds the checkpoints of a file also notes its name, and is on disk before
//! the file goes. A file whose name is noted is never taken in. A name is forgotten only once it is
//! certain that its file cannot come back. The page of `log/spool.rs` has the proof.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard};

use redb::{ReadableDatabase as _, ReadableTable as _};

use crate::checkpoint::{Entry, Id};
use crate::codec::{Flaw, FoundFrame, Frames, KeyId, Placed, decode_spooled, spooled_identity};
use crate::error::{Error, Result};
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::In;
use crate::store::engine::sealing::no_key;
use crate::store::engine::table::{TAKEN, open_if_made};
use crate::store::log::spool::folder::{Folder, Listing};
use crate::store::log::spool::{FILE_BYTES, FILE_BYTES_MAX, FolderState};
use crate::store::options::{Durability, Limits, SetAside};
use crate::store::save::draft::{Dated, Draft};
use crate::store::save::pack::Reach;
use crate::store::save::shared::Shared;
use crate::store::transaction::writer::Writer;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::sync::lock;

// Beyond this, what is left waits for the next transaction: memory is bounded.
const RAW_BYTES: usize = 16 << 20;

/// What was read from the spool, for one transaction. Nobody else takes it in meanwhile.
pub(in crate::store) struct Gathered<'a> {
    seen: Option<MutexGuard<'a, FolderState>>,
    files: Vec<(Id, Range<usize>)>,
    drafts: Vec<Draft>,
    /// Names of files that cannot come back.
    gone: Vec<String>,
    /// Whether there was too much for one transaction.
    is_part: bool,
}

/// Why a file is not taken in.
enum Refusal {
    /// It never will be.
    Damaged(&'static str),
    /// Another handle may be able to.
    NotNow,
    /// One that has this key can.
    NoKey(KeyId),
}

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::Damaged(reason) => Self::Damaged(reason),
            Flaw::NoKey(id) => Self::NoKey(id),
        }
    }
}

impl Gathered<'_> {
    pub(in crate::store) fn none() -> Self {
        let (files, drafts, gone) = (Vec::new(), Vec::new(), Vec::new());
        Self { seen: None, files, drafts, gone, is_part: false }
    }

    pub(in crate::store) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(in crate::store) fn drafts(&mut self) -> &mut [Draft] {
        &mut self.drafts
    }

    /// Leaves it alone for a while, since it could not be taken in.
    pub(in crate::store) fn rest(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.rest();
        }
    }
}

impl Shared {
    /// Puts what was spooled into the tables, for good.
    ///
    /// What one of them meets with is told by the next call that can, and keeps nobody from the
    /// store.
    pub(in crate::store) fn take_in(&self, open: &Open) -> Result<()> {
        let all = || -> Result<()> {
            loop {
                let mut gathered = self.gather(open)?;
                match self.take_in_some(open, &mut gathered) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(error) => {
                        self.pass_over(error)?;
                        gathered.rest();
                        return Ok(());
                    }
                }
            }
        };
        all().or_else(|error| self.pass_over(error))
    }

    /// Goes on without what could not be taken in, unless the engine itself has failed.
    pub(in crate::store) fn pass_over(&self, error: Error) -> Result<()> {
        let is_of_folder = matches!(&error, Error::Io { path, .. } if self.spool.folder.has(path));
        if error.is_of_engine() && !is_of_folder {
            return Err(error);
        }
        self.tell(error);
        Ok(())
    }

    /// Takes in what was spooled but for the last part, which the caller puts into its own
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

    /// Saves what waits in the spool of another store, of which this one takes the place; how many,
    /// and which files cannot be read, with why. Their files stay as they are. It may take other
    /// keys than this store: those of `frames`.
    pub(in crate::store) fn adopt(
        &self,
        other: &StorePath,
        identity: Option<u64>,
        taken: &BTreeSet<String>,
        frames: &Frames,
    ) -> Result<(u64, Vec<(PathBuf, &'static str)>)> {
        let folder = Folder::of(other);
        let (mut count, mut lost) = (0, Vec::new());
        let listing = folder.list()?;
        for name in listing.saved.iter().filter(|name| !taken.contains(name.as_str())) {
            let mut drafts = match self.read_from(&folder, name, identity, frames) {
                Ok(drafts) => drafts,
                Err(Refusal::Damaged(reason)) => {
                    lost.push((folder.saved(name), reason));
                    continue;
                }
                // Its place is taken, so this is its last chance.
                Err(Refusal::NoKey(id)) => {
                    let what = folder.saved(name).display().to_string();
                    return Err(no_key(frames.keys(), what, id));
                }
                Err(Refusal::NotNow) => {
                    lost.push((folder.saved(name), "it cannot be read here"));
                    continue;
                }
            };
            self.pack(&mut drafts)?;
            for saved in self.write_group(Patience::Usual, &mut drafts)? {
                match saved {
                    Ok(_) => count += 1,
                    // It was taken in before, and tagged or marked since.
                    Err(Error::Exists { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok((count, lost))
    }

    /// Removes the files whose checkpoints are in the tables for good.
    pub(in crate::store) fn discard(&self, open: &Open, gathered: &Gathered<'_>) {
        // Only their files have them for good.
        if open.is_in_memory() {
            return;
        }
        // If one stays, or comes back after a crash, its name is noted.
        for (name, _) in &gathered.files {
            self.spool.folder.remove(name);
        }
    }

    /// Whether there may be more.
    fn take_in_some(&self, open: &Open, gathered: &mut Gathered<'_>) -> Result<bool> {
        if gathered.is_empty() {
            return Ok(false);
        }
        let mut journal = lock(&open.journal);
        self.drop_lost_bases(open, &mut gathered.drafts)?;
        self.write_durably(open, &mut journal, |writer| writer.take_in(gathered))?;
        self.discard(open, gathered);
        Ok(gathered.is_part)
    }

    /// Reads what the spool has, and sets aside what it should not have.
    fn gather(&self, open: &Open) -> Result<Gathered<'_>> {
        // What is taken in is stored anew, and whoever has the key can do that.
        if !open.has_key() {
            return Ok(Gathered::none());
        }
        let mut seen = lock(&self.spool.seen);
        let listing = match seen.news(&self.spool.folder) {
            Ok(Some(listing)) => listing,
            Ok(None) => return Ok(Gathered::none()),
            Err(error) => {
                seen.rest();
                return Err(error);
            }
        };
        let mut gathered = Gathered { seen: Some(seen), ..Gathered::none() };
        let noted = noted(open, self.turn.path())?;
        let (again, new): (Vec<&Id>, Vec<&Id>) =
            listing.saved.iter().partition(|name| noted.contains(name.as_str()));
        // Their take-in was interrupted. In memory they are still needed.
        for name in again.into_iter().filter(|_| !open.is_in_memory()) {
            self.spool.folder.remove(name);
        }
        if new.is_empty() {
            return Ok(gathered);
        }
        gathered.gone = self.gone(noted, &listing);
        let mut raw_bytes = 0;
        for name in new {
            if raw_bytes > RAW_BYTES {
                gathered.is_part = true;
                break;
            }
            match self.read_file(name, open) {
                Ok(drafts) => {
                    raw_bytes += drafts.iter().map(|draft| draft.raw.len()).sum::<usize>();
                    let start = gathered.drafts.len();
                    gathered.drafts.extend(drafts);
                    gathered.files.push((name.clone(), start..gathered.drafts.len()));
                }
                Err(Refusal::NotNow | Refusal::NoKey(_)) => {}
                Err(Refusal::Damaged(reason)) => self.set_aside(name, reason),
            }
        }
        if gathered.files.is_empty() {
            gathered.rest();
        }
        self.pack_by(&mut gathered.drafts, Reach::Open(open))?;
        Ok(gathered)
    }

    /// The names that need not be noted any more.
    fn gone(&self, mut noted: BTreeSet<String>, listing: &Listing) -> Vec<String> {
        noted.retain(|name| !Folder::is_in(listing, name));
        // They are not in the folder; now they are not on disk either.
        if noted.is_empty() || self.spool.folder.sync().is_err() {
            return Vec::new();
        }
        noted.into_iter().collect()
    }

    fn read_file(&self, name: &Id, open: &Open) -> Result<Vec<Draft>, Refusal> {
        self.read_from(&self.spool.folder, name, Some(open.identity), &self.frames)
    }

    /// Reads a file of the spool of the store with this identity; where that is lost, of any.
    fn read_from(
        &self,
        folder: &Folder,
        name: &Id,
        identity: Option<u64>,
        frames: &Frames,
    ) -> Result<Vec<Draft>, Refusal> {
        let read = folder.read(name, FILE_BYTES_MAX).map_err(|_| Refusal::NotNow)?;
        let bytes = read.ok_or(Refusal::Damaged("it is too long"))?;
        let identity = identity.or_else(|| spooled_identity(&bytes)).unwrap_or_default();
        let placed = decode_spooled(&bytes, identity, name).map_err(Refusal::Damaged)?;
        // Whoever writes one stops at so much, or after one document.
        let raw_bytes: u64 = placed.iter().map(|placed| placed.entry.raw_bytes()).sum();
        if raw_bytes > FILE_BYTES as u64 + Limits::DOCUMENT_BYTES_MAX as u64 {
            return Err(Refusal::Damaged("it has more than a file may have"));
        }
        placed.into_iter().map(|placed| self.unpacked(placed, frames)).collect()
    }

    /// A checkpoint of the spool as if it were about to be saved.
    fn unpacked(&self, placed: Placed, frames: &Frames) -> Result<Draft, Refusal> {
        let Placed { entry, frame } = placed;
        let found = FoundFrame::parse(&frame).map_err(Refusal::Damaged)?;
        if found.link.is_some() || found.raw_bytes != entry.raw_bytes() {
            return Err(Refusal::Damaged("it has a document that is not its own"));
        }
        if found.raw_bytes > self.options.limits.document_bytes as u64 {
            return Err(Refusal::NotNow);
        }
        let raw = frames.unpack(&found, entry.sequence, None)?;
        found.verify(entry.sequence, &raw).map_err(Refusal::Damaged)?;
        Ok(Draft::taken(entry, raw, self.options.limits))
    }

    fn set_aside(&self, name: &Id, reason: &str) {
        match (self.spool.folder.set_aside(name), &self.options.on_set_aside) {
            (Ok(path), Some(hear)) => hear(SetAside { path, reason: reason.to_owned() }),
            (Ok(_), None) => {}
            // It stays where it is, for the next one to try.
            (Err(error), _) => self.tell(error),
        }
    }
}

impl Draft {
    /// One that was acknowledged before.
    fn taken(entry: Entry, raw: Vec<u8>, limits: Limits) -> Self {
        let is_by_clock = entry.id.is_made_at(entry.created_at);
        let dated = if is_by_clock { Dated::Acknowledged } else { Dated::Stated };
        Self {
            entry,
            raw: Arc::new(raw),
            packed: None,
            sequence: None,
            durability: Durability::Immediate,
            has_own_id: true,
            dated,
            is_id_known: AtomicBool::new(true),
            left: None,
            artifacts: Vec::new(),
            limits,
        }
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
        Ok(())
    }

    /// Notes the file that may have been left with a save which then waited for the store: should a
    /// loss of power bring it back, the checkpoint may have been deleted meanwhile.
    pub(in crate::store) fn note_left(&self, draft: &Draft) -> Result<()> {
        let Some(name) = &draft.left else { return Ok(()) };
        let mut taken = self.transaction.open_table(TAKEN).within(self.path)?;
        taken.insert(name.as_str(), ()).within(self.path)?;
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
        // The caller knows its date, so it stays, whatever the clock shows now.
        let now = drafts[at].entry.created_at;
        let placed = lock(&self.open.intake).place((drafts, at), self.open, now)?;
        self.insert(&placed)
    }
}

/// The names of files that were taken in.
fn noted(open: &Open, path: &std::path::Path) -> Result<BTreeSet<String>> {
    let transaction = open.database.begin_read().within(path)?;
    let Some(taken) = open_if_made(&transaction, TAKEN, path)? else {
        return Ok(BTreeSet::new());
    };
    let rows = taken.iter().within(path)?;
    rows.map(|row| Ok::<_, Error>(row.within(path)?.0.value().to_owned())).collect()
}
