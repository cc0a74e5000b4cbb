//! `waypost delete`: checkpoints by their names, all or none.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::{Deleted, Error, Id, Order, Query, Series, Store};

use super::prune::come_back;
use crate::args::Global;
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
    let mut ids = name::exactly(&store, &args.ids)?;
    // One checkpoint may have been named twice.
    ids.sort();
    ids.dedup();
    let forks = forks(&store, &ids)?;
    let deleted = if args.now { store.delete_now(&ids)? } else { store.delete(&ids)? };
    if global.json {
        return Ok(output::json_line(out, &Outcome { ids, deleted })?);
    }
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    out.flush()?;
    global.note(format_args!("deleted {}: {}", deleted.checkpoints, come_back(&deleted)));
    for (id, series) in forks {
        global.note(format_args!("warning: {series} was forked from {id}"));
    }
    Ok(())
}

/// Series that go on from what is deleted, and are not part of it.
fn forks(store: &Store, ids: &[Id]) -> Result<Vec<(Id, Series)>> {
    let mut forks = Vec::new();
    for series in store.series()? {
        let first = Query {
            series: Some(series.clone()),
            order: Order::Oldest,
            limit: Some(1),
            ..Query::default()
        };
        let first = match store.list(&first) {
            // Only a warning depends on it.
            Err(Error::Corrupt { .. }) => None,
            page => page?.entries.pop(),
        };
        let Some(first) = first.filter(|first| !ids.contains(&first.id)) else { continue };
        let parent = first.parent.filter(|parent| ids.contains(parent));
        forks.extend(parent.map(|parent| (parent, series)));
    }
    Ok(forks)
}
