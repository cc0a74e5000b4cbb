//! `waypost import`: saves checkpoints from files of other systems or from lines of JSON.
//!
//! The library imports; this file shows its events and its report.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use waypost::transfer::import::{
    Follow, ImportEvent, ImportOptions, Imported, Sources, Unfinished, unpacked,
};
use waypost::{NewEntry, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::importing::{self, Listener, Reported, STAGE, check_refused, stopped_after, sum_up};
use crate::input::Input;
use crate::interrupt::{self, Signal};
use crate::progress::Progress;
use crate::{config, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost import .                                 # all that is found in this project
  waypost import --dry-run ~/projects              # what would be imported
  waypost import .claude/crunch/42                 # the checkpoints of one issue
  waypost import --watch .pipeline .tmp            # go on as files are written
  waypost --store old.redb export --jsonl - | waypost import -
  zcat week.jsonl.gz | waypost import -";

/// Take in files of other systems, or lines of JSON
///
/// Directories are searched for files of agentize, claude-crunch, `.claude/checkpoints`,
/// `.pipeline` and AIWG, which are recognised by their content. Nothing is lost: `waypost export`
/// writes the same files again, byte for byte. Importing twice changes nothing. What cannot be
/// imported is reported, and the rest is imported.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directories, files of other systems, or lines of JSON; - is lines from standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Accept files that cannot be read: keep their bytes, so that an export has them
    #[arg(long)]
    keep_unreadable: bool,

    /// Go on importing as files appear and change, until interrupted
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
}

// Short enough that a person finds what was just saved.
const WATCH_EVERY: Duration = Duration::from_millis(250);
// Rests nine times as long as a search took: an unchanged large tree costs a tenth of the time.
const WATCH_REST: u32 = 9;
const WATCH_AT_LEAST_EVERY: Duration = Duration::from_secs(3);

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let mut sources = sources(args, global)?;
    let names = sources.names();
    let mut options = ImportOptions {
        dry_run: args.dry_run,
        keep_unreadable: args.keep_unreadable,
        ..ImportOptions::default()
    };
    let has_store = open::exists(global)?;
    // An import that finds nothing makes no store.
    if !has_store {
        let mut listener = Listener::new(Reported::Remarks, Progress::hidden(), global);
        sources.drop_refused_lines(&mut |event| listener.hear(&event))?;
    }
    let is_sure = has_store || args.watch || sources.has_lines();
    options.dry_run = args.dry_run || (!is_sure && !has_any(&sources, &options)?);
    let store = if options.dry_run {
        has_store.then(|| open::existing(global, "import")).transpose()?
    } else {
        Some(open::or_create(global, "import")?)
    };
    interrupt::listen()?;
    if args.watch
        && let Some(store) = store
    {
        let ended = watch(&store, sources, options, global, out);
        return store.close().map_err(Into::into).and(ended);
    }
    let (report, stopped) = import(store.as_ref(), sources, options, global, out)?;
    store.map_or(Ok(()), Store::close)?;
    finish(&report, stopped, args, &names, global, out)
}

/// The inputs that the user named. Inputs with only blank lines are left out.
fn sources(args: &Args, global: &Global) -> Result<Sources> {
    let store = open::path(global)?;
    let mut sources = Sources::new(&store, config::location(&store)?);
    for path in &args.paths {
        add(&mut sources, path).with_context(|| format!("cannot read {}", path.display()))?;
    }
    if (args.dry_run || args.watch) && sources.has_lines() {
        let text = "--dry-run and --watch are for directories and files of other systems";
        return Err(Refusal::Usage(text.to_owned()).into());
    }
    sources.drop_blank_lines()?;
    if !sources.has_lines() && !args.watch && !sources.has_files() {
        return Err(Refusal::NoFiles { place: sources.names() }.into());
    }
    Ok(sources)
}

fn add(sources: &mut Sources, path: &Path) -> io::Result<()> {
    let name = path.display().to_string();
    if path == Path::new("-") {
        sources.add_lines(&name, Box::new(Input::new(io::stdin())));
        return Ok(());
    }
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() || metadata.is_file() {
        return sources.add(path);
    }
    // A pipe counts as lines, since its name does not tell its content. An interrupt ends the wait.
    let lines = unpacked(Box::new(Input::new(File::open(path)?)))?;
    sources.add_lines(&name, lines);
    Ok(())
}

