//! Inspects a store without changing it, whatever state it is in.
//!
//! Must never repair, stop at the first problem, or lock other processes out for longer than
//! opening the store takes.
//!
//! Reads the tables as they were last made durable; says whether a journal, a spool or a repair
//! waits; and names the process that has the file. The engine repairs in memory a file that a crash
//! left, to tell a crash from damage; others wait meanwhile, as they would for the repair itself.
//!
//! Every byte of the file is read, so bad sectors show, too.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{ReadOnlyDatabase, ReadableDatabase as _, ReadableTable as _};

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::{KeyId, Keyring};
use crate::error::{At, Error, Result, process_of};
use crate::key::RecordKey;
use crate::store::Store;
use crate::store::ask::restorable::restorable;
use crate::store::engine::disk::{Disk, StorePath};
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::location;
use crate::store::engine::names::Names;
use crate::store::engine::sectors::{Sectors, Unreadable};
use crate::store::engine::table::{
    DELETED, FORMAT, FORMAT_OLDEST, KEY_KEY, META, NAMES, RECORDS, REKEY_KEY, open_if_made,
};
use crate::store::log::spool::Spooled;
use crate::store::transaction::lookup::Lookup;
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::held::Held;
use crate::store::turn::lock::{Content, LockFile};
use crate::store::turn::settings::{self, Settings};
use crate::store::turn::taken::taken;
use crate::store::turn::wait::{Announce, until_free};

/// What can be learnt about a store without changing it.
///
/// ```
/// # fn show(_line: String) {}
/// use std::time::Duration;
/// use waypost::care::{LockText, StoreState};
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # let store = Store::open(&path)?;
/// # store.save(NewEntry::issue("42")?, &"state")?;
/// store.close()?;
/// let found = Store::inspect(&path, Duration::ZERO, &mut |_entry| ())?;
/// assert_eq!((found.holder, found.lock_text), (None, LockText::Whole));
/// let StoreState::Closed(contents) = found.state else { panic!("it was closed") };
/// assert_eq!((contents.checkpoints, contents.damaged), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// Where the store is, links resolved.
    pub path: PathBuf,
    /// Length of the file.
    pub file_bytes: u64,
    /// Length of the journal beside it, if there is one. It holds saves that a crash or a running
    /// process has not put into the tables yet.
    pub journal_bytes: Option<u64>,
    /// What waits in the spool beside it.
    pub spool: Spooled,
    /// Whether another process had the store at the first try.
    pub holder: Option<Holder>,
    /// What the lock file beside it contains.
    pub lock_text: LockText,
    /// What is in it, if it can be read.
    pub state: StoreState,
    /// Byte ranges of the file and its journal that the disk cannot read.
    pub unreadable: Vec<Unreadable>,
}

/// The process that has a store.
///
/// See [`Inspection`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// As it described itself: its process id, and the label of its [`Options`](crate::Options).
    pub name: String,
    /// Since when, if it says so.
    pub since: Option<Timestamp>,
}

/// What the lock file beside a store contains. It works as a lock with any content.
///
/// See [`Inspection`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockText {
    /// A complete text, or nothing.
    Whole,
    /// A torn text, as after a power cut. The next process that opens the store rewrites it.
    Damaged,
    /// Content that no store wrote. It is left alone, so processes cannot learn from it which store
    /// this is: they do not spool, but wait for the store.
    Foreign,
}

/// Whether the inside of a store can be read.
///
/// See [`Inspection`] for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoreState {
    /// The other process did not close it.
    Held,
    /// A crash left it; the next process that opens it repairs it.
    Unclosed,
    /// It was closed properly.
    Closed(Box<Contents>),
}

/// What is in a store that was closed.
///
/// See [`Inspection`] for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// The format that it is written in.
    pub format: u32,
    /// The key that documents and captured files are encrypted with, if they are.
    pub key: Option<KeyId>,
    /// True while a [`Store::rekey`] is unfinished: some frames may still use another key or none.
    pub is_rekeying: bool,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Number of damaged entries. Documents are not read.
    pub damaged: u64,
    /// The fault of the first of them.
    pub damage: Option<String>,
    /// The time of the newest checkpoint.
    pub newest: Option<Timestamp>,
    /// Number of checkpoints that were deleted and can be restored until the store is compacted.
    pub deleted: u64,
    /// Length of their documents as compressed.
    pub deleted_bytes: u64,
    /// The settings; `None` if they are damaged, which counts as damage, too.
    pub settings: Option<Settings>,
}

impl Store {
    /// The newest format that this build reads and writes. Most stores have format 1; 2 is for
    /// encrypted stores, 3 for stores with dates that lag behind the order, 4 for
    /// stores with imported files.
    pub const FORMAT: u32 = FORMAT;
    /// The oldest format that this build reads.
    pub const FORMAT_OLDEST: u32 = FORMAT_OLDEST;

    /// Inspects the store at `path` without changing a byte of it or of its journal.
    ///
    /// If another process has it, waits for a turn for as long as `wait` says. Calls `hear` with
    /// every entry, those that were deleted and can be restored included. Reads every entry, but no
    /// document: about a second for a million checkpoints. Repairs a file that was not closed in
    /// memory only, to tell damage from what a crash leaves. Then reads every byte of the file,
    /// while other processes may use it.
    ///
    /// # Errors
    /// [`Error::NotAStore`], [`Error::TooNew`], [`Error::TooOld`], [`Error::Io`], or
    /// [`Error::Corrupt`] if not even the entries can be walked, or the next opening could not
    /// repair it.
    pub fn inspect(
        path: impl AsRef<Path>,
        wait: Duration,
        hear: &mut dyn FnMut(&Entry),
    ) -> Result<Inspection> {
        inspect_at(&StorePath::real(location::resolve(path.as_ref())), wait, hear)
    }
}

