//! `waypost restore`: the files and the state of a checkpoint, step by step and with a report.
//!
//! The library plans and restores; this file shows the report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::project;
use waypost::recovery::restore::{self, NotRestored, Restore, RestorePlan, Restored, StepName};
use waypost::transfer::own::resolve;
use waypost::{Entry, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt;
use crate::output::{palette, plain};
use crate::progress::{Progress, Watcher};
use crate::{name, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost restore latest --into . --dry-run      # what would change
  waypost restore issue:42@1 --into . --state restored.json
  waypost restore issue:42@1 --into . --exact    # without files that came later
  waypost restore 019a8b2c-d3e4 --into before --json | jq .files";

/// Restore the files and the state of a checkpoint
///
/// In steps that are reported. The files that were captured with it (`waypost save --capture`) are
/// written below a directory, each as a whole or not at all, and never outside of it or through a
/// link. What they replace is kept below `.waypost/replaced` there. If anything of the checkpoint
/// is damaged, nothing is written. Files that later checkpoints of its series captured, and it did
/// not, are left and told, or moved away with --exact. Files that the document names without their
/// content having been captured are compared with what is there, by their hashes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// An id, the start of one, `latest`, a NAME (series, issue, loop) for its newest, or NAME@N
    /// for the Nth newest, from 0
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// The directory to write files below; made if it is not there
    ///
    /// Paths of files start at the directory that the store is for, so that DIR is that one to put
    /// them back where they were.
    #[arg(long, value_name = "DIR")]
    into: PathBuf,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Move files away that only later checkpoints of the series captured
    ///
    /// They are kept below `.waypost/replaced`, like what is replaced. What was there before the
    /// checkpoint, as earlier ones or its document say, stays.
    #[arg(long)]
    exact: bool,

    /// Write variables and agent state to this file, as JSON
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Restore what cannot be resumed from, replace a state file with other content, and write
    /// files that grant access or run at login, such as .bashrc or those in .ssh
    ///
    /// The state file that was there is kept beside the new one.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    if args.state.as_deref() == Some(Path::new("-")) {
        return Err(Refusal::Usage("--state must name a file".to_owned()).into());
    }
    let store = open::existing(global, "restore")?;
    let entry = name::one(&store, &args.id)?;
    let (report, ended) = restored(args, global, &store, &entry)?;
    // Printed after a failure, too: the steps up to it.
    write(&report, out, global)?;
    out.flush()?;
    ended
}

/// Restores, and returns the report and the result of the command.
fn restored(
    args: &Args,
    global: &Global,
    store: &Store,
    entry: &Entry,
) -> Result<(Restored, Result<()>)> {
    let planned = plan(args, global, store, entry);
    let notes = planned.as_ref().map_or_else(|it| it.report.notes.as_slice(), RestorePlan::notes);
    for note in notes {
        global.note(note);
    }
    if entry.artifact_count > 0 && has_place(&planned) {
        note_place(&args.into, global)?;
    }
    if planned.is_ok() && !args.dry_run {
        interrupt::listen()?;
    }
    let mut watcher = Watcher::new(Progress::new("writing", global));
    let ended = planned.and_then(|plan| store.apply_restore(&plan, &mut |it| watcher.step(it)));
    let stopped = watcher.stopped();
    Ok(match ended {
        Ok(report) => {
            let ended = all_named_are_equal(&report);
            (report, ended)
        }
        Err(NotRestored { why: restore::Refusal::Stopped, report, .. }) if stopped.is_some() => {
            let told = "no file was written; run it again".to_owned();
            (*report, stopped.map_or(Ok(()), |(signal, _)| Err(signal.error(told))))
        }
        Err(NotRestored { why, report, .. }) => (*report, Err(error(why))),
    })
}

fn plan(
    args: &Args,
    global: &Global,
    store: &Store,
    entry: &Entry,
) -> Result<RestorePlan, NotRestored> {
    let how = Restore {
        into: args.into.clone(),
        exact: args.exact,
        dry_run: args.dry_run,
        force: args.force,
        state: args.state.clone(),
    };
    let mut watcher = Watcher::new(Progress::new("reading", global));
    store.plan_restore(entry, &how, &mut |step| watcher.step(step))
}

/// True if the target directory is known.
fn has_place(planned: &Result<RestorePlan, NotRestored>) -> bool {
    use restore::Refusal as Why;
    let of_state = |why: &Why| {
        matches!(why, Why::StateExists { .. } | Why::StateNoFile { .. } | Why::StatePlace { .. })
    };
    planned.as_ref().map_or_else(|failed| of_state(&failed.why), |_| true)
}

/// Notes that files go below a directory of the project instead of where they were.
fn note_place(into: &Path, global: &Global) -> Result<()> {
    // Writing the file reports the same error.
    let Ok(into) = into.canonicalize().or_else(|_| resolve(into)) else { return Ok(()) };
    let home = project::home(&open::path(global)?);
    if let Some(home) = home.filter(|home| into.starts_with(home) && into != *home) {
        let (into, home) = (into.display(), home.display());
        let note = format!(
            "files go below {into}, but their paths start at {home}: \
             --into {home} puts them where they were"
        );
        global.note(plain(&note));
    }
    Ok(())
}

fn all_named_are_equal(report: &Restored) -> Result<()> {
    match report.differing() {
        0 => Ok(()),
        count => {
            let what = "files are not as the checkpoint names them";
            let total = report.compared.len() as u64;
            let first = report.compared.iter().find(|it| it.differs());
            let hint = first.map_or(String::new(), |it| {
                format!("the first is {}: compare it with the checkpoint", it.path)
            });
            Err(Refusal::Skipped { what, count, total, hint }.into())
        }
    }
}

fn error(why: restore::Refusal) -> anyhow::Error {
    match why {
        restore::Refusal::Store(error) => error.into(),
        restore::Refusal::StatePlace { reason, .. } => {
            Refusal::Usage(format!("--state: {reason}")).into()
        }
        why => why.into(),
    }
}

fn write(report: &Restored, out: &mut dyn Write, global: &Global) -> io::Result<()> {
    if global.json {
        return output::json_line(out, report);
    }
    let bold = global.style(&io::stdout(), palette::TITLE);
    let width = StepName::ALL.map(|step| step.as_str().len()).into_iter().max().unwrap_or(0);
    let dry = if report.dry_run { ", dry run" } else { "" };
    let into = report.into.display().to_string();
    writeln!(out, "{} into {}{dry}", plain(report.id.as_str()), plain(&into))?;
    for (step, number) in report.steps.iter().zip(1..) {
        let (name, outcome) = (step.name.as_str(), step.outcome.as_str());
        let message = plain(&step.message);
        writeln!(out, "{number}. {bold}{name:width$}{bold:#}  {outcome:7}  {message}")?;
        step.details.iter().try_for_each(|text| writeln!(out, "     {}", plain(text)))?;
    }
    Ok(())
}
