//! `waypost complete`, `fail` and `archive`: how the work ended.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::{Deleted, Entry, Id, OnSuccess, Series, Status, Store, Timestamp, plan_completed};

use super::prune::come_back;
use crate::args::Global;
use crate::{open, policy};

pub(super) const COMPLETE_EXAMPLES: &str = "\
Examples:
  waypost complete --series loop:ralph-fix-tests-a1b2c3d4
  waypost complete --series issue:42 --policy claude
  waypost complete latest";
pub(super) const FAIL_EXAMPLES: &str = "\
Examples:
  waypost fail --series issue:42
  waypost fail 019a8b2c-d3e4";
pub(super) const ARCHIVE_EXAMPLES: &str = "\
Examples:
  waypost archive --series issue:42
  waypost archive 019a8b2c-d3e4";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ids, starts of ids, `latest`, or SERIES@N
    #[arg(value_name = "ID", required_unless_present = "series", conflicts_with = "series")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,

    /// All checkpoints of this series that have not ended yet; to archive, all of them
    #[arg(long)]
    series: Option<Series>,

    /// A preset (crunch, claude, aiwg, keep-all) or a config file that says what becomes of a
    /// completed series; by default that of the store, else that of the project's config
    #[arg(long, value_name = "PRESET|FILE", conflicts_with = "ids")]
    policy: Option<String>,
}

#[derive(Serialize)]
struct Outcome {
    status: Status,
    changed: Vec<Id>,
    removed: u64,
    stored_bytes: u64,
    policy: Option<String>,
    operation: Option<u64>,
}

pub(super) fn run(args: &Args, status: Status, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, status.as_str())?;
    // A wrong policy must not leave half of the work done.
    let chosen = policy::choose(args.policy.as_deref(), &store)?.map(|chosen| chosen.policy);
    let changed = match &args.series {
        Some(series) => store.mark_series(series, status)?,
        None => store.mark(&resolve(&store, &args.ids)?, status)?,
    };
    let mut deleted = Deleted::default();
    let policy = chosen.filter(|policy| policy.on_success != OnSuccess::Rules);
    let policy = policy.filter(|_| status == Status::Completed && args.series.is_some());
    if let Some(policy) = &policy {
        let entries = store.inventory(args.series.as_ref())?;
        let is_meant = |entry: &Entry| Some(&entry.series) == args.series.as_ref();
        let plan = plan_completed(&entries, policy, Timestamp::now()).only(is_meant);
        deleted = store.apply(&plan)?;
    }
    let policy = policy.map(|policy| policy.name);
    if global.json {
        let outcome = Outcome {
            status,
            changed: changed.into_iter().map(|entry| entry.id).collect(),
            removed: deleted.checkpoints,
            stored_bytes: deleted.stored_bytes,
            policy,
            operation: deleted.operation,
        };
        return Ok(crate::output::json_line(out, &outcome)?);
    }
    changed.iter().try_for_each(|entry| writeln!(out, "{}", entry.id))?;
    out.flush()?;
    global.note(format_args!("{status}: {} changed", changed.len()));
    if let Some(policy) = policy.filter(|_| deleted.checkpoints > 0) {
        let what = format_args!("removed {} by policy {policy}", deleted.checkpoints);
        global.note(format_args!("{what}: {}", come_back(&deleted)));
    }
    Ok(())
}

fn resolve(store: &Store, ids: &[String]) -> Result<Vec<Id>> {
    ids.iter().map(|id| Ok(store.resolve(id)?.id)).collect()
}
