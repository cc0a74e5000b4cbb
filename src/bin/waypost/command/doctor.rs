//! `waypost doctor`: looks at the store and all around it, and says what to do.

mod check;
mod disk;
mod key;
mod modes;
mod project;
mod store;
mod system;

use std::io::Write;
use std::path::{self, Path};
use std::time::Duration;

use anyhow::Result;
use waypost::{Inspection, State, Store};

use crate::args::Global;
use crate::open;
use crate::progress::Progress;
use check::{Check, Report};
use project::Seen;

const EXAMPLES: &str = "\
Examples:
  waypost doctor
  waypost doctor --store old.redb
  waypost doctor --json | jq '.checks[] | select(.status != \"ok\")'";

/// Check the store and what is around it, and say what to do
///
/// Changes nothing: it reads the store without repairing what a crash left, and measures the disk
/// with a file of its own, which it removes. While another process has the store, all else is
/// checked. It reads every byte of the store, but does not check documents. Exits with 5 if the
/// store is damaged, and with 1 if something else is bad; warnings are no failure.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

// Whoever is done with the store lets go of it within half of this.
const WAIT_MAX: Duration = Duration::from_secs(1);

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // What is advised may be typed elsewhere.
    let path = path::absolute(open::path(global)?)?;
    let why = open::why(global, &path)?;
    let looking = Progress::new("looking", global);
    let mut seen = Seen::default();
    let mut report =
        Report { store: path.display().to_string(), checks: Vec::new(), is_damaged: false };
    // What may not be looked at may be there.
    let found = if path.try_exists().unwrap_or(true) {
        let wait = global.wait.min(WAIT_MAX);
        Some(Store::inspect(&path, wait, &mut |entry| seen.hear(entry)))
    } else {
        None
    };
    seen.is_whole = match &found {
        None => true,
        Some(found) => found.as_ref().is_ok_and(|it| matches!(it.state, State::Closed(_))),
    };
    report.is_damaged = store::is_damaged(found.as_ref());
    report.checks.extend(store::checks(&path, why, found.as_ref()));
    let inspection = found.and_then(Result::ok);
    report.checks.push(key::check(&path, inspection.as_ref(), global));
    report.checks.extend(disk::checks(&path, inspection.as_ref()));
    report.checks.extend(modes::check(&path));
    report.checks.extend(around(&path, inspection.as_ref(), &mut seen));
    report.checks.push(versions());
    drop(looking);
    report.write(out, global)?;
    report.verdict()
}

/// What lies around the store.
fn around(path: &Path, found: Option<&Inspection>, seen: &mut Seen) -> Vec<Check> {
    let git = project::git(path);
    let files = project::files(path, seen);
    let (config, policy) = project::config_and_policy(path, found, seen);
    git.into_iter().chain([config, policy]).chain(files).collect()
}

fn versions() -> Check {
    let (version, oldest, newest) =
        (env!("CARGO_PKG_VERSION"), Store::FORMAT_OLDEST, Store::FORMAT);
    // A store of format 1 is not outdated: it gets a later format only when it needs one.
    let finding = format!(
        "waypost {version}, reads formats {oldest} to {newest}; 2 is for encrypted stores, 3 \
         for stores with dates that lag behind the order, 4 for stores with imported files"
    );
    Check::ok("versions", finding)
}
