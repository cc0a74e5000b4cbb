//! The logs of the spool as one opening of the store reads them: in one order, up to a cut.
//!
//! The page of `spool` says why that order and that cut are right. Must never return a save without
//! one that was acknowledged before it began.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::folder::Folder;
use super::taken::{LogName, Taken};
use super::{BYTES_MAX, RETRY_AFTER};
use crate::codec::Placed;
use crate::error::{Damage, Error, Result};
use crate::store::log::journal::{self, Followed};

// Beyond this, the rest is read later: memory is bounded.
const WAITING_BYTES: usize = 32 << 20;
// How often a log without news is checked for whether a process holds it.
const HELD_EVERY: Duration = Duration::from_millis(50);
// A log does not look damaged for longer than a write takes.
const LOOKS: usize = 3;
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Where logs are, and what is to be read.
pub(in crate::store) struct Wanted<'a> {
    pub(in crate::store) folder: &'a Folder,
    pub(in crate::store) identity: u64,
    /// What the tables have.
    pub(in crate::store) taken: &'a Taken,
    /// A time before anything was read. Later saves of this boot are not taken yet.
    pub(in crate::store) cut: u64,
    /// Whether it is taken in for good. Otherwise no log is locked, not even for a moment.
    pub(in crate::store) is_for_good: bool,
}

/// What an opening of the store has read of the logs.
#[derive(Default)]
pub(in crate::store) struct Logs {
    each: BTreeMap<LogName, Reading>,
    /// Whether something was given out that is not in the tables for sure.
    is_given: bool,
}

#[derive(Default)]
struct Reading {
    /// `None` before it is read, and if it is damaged.
    followed: Option<Followed>,
    /// The stamp from which on it is read.
    next: u64,
    /// Read and not given out.
    waiting: VecDeque<Placed>,
    bytes: usize,
    looked: Option<Instant>,
    rests_until: Option<Instant>,
    /// No process holds it, and all of it was read.
    is_over: bool,
}

/// Why a log cannot be read as it should.
pub(in crate::store) enum Trouble {
    /// It is of another store, or no log.
    Foreign,
    /// Some of it is damaged; the rest is read once it is copied out of the way.
    Damaged(Error),
    /// It cannot be read now.
    Unread(Error),
}

impl Logs {
    /// Reads what came since. Returns what is wrong with some logs, and the first that is read
    /// later.
    pub(in crate::store) fn read(
        &mut self,
        names: &[LogName],
        wanted: &Wanted<'_>,
    ) -> (Vec<(LogName, Trouble)>, Option<LogName>) {
        if std::mem::take(&mut self.is_given) {
            // The transaction failed, so it was not taken in.
            self.each.clear();
        }
        self.each.retain(|name, _| names.binary_search(name).is_ok());
        let boots = boots(names);
        let mut troubles = Vec::new();
        let mut bytes: usize = self.each.values().map(|it| it.bytes).sum();
        for name in by_start(names, &boots) {
            let start = (boots[&name.boot()], name.start());
            let is_new = !self.each.contains_key(name);
            if is_new && wanted.is_late(name, name.start()) {
                continue;
            }
            let has_before = || self.firsts(wanted, &boots).any(|first| first < start);
            if is_new && bytes > WAITING_BYTES && has_before() {
                return (troubles, Some(name.clone()));
            }
            let next = || Reading { next: wanted.taken.up_to(name) + 1, ..Reading::default() };
            let reading = self.each.entry(name.clone()).or_insert_with(next);
            let before = reading.bytes;
            if let Err(trouble) = reading.read(name, wanted) {
                troubles.push((name.clone(), trouble));
            }
            bytes += reading.bytes - before;
        }
        (troubles, None)
    }

