//! `waypost export`: writes checkpoints as files of other systems or as lines of JSON.
//!
//! The library exports; this file translates the flags and shows the report.

mod target;
mod words;

use std::io::Write;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::layouts::{Form, Schema, Writing};
use waypost::transfer::export::{
    Conflict, ExportError, ExportEvent, ExportOptions, Exported, ExportedLines, LineOptions, Modes,
    Packing, Selection,
};
use waypost::transfer::own::{IS_OWN, Own};
use waypost::{Layout, Query, Store, Timestamp};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::filter::{FILTERS, Filter, nothing};
use crate::interrupt::{self, Signal};
use crate::progress::Progress;
use crate::{config, name, open, output};
use target::Target;

const EXAMPLES: &str = "\
Examples:
  waypost export project             # every file back where it was, below project/
  waypost export project --issue 42 --layout crunch
  waypost export project --series workflow:authentication --layout aiwg --schema 1.0
  waypost export project --id issue:42@3 --overwrite   # one file as it was three saves ago
  waypost export project --loop-id ralph-fix-tests-a1b2c3d4 --layout aiwg --form reader
  waypost export archive --layout native --gzip
  waypost export --jsonl checkpoints.jsonl
  waypost export --jsonl - --issue 42 | jq -c .document
  waypost export --jsonl - --since 7d | gzip > week.jsonl.gz";

/// Write the files of other systems, or lines of JSON
///
/// A checkpoint that came from a file becomes that file again, byte for byte. Any other, or one
/// that goes into another --layout, is written as that system would write it. What the system
/// requires and the checkpoint lacks is reported, and the rest goes on. If several checkpoints are
/// contents of one file, the newest is written.
///
/// Lines of JSON hold everything known about each checkpoint, oldest first. `waypost import` reads
/// them into this store or another one.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The directory to write files below: the root of a project
    #[arg(value_name = "DIR", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    directory: Option<PathBuf>,

    /// Write lines of JSON to this file instead; - is standard output
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,

    /// Make lines of JSON in this many threads; by default one for each processor
    // With a directory, clap would not ask for --jsonl: the two exclude each other.
    #[arg(long, value_name = "COUNT", requires = "jsonl", conflicts_with = "directory")]
    #[arg(value_parser = args::whole::<NonZero<usize>>(1..=256))]
    threads: Option<NonZero<usize>>,

    /// Write all files as this system has them, instead of each as its own
    #[arg(long, conflicts_with = "jsonl", value_parser = args::layout())]
    layout: Option<Layout>,

    /// Write all files in this version of the schema of --layout
    ///
    /// claude: none (no version, as in its README), 1.0, 1.1, 1.2, 1.3, 2.0, 2.1; aiwg: 1.0, 2.0;
    /// agentize: 1, 2. A file in another version is migrated, and the fields that it gets are
    /// reported; no field is lost. By default imported files keep their versions, and others get
    /// the newest.
    #[arg(long, value_name = "VERSION", requires = "layout", conflicts_with = "jsonl")]
    schema: Option<String>,

    /// Write all files as the code of --layout reads them, where that differs from its schema
    ///
    /// aiwg: `reader` writes the states of loops that its recovery restores,
    /// loops/LOOP/checkpoints/checkpoint-ITERATION-MILLISECONDS.json.gz. `documented` writes the
    /// files of its schema, as without --form.
    #[arg(long, requires = "layout", conflicts_with = "jsonl", value_parser = args::form())]
    form: Option<Form>,

    /// Compress all JSON files, under a name that ends in .gz
    #[arg(long, conflicts_with_all = ["jsonl", "plain"])]
    gzip: bool,

    /// Compress no files, not even those that were compressed
    #[arg(long, conflicts_with = "jsonl")]
    plain: bool,

    /// Replace files that are there with other content
    #[arg(long)]
    overwrite: bool,

    /// Give files the modes that they had when they were imported, however wide
    ///
    /// By default they get at most mode 0755, less what the umask takes away.
    #[arg(long, conflicts_with = "jsonl")]
    recorded_modes: bool,

    /// Only this checkpoint: an id, the start of one, `latest`, NAME or NAME@N (repeatable)
    ///
    /// Any revision of an imported file, which is written to the place of the file. For a line of a
    /// file, the whole file as it was then. Indexes of directories stay as they are.
    #[arg(long = "id", value_name = "ID", conflicts_with_all = FILTERS)]
    ids: Vec<String>,

    #[command(flatten)]
    filter: Filter,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "export")?;
    match (&args.directory, &args.jsonl) {
        (Some(directory), _) => write_files(args, &store, directory, global, out),
        (None, Some(file)) => write_lines(args, &store, file, global, out),
        (None, None) => unreachable!("one of them is required"),
    }
}

