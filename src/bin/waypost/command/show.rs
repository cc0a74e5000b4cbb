//! `waypost show`: one checkpoint by its name.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;

use crate::args::Global;
use crate::{name, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost show latest
  waypost show 019a8b2c-d3e4
  waypost show 42@1 --document | jq .files";

/// Show a checkpoint: what is known about it, and its document
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// An id, the start of one, `latest`, a NAME (series, issue, loop) for its newest, or NAME@N
    /// for the Nth newest, from 0
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// Print the document only
    #[arg(long)]
    document: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "show")?;
    let checkpoint = store.get(&name::one(&store, &args.id)?.id)?;
    if args.document {
        return output::document(out, &checkpoint, global);
    }
    let artifacts = output::artifacts(&store, &checkpoint.entry)?;
    output::checkpoint(out, &checkpoint, &artifacts, global)
}
