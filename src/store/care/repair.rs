//! Repairing: puts what can be read of a damaged store into a new one, and keeps the old one.
//!
//! The file is read page by page, without the engine, so that damage to one page hurts no other.
//! Must never change a byte of the old file or its journal, or replace them by anything that is not
//! complete, checked and on disk.

mod exchange;
mod keys;
mod write;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::checkpoint::Timestamp;
use crate::codec::Frames;
#[cfg(feature = "encrypt")]
use crate::codec::SecretKey;
use crate::error::{At, Damage, Error, Result};
use crate::store::care::apart;
use crate::store::care::remains::keys::Keys;
use crate::store::care::remains::notes::Notes;
use crate::store::care::remains::rows::Rows;
use crate::store::care::remains::salvage::{Salvage, Saved};
use crate::store::care::remains::waiting::{Waiting, waiting};
use crate::store::care::remains::{Lost, check, nothing, read_rows};
use crate::store::care::verify::verify_at;
use crate::store::engine::disk::{FileId, StorePath};
use crate::store::engine::pages::Pages;
use crate::store::engine::sealing::no_key;
use crate::store::engine::sectors::Unreadable;
use crate::store::engine::table::IDENTITY_KEY;
use crate::store::engine::unfinished::{self, Making};
use crate::store::engine::{location, lossy};
use crate::store::log::spool::Spooled;
use crate::store::options::Options;
use crate::store::turn::file;
use crate::store::turn::wait::when_free;
use crate::store::watch::{Stage, Step, Watch, unwatched};
use crate::store::{Store, Verification};
use exchange::exchange;

// Limits of one transaction, in bytes and in checkpoints.
const PART_BYTES: usize = 8 << 20;
const PART: usize = 1024;
// Far longer than an unfinished new store is ever unlocked.
const LEFT_AFTER: Duration = Duration::from_mins(1);

/// How a store is repaired.
/// See [`care`](crate::care) for an example.
#[derive(Debug, Clone)]
pub struct Repair {
    /// Where the new store goes; then the old one stays. In place of the old one by default.
    pub into: Option<PathBuf>,
    /// Only reports what would be saved and lost. False by default.
    pub dry_run: bool,
    /// How long to wait while another process has the store. 5 s by default.
    pub wait: Duration,
    /// Names the old store that is put aside. The current time by default.
    pub now: Timestamp,
    /// All keys that its contents are encrypted with. None by default.
    #[cfg(feature = "encrypt")]
    pub keys: Vec<SecretKey>,
}

impl Default for Repair {
    fn default() -> Self {
        Self {
            into: None,
            dry_run: false,
            wait: Duration::from_secs(5),
            now: Timestamp::now(),
            #[cfg(feature = "encrypt")]
            keys: Vec::new(),
        }
    }
}

/// What [`Store::repair`] saved, and what it lost.
/// See [`care`](crate::care) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repaired {
    /// The store, links resolved.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Where the new store is; `None` if none was made.
    #[serde(serialize_with = "lossy::option")]
    pub into: Option<PathBuf>,
    /// Where the old store is, with all its bytes, if it was put aside. The content of its journal
    /// is beside it.
    #[serde(serialize_with = "lossy::option")]
    pub aside: Option<PathBuf>,
    /// Whether the repair is complete: false if the watcher ended it, and nothing was changed.
    pub is_whole: bool,
    /// Number of checkpoints that were saved.
    pub checkpoints: u64,
    /// Number of checkpoints saved as a document only, since their entries are lost. They are
    /// archived, in the series `salvaged`.
    pub salvaged: u64,
    /// Number of deleted ones that can still be restored.
    pub deleted: u64,
    /// Number of captured files that were saved; each counts once for every checkpoint.
    pub artifacts: u64,
    /// Number of operations of the log that were saved.
    pub operations: u64,
    /// Number of checkpoints of which nothing was saved; each is in [`Repaired::lost`].
    pub lost_checkpoints: u64,
    /// What was lost, including the entries of checkpoints saved as a document only.
    pub lost: Vec<Lost>,
    /// What was saved but may be stale: no table leads to it any more, so it may have been deleted
    /// or changed since.
    pub unsure: Vec<Lost>,
    /// Byte ranges of the store and its journal that the repair needed and the disk cannot read.
    pub unreadable: Vec<Unreadable>,
}

impl Store {
    /// The series of documents whose entries a repair lost.
    pub const SALVAGED: &str = "salvaged";
    /// The prefix of names that stand for lost ones.
    pub const LOST_NAME: &str = "lost-name-";