impl Args {
    fn query(&self) -> Query {
        self.filter.query(Timestamp::now())
    }

    /// The checkpoints that --id names, or else those of the query.
    fn selection(&self, store: &Store, query: &Query) -> Result<Selection> {
        if self.ids.is_empty() {
            return Ok(Selection::Matching(query.clone()));
        }
        name::all(store, &self.ids).map(Selection::Named)
    }

    /// All options except the selection of checkpoints.
    fn options(&self, store: &Store) -> Result<ExportOptions> {
        let packing = match (self.gzip, self.plain) {
            (true, _) => Packing::Gzip,
            (_, true) => Packing::Plain,
            (false, false) => Packing::AsBefore,
        };
        // Clap takes --schema only with --layout.
        let schema = self.layout.zip(self.schema.as_deref());
        let schema = schema.map(|(layout, version)| Schema::new(layout, version)).transpose();
        let schema = schema.map_err(|error| Refusal::Usage(format!("--schema: {error}")))?;
        Ok(ExportOptions {
            selection: Selection::default(),
            layout: self.layout,
            writing: Writing { schema, form: self.form.unwrap_or_default() },
            packing,
            overwrite: self.overwrite,
            modes: if self.recorded_modes { Modes::Recorded } else { Modes::Limited },
            location: config::location(store.path())?,
        })
    }
}

fn write_files(
    args: &Args,
    store: &Store,
    directory: &Path,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let query = args.query();
    let options = args.options(store)?;
    let options = ExportOptions { selection: args.selection(store, &query)?, ..options };
    interrupt::listen()?;
    let mut watcher = Watcher::new(global);
    let ended = store.export_with(directory, &options, &mut |event| watcher.hear(&event));
    let report = ended.map_err(|error| of_export(error, args.layout))?;
    let stopped = watcher.stopped.filter(|_| report.is_stopped);
    let first = watcher.left_out.take();
    drop(watcher);
    if report.total() == 0 && stopped.is_none() {
        return Err(nothing(&query).into());
    }
    if global.json {
        output::json_line(out, &report)?;
    } else {
        words::tell(&report, global);
    }
    if let Some(signal) = stopped {
        out.flush()?;
        return Err(signal.error(format!("{}; run it again to go on", words::written(&report))));
    }
    let total = report.total();
    match report {
        Exported { damaged: 0, refused: 0, .. } => Ok(()),
        Exported { damaged: 0, refused: count, .. } => Err(left_out(count, total, first).into()),
        Exported { damaged: count, .. } => Err(Refusal::Damaged { count, total }.into()),
    }
}

