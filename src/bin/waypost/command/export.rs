//! `waypost export`: checkpoints out of the store, as a program or another store reads them.

mod dump;
mod target;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use waypost::{Order, Query, Timestamp};

use crate::args::Global;
use crate::exit::Refusal;
use crate::filter::Filter;
use crate::{open, output};
use dump::Dumped;
use target::Target;

const EXAMPLES: &str = "\
Examples:
  waypost export --jsonl checkpoints.jsonl
  waypost export --jsonl - --issue 42 | jq -c .document
  waypost export --jsonl - --since 7d | gzip > week.jsonl.gz";

/// Write checkpoints, oldest first, as lines of JSON: all that is known of one, and its document
///
/// `waypost import` takes them in again, into this store or another one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file to write; - is standard output
    #[arg(long, value_name = "FILE", required = true)]
    jsonl: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    filter: Filter,
}

#[derive(Serialize)]
struct Outcome {
    exported: u64,
    bytes: u64,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "export")?;
    let query = Query { order: Order::Oldest, ..args.filter.query(Timestamp::now()) };
    let mut target = Target::new(&args.jsonl, args.overwrite, out)?;
    let Dumped { exported, bytes, damaged } = dump::run(&store, query, &mut target, global)?;
    if exported == 0 && damaged == 0 {
        // Dropped, so that no empty file is left behind.
        return Err(Refusal::Nothing.into());
    }
    let is_stream = target.finish()?;
    if damaged > 0 {
        return Err(Refusal::Damaged { count: damaged, total: exported + damaged }.into());
    }
    if global.json && !is_stream {
        return Ok(output::json_line(out, &Outcome { exported, bytes })?);
    }
    global.note(format_args!("exported {exported}, {}", output::size(bytes)));
    Ok(())
}
