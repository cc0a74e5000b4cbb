//! Verifying: reads everything and names all damage.
//!
//! All but a few checks need only rows that belong together, so the store may change between two
//! parts. Each part reads a view of the last durable commit, which no other process notices. If a
//! commit overtakes a part, it runs again, and its findings are discarded. Only where views are not
//! enough does this hold the file, and releases it for others between two parts.
//!
//! Must never change the store, stop at the first fault, or block other processes for long.

mod around;
mod checkpoints;
mod contents;
mod frames;
mod notes;
mod pages;
mod parts;
mod rows;
mod spool;
mod tables;
mod tally;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use redb::TableHandle as _;

use crate::codec::Keyring;
#[cfg(feature = "encrypt")]
use crate::codec::SecretKey;
use crate::error::{Damage, Error, Result};
use crate::store::Store;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::without_panics;
use crate::store::engine::location;
use crate::store::engine::table::{BLOBS, DELETED, FRAMES, IDS, INDEX, META, RECORDS, SOURCES};
use crate::store::turn::held::Held;
use crate::store::turn::view::VIEWS_MAX;
use crate::store::watch::{Stage, Step, Watch, unwatched};
use crate::sync::lock;
use crate::threads::start_in;
use pages::Looked;
use tables::{Opener, Tables};
pub use tally::{Defect, Harm, Verification};

// Some milliseconds of work, so that other processes soon get their turn.
const PART: usize = 256;
const ROWS_PART: usize = 4096;
// Enough to keep a thread busy, and few enough for all to end at the same time.
const SHARE: usize = 16;

impl Store {
    /// Reads everything in the store at `path`, and reports all damage.
    ///
    /// All pages are checked by the engine's sums; all entries, documents and captured contents by
    /// their own. Rows are followed both ways, so that a lost one shows. Encrypted frames are
    /// checked as stored; [`Store::verify_with`] takes keys, and checks their content. Changes
    /// nothing.
    ///
    /// Uses all processors, and memory for two documents on each, beside 16 bytes for each
    /// checkpoint and some 100 for each captured content.
    ///
    /// No other process notices it, and none keeps it from reading: it checks the last durable
    /// commit, and what the journal and the spool have beyond it. So everything acknowledged before
    /// this call is checked. If commits overtake it again and again, or if a header or a sector is
    /// damaged, it waits for its turn for as long as `wait` says.
    ///
    /// # Errors
    /// [`Error::NotAStore`], [`Error::TooNew`], [`Error::TooOld`], [`Error::Locked`] or
    /// [`Error::Io`]; damage is no error but a [`Defect`].
    pub fn verify(path: impl AsRef<Path>, wait: Duration) -> Result<Verification> {
        let verify = Verify {
            wait,
            #[cfg(feature = "encrypt")]
            keys: Vec::new(),
        };
        Self::verify_with(path, &verify, &mut unwatched)
    }

    /// As [`Store::verify`], also inside encrypted frames. `watch` gets the progress and may end
    /// the call; see [`Step`].
    ///
    /// # Errors
    /// As [`Store::verify`].
    pub fn verify_with(
        path: impl AsRef<Path>,
        verify: &Verify,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Verification> {
        verify_at(&StorePath::real(location::resolve(path.as_ref())), verify, watch)
    }
}

/// As [`Store::verify_with`], on any disk.
pub(in crate::store) fn verify_at(
    place: &StorePath,
    verify: &Verify,
    watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Verification> {
    let found = Verification { path: place.path.clone(), ..Verification::default() };
    let held = Held::viewing(place, verify.wait, verify.keyring());
    let mut verifier = Verifier { held, found, watch };
    let outcome = verifier.run()?;
    verifier.found.is_whole = outcome.is_continue();
    Ok(verifier.found)
}

/// How a store is verified.
///
/// ```
/// # fn show(_line: String) {}
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use waypost::Store;
/// use waypost::care::Verify;
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # Store::open(&path)?.close()?;
/// let how = Verify { wait: Duration::from_secs(1), ..Verify::default() };
/// let found = Store::verify_with(&path, &how, &mut |step| {
///     show(format!("{}: {}", step.stage, step.done));
///     ControlFlow::Continue(())
/// })?;
/// assert!(found.is_clean());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Verify {
    /// How long to wait for a turn if views are not enough; see [`Store::verify`]. 5 s by default.
    pub wait: Duration,
    /// Keys of what is encrypted. None by default.
    #[cfg(feature = "encrypt")]
    pub keys: Vec<SecretKey>,
}

impl Default for Verify {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(5),
            #[cfg(feature = "encrypt")]
            keys: Vec::new(),
        }
    }
}

impl Verify {
    #[cfg(feature = "encrypt")]
    fn keyring(&self) -> Keyring {
        Keyring::new(self.keys.clone())
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "with the feature it has some")]
    fn keyring(&self) -> Keyring {
        Keyring::default()
    }
}

/// A verification under way.
struct Verifier<'a> {
    held: Held<'a>,
    found: Verification,
    watch: Watch<'a>,
}

