//! `waypost doctor`: checks the store and its surroundings, and says what to do.

use std::io::{self, Write};
use std::path;
use std::time::Duration;

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use waypost::Timestamp;
use waypost::doctor::{CheckStatus, Checkup, Examination, Files, GivenKey, Report, examine};
use waypost::transfer::import::Earlier;

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, plain};
use crate::progress::Progress;
use crate::{keys, open, survey};

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

// An idle holder closes the store within half of this.
const WAIT_MAX: Duration = Duration::from_secs(1);

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // Commands in the advice may be typed in another directory.
    let path = path::absolute(open::path(global)?)?;
    let looking = Progress::new("looking", global);
    let how = Examination {
        wait: global.wait.min(WAIT_MAX),
        why: open::why(global, &path)?.to_owned(),
        keys: keys::named(global, &path).into_iter().map(given).collect(),
        here: open::here().and_then(|here| Ok(here.canonicalize()?)).ok(),
        now: Timestamp::now(),
    };
    let report = examine(
        &path,
        &how,
        Some(&mut |home, places| {
            let survey = survey::survey(home, &path, Earlier::Files(places));
            let survey = survey.map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
            Ok(Files {
                are_there: survey.count() > 0,
                words: survey::in_words(&survey),
                layouts: survey.layouts.keys().copied().collect(),
            })
        }),
    );
    drop(looking);
    if global.json {
        output::json_line(out, &report)?;
    } else {
        write(out, &report, global)?;
    }
    verdict(&report)
}

fn given(named: keys::Named) -> GivenKey {
    let key = named.key.map(|key| key.id()).map_err(|error| format!("{error:#}"));
    GivenKey { from: named.from, key }
}

fn write(out: &mut dyn Write, report: &Report, global: &Global) -> Result<()> {
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    for Checkup { name, status, finding, advice, .. } in &report.checks {
        let (mark, style) = match status {
            CheckStatus::Ok => ("ok", AnsiColor::Green.on_default()),
            CheckStatus::Warn => ("warn", AnsiColor::Yellow.on_default().bold()),
            CheckStatus::Bad => ("bad", AnsiColor::Red.on_default().bold()),
        };
        let (style, finding): (Style, _) = (global.style(&io::stdout(), style), plain(finding));
        writeln!(out, "{style}{mark:4}{style:#}  {name:width$}  {finding}")?;
        if let Some(advice) = advice.as_deref().filter(|_| !global.quiet) {
            writeln!(out, "      {:width$}  -> {}", "", plain(advice))?;
        }
    }
    Ok(())
}

/// Fails if a check is bad.
fn verdict(report: &Report) -> Result<()> {
    match report.bad() {
        0 => Ok(()),
        count => {
            let (total, is_damaged) = (report.checks.len(), report.is_damaged);
            Err(Refusal::Unwell { count, total, is_damaged }.into())
        }
    }
}