    /// Puts all that can be read of a damaged store into a new one.
    ///
    /// Keeps ids, times, tags, sources, captured files, deleted checkpoints that can be restored,
    /// settings and the log. If pages that lead to rows are lost, all other pages are searched for
    /// rows that pass their own sums, and the report names what is unsure. A document whose entry
    /// is lost becomes an archived checkpoint in the series `salvaged`. By default the new store
    /// replaces the old one at the end, in one step, and the old one and its journal stay beside it
    /// as `NAME.damaged-TIME`. Until then the old one stays unchanged, whatever happens. No other
    /// process can change the store meanwhile. Takes some hundred bytes of memory for each
    /// checkpoint, and room on disk for the new store.
    ///
    /// `watch` gets the progress and may end the call; see [`Step`].
    ///
    /// # Errors
    /// [`Error::Corrupt`] if nothing of it can be saved, [`Error::Key`] if anything is encrypted
    /// with a key that was not given, [`Error::Invalid`] if the new store would have a name that
    /// belongs to the old one or the other way round, [`Error::TooNew`], [`Error::Locked`], or
    /// [`Error::Io`]; nothing was changed then.
    pub fn repair(
        path: impl AsRef<Path>,
        repair: &Repair,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Repaired> {
        repair_at(&StorePath::real(location::resolve(path.as_ref())), repair, watch)
    }
}

/// As [`Store::repair`], for a store on any disk; `into` is always on the real one.
pub(in crate::store) fn repair_at(
    old: &StorePath,
    repair: &Repair,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Repaired> {
    let path = old.path.as_path();
    let target = repair
        .into
        .as_deref()
        .map_or_else(|| old.clone(), |it| StorePath::real(location::resolve(it)));
    if repair.into.is_some() {
        apart::check_apart(&target.path, path)?;
        if target.path.exists() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists)).at(&target.path);
        }
    }
    let file = when_free(old, repair.wait, || file::lock_alone(old))?;
    let id = file.id().at(path)?;
    let rows = read_rows(Pages::open(file).at(path)?);
    check(&rows, path)?;
    let mut work = Work {
        repaired: Repaired { path: path.to_owned(), ..Repaired::default() },
        old,
        keys: Keys::of(repair.options().keyring(), &rows)?,
        rows: &rows,
        next_sequence: 0,
        watch,
    };
    if repair.dry_run {
        // The return value says whether it was ended early.
        let _ = work.save(None)?;
        if repair.into.is_some() {
            work.repaired.checkpoints += Spooled::of(old, |_| work.rows.taken.clone()).checkpoints;
        }
        work.note(&Notes::read(&rows));
        return Ok(work.repaired);
    }
    // A repair in place needs the store alone; several repairs into other files may run at once.
    let left_after = if repair.into.is_some() { LEFT_AFTER } else { Duration::ZERO };
    unfinished::sweep(target.disk.as_ref(), &target.path, Making::Repair, left_after);
    let new_path = unfinished::name(&target.path, Making::Repair);
    let new = StorePath { path: new_path, disk: target.disk.clone() };
    let made = work.make(&new, repair).and_then(|made| match made {
        ControlFlow::Continue(()) => work.put_in_place(&new.path, &target, repair, id),
        ControlFlow::Break(()) => Ok(()),
    });
    unfinished::remove(new.disk.as_ref(), &new.path);
    made.map(|()| work.repaired)
}

struct Work<'a> {
    repaired: Repaired,
    old: &'a StorePath,
    rows: &'a Rows,
    /// A sequence above all that are known to be used.
    next_sequence: u64,
    keys: Keys,
    watch: Watch<'a>,
}

