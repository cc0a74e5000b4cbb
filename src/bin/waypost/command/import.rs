//! `waypost import`: checkpoints into the store, from the files of other systems or an export.

mod file;
mod first;
mod line;
mod lines;
pub(super) mod place;
pub(super) mod read;
mod revisions;
pub(super) mod survey;
mod tally;
pub(super) mod text;
mod tree;
pub(super) mod walk;
mod watch;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use waypost::layouts::{Kind, kind};
use waypost::{Error, NewEntry, Store};

use super::save::inbox::read_line;
use crate::args::Global;
use crate::exit::Refusal;
use crate::input::Input;
use crate::interrupt::{self, Signal};
use crate::{config, open, output};
use file::Importer;
use lines::Imported;
use place::Base;
use revisions::Revisions;
pub(super) use tally::Tally;
use tree::Trees;
use walk::{Found, Root};
use watch::Seen;
use waypost::transfer::gzip;

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
/// `.pipeline` and AIWG, which are known by what is in them. Nothing is lost on the way: `waypost
/// export` writes the same files again, byte for byte. Importing twice changes nothing. What cannot
/// be taken is reported, and the rest goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directories, files of other systems, or lines of JSON; - is lines from standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Keep the bytes of files that cannot be read, so that an export has them, too
    #[arg(long)]
    keep_unreadable: bool,

    /// Go on importing as files appear and change, until interrupted
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
}

// Documents are longer, but a file whose first line is has a name that says so.
const FIRST_LINE_BYTES_MAX: usize = 8 << 20;
// Longer than any run of blanks before real lines: an input that starts with more counts as not
// blank.
const BLANK_BYTES_MAX: usize = 64 << 10;
// Often enough that what a person saves is there before it is looked for.
const WATCH_EVERY: Duration = Duration::from_millis(250);
// Of the time, at most a tenth goes into looking at a large tree where nothing happens.
const WATCH_REST: u32 = 9;
const WATCH_AT_LEAST_EVERY: Duration = Duration::from_secs(3);

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let (mut paths, mut lines) = (Vec::new(), Vec::new());
    for path in &args.paths {
        let name = path.display().to_string();
        match find(path).with_context(|| format!("cannot read {name}"))? {
            From::Tree(path) => paths.push(path),
            From::Lines(source) => lines.push((name, source)),
        }
    }
    let store = open::path(global)?;
    let (base, location) = (Base::new(&store), config::location(&store)?);
    // What is below another would be counted twice.
    let is_below = |path: &PathBuf| paths.iter().any(|it| path != it && path.starts_with(it));
    let mut paths: Vec<PathBuf> = paths.iter().filter(|path| !is_below(path)).cloned().collect();
    paths.sort();
    paths.dedup();
    let root = |path| Root::new(path, &base, &location);
    let roots: Vec<Root> = paths.into_iter().map(root).collect();
    if (args.dry_run || args.watch) && !lines.is_empty() {
        let text = "--dry-run and --watch are for directories and files of other systems";
        return Err(Refusal::Usage(text.to_owned()).into());
    }
    let lines = unless_blank(lines)?;
    if lines.is_empty() && !roots.iter().any(Root::has_files) && !args.watch {
        return Err(Refusal::NoFiles { place: names(&args.paths) }.into());
    }
    let has_store = open::exists(global)?;
    let mut tally = Tally::default();
    // An import that finds nothing makes no store.
    let lines = if has_store { lines } else { first::found(lines, &mut tally, global)? };
    let is_dry = args.dry_run
        || (!has_store && !args.watch && lines.is_empty() && !has_any(&roots, args, global)?);
    let store = if is_dry {
        has_store.then(|| open::existing(global, "import")).transpose()?
    } else {
        Some(open::or_create(global, "import")?)
    };
    interrupt::listen()?;
    let importer = Importer {
        store: store.as_ref(),
        home: base.home(),
        is_dry,
        keeps_unreadable: args.keep_unreadable,
        revisions: &Revisions::default(),
        takes_undated: false,
    };
    let trees = Trees { importer, roots: &roots, global };
    if args.watch {
        let ended = watch(&trees, args, out);
        return store.map_or(Ok(()), Store::close).map_err(Into::into).and(ended);
    }
    let mut would = |about: &NewEntry| Ok(show(out, about, global)?);
    let ended = match &store {
        Some(store) => import_all_lines(store, lines, &mut tally, global),
        None => Ok(()),
    };
    let ended = ended.and_then(|()| trees.run(&mut tally, &mut |_| true, &mut would));
    let ended = interrupt::caught(ended)?;
    if let Some(store) = store {
        if tally.imported > 0 && !args.dry_run {
            store.log_import(&names(&args.paths), tally.imported)?;
        }
        store.close()?;
    }
    finish(&tally, ended.err(), args, global, out)
}

