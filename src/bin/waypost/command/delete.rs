//! `waypost delete`: checkpoints by their names, all or none.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::keep::Deleted;
use waypost::{Entry, Error, Id, Series, Store};

use crate::args::Global;
use crate::output::come_back;
use crate::progress::Progress;
use crate::{name, open, output};

const EXAMPLES: &str = "\
Examples:
  waypost delete 019a8b2c-d3e4
  waypost list --tag scratch --all --json | jq -r .id | xargs -r waypost delete";

/// Delete checkpoints
///
/// All of them, or none if one does not exist. They can be restored with `waypost undelete` until
/// the store is compacted, or for a week unless the store is set otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Ids, starts of ids, `latest`, or NAME@N (series, issue, loop)
    #[arg(required = true, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,

    /// Delete for good, with no way back
    #[arg(long)]
    now: bool,
}

#[derive(Serialize)]
struct Outcome {
    ids: Vec<Id>,
    #[serde(flatten)]
    deleted: Deleted,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "delete")?;
    let progress = Progress::new("looking", global).of(Some(args.ids.len() as u64));
    let mut entries = Vec::with_capacity(args.ids.len());
    for name in &args.ids {
        entries.push(name::exactly(&store, name)?);
        progress.show(entries.len() as u64);
    }
    let forks = forks(&store, &entries)?;
    let mut ids: Vec<Id> = entries.into_iter().map(|entry| entry.id).collect();
    // One checkpoint may have been named twice.
    ids.sort();
    ids.dedup();
    // All or none, in one transaction: nothing to count, and an interrupt leaves all of them.
    progress.stage("deleting", None);
    let deleted = if args.now { store.delete_now(&ids)? } else { store.delete(&ids)? };
    drop(progress);
    if global.json {
        return Ok(output::json_line(out, &Outcome { ids, deleted })?);
    }
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    out.flush()?;
    global.note(format_args!("deleted {}: {}", deleted.checkpoints, come_back(&deleted)));
    for (id, series) in forks.into_iter().filter(|_| !global.quiet) {
        global.warn(format_args!("{series} was forked from {id}"));
    }
    Ok(())
}

/// Series that were forked from the checkpoints to delete and are not deleted with them.
fn forks(store: &Store, entries: &[Entry]) -> Result<Vec<(Id, Series)>> {
    let forks = match store.forks(entries) {
        // Damage is ignored: only a warning depends on the result.
        Err(Error::Corrupt { .. }) => Vec::new(),
        forks => forks?,
    };
    let stays = |fork: &Entry| !entries.iter().any(|entry| entry.id == fork.id);
    let fork = |fork: Entry| fork.parent.map(|parent| (parent, fork.series));
    Ok(forks.into_iter().filter(stays).filter_map(fork).collect())
}
