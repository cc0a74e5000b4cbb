//! What is new since the last look, without taking the store from those who save more than needed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use waypost::{Entry, Error, Issue, LoopId, Order, Position, Query, Store};

use super::super::log::{Reader, Row};
use crate::args::Global;
use crate::exit::Refusal;
use crate::scope::Scope;
use crate::{open, output};

// A save may come just when this process lets the file go, and would leave no other trace.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(5);

/// Which checkpoints are followed.
pub(super) struct Followed {
    pub(super) target: Option<String>,
    pub(super) query: Query,
}

impl Followed {
    fn admits(&self, entry: &Entry) -> bool {
        let target = self.target.as_deref();
        target.is_none_or(|name| is_of(entry, name)) && self.query.admits(entry)
    }
}

/// Whether an entry is of the series, issue or loop of this name.
fn is_of(entry: &Entry, name: &str) -> bool {
    let issue = entry.issue.as_ref().map(Issue::as_str);
    let loop_id = entry.loop_id.as_ref().map(LoopId::as_str);
    // As it is written where issues are.
    let number = name.strip_prefix('#').unwrap_or(name);
    entry.series.as_str() == name || loop_id == Some(name) || issue == Some(number)
}

/// Looks at the store again and again.
pub(super) struct Follower<'a> {
    followed: Followed,
    global: &'a Global,
    path: PathBuf,
    position: Position,
    /// What was shown at the start, though it may have come after the position was taken.
    listed: HashSet<u64>,
    seen: Seen,
    /// How many characters of an id are shown.
    id_length: usize,
    /// The last that was said about why there is nothing to be seen.
    told: Option<String>,
}

type Stamp = Option<(SystemTime, u64)>;

/// What is known about the files without opening them.
#[derive(Default)]
struct Seen {
    /// How the files were before the last look that found nothing new, and when that was.
    ///
    /// Only such a look can be trusted: what another process saved while this one had the store,
    /// into the spool or right after it was closed, is already part of how the files are then.
    confirmed: Option<([Stamp; 3], Instant)>,
}

impl Seen {
    fn is_due(&self, stamps: [Stamp; 3], now: Instant) -> bool {
        self.confirmed.is_none_or(|(confirmed, at)| {
            confirmed != stamps || now.duration_since(at) >= LOOK_AT_LEAST_EVERY
        })
    }

    /// A look began when the files were so, and found nothing new.
    fn confirm(&mut self, stamps: [Stamp; 3], now: Instant) {
        self.confirmed = Some((stamps, now));
    }

    /// This process had the store: the next look must confirm that nothing came meanwhile.
    fn forget(&mut self) {
        self.confirmed = None;
    }
}

impl<'a> Follower<'a> {
    pub(super) fn new(followed: Followed, global: &'a Global) -> Result<Self> {
        Ok(Self {
            followed,
            global,
            path: open::path(global)?,
            position: Position::default(),
            listed: HashSet::new(),
            seen: Seen::default(),
            id_length: 0,
            told: None,
        })
    }

    /// Takes what there is for known, and returns so many of the newest of it, the oldest first.
    pub(super) fn start(&mut self, last: usize) -> Result<Vec<Row>> {
        if !self.path.exists() {
            self.tell(format!("there is no store at {} yet; waiting", self.path.display()));
            return Ok(Vec::new());
        }
        // Whatever is wrong with the store shows here, and ends it.
        let store = open::existing(self.global, "watch")?;
        self.position = store.position()?;
        let entries = self.newest(&store, last)?;
        self.listed = entries.iter().map(|entry| entry.sequence).collect();
        let rows = self.rows(&store, entries)?;
        self.let_go(store)?;
        Ok(rows)
    }

    /// What came since the last look, and no more than `limit` of it.
    pub(super) fn look(&mut self, limit: usize) -> Result<Vec<Row>> {
        let stamps = stamps_of(&self.path);
        if !self.path.exists() || !self.seen.is_due(stamps, Instant::now()) {
            return Ok(Vec::new());
        }
        // Another one that watches changes the files, too, and must not be watched in turn.
        if Store::is_unchanged_since(&self.path, self.position) {
            self.seen.confirm(stamps, Instant::now());
            return Ok(Vec::new());
        }
        match self.look_inside(limit) {
            Err(error) if is_passing(&error) => {
                self.tell(format!("{error:#}; trying again"));
                Ok(Vec::new())
            }
            looked => looked,
        }
    }