/// As [`Store::inspect`], on any disk.
pub(in crate::store) fn inspect_at(
    place: &StorePath,
    wait: Duration,
    hear: &mut dyn FnMut(&Entry),
) -> Result<Inspection> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    let mut holder = None;
    let state = without_panics(path, || look(place, wait, &mut holder, hear))?;
    // The holder took in its journal before it closed the file.
    let file_bytes = disk.look(path).at(path)?.bytes;
    let journal_path = location::beside(path, ".journal");
    let journal = disk.look(&journal_path).ok().filter(|found| found.is_other.is_none());
    let journal_bytes = journal.map(|found| found.bytes);
    let mut unreadable = unreadable(disk, path).at(path)?;
    // The holder may remove the journal meanwhile.
    unreadable.extend(self::unreadable(disk, &journal_path).unwrap_or_default());
    Ok(Inspection {
        path: place.path.clone(),
        file_bytes,
        journal_bytes,
        spool: Spooled::of(place, taken),
        holder,
        lock_text: LockText::of(&LockFile::of(place)),
        state,
        unreadable,
    })
}

/// Byte ranges of a file that the disk cannot read.
fn unreadable(disk: &dyn Disk, path: &Path) -> io::Result<Vec<Unreadable>> {
    let file = Sectors::open(disk, path)?;
    file.read_all();
    Ok(file.unreadable(path))
}

fn look(
    place: &StorePath,
    wait: Duration,
    holder: &mut Option<Holder>,
    hear: &mut dyn FnMut(&Entry),
) -> Result<StoreState> {
    let path = place.path.as_path();
    let lock_file = LockFile::of(place);
    let attempt = || match file::open_read_only(place.disk.as_ref(), path)? {
        Some((database, format)) => {
            let contents = Contents::read(&database, format, path, hear)?;
            Ok(StoreState::Closed(Box::new(contents)))
        }
        None if is_repairable(place)? => Ok(StoreState::Unclosed),
        None => Err(Refusal::Held),
    };
    let is_over = |waited| {
        holder.get_or_insert_with(|| Holder::of(&lock_file));
        waited >= wait
    };
    let state = until_free(&lock_file, Announce::Optional, attempt, is_over)?;
    Ok(state.unwrap_or(StoreState::Held))
}

/// Whether a file that was not closed is as a crash leaves it; false if another process has it now.
///
/// The engine takes a truncated file for one that needs repair, and fails only during the repair.
/// So it tries that in memory.
fn is_repairable(place: &StorePath) -> Result<bool> {
    match Held::new(place, Duration::ZERO, Keyring::default()).source() {
        Ok(_) => Ok(true),
        Err(Error::Locked { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Holder {
    /// Returns the id of its process, where that is known.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        process_of(&self.name)
    }

    fn of(lock_file: &LockFile) -> Self {
        Self { name: lock_file.holder(), since: lock_file.signed_at() }
    }
}

impl LockText {
    fn of(lock_file: &LockFile) -> Self {
        match lock_file.content() {
            Content::Whole(_) => Self::Whole,
            Content::Damaged => Self::Damaged,
            Content::Foreign => Self::Foreign,
        }
    }
}

impl Contents {
    fn read(
        database: &ReadOnlyDatabase,
        format: u32,
        path: &Path,
        hear: &mut dyn FnMut(&Entry),
    ) -> Result<Self> {
        let mut this = Self {
            format,
            key: None,
            is_rekeying: false,
            checkpoints: 0,
            damaged: 0,
            damage: None,
            newest: None,
            deleted: 0,
            deleted_bytes: 0,
            settings: None,
        };
        this.settings = this.taken(settings::load(database, path))?;
        let transaction = database.begin_read().within(path)?;
        let meta = transaction.open_table(META).within(path)?;
        this.key = meta.get(KEY_KEY).within(path)?.map(|key| KeyId::from_number(key.value()));
        this.is_rekeying = meta.get(REKEY_KEY).within(path)?.is_some();
        let names = transaction.open_table(NAMES).within(path)?;
        let known = Names::default();
        let lookup = Lookup { known: &known, path, names: &names };
        for row in transaction.open_table(RECORDS).within(path)?.iter().within(path)? {
            let (key, value) = row.within(path)?;
            let key = RecordKey::from_bytes(key.value());
            this.checkpoints += 1;
            if let Some(entry) = this.taken(lookup.decode(key, value.value()))? {
                this.newest = Some(entry.created_at);
                hear(&entry);
            }
        }
        let Some(deleted) = open_if_made(&transaction, DELETED, path)? else { return Ok(this) };
        for row in deleted.iter().within(path)? {
            let (row, value) = row.within(path)?;
            let decode = |key, record: &[u8]| lookup.decode(key, record);
            this.deleted += 1;
            if let Some(found) = this.taken(restorable(row.value(), value.value(), decode))? {
                this.deleted_bytes += found.entry.stored_bytes;
                hear(&found.entry);
            }
        }
        Ok(this)
    }

    /// Counts what is damaged, and goes on.
    fn taken<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error @ Error::Corrupt { .. }) => {
                self.damaged += 1;
                self.damage.get_or_insert_with(|| error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
