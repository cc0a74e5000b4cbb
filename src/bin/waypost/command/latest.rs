//! `waypost latest`: the newest checkpoint that matches the filters.

use std::io::Write;

use anyhow::Result;
use waypost::Timestamp;

use crate::args::Global;
use crate::filter::{Filter, nothing};
use crate::{name, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost latest 42
  waypost latest --loop-id ralph-fix-tests-a1b2c3d4 --trigger iteration --document";

/// Show the newest checkpoint that matches
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A series, an issue (42 or #42) or a loop; of an id, its series
    #[arg(conflicts_with_all = ["series", "issue", "loop_id"])]
    target: Option<String>,

    #[command(flatten)]
    filter: Filter,

    /// Print the document only
    #[arg(long, help_heading = None)]
    document: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "latest")?;
    let query = args.filter.query(Timestamp::now());
    let query = name::scope(&store, args.target.as_deref(), query)?.into_query();
    let checkpoint = store.latest(&query)?.ok_or_else(|| nothing(&query))?;
    if args.document {
        return output::document(out, &checkpoint, global);
    }
    let artifacts = output::artifacts(&store, &checkpoint.entry)?;
    output::checkpoint(out, &checkpoint, &artifacts, global)
}
