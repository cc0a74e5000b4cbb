//! The open file: what of it is in memory while this process has it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;

use redb::Database;

use crate::checkpoint::{Series, Timestamp};
use crate::codec::{Frames, KeyId, Placed};
use crate::error::{At, Result};
use crate::key::{NameId, SEQUENCE_MAX};
use crate::store::chain::bases::Bases;
use crate::store::engine::disk::{FileId, StorePath};
use crate::store::engine::full::{lacks_room, no_room};
use crate::store::engine::location;
use crate::store::engine::names::Names;
use crate::store::engine::overlay::Overlay;
use crate::store::log::intake::Intake;
use crate::store::log::journal::{self, Journal};
use crate::store::log::spool::logs::Logs;
use crate::store::options::{Options, SetAside};
use crate::store::turn::file::Refusal;
use crate::store::turn::found::StoreFacts;
use crate::store::turn::settings::{self, OnSave, Settings};
use crate::store::turn::tables::{KeptTables, ReadTables};
use crate::sync::{lock, read};

/// What a call does with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Use {
    /// Only reads, so on a full disk a file in memory is enough.
    Read,
    Write,
}

/// Puts into the tables what a journal has that they lack. The room `save` does it.
pub(in crate::store) type Settle = fn(&Open, &Path, Timestamp) -> Result<()>;

/// The file while this process has it.
pub(in crate::store) struct Open {
    /// Dropped first: the engine keeps the file open while a read transaction lives.
    pub(in crate::store) tables: KeptTables,
    pub(in crate::store) database: Database,
    /// The identity of this store, not of one that may replace it.
    pub(in crate::store) identity: u64,
    /// Identifies the file.
    pub(in crate::store) file: Option<FileId>,
    pub(in crate::store) names: Names,
    pub(in crate::store) frames: Arc<Frames>,
    pub(in crate::store) bases: Bases,
    pub(in crate::store) document_bytes_max: usize,
    pub(in crate::store) artifact_bytes_max: usize,
    /// Whether any file was ever captured; if not, no lookup is needed.
    pub(in crate::store) has_artifacts: AtomicBool,
    /// Whether the tables lead from files to all checkpoints that came from them. Changes with a
    /// commit.
    pub(in crate::store) has_sources: AtomicBool,
    /// Taken first of the three locks. Held from writing a save until it is pending.
    pub(in crate::store) journal: Mutex<Journal>,
    /// Taken second. Held for the whole of a write transaction.
    pub(in crate::store) next_name: Mutex<NameId>,
    /// How far the logs of the spool are read. Held for a moment, by a caller that has
    /// `Spool::seen`.
    pub(in crate::store) logs: Mutex<Logs>,
    /// Taken last, and for a moment only.
    pub(in crate::store) intake: Mutex<Intake>,
    /// Number of acknowledged saves that are not in the tables yet.
    pub(in crate::store) unsettled: AtomicUsize,
    /// Number of writes so far.
    pub(in crate::store) commits: AtomicU64,
    /// Number of checkpoints added to each series since it was last checked for pruning.
    pub(in crate::store) looked: Mutex<HashMap<Series, usize>>,
    /// `None` if they cannot be read.
    pub(in crate::store) settings: RwLock<Option<Arc<Settings>>>,
    /// The settings of this handle, used while the store has no policy.
    pub(in crate::store) given: Option<Arc<Settings>>,
    /// The key of the store. Changes only while the journal is held.
    pub(in crate::store) key: RwLock<Option<KeyId>>,
    /// True while a rekey is unfinished: some frames may still use the old key.
    pub(in crate::store) is_rekeying: AtomicBool,
    /// The longest lag of a date behind the order, in microseconds; `None` if the format of the
    /// store allows none. Changes with a commit.
    pub(in crate::store) lag_max: RwLock<Option<u64>>,
    /// Whether anything was saved since the file was opened.
    pub(in crate::store) has_saved: AtomicBool,
    pub(in crate::store) since: Instant,
    /// The overlay, if the file is open in memory; then only readers may use it.
    pub(in crate::store) memory: Option<Overlay>,
    /// Sequences from here on are provisional: a view gave them to spooled saves, which get others
    /// when a process takes them in.
    pub(in crate::store) provisional_from: AtomicU64,
}

impl Open {
    /// The tables as the last commit left them.
    pub(in crate::store) fn tables(&self, path: &Path) -> Result<Arc<ReadTables>> {
        self.tables.get((&self.database, &self.commits), path)
    }

    /// The highest sequence that is not provisional.
    pub(in crate::store) fn last_final(&self) -> u64 {
        self.provisional_from.load(Ordering::Acquire).saturating_sub(1).min(SEQUENCE_MAX)
    }

    /// Whether the format of the store allows dates that lag behind the order.
    pub(in crate::store) fn may_lag(&self) -> bool {
        read(&self.lag_max).is_some()
    }

