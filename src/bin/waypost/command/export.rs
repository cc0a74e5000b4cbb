//! `waypost export`: checkpoints out of the store, as a program or another store reads them.

mod chosen;
mod dump;
pub(super) mod files;
mod target;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use waypost::layouts::{Form, Schema, Writing};
use waypost::{Layout, Order, Query, Store, Timestamp, opening};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::filter::{FILTERS, Filter, nothing};
use crate::interrupt;
use crate::{config, open, output};
use chosen::Chosen;
use dump::Dumped;
use files::{Modes, Packing, Tally, Wish};
use target::Target;
use waypost::transfer::own::{IS_OWN, Own};

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
/// What came from a file is that file again, byte for byte. What did not, or goes into another
/// --layout, is written as that system would; what it requires and the checkpoint does not have is
/// reported, and the rest goes on. Of several contents of one file the newest is written.
///
/// Lines of JSON have all that is known of a checkpoint, oldest first; `waypost import` takes them
/// in again, into this store or another one.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The directory to write files below: the root of a project
    #[arg(value_name = "DIR", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    directory: Option<PathBuf>,

    /// Write lines of JSON to this file instead; - is standard output
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,

    /// Write all files as this system has them, not each as its own
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

    /// Write all files as the code of --layout reads them, if that is not what its schema says
    ///
    /// aiwg: `reader` writes the states of loops that its recovery restores,
    /// loops/LOOP/checkpoints/checkpoint-ITERATION-MILLISECONDS.json.gz. `documented` writes the
    /// files of its schema, as without --form.
    #[arg(long, requires = "layout", conflicts_with = "jsonl", value_parser = args::form())]
    form: Option<Form>,

    /// Compress all JSON files, under a name that ends in .gz
    #[arg(long, conflicts_with_all = ["jsonl", "plain"])]
    gzip: bool,

    /// Compress no files, not even those that were
    #[arg(long, conflicts_with = "jsonl")]
    plain: bool,

    /// Replace files that are there with other content
    #[arg(long)]
    overwrite: bool,

    /// Give files the modes that they had when they were imported, however wide
    ///
    /// Without it, files get at most mode 0755, less what the umask takes away.
    #[arg(long, conflicts_with = "jsonl")]
    recorded_modes: bool,

    /// Only this checkpoint: an id, the start of one, `latest`, NAME or NAME@N (repeatable)
    ///
    /// Any revision of an imported file, to the place of its file. Of a line of a file, the file as
    /// it was then. Indexes of directories are left as they are.
    #[arg(long = "id", value_name = "ID", conflicts_with_all = FILTERS)]
    ids: Vec<String>,

    #[command(flatten)]
    filter: Filter,
}

#[derive(Default, Serialize)]
struct Outcome {
    exported: u64,
    /// Of those, checkpoints that lack captured files.
    incomplete: u64,
    damaged: u64,
    /// Beyond a limit.
    refused: u64,
    bytes: u64,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "export")?;
    match (&args.directory, &args.jsonl) {
        (Some(directory), _) => write_files(args, &store, directory, global, out),
        (None, Some(file)) => write_lines(args, &store, file, global, out),
        (None, None) => unreachable!("one of them is required"),
    }
}