    /// The logs in the order in which to take in one save of each, up to the first unread log.
    pub(in crate::store) fn order(
        &self,
        (names, unread): (&[LogName], Option<&LogName>),
        wanted: &Wanted<'_>,
    ) -> Vec<LogName> {
        let boots = boots(names);
        let end = unread.map(|name| (boots[&name.boot()], name.start()));
        let mut order: Vec<((usize, u64), &LogName)> = Vec::new();
        for (name, reading) in self.each.iter().filter(|(_, it)| !it.rests()) {
            let rank = boots[&name.boot()];
            let stamps = reading.waiting.iter().map(|placed| placed.entry.sequence);
            let stamps = stamps.take_while(|stamp| !wanted.is_late(name, *stamp));
            let places = stamps.map(|stamp| (rank, stamp));
            let places = places.take_while(|place| end.is_none_or(|end| *place < end));
            order.extend(places.map(|place| (place, name)));
        }
        order.sort_unstable();
        order.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// The next save of a log.
    pub(in crate::store) fn next(&self, name: &LogName) -> Option<&Placed> {
        self.each.get(name).filter(|it| !it.rests())?.waiting.front()
    }

    /// Notes that the next save of a log is being taken in.
    pub(in crate::store) fn give(&mut self, name: &LogName) {
        self.is_given = true;
        if let Some(reading) = self.each.get_mut(name)
            && let Some(placed) = reading.waiting.pop_front()
        {
            reading.bytes -= placed.frame.len();
        }
    }

    /// Leaves a log alone for a while, since its next save cannot be taken in.
    pub(in crate::store) fn rest(&mut self, name: &LogName) {
        if let Some(reading) = self.each.get_mut(name) {
            reading.rests_until = Some(Instant::now() + RETRY_AFTER);
        }
    }

    /// As [`Logs::rest`], if there is nothing of the log to take in.
    pub(in crate::store) fn rest_if_done(&mut self, name: &LogName) {
        if self.each.get(name).is_some_and(|reading| reading.waiting.is_empty()) {
            self.rest(name);
        }
    }

    /// What was given out is in the tables.
    pub(in crate::store) fn confirm(&mut self) {
        self.is_given = false;
    }

    /// The logs that no process writes to, and of which everything was given out.
    pub(in crate::store) fn over(&self) -> Vec<LogName> {
        let over = self.each.iter().filter(|(_, it)| it.is_over && it.waiting.is_empty());
        over.map(|(name, _)| name.clone()).collect()
    }

    /// Reads on past the damage to a log, which was copied out of the way.
    pub(in crate::store) fn read_past(
        &mut self,
        name: &LogName,
        wanted: &Wanted<'_>,
        is_held: bool,
    ) {
        if let Some(reading) = self.each.get_mut(name) {
            reading.read_past(name, wanted, false);
            reading.is_over |= !is_held;
        }
    }

    /// The places of the first saves that can be taken in.
    fn firsts<'a>(
        &'a self,
        wanted: &'a Wanted<'_>,
        boots: &'a BTreeMap<u64, usize>,
    ) -> impl Iterator<Item = (usize, u64)> + 'a {
        self.each.iter().filter_map(|(name, reading)| {
            let stamp = reading.waiting.front()?.entry.sequence;
            let is_due = !reading.rests() && !wanted.is_late(name, stamp);
            is_due.then(|| (boots[&name.boot()], stamp))
        })
    }
}

impl Wanted<'_> {
    /// Whether a stamp in a log is beyond the cut. Stamps of other boots cannot be compared with
    /// it: their writers have ended.
    fn is_late(&self, name: &LogName, stamp: u64) -> bool {
        let boot = self.folder.disk().boot();
        boot != 0 && name.boot() == boot && stamp >= self.cut
    }
}

impl Reading {
    fn rests(&self) -> bool {
        self.rests_until.is_some_and(|until| Instant::now() < until)
    }

    fn read(&mut self, name: &LogName, wanted: &Wanted<'_>) -> Result<(), Trouble> {
        if self.rests() {
            return Ok(());
        }
        let is_due =
            wanted.is_for_good && self.looked.is_none_or(|looked| looked.elapsed() >= HELD_EVERY);
        // Checked first: its writer may add to it before it lets it go.
        let is_let_go = !self.is_over && is_due && !wanted.folder.is_held(name);
        if is_due {
            self.looked = Some(Instant::now());
        }
        self.read_on(name, wanted)?;
        self.is_over |= is_let_go;
        Ok(())
    }

    fn read_on(&mut self, name: &LogName, wanted: &Wanted<'_>) -> Result<(), Trouble> {
        let news = match &mut self.followed {
            Some(followed) => followed.news(),
            None => self.start(name, wanted),
        };
        let is_foreign = self.followed.as_ref().is_some_and(Followed::is_foreign);
        match news {
            Ok(_) if is_foreign => Err(Trouble::Foreign),
            Ok(news) => {
                self.add(news);
                Ok(())
            }
            Err(error @ Error::Corrupt { damage: Damage::Disk, .. }) => {
                self.followed = None;
                self.read_past(name, wanted, true);
                Err(Trouble::Unread(error))
            }
            Err(error @ Error::Corrupt { .. }) => {
                self.followed = None;
                Err(Trouble::Damaged(error))
            }
            Err(error) => {
                self.followed = None;
                Err(Trouble::Unread(error))
            }
        }
    }

