//! `waypost stats`: what the store holds, in numbers.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use waypost::error::Damage;
use waypost::{Error, Stats};

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

/// What is found, and where.
#[derive(Serialize)]
struct Shown<'a> {
    path: Cow<'a, str>,
    #[serde(flatten)]
    stats: Stats,
}

pub(super) fn run(_: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "stats")?;
    let (path, stats) = (store.path(), store.stats()?);
    let damaged = stats.damaged;
    if global.json {
        output::json_line(out, &Shown { path: path.to_string_lossy(), stats })?;
    } else {
        output::fields(out, &Fields::of_stats(&stats, path), global)?;
    }
    if damaged == 0 {
        return Ok(());
    }
    out.flush()?;
    let (place, reason) = (path.display().to_string(), format!("{damaged} entries not counted"));
    Err(Error::Corrupt { place, reason, damage: Damage::Part }.into())
}
