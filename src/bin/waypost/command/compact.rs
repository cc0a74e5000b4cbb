//! `waypost compact`: gives free space back.

use std::io::Write;

use anyhow::Result;

use crate::args::Global;
use crate::open;
use crate::output::{self, Fields};

const EXAMPLES: &str = "\
Examples:
  waypost compact
  waypost compact --json | jq .after_bytes";

/// Give the free space of the store back to the file system
///
/// What was deleted or pruned cannot be restored any more. No other call runs meanwhile; time grows
/// with the size of the store.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let compacted = open::existing(global, "compact")?.compact()?;
    if global.json {
        return Ok(output::json_line(out, &compacted)?);
    }
    Ok(output::fields(out, &Fields::of_compacted(compacted), global)?)
}