/// The rows after one, and the rows lost on the way.
type Read<'a, R> = &'a dyn Fn(&Tables<'_>, Option<&R>, &mut Verification) -> Vec<R>;
/// Checks one row.
type Check<'a, R> = &'a (dyn Fn(&Tables<'_>, &R, &mut Verification) + Sync);
/// One part of a verification; returns whether to go on.
type Part<'a> = fn(&mut Verifier<'a>) -> Result<ControlFlow<()>>;

/// Rows of one kind, a part at a time, each of which any thread can check.
struct Sweep<'a, R> {
    stage: Stage,
    total: Option<u64>,
    read: Read<'a, R>,
    check: Check<'a, R>,
    /// Whether a row was added after the sweep began, behind all others. Otherwise a process that
    /// saves all the time would keep the sweep from ending.
    is_new: &'a (dyn Fn(&R) -> bool + Sync),
}

impl<'a> Verifier<'a> {
    fn run(&mut self) -> Result<ControlFlow<()>> {
        if (self.watch)(Step::named(Stage::Pages, 0)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let Looked { pages, seen } = self.pages()?;
        let is_hurt = !seen.unread.is_empty() || !pages.has_header();
        if is_hurt || (!self.found.unreadable.is_empty() && self.held.source().is_err()) {
            return self.around(pages);
        }
        // If the header is lost, only the pages show whether it is a store.
        let is_engines = seen.pages() > 0 || !pages.masters().is_empty();
        drop(pages);
        match self.held.source() {
            Ok(_) => {}
            Err(error)
                if matches!(error, Error::Corrupt { .. })
                    || is_engines && matches!(error, Error::NotAStore { .. }) =>
            {
                let place = self.held.path.display().to_string();
                self.found.find(Harm::Reading, place, format!("it cannot be opened: {error}"));
                return Ok(ControlFlow::Continue(()));
            }
            Err(error) => return Err(error),
        }
        let parts: [(&str, Part<'a>); 8] = [
            (META.name(), Self::notes),
            (RECORDS.name(), Self::checkpoints),
            (DELETED.name(), Self::deleted),
            (INDEX.name(), Self::index),
            (SOURCES.name(), Self::sources),
            (IDS.name(), Self::ids),
            (FRAMES.name(), Self::frames),
            (BLOBS.name(), Self::contents),
        ];
        let outcome = self.run_all(parts);
        let unlike = self.found.unlike;
        // An unfinished rekey leaves such frames; the next run changes them.
        if unlike > 0 && !self.found.is_rekeying {
            let reason = format!("{unlike} are not under its key: rekey puts them there");
            self.found.find(Harm::Upkeep, "documents and captured files", reason);
        }
        outcome
    }

    fn run_all(&mut self, parts: [(&str, Part<'a>); 8]) -> Result<ControlFlow<()>> {
        for (table, part) in parts {
            match part(self) {
                Ok(ControlFlow::Continue(())) => {}
                Err(Error::Corrupt { place, reason, damage }) => {
                    // The engine names only the file.
                    let is_part = damage == Damage::Part;
                    let place = if is_part { place } else { format!("table {table}") };
                    self.found.find(tables::harm_to(table), place, reason);
                    // After a panic the engine's memory is unreliable.
                    self.held.let_go();
                }
                other => return other,
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Runs `work`, and adds what it finds, unless a commit overtakes it: then `work` runs again.
    fn part<T>(
        &mut self,
        mut work: impl FnMut(&mut Held<'_>, &mut Verification) -> Result<T>,
    ) -> Result<T> {
        let mut part = Verification::default();
        let outcome = self.held.settled(|held| {
            part = Verification::default();
            work(held, &mut part)
        });
        self.found.add(part);
        outcome
    }

    /// Checks all rows of a kind, a part at a time, on all processors.
    fn sweep<R: Clone + Sync>(&mut self, sweep: &Sweep<'_, R>) -> Result<ControlFlow<()>> {
        let mut last: Option<R> = None;
        let mut done = 0;
        loop {
            if (self.watch)(Step { stage: sweep.stage, done, total: sweep.total }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let rows = self.part(|held, part| {
                // A smaller part is less often overtaken.
                let overtaken = held.overtaken();
                let opener = Opener::of(held)?;
                let tables = opener.open()?;
                let read = || Ok((sweep.read)(&tables, last.as_ref(), part));
                let mut rows = without_panics(opener.path, read)?;
                drop(tables);
                rows.retain(|row| !(sweep.is_new)(row));
                rows.truncate((rows.len() >> overtaken.min(VIEWS_MAX)).max(1));
                if !rows.is_empty() {
                    part.add(shared(opener, &rows, sweep.check));
                }
                Ok(rows)
            })?;
            let Some(end) = rows.last().cloned() else { return Ok(ControlFlow::Continue(())) };
            done += rows.len() as u64;
            last = Some(end);
            self.held.give_way();
        }
    }
}

/// Checks rows on all processors.
fn shared<R: Sync>(opener: Opener<'_>, rows: &[R], check: Check<'_, R>) -> Verification {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let shares = Mutex::new(rows.chunks(SHARE));
    let work = || {
        let mut found = Verification::default();
        let tables = match opener.open() {
            Ok(tables) => tables,
            Err(error) => {
                found.find_error(Harm::Reading, None, &error);
                return found;
            }
        };
        loop {
            let Some(share) = lock(&shares).next() else { return found };
            for row in share {
                let checked = without_panics(opener.path, || {
                    check(&tables, row, &mut found);
                    Ok(())
                });
                if let Err(error) = checked {
                    found.find_error(Harm::Reading, None, &error);
                }
            }
        }
    };
    let work = || opener.source.reading(work);
    thread::scope(|scope| {
        // This thread does what the others leave, or everything if none can be started.
        let others: Vec<_> = (1..workers).map_while(|_| start_in(scope, work).ok()).collect();
        let mut found = work();
        for other in others {
            // It catches all panics itself.
            found.add(other.join().unwrap_or_default());
        }
        found
    })
}
