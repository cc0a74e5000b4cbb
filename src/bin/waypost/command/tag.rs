//! `waypost tag`: tags of one checkpoint.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;

use crate::args::Global;
use crate::{name, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost tag latest before-refactoring
  waypost tag 019a8b2c-d3e4 --remove before-refactoring
  waypost tag latest";

/// Add, remove and list the tags of a checkpoint
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// An id, the start of one, `latest`, NAME@N, or a NAME (series, issue, loop) for its newest
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// Tags to add
    #[arg(value_name = "TAG", value_parser = NonEmptyStringValueParser::new())]
    add: Vec<String>,

    /// A tag to remove (repeatable)
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "tag")?;
    let mut entry = name::one(&store, &args.id)?;
    if !args.add.is_empty() {
        entry = store.tag(&entry.id, &args.add)?;
    }
    if !args.remove.is_empty() {
        entry = store.untag(&entry.id, &args.remove)?;
    }
    if global.json {
        return Ok(output::json_line(out, &entry)?);
    }
    Ok(entry.tags.iter().try_for_each(|tag| writeln!(out, "{tag}"))?)
}