/// Whether anything in these trees can be imported. Stops at the first hit.
fn has_any(roots: &[Root], args: &Args, global: &Global) -> Result<bool> {
    let importer = Importer {
        store: None,
        home: None,
        is_dry: true,
        keeps_unreadable: args.keep_unreadable,
        revisions: &Revisions::default(),
        takes_undated: false,
    };
    // The import itself reports what is wrong.
    let mut silent = global.clone();
    (silent.quiet, silent.json) = (true, true);
    let global = &silent;
    let mut has_any = false;
    let mut would = |_: &NewEntry| {
        has_any = true;
        Err(anyhow!("one is enough"))
    };
    let trees = Trees { importer, roots, global };
    let ended = trees.run(&mut Tally::default(), &mut |_| true, &mut would);
    if has_any { Ok(true) } else { ended.map(|()| false) }
}

/// Drops inputs that are blank.
fn unless_blank(all: Vec<(String, Lines)>) -> Result<Vec<(String, Lines)>> {
    let mut kept = Vec::new();
    for (name, source) in all {
        let source = from_start(source).with_context(|| format!("cannot read {name}"))?;
        kept.extend(source.map(|source| (name, source)));
    }
    Ok(kept)
}

/// The same lines from their start; `None` if there are only blanks.
fn from_start(mut source: Lines) -> io::Result<Option<Lines>> {
    let mut blanks = Vec::new();
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        if !bytes.trim_ascii().is_empty() || blanks.len() > BLANK_BYTES_MAX {
            // Messages name lines by number, so blank ones count.
            return Ok(Some(Box::new(io::Cursor::new(blanks).chain(source))));
        }
        blanks.extend_from_slice(bytes);
        let length = bytes.len();
        source.consume(length);
    }
}

fn finish(
    tally: &Tally,
    stopped: Option<Signal>,
    args: &Args,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    if tally.is_empty() && stopped.is_none() {
        tally.tell("found", global);
        return Err(Refusal::NoFiles { place: names(&args.paths) }.into());
    }
    if global.json {
        output::json_line(out, tally)?;
    } else {
        tally.tell(if args.dry_run { "would import" } else { "imported" }, global);
    }
    if let Some(signal) = stopped {
        out.flush()?;
        return Err(stopped_after(tally.imported, signal));
    }
    tally.check_refused()?;
    if tally.incomplete > 0 {
        let what = "lack files that were damaged when they were exported";
        let (count, total) = (tally.incomplete, tally.total());
        return Err(Refusal::Skipped { what, count, total }.into());
    }
    Ok(())
}

/// Takes in all that is found in a directory, which is an absolute path, for `waypost init`.
///
/// An interrupt ends it with an error that says how much was taken in.
pub(super) fn directory(directory: &Path, store: &Store, global: &Global) -> Result<Tally> {
    interrupt::listen()?;
    let base = Base::new(store.path());
    let importer = Importer {
        store: Some(store),
        home: base.home(),
        is_dry: false,
        keeps_unreadable: false,
        revisions: &Revisions::default(),
        takes_undated: false,
    };
    let location = config::location(store.path())?;
    let roots = [Root::new(directory.to_owned(), &base, &location)];
    let mut tally = Tally::of_refusals();
    let trees = Trees { importer, roots: &roots, global };
    let ended = interrupt::caught(trees.run(&mut tally, &mut |_| true, &mut |_| Ok(())))?;
    if tally.imported > 0 {
        store.log_import(&directory.display().to_string(), tally.imported)?;
    }
    // What is asked after this is answered by a key, and Ctrl-C is an answer.
    interrupt::leave();
    match ended {
        Ok(()) => Ok(tally),
        Err(signal) => Err(stopped_after(tally.imported, signal)),
    }
}

fn stopped_after(imported: u64, signal: Signal) -> anyhow::Error {
    signal.error(format!("{} imported; run it again to go on", output::grouped(imported)))
}