fn write_lines(
    args: &Args,
    store: &Store,
    file: &Path,
    global: &Global,
    mut out: &mut dyn Write,
) -> Result<()> {
    let query = args.query();
    let options = LineOptions { selection: args.selection(store, &query)?, threads: args.threads };
    let own = Own::new(store.path()).context("cannot tell where the store is")?;
    if own.has(file) {
        return Err(of_export(ExportError::Own { path: file.to_owned() }, None));
    }
    let mut watcher = Watcher::new(global);
    let mut target = Target::new(file)?;
    if matches!(target, Target::File) {
        // Not for a stream: a write that waits for its reader would not notice the signal.
        interrupt::listen()?;
    }
    let mut watch = |event: ExportEvent<'_>| watcher.hear(&event);
    let ended = match &mut target {
        Target::Standard => store.export_lines_with(&options, &mut out, &mut watch),
        Target::Opened(stream) => store.export_lines_with(&options, stream, &mut watch),
        Target::File => store.export_lines_to(file, args.overwrite, &options, &mut watch),
    };
    let report = ended.map_err(|error| of_export(error, None))?;
    let stopped = watcher.stopped.filter(|_| report.is_stopped);
    let first = watcher.left_out.take();
    drop(watcher);
    if let Some(signal) = stopped {
        if global.json {
            output::json_line(out, &ExportedLines::default())?;
        }
        let told = format!("{} was not written; run it again to go on", file.display());
        return Err(signal.error(told));
    }
    let ExportedLines { exported, incomplete, damaged, refused, bytes, .. } = report;
    let total = report.total();
    if total == 0 {
        return Err(nothing(&query).into());
    }
    match &mut target {
        Target::Standard => out.flush()?,
        Target::Opened(stream) => stream.flush()?,
        Target::File => {}
    }
    if global.json && !matches!(target, Target::Standard) {
        output::json_line(out, &report)?;
    }
    if damaged + incomplete > 0 {
        return Err(Refusal::Damaged { count: damaged + incomplete, total }.into());
    }
    if refused > 0 {
        return Err(left_out(refused, total, first).into());
    }
    if !global.json {
        global.note(format_args!("exported {exported}, {}", output::size(bytes)));
    }
    Ok(())
}

/// Shows the progress of an export and what it leaves out, and stops it after a signal.
struct Watcher<'a> {
    global: &'a Global,
    progress: Progress,
    is_counting: bool,
    stopped: Option<Signal>,
    /// The first checkpoint or file that was not exported, with the reason.
    left_out: Option<String>,
}

impl<'a> Watcher<'a> {
    fn new(global: &'a Global) -> Self {
        let progress = Progress::new("exporting", global);
        Self { global, progress, is_counting: false, stopped: None, left_out: None }
    }

    fn hear(&mut self, event: &ExportEvent<'_>) -> ControlFlow<()> {
        if let ExportEvent::Progress { done, total } = event {
            if !self.is_counting {
                self.progress.stage("exporting", *total);
                self.is_counting = true;
            }
            self.progress.show(*done);
        }
        if let ExportEvent::NotExported { name, why } = event {
            self.left_out.get_or_insert_with(|| words::left_out(name, why));
        }
        if let Some(note) = words::note(event, self.global) {
            self.global.note(note);
        }
        self.stopped = interrupt::signal();
        if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn left_out(count: u64, total: u64, first: Option<String>) -> Refusal {
    let hint = format!("the first is {}", first.unwrap_or_default());
    Refusal::Skipped { what: "could not be exported", count, total, hint }
}

/// An error of the library in the words of this command.
fn of_export(error: ExportError, layout: Option<Layout>) -> anyhow::Error {
    let usage = |text: String| Refusal::Usage(text).into();
    match error {
        ExportError::NotADirectory { path, kind } => Refusal::ExportIntoFile { path, kind }.into(),
        ExportError::Exists { path } => Refusal::Exists { path }.into(),
        ExportError::Own { path } => usage(format!("--jsonl: {} {IS_OWN}", path.display())),
        ExportError::Conflict(conflict) => {
            let wrong = match (conflict, layout) {
                (Conflict::Form, Some(layout)) => {
                    format!("{layout} reads what its schema says; only aiwg does not")
                }
                (Conflict::FormWithSchema, _) => "has no versions; omit --schema".to_owned(),
                (Conflict::FormWithPlain, _) => "is read compressed only; omit --plain".to_owned(),
                (conflict, _) => conflict.to_string(),
            };
            usage(format!("--form reader: {wrong}"))
        }
        ExportError::Io { attempt, source } => {
            anyhow::Error::new(source).context(format!("cannot {attempt}"))
        }
        ExportError::Checkpoint { id, source } => {
            of_export(*source, layout).context(format!("cannot export {id}"))
        }
        ExportError::Store(error) => error.into(),
        error => error.into(),
    }
}
