//! `waypost import`: checkpoints into the store, from what `waypost export` wrote.

mod line;
mod lines;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use waypost::Store;

use crate::args::Global;
use crate::exit::Refusal;
use crate::{open, output};
use lines::Imported;

const EXAMPLES: &str = "\
Examples:
  waypost import checkpoints.jsonl
  waypost --store old.redb export --jsonl - | waypost import -
  zcat week.jsonl.gz | waypost import -";

/// Take in checkpoints that `waypost export --jsonl` wrote
///
/// Importing twice changes nothing. A line that cannot be taken is reported, and the rest goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files of lines of JSON; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Outcome {
    lines: u64,
    imported: u64,
    refused: u64,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    // A wrong name must not leave an empty store behind.
    let sources = args.files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let store = open::or_create(global, "import")?;
    let before = store.count()?;
    let mut total = Imported::default();
    for (path, source) in args.files.iter().zip(sources) {
        total.add(&import(&store, path, source, global)?);
    }
    // Others may save meanwhile, but that is all that can be told.
    let imported = store.count()?.saturating_sub(before);
    if imported > 0 {
        let names: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
        store.log_import(&names.join(", "), imported)?;
    }
    store.close()?;
    let Imported { lines, refused } = total;
    if global.json {
        output::json_line(out, &Outcome { lines, imported, refused })?;
    } else {
        let known = lines - refused - imported.min(lines - refused);
        global.note(format_args!("imported {imported}, {known} were there already"));
    }
    if refused > 0 {
        return Err(Refusal::Skipped { count: refused, total: lines }.into());
    }
    Ok(())
}

fn import(
    store: &Store,
    path: &Path,
    source: Box<dyn BufRead + Send>,
    global: &Global,
) -> Result<Imported> {
    let name = path.display().to_string();
    lines::run(store, source, &name, global).with_context(|| format!("cannot import {name}"))
}

fn read(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
