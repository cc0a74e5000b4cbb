//! The store: checkpoints in one file, durable before `save` returns.
//!
//! The only module that names redb.

mod ask;
mod care;
mod chain;
mod engine;
mod files;
mod keep;
mod log;
mod options;
mod save;
#[cfg(test)]
mod tests;
mod transaction;
mod turn;
mod watch;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;

use serde::Serialize;

use crate::checkpoint::{Checkpoint, Entry, Id, NewEntry};
use crate::codec::Frames;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;

use engine::disk::StorePath;
use engine::location;
use keep::deleted::Removal;
use keep::prune_on_save::{prune, settle};
use log::spool::Spool;
use save::queue::Queue;
use save::shared::Shared;
use save::tending;
use turn::enter::Turn;
use turn::keeper::Keeper;
use turn::view::Views;

pub use ask::arrivals::{Arrivals, Position};
pub use ask::restorable::Restorable;
pub use ask::stats::Stats;
pub use care::backup::{Backup, Copied};
pub use care::compact::Compacted;
pub use care::inspect::{Contents, Holder, Inspection, LockText, StoreState};
pub use care::rekey::Rekeyed;
pub use care::remains::Lost;
pub use care::repair::{Repair, Repaired};
pub use care::verify::{Defect, Harm, Verification, Verify};
pub use engine::disk::{opening, whole};
pub(crate) use engine::location::sync_parent;
#[cfg(feature = "transfer")]
pub(crate) use engine::lossy;
pub use engine::sectors::Unreadable;
pub use keep::deleted::Deleted;
pub use keep::operation::{Action, Operation};
pub use log::spool::Spooled;
pub use options::{Durability, Hold, Limits, Options, SetAside};
pub use save::draft::Draft;
pub(crate) use transaction::index::Index;
pub(crate) use transaction::lookup::{is_too_short, not_found};
pub(crate) use transaction::snapshot::Snapshot;
pub use turn::settings::Settings;
pub use watch::{Stage, Step};
#[cfg(feature = "transfer")]
pub(crate) use watch::{Watch, unwatched};

/// An embedded store of checkpoints: one file, shared by any number of threads and processes.
///
/// Cheap calls on one handle from many threads are how it is meant to be used: their saves share
/// transactions. Closing waits for relaxed saves; so does dropping, but it cannot report failure.
///
/// ```
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let store = Store::open(&path)?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?; // On disk when this returns.
/// assert_eq!(store.get(&saved.id)?.state::<String>()?, "state");
/// assert_eq!(store.list(&Query::issue("42")?)?.entries, [saved]);
/// store.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    /// The keeper thread, or why it could not be started; `None` once the store is closed.
    keeper: Option<io::Result<JoinHandle<()>>>,
}