/// True if the trees have anything to import. Stops at the first hit.
fn has_any(sources: &Sources, options: &ImportOptions) -> Result<bool> {
    let mut has_any = false;
    // The import itself reports what is wrong.
    let ended = sources.preview(options, &mut |event| {
        has_any |= matches!(event, ImportEvent::WouldImport(_));
        if has_any { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    // A broken file needs a store that keeps its bytes. Without a store, `resume` would say that
    // nothing was started.
    ended.map(|report| has_any || report.kept > 0).map_err(|failed| importing::error(failed.why))
}

/// Imports, or lists what would be imported. Returns the report and the reason of a stop.
fn import(
    store: Option<&Store>,
    sources: Sources,
    options: ImportOptions,
    global: &Global,
    out: &mut dyn Write,
) -> Result<(Imported, Option<Signal>)> {
    // A dry run lists what it finds instead.
    let progress = if options.dry_run { Progress::hidden() } else { Progress::new(STAGE, global) };
    let mut listener = Listener::new(Reported::Remarks, progress, global);
    let options = ImportOptions { count_first: listener.shows_progress(), ..options };
    let mut failed = None;
    let mut hear = |event: ImportEvent<'_>| {
        if let ImportEvent::WouldImport(about) = event
            && let Err(error) = show(out, about, global)
        {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        listener.hear(&event)
    };
    let ended = match store {
        Some(store) => store.import_with(sources, &options, &mut hear),
        None => sources.preview(&options, &mut hear),
    };
    failed.map_or(Ok(()), Err)?;
    importing::ended(ended)
}

fn finish(
    report: &Imported,
    stopped: Option<Signal>,
    args: &Args,
    names: &str,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    if report.is_empty() && stopped.is_none() {
        sum_up(report, "found", global);
        return Err(Refusal::NoFiles { place: names.to_owned() }.into());
    }
    if global.json {
        output::json_line(out, report)?;
    } else {
        sum_up(report, if args.dry_run { "would import" } else { "imported" }, global);
    }
    if let Some(signal) = stopped {
        out.flush()?;
        return Err(stopped_after(report.imported, signal));
    }
    check_refused(report)?;
    if report.incomplete > 0 {
        let what = "lack files that were damaged when they were exported";
        let (count, total) = (report.incomplete, report.total());
        let hint = format!("the first is {}", importing::first(&report.notes));
        return Err(Refusal::Skipped { what, count, total, hint }.into());
    }
    Ok(())
}

/// Imports new and changed files until a signal or a failure.
fn watch(
    store: &Store,
    sources: Sources,
    options: ImportOptions,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    global.note(format_args!("watching {}; an interrupt ends it", sources.names()));
    let mut follow = Follow::new(sources, options);
    let mut imported = 0;
    for pass in 0_u64.. {
        let start = Instant::now();
        let (report, stopped, is_done) = self::pass(&mut follow, store, pass == 0, global)?;
        if global.json && (pass == 0 || !report.is_empty()) {
            output::json_line(out, &report)?;
            out.flush()?;
        } else if pass == 0 && is_done {
            sum_up(&report, "imported", global);
        }
        imported += report.imported;
        let is_busy = report.imported > 0 || !is_done;
        let rest = if is_busy { WATCH_EVERY } else { start.elapsed() * WATCH_REST };
        let rested = interrupt::rest(rest.clamp(WATCH_EVERY, WATCH_AT_LEAST_EVERY));
        if let Some(signal) = stopped.or(interrupt::caught(rested)?.err()) {
            return Err(stopped_after(imported, signal));
        }
    }
    Ok(())
}

/// Imports new files once. Returns the report, the signal that stopped it, and whether it finished.
fn pass(
    follow: &mut Follow,
    store: &Store,
    is_first: bool,
    global: &Global,
) -> Result<(Imported, Option<Signal>, bool)> {
    let reported = if is_first { Reported::Remarks } else { Reported::EachFile };
    let mut listener = Listener::new(reported, Progress::new(STAGE, global), global);
    match follow.pass(store, &mut |event| listener.hear(&event)) {
        // Another process has the store for long. The next pass tries again.
        Err(Unfinished { report, why, .. }) if why.is_locked() && interrupt::signal().is_none() => {
            let error = importing::error(why);
            global.note(format_args!("{error:#}; trying again"));
            Ok((*report, None, false))
        }
        ended => {
            let (report, stopped) = importing::ended(ended)?;
            let is_done = stopped.is_none();
            Ok((report, stopped, is_done))
        }
    }
}

/// Shows a checkpoint that would be imported as a line.
fn show(mut out: &mut dyn Write, about: &NewEntry, global: &Global) -> io::Result<()> {
    if global.json || global.quiet {
        return Ok(());
    }
    let path = about.source_path.as_deref().unwrap_or_default();
    let series = about.series.as_ref().map_or("", |series| series.as_str());
    writeln!(&mut out, "{path}\t{}\t{series}\t{}\t{}", about.layout, about.trigger, about.status)
}
