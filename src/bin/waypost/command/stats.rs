//! `waypost stats`: what the store holds, in numbers.

use std::io::Write;

use anyhow::Result;

use crate::args::Global;
use crate::open;
use crate::output::{self, Fields};

const EXAMPLES: &str = "\
Examples:
  waypost stats
  waypost stats --json | jq .triggers";

/// Count what the store holds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let stats = open::existing(global, "stats")?.stats()?;
    if global.json {
        return Ok(output::json_line(out, &stats)?);
    }
    Ok(output::fields(out, &Fields::of_stats(&stats), global)?)
}