    /// Puts into the tables the saves of the journal that they lack.
    ///
    /// A writer may use the reserve of the journal for that. A reader leaves it alone.
    pub(in crate::store) fn new(
        opened: (Database, Option<FileId>, StoreFacts),
        frames: Arc<Frames>,
        (place, options, settle): (&StorePath, &Options, Settle),
        usage: Use,
    ) -> Result<Self, Refusal> {
        let (path, disk) = (place.path.as_path(), place.disk.as_ref());
        let StoreFacts { next_sequence, identity, .. } = opened.2;
        if next_sequence == 1 {
            // The process that made the file may have been killed before its name was on disk. The
            // name must be on disk before the first checkpoint.
            let directory = location::parent(path);
            disk.sync_directory(directory).at(directory)?;
        }
        let journal_path = location::beside(path, ".journal");
        let left =
            journal::look(disk, (&journal_path, journal::FILE_BYTES_MAX), identity, next_sequence)?;
        let aside = journal::clear_place(disk, &journal_path, &left)?;
        if let (Some((path, reason)), Some(hear)) = (aside, &options.on_set_aside) {
            hear(SetAside { path, reason: reason.to_owned() });
        }
        let journal = Journal::new(place.disk.clone(), journal_path.clone(), identity);
        let open = Self::with(opened, frames, (left.placed, journal), place, options);
        match open.take_in_journal(path, options, settle) {
            Ok(()) => {}
            Err(error) if lacks_room(&error) => {
                let freed = match usage {
                    Use::Read => 0,
                    // While the file is locked: no other process writes to the journal.
                    Use::Write => journal::cut(disk, &journal_path, left.end)?,
                };
                return Err(if freed > 0 {
                    Refusal::Freed
                } else {
                    no_room(path, journal::room_for(left.end)).into()
                });
            }
            Err(error) => return Err(error.into()),
        }
        lock(&open.journal).remove_left();
        Ok(open)
    }

    /// As [`Open::new`], but in memory: the journal stays as it is.
    pub(in crate::store) fn in_memory(
        opened: (Database, Option<FileId>, StoreFacts),
        overlay: Overlay,
        frames: Arc<Frames>,
        (place, options, settle): (&StorePath, &Options, Settle),
    ) -> Result<Self> {
        let StoreFacts { next_sequence, identity, .. } = opened.2;
        let path = location::beside(&place.path, ".journal");
        let left = journal::look(
            place.disk.as_ref(),
            (&path, journal::FILE_BYTES_MAX),
            identity,
            next_sequence,
        )?;
        if !left.placed.is_empty() {
            // Relaxed saves must not wait for room in the tables to be durable. If the sync fails,
            // the next write puts them into the tables anyway.
            let _ = place.disk.open(&path).and_then(|file| file.sync());
        }
        let journal = Journal::detached(place.disk.clone(), path, identity);
        let open = Self::with(opened, frames, (left.placed, journal), place, options);
        let open = Self { memory: Some(overlay), ..open };
        open.provisional_from.store(lock(&open.intake).next_sequence(), Ordering::Release);
        open.take_in_journal(&place.path, options, settle)?;
        Ok(open)
    }

    /// As [`Open::in_memory`], for a view: the caller has read the journal, and puts its saves into
    /// the tables.
    pub(in crate::store) fn view(
        opened: (Database, Option<FileId>, StoreFacts),
        overlay: Overlay,
        frames: Arc<Frames>,
        (left, place, options): (Vec<Placed>, &StorePath, &Options),
    ) -> Self {
        let path = location::beside(&place.path, ".journal");
        let journal = Journal::detached(place.disk.clone(), path, opened.2.identity);
        let open = Self::with(opened, frames, (left, journal), place, options);
        // What this handle prunes by counts for its own saves, and a view has those of others.
        Self { memory: Some(overlay), given: None, ..open }
    }

    fn take_in_journal(&self, path: &Path, options: &Options, settle: Settle) -> Result<()> {
        if self.unsettled.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        settle(self, path, (options.clock)())
    }

    fn with(
        (database, file, found): (Database, Option<FileId>, StoreFacts),
        frames: Arc<Frames>,
        (left, journal): (Vec<Placed>, Journal),
        place: &StorePath,
        options: &Options,
    ) -> Self {
        let StoreFacts {
            next_sequence, next_name, identity, has_artifacts, key, is_rekeying, ..
        } = found;
        let settings = settings::load(&database, &place.path);
        Self {
            tables: KeptTables::default(),
            database,
            identity,
            file,
            names: Names::default(),
            frames,
            bases: Bases::new(options.cache_bytes / 2),
            document_bytes_max: options.limits.document_bytes,
            artifact_bytes_max: options.limits.artifact_bytes,
            has_artifacts: AtomicBool::new(has_artifacts),
            has_sources: AtomicBool::new(found.has_sources),
            next_name: Mutex::new(next_name),
            unsettled: AtomicUsize::new(left.len()),
            intake: Mutex::new(Intake::new(next_sequence, found.highest, left)),
            journal: Mutex::new(journal),
            logs: Mutex::default(),
            commits: AtomicU64::new(0),
            looked: Mutex::new(HashMap::new()),
            settings: RwLock::new(settings.ok().map(Arc::new)),
            given: options.prune_on_save.clone().map(Settings::given),
            key: RwLock::new(key),
            is_rekeying: AtomicBool::new(is_rekeying),
            lag_max: RwLock::new(found.lag_max),
            has_saved: AtomicBool::new(false),
            since: Instant::now(),
            memory: None,
            provisional_from: AtomicU64::new(u64::MAX),
        }
    }

    /// Whether the file is open in memory: writes never reach the disk.
    pub(in crate::store) fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }
}

impl Open {
    /// The settings, unless they cannot be read: then nothing is pruned.
    pub(in crate::store) fn settings(&self) -> Option<Arc<Settings>> {
        read(&self.settings).clone()
    }

    /// The policy that prunes every save, if there is one, and the dependents of what goes can be
    /// stored anew.
    pub(in crate::store) fn on_save(&self) -> Option<OnSave> {
        let settings = self.settings().filter(|_| self.has_key())?;
        match (&settings.policy, &self.given) {
            (Some(_), _) if settings.prune_on_save => Some(OnSave { settings, is_final: true }),
            (None, Some(given)) => Some(OnSave { settings: given.clone(), is_final: false }),
            _ => None,
        }
    }
}