fn write_files(
    args: &Args,
    store: &Store,
    directory: &Path,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    if let Ok(found) = fs::metadata(directory)
        && !found.is_dir()
    {
        let kind = if found.is_file() { "a file" } else { opening::kind(found.file_type()) };
        return Err(Refusal::ExportIntoFile { path: directory.to_owned(), kind }.into());
    }
    let packing = match (args.gzip, args.plain) {
        (true, _) => Packing::Gzip,
        (_, true) => Packing::Plain,
        (false, false) => Packing::AsBefore,
    };
    let modes = if args.recorded_modes { Modes::Recorded } else { Modes::Limited };
    let (layout, overwrites) = (args.layout, args.overwrite);
    let location = &config::location(store.path())?;
    let is_named = !args.ids.is_empty();
    let writing = Writing { schema: schema(args)?, form: form(args)? };
    let wish = Wish { directory, layout, writing, packing, overwrites, modes, location, is_named };
    let chosen = Chosen::new(store, &args.ids, args.filter.query(Timestamp::now()))?;
    interrupt::listen()?;
    let (tally, stopped) = files::run(store, &chosen, &wish, global)?;
    if tally.total() == 0 && stopped.is_none() {
        return Err(nothing(&chosen.query).into());
    }
    if global.json {
        output::json_line(out, &tally)?;
    } else {
        global.note(&tally);
        tally.repeated_notes().for_each(|note| global.note(note));
        tally.additions().iter().for_each(|line| global.note(line));
        if tally.differing > 0 {
            global.note("--overwrite replaces what is there with other content");
        }
    }
    if let Some(signal) = stopped {
        out.flush()?;
        return Err(signal.error(format!("{}; run it again to go on", tally.written())));
    }
    let Tally { damaged, refused, .. } = tally;
    match (damaged, refused) {
        (0, 0) => Ok(()),
        (0, count) => {
            Err(Refusal::Skipped { what: "could not be exported", count, total: tally.total() }
                .into())
        }
        (count, _) => Err(Refusal::Damaged { count, total: tally.total() }.into()),
    }
}

/// The version that was asked for; it goes with a layout.
fn schema(args: &Args) -> Result<Option<Schema>> {
    let wanted = args.layout.zip(args.schema.as_deref());
    let schema = wanted.map(|(layout, version)| Schema::new(layout, version)).transpose();
    schema.map_err(|error| Refusal::Usage(format!("--schema: {error}")).into())
}

/// The form that was asked for; only one layout has two, and only one version of the second.
fn form(args: &Args) -> Result<Form> {
    let form = args.form.unwrap_or_default();
    let wrong = match args.layout {
        _ if form == Form::Documented => return Ok(form),
        Some(layout) if layout != Layout::Aiwg => {
            format!("{layout} reads what its schema says; only aiwg does not")
        }
        _ if args.schema.is_some() => "has no versions; omit --schema".to_owned(),
        _ if args.plain => "is read compressed only; omit --plain".to_owned(),
        _ => return Ok(form),
    };
    Err(Refusal::Usage(format!("--form reader: {wrong}")).into())
}

fn write_lines(
    args: &Args,
    store: &Store,
    file: &Path,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let query = Query { order: Order::Oldest, ..args.filter.query(Timestamp::now()) };
    let chosen = Chosen::new(store, &args.ids, query)?;
    let own = Own::new(store.path()).context("cannot tell where the store is")?;
    if own.has(file) {
        let what = format!("--jsonl: {} {IS_OWN}", file.display());
        return Err(Refusal::Usage(what).into());
    }
    let mut target = Target::new(file, args.overwrite, out)?;
    // Whoever reads a stream may not do so now, and then nobody would look for an interrupt.
    if target.is_file() {
        interrupt::listen()?;
    }
    let dumped = match interrupt::caught(dump::run(store, &chosen, &mut target, global))? {
        Ok(dumped) => dumped,
        Err(signal) => {
            drop(target);
            if global.json {
                output::json_line(out, &Outcome::default())?;
            }
            let told = format!("{} was not written; run it again to go on", file.display());
            return Err(signal.error(told));
        }
    };
    let Dumped { exported, bytes, damaged, incomplete, skipped } = dumped;
    let total = exported + damaged + skipped;
    if total == 0 {
        // Dropped, so that no empty file is left behind.
        return Err(nothing(&chosen.query).into());
    }
    let is_stream = target.finish()?;
    if global.json && !is_stream {
        let outcome = Outcome { exported, incomplete, damaged, refused: skipped, bytes };
        output::json_line(out, &outcome)?;
    }
    if damaged + incomplete > 0 {
        return Err(Refusal::Damaged { count: damaged + incomplete, total }.into());
    }
    if skipped > 0 {
        let what = "could not be exported";
        return Err(Refusal::Skipped { what, count: skipped, total }.into());
    }
    if !global.json {
        global.note(format_args!("exported {exported}, {}", output::size(bytes)));
    }
    Ok(())
}
