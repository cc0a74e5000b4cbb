//! Gathering: the files of the spool, read for a transaction that takes them in.
//!
//! If the store is open on disk, a damaged file is set aside, and one that cannot be read now stays
//! for another try. If it is open in memory, nothing changes, and a read fails rather than leave
//! such a save out.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard};

use redb::{ReadableDatabase as _, ReadableTable as _};

use crate::checkpoint::{Entry, Id};
use crate::codec::{Flaw, FoundFrame, Frames, KeyId, Placed, decode_spooled, spooled_identity};
use crate::error::{Error, Result};
use crate::store::engine::fault::In;
use crate::store::engine::table::{TAKEN, open_if_made};
use crate::store::log::spool::folder::{Folder, Listing};
use crate::store::log::spool::{FILE_BYTES, FILE_BYTES_MAX, FolderState};
use crate::store::options::{Durability, Limits, SetAside};
use crate::store::save::draft::{Dated, Draft};
use crate::store::save::pack::Reach;
use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;
use crate::sync::lock;

// Beyond this the rest waits for the next transaction: memory is bounded.
const RAW_BYTES: usize = 16 << 20;

/// Spool files read for one transaction. No other thread takes them in meanwhile.
pub(in crate::store) struct Gathered<'a> {
    seen: Option<MutexGuard<'a, FolderState>>,
    pub(super) files: Vec<(Id, Range<usize>)>,
    pub(super) drafts: Vec<Draft>,
    /// Names of files that cannot come back.
    pub(super) gone: Vec<String>,
    /// Whether more is left than fits one transaction.
    pub(super) is_part: bool,
}

/// Why a file is not taken in.
pub(super) enum Refusal {
    /// No process can ever read it.
    Damaged(&'static str),
    /// Another handle may be able to.
    NotNow,
    /// The system refused to read it, or it is gone.
    Io(io::Error),
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
    /// Reads the files of the spool, and sets aside foreign and damaged ones.
    pub(super) fn gather(&self, open: &Open) -> Result<Gathered<'_>> {
        // Taken-in saves are stored anew, which needs the key.
        if !open.has_key() {
            return Ok(Gathered::none());
        }
        let mut seen = lock(&self.spool.seen);
        let listing = match seen.news(&self.spool.folder, !open.is_in_memory()) {
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
        if !open.is_in_memory() {
            gathered.gone = self.gone(noted, &listing);
        }
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
                Err(refusal) if open.is_in_memory() => self.fail_read(name, refusal)?,
                Err(Refusal::Damaged(reason)) => self.set_aside(name, reason),
                Err(Refusal::NotNow | Refusal::NoKey(_) | Refusal::Io(_)) => {}
            }
        }
        // In memory, deltas and a rest for files that failed would gain nothing.
        if open.is_in_memory() {
            return Ok(gathered);
        }
        if gathered.files.is_empty() {
            gathered.rest();
        }
        self.pack_by(&mut gathered.drafts, Reach::Open(open))?;
        Ok(gathered)
    }

    /// Fails a read rather than leave out a save that every process could read.
    fn fail_read(&self, name: &Id, refusal: Refusal) -> Result<()> {
        let path = self.spool.folder.saved(name);
        match refusal {
            // It was taken in, which the next look at the tables shows, or never acknowledged.
            Refusal::Io(source) if source.kind() == io::ErrorKind::NotFound => Ok(()),
            Refusal::Io(source) => Err(Error::Io { path, source }),
            Refusal::Damaged(reason) => Err(Error::corrupt(path.display().to_string(), reason)),
            Refusal::NotNow | Refusal::NoKey(_) => Ok(()),
        }
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
    pub(super) fn read_from(
        &self,
        folder: &Folder,
        name: &Id,
        identity: Option<u64>,
        frames: &Frames,
    ) -> Result<Vec<Draft>, Refusal> {
        let read = folder.read(name, FILE_BYTES_MAX).map_err(Refusal::Io)?;
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

/// The names of files that were taken in.
fn noted(open: &Open, path: &Path) -> Result<BTreeSet<String>> {
    let transaction = open.database.begin_read().within(path)?;
    let Some(taken) = open_if_made(&transaction, TAKEN, path)? else {
        return Ok(BTreeSet::new());
    };
    let rows = taken.iter().within(path)?;
    rows.map(|row| Ok::<_, Error>(row.within(path)?.0.value().to_owned())).collect()
}
