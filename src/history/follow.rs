//! Follows the saves of all processes, without keeping any of them from the store.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::row::Row;
use super::timeline::Timeline;
use crate::checkpoint::{Entry, Id, Issue, LoopId};
#[cfg(feature = "encrypt")]
use crate::codec::SecretKey;
use crate::error::{Error, Result};
use crate::key::Order;
use crate::query::Query;
use crate::store::{Options, Position, Store};

/// Which checkpoints are followed: those of a series, issue or loop that a query admits.
///
/// The name need not exist yet. By default all checkpoints.
///
/// See [`Follower`] for an example.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    /// A series, an issue (`42` or `#42`) or a loop; all of them if `None`.
    pub name: Option<String>,
    /// What else must hold.
    pub query: Query,
}

impl Followed {
    fn admits(&self, entry: &Entry) -> bool {
        let name = self.name.as_deref();
        name.is_none_or(|name| is_of(entry, name)) && self.query.admits(entry)
    }
}

/// Whether an entry is of the series, issue or loop of this name.
fn is_of(entry: &Entry, name: &str) -> bool {
    let issue = entry.issue.as_ref().map(Issue::as_str);
    let loop_id = entry.loop_id.as_ref().map(LoopId::as_str);
    let number = name.strip_prefix('#').unwrap_or(name);
    entry.series.as_str() == name || loop_id == Some(name) || issue == Some(number)
}

/// Follows a store that other processes save into, one look at a time.
///
/// A look costs little if nothing is new, and no other process notices it. The caller decides how
/// long to wait between looks.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::{Follower, Followed};
/// # use waypost::{NewEntry, Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let mut follower = Follower::new(path.clone(), Options::default(), Followed::default());
/// follower.start(0)?;
///
/// let store = Store::open(&path)?; // another process
/// let saved = store.save(NewEntry::default(), &1)?;
/// store.close()?;
///
/// let new = follower.look(usize::MAX)?;
/// assert_eq!(new.rows[0].entry.id, saved.id);
/// assert!(follower.look(usize::MAX)?.rows.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Follower {
    target: Followed,
    options: Options,
    path: PathBuf,
    position: Position,
    /// Returned at the start, though some may have come after the position was taken.
    listed: HashSet<Id>,
    /// Kept open from one look to the next.
    store: Option<Store>,
    id_length: usize,
}

/// What one look found.
///
/// See [`Follower`] for an example.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Looked {
    /// New checkpoints in the order in which they were saved, with what changed in each.
    pub rows: Vec<Row>,
    /// Why nothing can be returned yet, if that is temporary.
    pub waiting: Option<Waiting>,
    /// Whether the store was read.
    pub has_read: bool,
}

/// Why nothing can be returned yet.
///
/// ```
/// use waypost::Options;
/// use waypost::history::{Followed, Follower, Waiting};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let mut follower = Follower::new(path, Options::default(), Followed::default());
/// let looked = follower.start(0)?;
/// assert!(matches!(looked.waiting, Some(Waiting::NoStore(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Waiting {
    /// There is no store at this path.
    NoStore(PathBuf),
    /// No series, issue or loop has this name.
    Unknown(String),
    /// Another process kept the store.
    Trouble(Error),
}

impl Follower {
    /// Follows the store at `path`, which need not exist yet. It never makes one.
    #[must_use]
    pub fn new(path: PathBuf, options: Options, target: Followed) -> Self {
        Self {
            target,
            options: Options { create: false, ..options },
            path,
            position: Position::default(),
            listed: HashSet::new(),
            store: None,
            id_length: 0,
        }
    }

    /// Opens the store with these keys from now on.
    #[cfg(feature = "encrypt")]
    pub fn set_keys(&mut self, keys: Vec<SecretKey>) {
        self.options.keys = keys;
        self.store = None;
    }

    /// Marks existing checkpoints as known, and returns at most `last` of the newest, oldest first.
    ///
    /// # Errors
    /// Whatever keeps the store from being read, except that it does not exist yet.
    pub fn start(&mut self, last: usize) -> Result<Looked> {
        if !self.path.exists() {
            let waiting = Some(Waiting::NoStore(self.path.clone()));
            return Ok(Looked { waiting, ..Looked::default() });
        }
        let store = self.open()?;
        self.position = store.position()?;
        let (entries, waiting) = self.newest(&store, last)?;
        self.listed = entries.iter().map(|entry| entry.id.clone()).collect();
        let rows = self.rows(&store, entries)?;
        self.store = Some(store);
        Ok(Looked { rows, waiting, has_read: true })
    }

    /// Returns at most `limit` of the checkpoints that came since the last look.
    ///
    /// # Errors
    /// If the store cannot be read; that another process has it, or that it is gone, is no error.
    pub fn look(&mut self, limit: usize) -> Result<Looked> {
        if !self.path.exists() {
            self.store = None;
            return Ok(Looked::default());
        }
        match self.read(limit) {
            Err(error) if is_passing(&error) => {
                Ok(Looked { waiting: Some(self.why(error)), ..Looked::default() })
            }
            looked => looked,
        }
    }

    /// Returns how many characters it takes to tell the ids of all returned rows apart.
    #[must_use]
    pub fn id_length(&self) -> usize {
        self.id_length
    }

    fn read(&mut self, limit: usize) -> Result<Looked> {
        // After an error the store is opened anew: the path may lead to another store by then.
        let store = self.store.take().map_or_else(|| self.open(), Ok)?;
        let arrivals = store.arrivals(self.position)?;
        let mut entries = arrivals.entries;
        entries.retain(|entry| !self.listed.contains(&entry.id));
        entries.retain(|entry| self.target.admits(entry));
        entries.truncate(limit);
        let rows = self.rows(&store, entries)?;
        self.store = Some(store);
        // Only now: after an error the next look reads the same checkpoints again.
        self.position = arrivals.next;
        Ok(Looked { rows, waiting: None, has_read: true })
    }

    fn open(&self) -> Result<Store> {
        Store::open_with(&self.path, self.options.clone())
    }

    fn newest(&self, store: &Store, last: usize) -> Result<(Vec<Entry>, Option<Waiting>)> {
        let Followed { name, query } = &self.target;
        let scope = match store.scope(name.as_deref(), query.clone()) {
            Ok(scope) => scope,
            Err(Error::NotFound { wanted }) => {
                return Ok((Vec::new(), Some(Waiting::Unknown(wanted.checkpoint().to_owned()))));
            }
            Err(error) => return Err(error),
        };
        let entries = scope.entries(store, Order::Newest).take(last);
        let mut newest = entries.collect::<Result<Vec<_>>>()?;
        newest.reverse();
        Ok((newest, None))
    }

    /// Entries with what changed in each, in the same order.
    fn rows(&mut self, store: &Store, mut entries: Vec<Entry>) -> Result<Vec<Row>> {
        let ids: Vec<_> = entries.iter().map(|entry| &entry.id).collect();
        self.id_length = store.short_length(&ids)?.max(self.id_length);
        // From the newest on, so that every document is read once.
        entries.reverse();
        let mut rows = Timeline::new(store, entries).collect::<Result<Vec<_>>>()?;
        rows.reverse();
        Ok(rows)
    }

    fn why(&self, error: Error) -> Waiting {
        match error {
            Error::Io { .. } => Waiting::NoStore(self.path.clone()),
            error => Waiting::Trouble(error),
        }
    }
}

/// Whether the next look may succeed: another process has the store, or it was moved away.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Locked { .. } => true,
        Error::Io { source, .. } => source.kind() == ErrorKind::NotFound,
        _ => false,
    }
}
