//! Examines a store and its surroundings, and says what to do.
//!
//! Changes nothing: it reads the store without repairing what a crash left, and measures the disk
//! with a file of its own, which it removes. Findings and advice are sentences for a person, with
//! commands to type.

mod disk;
mod floor;
mod key;
mod modes;
mod project;
mod report;
mod scratch;
mod store;
mod system;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::checkpoint::Timestamp;
use crate::codec::KeyId;
use crate::store::{Inspection, Store, StoreState};

use self::project::Noted;

pub use floor::Floor;
pub use project::{Files, Surveyor};
pub use report::{CheckStatus, Checkup, Report};
pub use scratch::Scratch;
pub use system::stopped_advice;

/// How a store is examined.
///
/// ```
/// use waypost::Store;
/// use waypost::doctor::{CheckStatus, Examination, examine};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// Store::open(&path)?.close()?;
/// let report = examine(&path, &Examination::default(), None);
/// let store = report.checks.iter().find(|check| check.name == "store").unwrap();
/// assert_eq!(store.status, CheckStatus::Ok);
/// assert!(!report.is_damaged);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Examination {
    /// How long to wait while another process has the store; everything else is checked in any
    /// case.
    pub wait: Duration,
    /// Why this store counts, in words that follow its path.
    pub why: String,
    /// The keys that were given.
    pub keys: Vec<GivenKey>,
    /// The current directory with links resolved, for paths in commands to type.
    pub here: Option<PathBuf>,
    /// The current time; ages are counted to it.
    pub now: Timestamp,
}

impl Default for Examination {
    /// Does not wait, has no keys, and takes the time from the system.
    fn default() -> Self {
        Self {
            wait: Duration::ZERO,
            why: String::new(),
            keys: Vec::new(),
            here: None,
            now: Timestamp::now(),
        }
    }
}

/// A key that was given for the store, or why it cannot be had.
///
/// ```
/// use waypost::Store;
/// use waypost::doctor::{CheckStatus, Examination, GivenKey, examine};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// Store::open(&path)?.close()?;
/// let key = GivenKey { from: "agents.key".to_owned(), key: Err("cannot be read".to_owned()) };
/// let report = examine(&path, &Examination { keys: vec![key], ..Examination::default() }, None);
/// let key = report.checks.iter().find(|check| check.name == "key").unwrap();
/// assert_eq!(key.status, CheckStatus::Bad);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GivenKey {
    /// By what it was given, such as the name of a file.
    pub from: String,
    /// Its id, or what is wrong.
    pub key: Result<KeyId, String>,
}

/// Examines the store at `path`, which should be absolute, and all around it.
///
/// `surveyor` looks for files of other systems that are not imported; without one that check is
/// left out. Reads every byte of the store, but no documents, and writes 20 pages to its disk.
#[must_use]
pub fn examine(path: &Path, how: &Examination, surveyor: Option<Surveyor<'_>>) -> Report {
    let mut noted = Noted::default();
    // Without permission to look, the store may exist.
    let found = if path.try_exists().unwrap_or(true) {
        Some(Store::inspect(path, how.wait, &mut |entry| noted.hear(entry)))
    } else {
        None
    };
    noted.is_whole = match &found {
        None => true,
        Some(found) => found.as_ref().is_ok_and(|it| matches!(it.state, StoreState::Closed(_))),
    };
    let is_damaged = store::is_damaged(found.as_ref());
    let mut checks = store::checks(path, how, found.as_ref());
    let inspection = found.and_then(Result::ok);
    checks.push(key::check(how, inspection.as_ref()));
    checks.extend(disk::checks(path, inspection.as_ref()));
    checks.extend(modes::check(path));
    checks.extend(around(path, how, inspection.as_ref(), &mut noted, surveyor));
    checks.push(versions());
    Report { store: path.display().to_string(), checks, is_damaged }
}

/// Checks of the surroundings of the store.
fn around(
    path: &Path,
    how: &Examination,
    found: Option<&Inspection>,
    noted: &mut Noted,
    surveyor: Option<Surveyor<'_>>,
) -> Vec<Checkup> {
    let git = project::git(path);
    let files = surveyor.and_then(|surveyor| project::files(path, how, noted, surveyor));
    let (config, policy) = project::config_and_policy(path, found, noted);
    git.into_iter().chain([config, policy]).chain(files).collect()
}

fn versions() -> Checkup {
    let (version, oldest, newest) =
        (env!("CARGO_PKG_VERSION"), Store::FORMAT_OLDEST, Store::FORMAT);
    // A store of format 1 is not outdated: it gets a later format only when it needs one.
    let finding = format!(
        "waypost {version}, reads formats {oldest} to {newest}; 2 is for encrypted stores, 3 \
         for stores with dates that lag behind the order, 4 for stores with imported files"
    );
    Checkup::ok("versions", finding)
}