impl Work<'_> {
    /// Makes the new store under another name, and checks it.
    fn make(&mut self, new: &StorePath, repair: &Repair) -> Result<ControlFlow<()>> {
        let is_in_place = repair.into.is_none();
        let store = Store::open_at(new.clone(), repair.options_of_new(&self.keys))?;
        if self.save(Some(&store))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let notes = Notes::read(self.rows);
        write::add_notes(&store, self.rows, &notes, is_in_place)?;
        write::add_sequence(&store, self.next_sequence)?;
        self.note(&notes);
        store.close()?;
        // A new store in the place of the old one keeps its identity, and takes in the spool
        // itself.
        if !is_in_place || !self.rows.meta.contains_key(IDENTITY_KEY) {
            self.adopt(new, repair)?;
        }
        let Verification { findings, .. } = verify_at(new, &repair.verify(), &mut unwatched)?;
        if let Some(first) = findings.first() {
            let reason = format!("the new store is not whole: {}: {}", first.place, first.reason);
            return Err(Error::corrupt_store(Damage::Engine, &new.path, reason));
        }
        new.disk.open(&new.path).and_then(|file| file.sync()).at(&new.path)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Saves what waits in the spool of the old store, which the new one would set aside as
    /// foreign.
    fn adopt(&mut self, new: &StorePath, repair: &Repair) -> Result<()> {
        // Opened anew, so that the next sequence is above that of every frame.
        let options = Options { create: false, ..repair.options_of_new(&self.keys) };
        let store = Store::open_at(new.clone(), options)?;
        let identity = self.rows.meta.get(IDENTITY_KEY).copied();
        // If the new store has no key, spooled saves may still need one.
        let frames = Frames::new(self.keys.ring.clone());
        let (count, lost) = store.shared.adopt(self.old, identity, &self.rows.taken, &frames)?;
        self.repaired.checkpoints += count;
        let lost = lost.into_iter().map(|(place, reason)| Lost {
            place: place.display().to_string(),
            reason,
            checkpoint: None,
        });
        self.repaired.lost.extend(lost);
        store.close()
    }

    /// Saves what can be read, into a store if there is one.
    fn save(&mut self, store: Option<&Store>) -> Result<ControlFlow<()>> {
        let Waiting { placed, mut lost, last_sequence, unreadable } = waiting(self.old, self.rows)?;
        self.repaired.unreadable = self.rows.pages.sectors().unreadable(&self.old.path);
        self.repaired.unreadable.extend(unreadable);
        self.next_sequence = self.rows.next_sequence().max(last_sequence.saturating_add(1));
        let mut salvage = Salvage::new(self.rows, placed, &self.keys);
        salvage.lost.append(&mut lost);
        let unsure = self.rows.strays.unsure.iter();
        salvage.unsure = unsure.map(|(place, reason)| Lost::of_rows(place, reason)).collect();
        let total = salvage.left();
        let mut part: Vec<Saved> = Vec::new();
        let mut part_bytes = 0;
        while salvage.left() > 0 {
            if let Some(saved) = salvage.next() {
                self.count(&saved);
                part_bytes += bytes_of(&saved);
                part.push(saved);
            }
            if let Some(error) = salvage.failure.take() {
                return Err(error);
            }
            if let Some(id) = salvage.lacks() {
                return Err(no_key(&self.keys.ring, "some of the store", id));
            }
            if part_bytes < PART_BYTES && part.len() < PART && salvage.left() > 0 {
                continue;
            }
            let step = Step::of(Stage::Salvage, total - salvage.left(), total);
            if (self.watch)(step).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            part_bytes = 0;
            let part = std::mem::take(&mut part);
            store.map_or(Ok(()), |store| write::add(store, part))?;
        }
        self.repaired.lost = salvage.lost;
        self.repaired.lost_checkpoints = salvage.lost_checkpoints;
        self.repaired.unsure = salvage.unsure;
        self.repaired.is_whole = true;
        let Repaired { checkpoints, deleted, lost, path, .. } = &self.repaired;
        let is_nothing = checkpoints + deleted == 0;
        if is_nothing && (!lost.is_empty() || !self.rows.is_store) {
            return Err(nothing(path));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn note(&mut self, notes: &Notes) {
        self.repaired.operations = notes.operations.len() as u64;
        let lost = notes.lost.iter().map(|place| Lost::of_rows(place, "it is damaged"));
        self.repaired.lost.extend(lost);
        let lost = self.rows.strays.lost.iter().map(|(place, reason)| Lost::of_rows(place, reason));
        self.repaired.lost.extend(lost);
    }

    fn count(&mut self, saved: &Saved) {
        let Repaired { checkpoints, salvaged, deleted, artifacts, .. } = &mut self.repaired;
        match saved.deleted {
            Some(_) => *deleted += 1,
            None => *checkpoints += 1,
        }
        *salvaged += u64::from(saved.is_made_up);
        *artifacts += saved.artifacts.len() as u64;
    }

    /// Renames the new store into place, and puts the old one aside if it is in the way.
    fn put_in_place(
        &mut self,
        new_path: &Path,
        target: &StorePath,
        repair: &Repair,
        old: Option<FileId>,
    ) -> Result<()> {
        let (place, disk) = (target.path.as_path(), target.disk.as_ref());
        if repair.into.is_some() {
            disk.rename_new(new_path, place).at(place)?;
        } else {
            // Repairing takes long, and a lock does not stop another program from moving files.
            if !location::is_at(disk, old, place).at(place)? {
                let reason = "another file took its place meanwhile; nothing was changed";
                return Err(Error::corrupt_store(Damage::Engine, place, reason));
            }
            self.repaired.aside = Some(exchange(new_path, target, repair.now)?);
        }
        disk.sync_directory(location::parent(place)).at(place)?;
        self.repaired.into = Some(place.to_owned());
        Ok(())
    }
}

fn bytes_of(saved: &Saved) -> usize {
    let contents = saved.artifacts.iter().filter_map(|it| it.content.as_ref()).map(Vec::len);
    saved.frame.len() + contents.sum::<usize>()
}
