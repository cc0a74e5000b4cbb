//! Gathering: the saves of the spool, read for a transaction that takes them in.
//!
//! If the store is open on disk, a damaged file is set aside, and one that cannot be read now stays
//! for another try. If it is open in memory, nothing changes, and a read fails rather than leave
//! such a save out.

mod logs;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard};

use redb::ReadableDatabase as _;

use crate::checkpoint::{Entry, Id};
use crate::codec::{Flaw, FoundFrame, Frames, KeyId, Placed, decode_spooled, spooled_identity};
use crate::error::{Error, Result};
use crate::store::engine::fault::In;
use crate::store::engine::table::{TAKEN, open_if_made};
use crate::store::log::spool::folder::{Folder, Listing};
use crate::store::log::spool::taken::{LogName, Taken};
use crate::store::log::spool::{BYTES_MAX, FolderState, GROUP_BYTES};
use crate::store::options::{Durability, Limits, SetAside};
use crate::store::save::draft::{Dated, Draft};
use crate::store::save::pack::Reach;
use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;
use crate::sync::lock;

// Beyond this the rest waits for the next transaction: memory is bounded.
const RAW_BYTES: usize = 16 << 20;

/// Spooled saves read for one transaction. No other thread takes them in meanwhile.
pub(in crate::store) struct Gathered<'a> {
    seen: Option<MutexGuard<'a, FolderState>>,
    pub(super) files: Vec<(Id, Range<usize>)>,
    pub(super) drafts: Vec<Draft>,
    /// Those of logs, in order.
    pub(super) of_logs: Range<usize>,
    /// Up to which stamps logs are read.
    pub(super) logs: BTreeMap<LogName, u64>,
    /// Rows of `taken` about files that cannot come back.
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
        Self::with(None)
    }

    fn with(seen: Option<MutexGuard<'_, FolderState>>) -> Gathered<'_> {
        let (files, drafts, gone) = (Vec::new(), Vec::new(), Vec::new());
        let (of_logs, logs) = (0..0, BTreeMap::new());
        Gathered { seen, files, drafts, of_logs, logs, gone, is_part: false }
    }

    pub(in crate::store) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.logs.is_empty()
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
    /// Reads what is in the spool, and sets aside foreign and damaged files.
    pub(super) fn gather(&self, open: &Open) -> Result<Gathered<'_>> {
        // Taken-in saves are stored anew, which needs the key.
        if !open.has_key() {
            return Ok(Gathered::none());
        }
        let mut seen = lock(&self.spool.seen);
        // Before anything is read: see the page of `log/spool.rs`.
        let cut = self.turn.disk().ticks();
        let listing = match seen.news(&self.spool.folder, !open.is_in_memory()) {
            Ok(Some(listing)) => listing,
            Ok(None) => return Ok(Gathered::none()),
            Err(error) => {
                seen.rest();
                return Err(error);
            }
        };
        let mut gathered = Gathered::with(Some(seen));
        let noted = noted(open, self.turn.path())?;
        self.gather_files(open, (&listing, &noted), &mut gathered)?;
        let was_part = gathered.is_part;
        if !was_part {
            self.gather_logs(open, (&listing, &noted, cut), &mut gathered)?;
        }
        if gathered.is_empty() || open.is_in_memory() {
            // In memory, deltas would gain nothing.
            return Ok(gathered);
        }
        gathered.gone = self.gone(&noted, &listing);
        self.pack_by(&mut gathered.drafts, Reach::Open(open))?;
        Ok(gathered)
    }

    /// Reads files with one group of saves each.
    fn gather_files(
        &self,
        open: &Open,
        (listing, noted): (&Listing, &Taken),
        gathered: &mut Gathered<'_>,
    ) -> Result<()> {
        let (again, new): (Vec<&Id>, Vec<&Id>) =
            listing.saved.iter().partition(|name| noted.has(name));
        // Their take-in was interrupted. In memory they are still needed.
        for name in again.into_iter().filter(|_| !open.is_in_memory()) {
            self.spool.folder.remove(name);
        }
        let (mut raw_bytes, is_any) = (0, !new.is_empty());
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
        // A rest would hide the logs.
        if is_any && gathered.files.is_empty() && listing.logs.is_empty() && !open.is_in_memory() {
            gathered.rest();
        }
        Ok(())
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

    /// The rows that are not needed any more.
    fn gone(&self, noted: &Taken, listing: &Listing) -> Vec<String> {
        let gone = noted.0.iter().filter(|row| !Folder::is_in(listing, row));
        let gone: Vec<String> = gone.cloned().collect();
        // Their files are not in the folder; now they are not on disk either.
        if gone.is_empty() || self.spool.folder.sync().is_err() { Vec::new() } else { gone }
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
        let read = folder.read(name, BYTES_MAX).map_err(Refusal::Io)?;
        let bytes = read.ok_or(Refusal::Damaged("it is too long"))?;
        let identity = identity.or_else(|| spooled_identity(&bytes)).unwrap_or_default();
        let placed = decode_spooled(&bytes, identity, name).map_err(Refusal::Damaged)?;
        // A writer stops at this length, or after one document.
        let raw_bytes: u64 = placed.iter().map(|placed| placed.entry.raw_bytes()).sum();
        if raw_bytes > GROUP_BYTES as u64 + Limits::DOCUMENT_BYTES_MAX as u64 {
            return Err(Refusal::Damaged("it has more than a file may have"));
        }
        placed.into_iter().map(|placed| self.unpacked(placed, frames)).collect()
    }

    /// A checkpoint of the spool as if it were about to be saved.
    pub(super) fn unpacked(&self, placed: Placed, frames: &Frames) -> Result<Draft, Refusal> {
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
        self.tell_set_aside(self.spool.folder.set_aside(name), reason);
    }

    fn tell_set_aside(&self, outcome: Result<PathBuf>, reason: &str) {
        match (outcome, &self.options.on_set_aside) {
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

/// What was taken in.
fn noted(open: &Open, path: &Path) -> Result<Taken> {
    let transaction = open.database.begin_read().within(path)?;
    Taken::read(open_if_made(&transaction, TAKEN, path)?, path)
}
