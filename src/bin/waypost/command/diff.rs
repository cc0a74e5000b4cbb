//! `waypost diff`: what changed from one document to another, and in the files captured with them.

mod short;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::builder::NonEmptyStringValueParser;
use waypost::history::FileChanges;
use waypost::source::Source;
use waypost::{Artifact, Diff, Document, Entry, Id, Store};

use crate::args::Global;
use crate::exit::Refusal;
use crate::{document, name, open, output};
use text::Page;

const EXAMPLES: &str = "\
Examples:
  waypost diff latest
  waypost diff issue:42@5 issue:42@0 --full
  waypost diff latest state.json                # a file, where no checkpoint has that name
  waypost diff 019a8b2c-d3e4 --file state.yaml
  waypost diff issue:42@1 latest --exit-code > changes.txt     # exit 1: there are changes
  waypost diff issue:42@1 latest --json | jq '.[].path'";

/// Show what changed between checkpoints, or to a file
///
/// A line for each change, with its place in the new document as a JSON pointer (of what was
/// removed, in the old one): `-` is what was there, `+` what is there now, `~` where an element of
/// a list was before. Texts of several lines are compared line by line. Numbers are compared by
/// value, and objects whatever the order of their keys. Then a line for each captured file that
/// differs, if both have captured any. With --json it is a patch (RFC 6902) that makes the new
/// document of the old one, and tells of the documents alone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The old one: an id, the start of one, `latest`, a NAME (series, issue, loop) for its newest,
    /// or NAME@N for the Nth newest, from 0; else a file of JSON or YAML
    #[arg(value_name = "OLD", value_parser = NonEmptyStringValueParser::new())]
    old: String,

    /// The new one, named likewise; if not said, OLD is the new one, and compared with the one
    /// before it in its series
    #[arg(value_name = "NEW", value_parser = NonEmptyStringValueParser::new())]
    new: Option<String>,

    /// Compare with a file instead: JSON, or YAML if its name ends in .yaml or .yml; - is standard
    /// input
    #[arg(long, value_name = "PATH", conflicts_with = "new")]
    file: Option<PathBuf>,

    /// Show long values whole, not only as much as fits a line of the terminal
    #[arg(long)]
    full: bool,

    /// End with exit code 1 if there are changes, also of captured files, else with 0; without it
    /// changes are no failure
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let [old, new] = sides(args, global)?;
    let diff = waypost::diff(&old.document, &new.document);
    let files = FileChanges::between(&old.artifacts, &new.artifacts);
    if global.json {
        patch(out, &diff)?;
    } else {
        let width = if args.full { None } else { output::width().map(usize::from) };
        let page = Page::new(width, global);
        let changes = diff.changes();
        changes.iter().try_for_each(|change| page.write(out, change))?;
        files.differing.iter().try_for_each(|(path, words)| page.file(out, path, words))?;
        out.flush()?;
        let mut what = summary(&diff, changes.len());
        if diff.is_coarse() {
            what += " (more than necessary: too large to compare in full)";
        }
        if let Some(words) = files.words(&old.name, &new.name) {
            what = format!("{what}, {words}");
        }
        let note = format!("{what} from {} to {}", old.name, new.name);
        global.note(output::plain(&note));
    }
    if args.exit_code && !(diff.is_empty() && files.differing.is_empty()) {
        return Err(Refusal::Differs.into());
    }
    Ok(())
}

/// A document with its captured files and its name for people.
struct Side {
    name: String,
    document: Document,
    /// Files captured with it.
    artifacts: Vec<Artifact>,
    is_file: bool,
}

fn sides(args: &Args, global: &Global) -> Result<[Side; 2]> {
    let store = open::existing(global, "diff")?;
    let old = Named::of(&store, &args.old)?;
    let new = match (&args.file, &args.new) {
        (Some(path), _) => Some(Named::File(path.clone())),
        (None, new) => new.as_deref().map(|new| Named::of(&store, new)).transpose()?,
    };
    let [old, new] = match (old, new) {
        (old, Some(new)) => [old, new],
        (Named::Checkpoint(new), None) => {
            [before(&store, &new)?, *new].map(|entry| Named::Checkpoint(Box::new(entry)))
        }
        (Named::File(path), None) => {
            let path = output::quoted(&path.display().to_string());
            let what = format!("{path} is a file: name what to compare it with, such as latest");
            return Err(Refusal::Usage(what).into());
        }
    };
    let length =
        store.short_length(&[&old, &new].into_iter().filter_map(Named::id).collect::<Vec<_>>())?;
    let mut sides = [old.side(&store, length, global)?, new.side(&store, length, global)?];
    if sides.iter().any(|side| side.is_file) {
        // If one side is a file, there are no captured files to compare with.
        for side in &mut sides {
            side.artifacts.clear();
        }
    }
    Ok(sides)
}

/// A side as the command line names it.
enum Named {
    Checkpoint(Box<Entry>),
    File(PathBuf),
}

impl Named {
    /// The checkpoint with that name, or else the file. `./latest` is always a file.
    fn of(store: &Store, name: &str) -> Result<Self> {
        match name::one(store, name) {
            Ok(entry) => Ok(Self::Checkpoint(Box::new(entry))),
            Err(_) if Path::new(name).is_file() => Ok(Self::File(name.into())),
            Err(error) => Err(error),
        }
    }

    fn id(&self) -> Option<&Id> {
        match self {
            Self::Checkpoint(entry) => Some(&entry.id),
            Self::File(_) => None,
        }
    }

    fn side(&self, store: &Store, id_length: usize, global: &Global) -> Result<Side> {
        match self {
            Self::Checkpoint(entry) => Side::of_checkpoint(store, &entry.id, id_length),
            Self::File(path) => Side::of_file(path, global),
        }
    }
}

fn before(store: &Store, entry: &Entry) -> Result<Entry> {
    let before = store.before(entry)?;
    Ok(before.ok_or_else(|| Refusal::First { id: entry.id.clone() })?)
}

impl Side {
    fn of_checkpoint(store: &Store, id: &Id, id_length: usize) -> Result<Self> {
        let checkpoint = store.get(id)?;
        let artifacts = output::artifacts(store, &checkpoint.entry)?;
        let name = output::short_id(id, id_length);
        Ok(Self { name, document: checkpoint.document()?, artifacts, is_file: false })
    }

    fn of_file(path: &Path, global: &Global) -> Result<Self> {
        let text = document::read(path, global)?;
        let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
        let document = if is_yaml {
            Source::from_yaml(&text).and_then(|source| source.document())
        } else {
            Document::from_json(&text)
        };
        let name = path.display().to_string();
        let document = document.with_context(|| format!("in {name}"))?;
        Ok(Self { name, document, artifacts: Vec::new(), is_file: true })
    }
}

/// Writes an array of operations, one at a time.
fn patch(out: &mut dyn Write, diff: &Diff<'_>) -> Result<()> {
    write!(out, "[")?;
    for (number, operation) in diff.to_patch().iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(out, "{comma}{}", operation.to_json()?)?;
    }
    Ok(writeln!(out, "]")?)
}

fn summary(diff: &Diff<'_>, changes: usize) -> String {
    match (changes, diff.is_reordered(), diff.is_respelled()) {
        (0, false, false) => "no changes".to_owned(),
        (0, true, false) => "only the order of keys differs".to_owned(),
        (0, false, true) => "only the spelling of numbers differs".to_owned(),
        (0, true, true) => "only the order of keys and spelling of numbers differ".to_owned(),
        (1, ..) => "1 change".to_owned(),
        (count, ..) => format!("{} changes", output::grouped(count as u64)),
    }
}