impl Store {
    /// Opens the store at `path`, making it if there is none.
    ///
    /// # Errors
    /// [`Error::NotAStore`], [`Error::TooNew`], [`Error::Locked`] or [`Error::Io`]; the file is
    /// then as it was.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default())
    }

    /// Opens the store at `path` as `options` say.
    ///
    /// # Errors
    /// As [`Store::open`], and [`Error::Invalid`] if the limits are out of range.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        Self::open_at(StorePath::real(location::resolve(path.as_ref())), options)
    }

    /// Opens the store at a place that may be on another disk than this machine's.
    fn open_at(place: StorePath, options: Options) -> Result<Self> {
        options.limits.validate()?;
        let keeper = Arc::new(Keeper::default());
        let frames = Arc::new(Frames::new(options.keyring()));
        let shared = Arc::new(Shared {
            spool: Spool::of(&place),
            views: Views::default(),
            turn: Turn::new(place, &options, (keeper.clone(), settle), frames.clone()),
            options,
            queue: Queue::default(),
            keeper,
            frames,
            last_raw_bytes: AtomicUsize::new(0),
            prune,
        });
        let keeper = tending::start(&shared);
        let store = Self { shared, keeper: Some(keeper) };
        // Opening reads the file now, so that its faults surface here and not at the first save.
        store.shared.look_or_enter()?;
        Ok(store)
    }

    /// Where the store is, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.turn.path()
    }

    /// The time, by the clock of the options.
    #[cfg(feature = "transfer")]
    pub(crate) fn now(&self) -> crate::checkpoint::Timestamp {
        (self.shared.options.clock)()
    }

    /// Saves `state` as a checkpoint, and returns its entry once it is durable.
    ///
    /// Concurrent saves share one sync. Costs the same however much the store holds. While another
    /// process keeps the store, the checkpoint goes to the spool; see [`Options::spool_after`].
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::Limit`] if it cannot be stored, [`Error::Exists`] if the id
    /// is taken by other content, [`Error::Key`] if the store is encrypted and its key was not
    /// given, [`Error::Locked`] or [`Error::Io`]. After [`Error::Io`] the
    /// checkpoint may be there or not; saving it again under the same id is safe.
    pub fn save(&self, about: NewEntry, state: &(impl Serialize + ?Sized)) -> Result<Entry> {
        self.save_draft(self.draft(about, state)?)
    }

    /// Saves JSON text as a checkpoint, and returns its entry once it is durable.
    ///
    /// # Errors
    /// As [`Store::save`].
    pub fn save_json(&self, about: NewEntry, json: &[u8]) -> Result<Entry> {
        self.save_draft(self.draft_json(about, json)?)
    }

    /// Saves a draft, and returns its entry once it is as durable as it asks to be.
    ///
    /// # Errors
    /// As [`Store::save`].
    pub fn save_draft(&self, draft: Draft) -> Result<Entry> {
        self.shared.save_one(draft)
    }

    /// Saves many drafts with one sync, for bulk work.
    ///
    /// Each draft has an outcome of its own: one whose id is taken does not stop the others. A
    /// crash before this returns may keep the first few of them. They go to the spool only if all
    /// of them can; see [`Options::spool_after`].
    ///
    /// # Errors
    /// [`Error::Locked`], in which case none was saved, or [`Error::Io`], after which each may be
    /// there or not; saving them again under ids of the caller's own is safe.
    pub fn batch(&self, drafts: Vec<Draft>) -> Result<Vec<Result<Entry>>> {
        self.shared.save_batch(drafts)
    }

    /// Returns the checkpoint with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, [`Error::Corrupt`] if it is damaged, [`Error::Key`] if
    /// it is encrypted and its key was not given.
    pub fn get(&self, id: &Id) -> Result<Checkpoint> {
        self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            snapshot.load(entry)
        })
    }

    /// Returns the entry with this id, without reading its document.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, [`Error::Corrupt`] if it is damaged.
    pub fn entry(&self, id: &Id) -> Result<Entry> {
        self.read(|snapshot| snapshot.find(id)?.ok_or_else(|| not_found(id)))
    }

    /// Returns the number of checkpoints, without reading any.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self) -> Result<u64> {
        self.shared.read(|open| Snapshot::take(open, self.path())?.count())
    }

    /// Deletes checkpoints: all of them, or none if one does not exist.
    ///
    /// They can be restored by [`Store::undelete`] until the store is compacted, or for as long as
    /// [`Settings::keep_deleted`] says. On a full disk, a few are deleted at a time; if that fails,
    /// some are deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the one that does not exist.
    pub fn delete(&self, ids: &[Id]) -> Result<Deleted> {
        self.delete_as(ids, Removal::Restorable)
    }

    /// Deletes checkpoints for good: all of them, or none if one does not exist. On a full disk it
    /// deletes a few at a time; if that fails, some are deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the one that does not exist.
    pub fn delete_now(&self, ids: &[Id]) -> Result<Deleted> {
        self.delete_as(ids, Removal::Final)
    }

    /// Adds tags to a checkpoint; a tag that it already has is no error.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Limit`] if it would have too
    /// many tags.
    pub fn tag(&self, id: &Id, tags: &[String]) -> Result<Entry> {
        self.change(id, |entry| {
            entry.tags.extend(tags.iter().cloned());
            self.shared.options.limits.check(entry)
        })
    }

    /// Removes tags of a checkpoint; a tag that it does not have is no error.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint.
    pub fn untag(&self, id: &Id, tags: &[String]) -> Result<Entry> {
        self.change(id, |entry| {
            entry.tags.retain(|tag| !tags.contains(tag));
            Ok(())
        })
    }

    /// Makes every save so far durable.
    ///
    /// # Errors
    /// [`Error::Io`], also from a flush in the background since the last call.
    pub fn flush(&self) -> Result<()> {
        let flushed = self.shared.flush();
        self.shared.tend();
        flushed.and_then(|()| self.shared.keeper.take_failure())
    }

    /// Makes every save durable, closes the file, and reports errors that dropping cannot report.
    ///
    /// # Errors
    /// [`Error::Io`] if a relaxed save could not be made durable.
    pub fn close(mut self) -> Result<()> {
        self.end();
        self.shared.keeper.take_failure()
    }

    /// Runs `work` on a snapshot of the store.
    pub(crate) fn read<T>(&self, work: impl Fn(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        self.shared.read(|open| work(&Snapshot::take(open, self.path())?))
    }

    /// Changes the entry of a checkpoint, but not its id, time or document.
    fn change(&self, id: &Id, change: impl FnOnce(&mut Entry) -> Result<()>) -> Result<Entry> {
        self.shared.write(|writer| {
            let old = writer.find(id)?.ok_or_else(|| not_found(id))?;
            let mut new = old.clone();
            change(&mut new)?;
            if new != old {
                writer.replace(&old, &new)?;
            }
            Ok(new)
        })
    }

    fn end(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            self.shared.keeper.stop();
            // If the keeper panicked or never started, its work is done here.
            let _ = keeper.map(JoinHandle::join);
            // Opens the file once more if it was broken, which makes everything durable.
            self.shared.keeper.note_failure(self.shared.flush());
            self.shared.let_go();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.end();
    }
}
