//! Taking in: spooled saves go into the tables, each file exactly once.
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

// Beyond this the rest waits for the next transaction: memory is bounded.
const RAW_BYTES: usize = 16 << 20;

/// Spool files read for one transaction. No other thread takes them in meanwhile.
pub(in crate::store) struct Gathered<'a> {
    seen: Option<MutexGuard<'a, FolderState>>,
    files: Vec<(Id, Range<usize>)>,
    drafts: Vec<Draft>,
    /// Names of files that cannot come back.
    gone: Vec<String>,
    /// Whether more is left than fits one transaction.
    is_part: bool,
}

/// Why a file is not taken in.
enum Refusal {
    /// No process can ever read it.
    Damaged(&'static str),
    /// Another handle may be able to.
    NotNow,
    /// Only a process with this key can.
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

    /// Leaves a file alone for a while, since it could not be taken in.
    pub(in crate::store) fn rest(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.rest();
        }
    }
}

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
        // In memory, only the files have them durably.
        if open.is_in_memory() {
            return;
        }
        // The name stays noted in case the file stays, or comes back after a crash.
        for (name, _) in &gathered.files {
            self.spool.folder.remove(name);
        }
    }

    /// Whether there may be more files.
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

    /// Reads the files of the spool, and sets aside foreign and damaged ones.
    fn gather(&self, open: &Open) -> Result<Gathered<'_>> {
        // Taken-in saves are stored anew, which needs the key.
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

    /// The names that need no note any more.
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
        // A writer stops at this length, or after one document.
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
            // The file stays, for the next process to try.
            (Err(error), _) => self.tell(error),
        }
    }
}

impl Draft {
    /// A checkpoint that was acknowledged before.
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

    /// Notes the leftover file of a save that then waited for the store. If a power loss brought
    /// the file back, it could restore a checkpoint deleted meanwhile.
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
        // The caller knows the date, so it stays, whatever the clock shows now.
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
