//! `waypost save`: documents in, ids out.

mod captured;
mod checked;
mod daily;
mod inbox;
mod lines;
mod switches;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use waypost::{Artifact, Document, Draft, Durability, Entry, Layout, NewEntry, Store};

use crate::about::About;
use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::progress::Progress;
use crate::{document, name, open, output};
use daily::Daily;
use switches::{Switches, refuse};

const EXAMPLES: &str = "\
Examples:
  waypost save state.json --issue 42 --trigger manual
  build-state | waypost save --loop-id ralph-fix-tests-a1b2c3d4 --iteration 7
  waypost save state.json --issue 42 --capture src Cargo.toml
  tail -f states.jsonl | waypost save --lines --series nightly
  waypost save checkpoint.json --layout pipeline   # refused if it breaks the protocol
  echo '{\"about\": {\"issue\": \"42\"}, \"document\": [1, 2]}' | waypost save --lines --about";

/// Save a document as a checkpoint, and print its id
///
/// The id is printed once the checkpoint is on disk.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The document in JSON; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,

    /// Save every line of standard input, and answer each with a line as soon as it is saved
    ///
    /// The answer is the id, or a line that starts with `error: `, or with `off: ` where the config
    /// switches the trigger off; with --json the entry, an object with the one key `error`,
    /// or one with `saved` false. Blank lines get no answer. Lines that wait share one sync.
    #[arg(long, conflicts_with_all = ["file", "id"])]
    lines: bool,

    /// Take lines like {"about": {"phase": "build"}, "document": ...}
    ///
    /// The fields of `about` are named like the flags, with underscores, and override them.
    #[arg(long = "about", requires = "lines")]
    has_about: bool,

    /// Save these files with the document, or all below these directories
    ///
    /// All that follows is taken for a path, so FILE stands before it. Paths are kept from the
    /// directory that the store is for. A file is stored once, however often it is captured
    /// unchanged; what was captured before, and is gone, is noted as deleted. Links and special
    /// files are refused, and below a directory passed over with a note; `.git` and `.waypost` are
    /// passed over, but not what a .gitignore names: leave that out by naming what to capture.
    /// `waypost restore` writes the files back.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "lines")]
    capture: Vec<PathBuf>,

    /// When a save is done: once it is on disk, or once others can see it
    #[arg(long, value_name = "WHEN", value_enum, default_value = "immediate")]
    durability: Done,

    /// The system whose document it is; refused if it breaks the rules of that system
    ///
    /// A document of crunch may be YAML, but for --lines.
    /// What the document says about itself, such as its issue and phase, is taken over where no
    /// flag says otherwise.
    #[arg(long, value_parser = args::layout())]
    layout: Option<Layout>,

    /// Save though the config of the project switches the trigger off, or --layout refuses it
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    about: About,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Done {
    Immediate,
    Relaxed,
}

impl From<Done> for Durability {
    fn from(done: Done) -> Self {
        match done {
            Done::Immediate => Self::Immediate,
            Done::Relaxed => Self::Relaxed,
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    if args.lines {
        let switches = Switches::of_project(args, global)?;
        let store = open::to_save(global, "save --lines", switches.on_save())?;
        let about = about(&store, NewEntry::from(&args.about), global)?;
        let saver = Saver { store, about, args, daily: Daily::by(switches.daily()), switches };
        let outcome = lines::run(&saver, global, out);
        saver.store.close()?;
        return outcome;
    }
    let switches = Switches::of_project(args, global)?;
    let off = switches.refusal(&NewEntry::from(&args.about));
    // Read even if it is not saved: otherwise the writer of the pipe would fail.
    let json = document::read(&args.file, global)?;
    if let Some(off) = off {
        return Ok(refuse(out, &off, global)?);
    }
    if !args.capture.is_empty() && document::is_stdin(&args.file) && json.trim_ascii().is_empty() {
        return Err(Refusal::NoDocument.into());
    }
    let json = checked::in_json(json, args.layout)?;
    let about = checked::about(NewEntry::from(&args.about), args, &json)?;
    let capture = captured::read(args, global)?;
    if !open::exists(global)? {
        // Input that is no document must not leave an empty store behind.
        Document::from_json(&json)?;
        capture.check_new().map_err(captured::told)?;
    }
    let store = open::to_save(global, "save", switches.on_save())?;
    let about = self::about(&store, about, global)?;
    let saver = Saver { store, about, args, daily: Daily::by(switches.daily()), switches };
    let artifacts = captured::artifacts(capture, &saver.store, &saver.about, global)?;
    let draft = saver.draft(saver.about.clone(), &json)?.with_artifacts(artifacts)?;
    // One save is one transaction, so the progress has no count.
    let progress = Progress::new("saving", global);
    let entry = saver.store.save_draft(draft)?;
    drop(progress);
    // A sequence of 0 means a spooled save: another process holds the store for long.
    if entry.sequence > 0 {
        saver.daily.clean_up(&saver.store, global);
    }
    let artifacts = output::artifacts(&saver.store, &entry)?;
    // Closing puts a relaxed save on disk, as the printed id promises.
    saver.store.close()?;
    if global.json && !artifacts.is_empty() {
        return Ok(output::json_line(out, &Saved { entry, artifacts })?);
    }
    Ok(answer(out, &entry, global)?)
}

/// The flags as an entry, with the parent resolved to an id.
fn about(store: &Store, about: NewEntry, global: &Global) -> Result<NewEntry> {
    if let Some(meant) = about.trigger.likely_meant() {
        let trigger = &about.trigger;
        global.note(format_args!(
            "no trigger is called {trigger}, so it counts as your own; did you mean {meant}?"
        ));
    }
    let parent = about.parent.as_ref().map(|parent| name::parent(store, parent, global));
    Ok(NewEntry { parent: parent.transpose()?, ..about })
}

/// A saved entry with its captured files.
#[derive(Serialize)]
struct Saved {
    #[serde(flatten)]
    entry: Entry,
    artifacts: Vec<Artifact>,
}

/// A store with the options of its saves.
struct Saver<'a> {
    store: Store,
    /// The flags, which hold for every checkpoint.
    about: NewEntry,
    args: &'a Args,
    switches: Switches,
    daily: Daily,
}

impl Saver<'_> {
    fn draft(&self, about: NewEntry, json: &[u8]) -> waypost::Result<Draft> {
        let draft = self.store.draft_json(about, json)?;
        Ok(draft.with_durability(self.args.durability.into()))
    }
}

fn answer(out: &mut dyn Write, entry: &Entry, global: &Global) -> io::Result<()> {
    if global.json { output::json_line(out, entry) } else { writeln!(out, "{}", entry.id) }
}
