//! `waypost compact`: gives free space back to the file system.

use std::io::Write;

use anyhow::Result;

use crate::args::Global;
use crate::interrupt;
use crate::open;
use crate::output::{self, Fields};
use crate::progress::{Progress, Watcher};

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
    let store = open::existing(global, "compact")?;
    interrupt::listen()?;
    let mut watcher = Watcher::new(Progress::new("compacting", global));
    let compacted = store.compact_with(&mut |step| watcher.step(step))?;
    let stopped = watcher.stopped();
    if global.json {
        output::json_line(out, &compacted)?;
    } else {
        output::fields(out, &Fields::of_compacted(compacted), global)?;
    }
    out.flush()?;
    stopped.map_or(Ok(()), |(signal, step)| {
        Err(signal.error(format!("before {}; run it again to go on", step.stage)))
    })
}
