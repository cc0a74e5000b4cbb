//! `waypost import`: checkpoints into the store, from the files of other systems or an export.

mod file;
mod line;
mod lines;
mod place;
mod read;
mod tally;
mod tree;
mod walk;
mod watch;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use waypost::layouts::{Kind, kind};
use waypost::{NewEntry, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::{open, output};
use file::Importer;
use lines::Imported;
use tally::Tally;
use tree::Trees;
use walk::{Found, Root};
use watch::Seen;

const EXAMPLES: &str = "\
Examples:
  waypost import .                                 all that is found in this project
  waypost import --dry-run ~/projects              what would be imported
  waypost import .claude/crunch/42                 the checkpoints of one issue
  waypost import --watch .pipeline .tmp            go on as files are written
  waypost --store old.redb export --jsonl - | waypost import -
  zcat week.jsonl.gz | waypost import -";

/// Take in the checkpoint files of other systems, or what `waypost export` wrote
///
/// Directories are searched for files of agentize, claude-crunch, `.claude/checkpoints`,
/// `.pipeline` and AIWG, which are known by what is in them. Nothing is lost on the way: `waypost
/// export` writes the same files again, byte for byte. Importing twice changes nothing. What cannot
/// be taken is reported, and the rest goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directories, files of other systems, or lines of JSON; - is lines from standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Show what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Keep the bytes of files that cannot be read, so that an export has them, too
    #[arg(long)]
    keep_unreadable: bool,

    /// Go on importing as files appear and change, until interrupted
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
}

// Often enough that what a person saves is there before it is looked for.
const WATCH_EVERY: Duration = Duration::from_millis(250);
// Of the time, at most a tenth goes into looking at a large tree.
const WATCH_REST: u32 = 9;

/// Where checkpoints come from.
enum From {
    Lines { name: String, source: Box<dyn BufRead + Send> },
    Tree(Root),
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let sources = args.paths.iter().map(|path| find(path)).collect::<Result<Vec<_>>>()?;
    let (mut roots, mut lines) = (Vec::new(), Vec::new());
    for source in sources {
        match source {
            From::Tree(root) => roots.push(root),
            From::Lines { name, source } => lines.push((name, source)),
        }
    }
    if (args.dry_run || args.watch) && !lines.is_empty() {
        let text = "--dry-run and --watch are for directories and files of other systems";
        return Err(Refusal::Usage(text.to_owned()).into());
    }
    if lines.is_empty() && !roots.iter().any(Root::has_files) && !args.watch {
        return Err(Refusal::Nothing.into());
    }
    let store = if args.dry_run {
        open::exists(global)?.then(|| open::existing(global, "import")).transpose()?
    } else {
        Some(open::or_create(global, "import")?)
    };
    let mut tally = Tally::default();
    if let Some(store) = &store {
        for (name, source) in lines {
            import_lines(store, &name, source, &mut tally, global)?;
        }
    }
    let importer = Importer {
        store: store.as_ref(),
        is_dry: args.dry_run,
        keeps_unreadable: args.keep_unreadable,
    };
    let trees = Trees { importer, roots: &roots, global };
    if args.watch {
        return watch(&trees, args, out);
    }
    let mut would = |about: &NewEntry| Ok(show(out, about, global)?);
    trees.run(&mut tally, &mut |_| true, &mut would)?;
    if let Some(store) = store {
        if tally.imported > 0 && !args.dry_run {
            store.log_import(&names(&args.paths), tally.imported)?;
        }
        store.close()?;
    }
    finish(&tally, args, global, out)
}

fn finish(tally: &Tally, args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    if tally.is_empty() {
        tally.tell("found", global);
        return Err(Refusal::Nothing.into());
    }
    if global.json {
        output::json_line(out, tally)?;
    } else {
        tally.tell(if args.dry_run { "would import" } else { "imported" }, global);
    }
    if tally.refused > 0 {
        return Err(Refusal::Skipped { count: tally.refused, total: tally.total() }.into());
    }
    Ok(())
}

/// Imports what appears and changes. Never ends by itself.
fn watch(trees: &Trees<'_>, args: &Args, out: &mut dyn Write) -> Result<()> {
    let mut seen = Seen::default();
    for pass in 0_u64.. {
        let start = Instant::now();
        let mut tally = Tally::default();
        trees.run(&mut tally, &mut |found: &Found| seen.is_new(found), &mut |_| Ok(()))?;
        if let Some(store) = trees.importer.store.filter(|_| tally.imported > 0) {
            store.log_import(&names(&args.paths), tally.imported)?;
        }
        if trees.global.json && (pass == 0 || !tally.is_empty()) {
            output::json_line(out, &tally)?;
            out.flush()?;
        } else if pass == 0 || tally.imported > 0 {
            tally.tell("imported", trees.global);
        }
        thread::sleep(WATCH_EVERY.max(start.elapsed() * WATCH_REST));
    }
    Ok(())
}

fn find(path: &Path) -> Result<From> {
    let name = path.display().to_string();
    if path == Path::new("-") {
        return Ok(From::Lines { name, source: Box::new(BufReader::new(io::stdin())) });
    }
    let fault = || format!("cannot read {name}");
    let root = Root::new(path).with_context(fault)?;
    let is_document = [".json", ".yaml", ".yml", ".gz"].iter().any(|end| name.ends_with(end));
    if root.is_directory() || is_document || matches!(kind(root.place()), Kind::Lines) {
        return Ok(From::Tree(root));
    }
    let file = File::open(path).with_context(fault)?;
    Ok(From::Lines { name, source: Box::new(BufReader::new(file)) })
}

fn import_lines(
    store: &Store,
    name: &str,
    source: Box<dyn BufRead + Send>,
    tally: &mut Tally,
    global: &Global,
) -> Result<()> {
    let before = store.count()?;
    let imported = lines::run(store, source, name, global);
    let Imported { lines, refused } = imported.with_context(|| format!("cannot import {name}"))?;
    // Others may save meanwhile, but that is all that can be told.
    let imported = store.count()?.saturating_sub(before).min(lines - refused);
    tally.of_lines(lines, imported, refused);
    Ok(())
}

/// What would be imported, one line each.
fn show(mut out: &mut dyn Write, about: &NewEntry, global: &Global) -> io::Result<()> {
    if global.json || global.quiet {
        return Ok(());
    }
    let path = about.source_path.as_deref().unwrap_or_default();
    let series = about.series.as_ref().map_or("", |series| series.as_str());
    writeln!(&mut out, "{path}\t{}\t{series}\t{}\t{}", about.layout, about.trigger, about.status)
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}