    fn look_inside(&mut self, limit: usize) -> Result<Vec<Row>> {
        let store = open::existing(self.global, "watch")?;
        let arrivals = store.arrivals(self.position)?;
        let mut entries = arrivals.entries;
        entries.retain(|entry| !self.listed.contains(&entry.sequence));
        entries.retain(|entry| self.followed.admits(entry));
        entries.truncate(limit);
        let rows = self.rows(&store, entries)?;
        self.let_go(store)?;
        // What could not be shown is looked for again.
        self.position = arrivals.next;
        self.told = None;
        Ok(rows)
    }

    fn newest(&mut self, store: &Store, last: usize) -> Result<Vec<Entry>> {
        let Followed { target, query } = &self.followed;
        let scope = match Scope::new(store, target.as_deref(), query.clone()) {
            Ok(scope) => scope,
            Err(error) if matches!(error.downcast_ref(), Some(Refusal::Unknown { .. })) => {
                let name = target.as_deref().unwrap_or_default();
                self.tell(format!("nothing is called {name:?} yet; waiting"));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let mut newest =
            scope.entries(store, Order::Newest).take(last).collect::<Result<Vec<_>, _>>()?;
        newest.reverse();
        Ok(newest)
    }

    /// Closes the store, so that whoever saves need not ask for it.
    fn let_go(&mut self, store: Store) -> Result<()> {
        store.close()?;
        self.seen.forget();
        Ok(())
    }

    /// How many characters it takes to tell the ids apart of all that was shown.
    pub(super) fn id_length(&self) -> usize {
        self.id_length
    }

    /// Entries with what changed in each, in the same order.
    fn rows(&mut self, store: &Store, entries: Vec<Entry>) -> Result<Vec<Row>> {
        self.id_length = output::id_length(store, &entries)?.max(self.id_length);
        let mut reader = Reader::new(store, &entries);
        // From the newest on, so that every document is read once.
        let mut rows =
            entries.into_iter().rev().map(|entry| reader.row(entry)).collect::<Result<Vec<_>>>()?;
        rows.reverse();
        Ok(rows)
    }

    fn tell(&mut self, text: String) {
        if self.told.as_ref() != Some(&text) {
            self.global.note(&text);
            self.told = Some(text);
        }
    }
}

/// Whether another look may find what this one could not.
fn is_passing(error: &anyhow::Error) -> bool {
    let is_locked = matches!(error.downcast_ref(), Some(Error::Locked { .. }));
    is_locked || matches!(error.downcast_ref(), Some(Refusal::NoStore { .. }))
}

/// When the store, its journal and its spool last changed, and their lengths.
fn stamps_of(path: &Path) -> [Stamp; 3] {
    ["", ".journal", ".spool"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let metadata = fs::metadata(name).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watcher noted the files after it had closed the store, and so took what was spooled while
    /// it had the store for seen: the last saves of a fast loop were shown 5 to 7 seconds later.
    #[test]
    fn the_files_are_looked_at_again_after_the_store_was_open() {
        let (now, stamps) = (Instant::now(), [None; 3]);
        let mut seen = Seen::default();
        assert!(seen.is_due(stamps, now));
        seen.confirm(stamps, now);
        assert!(!seen.is_due(stamps, now));
        seen.forget();
        assert!(seen.is_due(stamps, now));
    }

    #[test]
    fn a_change_and_a_long_time_make_a_look_due() {
        let (now, stamps) = (Instant::now(), [None; 3]);
        let mut seen = Seen::default();
        seen.confirm(stamps, now);
        assert!(seen.is_due([None, None, Some((SystemTime::UNIX_EPOCH, 1))], now));
        assert!(seen.is_due(stamps, now + LOOK_AT_LEAST_EVERY));
    }
}