    fn start(&mut self, name: &LogName, wanted: &Wanted<'_>) -> Result<Vec<Placed>> {
        let (disk, path) = (wanted.folder.disk().clone(), wanted.folder.log(name));
        let seed = name.seed(wanted.identity);
        let (followed, left) = Followed::start(disk, (path, BYTES_MAX), seed, self.next)?;
        self.followed = Some(followed);
        Ok(left)
    }

    /// What can be read of a damaged log; only what is before the damage if it may be read later.
    fn read_past(&mut self, name: &LogName, wanted: &Wanted<'_>, is_for_now: bool) {
        let (disk, path) = (wanted.folder.disk().as_ref(), wanted.folder.log(name));
        let seed = Some(name.seed(wanted.identity));
        let Ok(Some(scanned)) = journal::scan(disk, (&path, BYTES_MAX), seed, self.next) else {
            return;
        };
        let gap = scanned.gaps.first().map(|gap| gap.at).filter(|_| is_for_now);
        let mut items = Vec::new();
        for item in scanned.items {
            if item.is_checked && gap.is_none_or(|gap| item.at < gap) {
                items.push(item.placed);
            }
        }
        self.add(items);
    }

    fn add(&mut self, news: Vec<Placed>) {
        for placed in news {
            // Stamps rise in a log. A damaged one may be read twice.
            if placed.entry.sequence < self.next {
                continue;
            }
            self.next = placed.entry.sequence + 1;
            self.bytes += placed.frame.len();
            self.waiting.push_back(placed);
        }
    }
}

/// What can be read of logs that are not followed.
#[derive(Default)]
pub(in crate::store) struct Remains {
    /// Each with the path of its log, in the order in which to take them in.
    pub(in crate::store) items: Vec<(PathBuf, Placed)>,
    /// Logs of which some cannot be read, and why.
    pub(in crate::store) lost: Vec<(PathBuf, String)>,
}

/// Reads what the tables lack of logs, past their damage; whatever store they name if the identity
/// of this one is lost. Changes nothing.
pub(in crate::store) fn remains(
    folder: &Folder,
    names: &[LogName],
    identity: Option<u64>,
    taken: &Taken,
) -> Remains {
    let boots = boots(names);
    let mut found = Vec::new();
    let mut lost = Vec::new();
    for name in names {
        let (path, next) = (folder.log(name), taken.up_to(name) + 1);
        let (disk, seed) = (folder.disk().as_ref(), identity.map(|it| name.seed(it)));
        let mut scanned = journal::scan(disk, (&path, BYTES_MAX), seed, next);
        for _ in 1..LOOKS {
            // A log that is read while it is written may look damaged.
            if !matches!(&scanned, Ok(Some(it)) if it.gaps.iter().any(|gap| gap.is_damage)) {
                break;
            }
            thread::sleep(LOOK_EVERY);
            scanned = journal::scan(disk, (&path, BYTES_MAX), seed, next);
        }
        let scanned = match scanned {
            Ok(Some(scanned)) => scanned,
            // Nothing in it was acknowledged, or it is of another store.
            Ok(None) if matches!(disk.look(&path), Ok(log) if log.bytes == 0) => continue,
            Ok(None) => {
                lost.push((path, "it is of another store, or no log".to_owned()));
                continue;
            }
            Err(Error::Io { .. }) => continue,
            Err(error) => {
                lost.push((path, error.to_string()));
                continue;
            }
        };
        if let Some(unread) = scanned.unreadable.first() {
            lost.push((
                path.clone(),
                format!("the disk cannot read some of it: {}", unread.reason),
            ));
        } else if let Some(gap) = scanned.gaps.iter().find(|gap| gap.is_damage) {
            lost.push((path.clone(), format!("it is damaged at byte {}", gap.at)));
        }
        for item in scanned.items.into_iter().filter(|item| item.is_checked) {
            if !taken.is_left(name, item.placed.entry.sequence) {
                let place = (boots[&name.boot()], item.placed.entry.sequence);
                found.push((place, (path.clone(), item.placed)));
            }
        }
    }
    found.sort_by_key(|(place, _)| *place);
    Remains { items: found.into_iter().map(|(_, item)| item).collect(), lost }
}

/// Boots in their order. A log has a later name than all that were there when it was started.
fn boots(names: &[LogName]) -> BTreeMap<u64, usize> {
    let mut boots = BTreeMap::new();
    for name in names {
        let next = boots.len();
        boots.entry(name.boot()).or_insert(next);
    }
    boots
}

/// Logs by their boots, and then by the times at which they were started.
fn by_start<'a>(names: &'a [LogName], boots: &BTreeMap<u64, usize>) -> Vec<&'a LogName> {
    let mut names: Vec<&LogName> = names.iter().collect();
    names.sort_by_key(|name| (boots[&name.boot()], name.start()));
    names
}