/// Imports what appears and changes. Never ends by itself.
fn watch(trees: &Trees<'_>, args: &Args, out: &mut dyn Write) -> Result<()> {
    let mut seen = Seen::default();
    let mut told = HashSet::new();
    let mut imported = 0;
    let global = trees.global;
    global.note(format_args!("watching {}; an interrupt ends it", names(&args.paths)));
    for pass in 0_u64.. {
        let start = Instant::now();
        let mut tally = if pass == 0 { Tally::default() } else { Tally::by_name() };
        tally.tells_once(told);
        let revisions = Revisions::default();
        let again = Importer { revisions: &revisions, ..trees.importer };
        let trees = Trees { importer: again, ..*trees };
        let ended = trees.run(&mut tally, &mut |found: &Found| seen.is_new(found), &mut |_| Ok(()));
        let ended = interrupt::caught(ended);
        let ended = ended.and_then(|ended| log(&trees, args, &tally).map(|()| ended.err()));
        let mut stopped = None;
        let is_done = match ended {
            Ok(signal) => {
                stopped = signal;
                signal.is_none()
            }
            // Another process has the store; it will be done with it.
            Err(error) if matches!(error.downcast_ref(), Some(Error::Locked { .. })) => {
                global.note(format_args!("{error:#}; trying again"));
                false
            }
            Err(error) => return Err(error),
        };
        if is_done {
            seen.end(tally.unread_places());
        } else {
            seen.forget();
        }
        if global.json && (pass == 0 || !tally.is_empty()) {
            output::json_line(out, &tally)?;
            out.flush()?;
        } else if pass == 0 && is_done {
            tally.tell("imported", global);
        }
        imported += tally.imported;
        let is_busy = tally.imported > 0 || !is_done;
        told = tally.into_told();
        let rest = if is_busy { WATCH_EVERY } else { start.elapsed() * WATCH_REST };
        let rested = interrupt::rest(rest.clamp(WATCH_EVERY, WATCH_AT_LEAST_EVERY));
        if let Some(signal) = stopped.or(interrupt::caught(rested)?.err()) {
            return Err(stopped_after(imported, signal));
        }
    }
    Ok(())
}

fn log(trees: &Trees<'_>, args: &Args, tally: &Tally) -> Result<()> {
    if let Some(store) = trees.importer.store.filter(|_| tally.imported > 0) {
        store.log_import(&names(&args.paths), tally.imported)?;
    }
    Ok(())
}

type Lines = Box<dyn BufRead + Send>;

/// Where checkpoints come from.
enum From {
    Lines(Lines),
    /// By an absolute path.
    Tree(PathBuf),
}

fn find(path: &Path) -> io::Result<From> {
    if path == Path::new("-") {
        return Ok(From::Lines(Box::new(Input::new(io::stdin()))));
    }
    let metadata = fs::metadata(path)?;
    // A pipe of the shell has no end to look at.
    if !metadata.is_dir() && (!metadata.is_file() || has_lines(path)?) {
        return Ok(From::Lines(lines_of(path)?));
    }
    let path = fs::canonicalize(path)?;
    if path.to_str().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, "its name is not UTF-8"));
    }
    Ok(From::Tree(path))
}

/// Whether a file is what `export --jsonl` writes: by its name, else by its first line.
fn has_lines(path: &Path) -> io::Result<bool> {
    let name = path.to_string_lossy();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if matches!(kind(&name), Kind::Lines) || ends(&[".json", ".yaml", ".yml", ".json.gz"]) {
        return Ok(false);
    }
    if ends(&[".jsonl", ".jsonl.gz"]) {
        return Ok(true);
    }
    let first = read_line(&mut lines_of(path)?, FIRST_LINE_BYTES_MAX)?;
    let first = first.and_then(Result::ok).unwrap_or_default();
    Ok(line::is_one(&first))
}

/// What is in a file, compressed or not.
fn lines_of(path: &Path) -> io::Result<Lines> {
    let file = File::open(path)?;
    let mut lines: Lines = if file.metadata()?.is_file() {
        Box::new(BufReader::new(file))
    } else {
        Box::new(Input::new(file))
    };
    if gzip::is_gzip(lines.fill_buf()?) {
        return Ok(Box::new(BufReader::new(gzip::reader(lines))));
    }
    Ok(lines)
}

fn import_all_lines(
    store: &Store,
    lines: Vec<(String, Lines)>,
    tally: &mut Tally,
    global: &Global,
) -> Result<()> {
    let mut lines = lines.into_iter();
    lines.try_for_each(|(name, source)| import_lines(store, &name, source, tally, global))
}

fn import_lines(
    store: &Store,
    name: &str,
    source: Lines,
    tally: &mut Tally,
    global: &Global,
) -> Result<()> {
    let before = store.count()?;
    let mut imported = Imported::default();
    let ended = interrupt::caught(lines::run(store, source, name, global, &mut imported))
        .with_context(|| format!("cannot import {name}"))?;
    let Imported { lines, refused, incomplete } = imported;
    // Others may save meanwhile, but that is all that can be told.
    let imported = store.count()?.saturating_sub(before).min(lines - refused);
    tally.of_lines(lines, imported, refused);
    tally.incomplete += incomplete;
    ended.map_err(|signal| signal.error(String::new()))
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
