//! `waypost complete`, `fail`, `archive` and `reopen`: how the work ended, or that it goes on.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::retention::{OnSuccess, Planned, plan_completed};
use waypost::{Entry, Id, Series, Status, Store, Timestamp};

use crate::args::Global;
use crate::output::come_back;
use crate::{name, open, output, policy};

pub(super) const COMPLETE_EXAMPLES: &str = "\
Examples:
  waypost complete --series loop:ralph-fix-tests-a1b2c3d4
  waypost complete --series issue:42 --policy claude
  waypost complete latest";
pub(super) const FAIL_EXAMPLES: &str = "\
Examples:
  waypost fail --series issue:42
  waypost fail 019a8b2c-d3e4";
pub(super) const REOPEN_EXAMPLES: &str = "\
Examples:
  waypost reopen --series issue:42
  waypost reopen latest";
pub(super) const ARCHIVE_EXAMPLES: &str = "\
Examples:
  waypost archive --series issue:42
  waypost archive 019a8b2c-d3e4";

/// The checkpoints or the series.
#[derive(Debug, clap::Args)]
#[group(id = "ended", required = true, multiple = false)]
pub(super) struct Args {
    /// Ids, starts of ids, `latest`, NAME@N, or a NAME (series, issue, loop) for its newest
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,

    /// The checkpoints of this series
    #[arg(long)]
    series: Option<Series>,
}

/// The checkpoints or the series, and the policy to apply.
#[derive(Debug, clap::Args)]
pub(super) struct CompleteArgs {
    #[command(flatten)]
    ended: Args,

    /// A preset (crunch, claude, aiwg, keep-all, last-N) or a config file that says what becomes of
    /// the series; by default that of the store, else that of the project's config
    #[arg(long, value_name = "PRESET|FILE", conflicts_with = "ids")]
    policy: Option<String>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    status: Status,
    /// Checkpoints whose status changed.
    ids: Vec<Id>,
    checkpoints: usize,
    removed: Vec<Planned<'a>>,
    stored_bytes: u64,
    policy: Option<String>,
    operation: Option<u64>,
}

pub(super) fn complete(args: &CompleteArgs, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "complete")?;
    let Some(series) = &args.ended.series else {
        return mark(&store, &args.ended, Status::Completed, global, out);
    };
    // A wrong policy must not leave half of the work done.
    let chosen = policy::choose(args.policy.as_deref(), &store)?.map(|chosen| chosen.policy);
    let changed = store.mark_series(series, Status::Completed)?;
    let Some(policy) = chosen.filter(|policy| policy.on_success != OnSuccess::Rules) else {
        return tell(&changed, Status::Completed, global, out);
    };
    let entries = store.inventory(Some(series))?;
    let plan = plan_completed(&entries, series, &policy, Timestamp::now());
    let deleted = store.apply(&plan)?;
    if global.json {
        let outcome = Outcome {
            status: Status::Completed,
            checkpoints: changed.len(),
            ids: changed.into_iter().map(|entry| entry.id).collect(),
            removed: plan.removed().collect(),
            stored_bytes: deleted.stored_bytes,
            policy: Some(policy.name),
            operation: deleted.operation,
        };
        return Ok(output::json_line(out, &outcome)?);
    }
    tell(&changed, Status::Completed, global, out)?;
    if deleted.checkpoints > 0 {
        let what = format_args!("removed {} by policy {}", deleted.checkpoints, policy.name);
        global.note(format_args!("{what}: {}", come_back(&deleted)));
    }
    Ok(())
}

pub(super) fn fail(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    mark(&open::existing(global, "fail")?, args, Status::Failed, global, out)
}

pub(super) fn archive(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    mark(&open::existing(global, "archive")?, args, Status::Archived, global, out)
}

pub(super) fn reopen(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    mark(&open::existing(global, "reopen")?, args, Status::InProgress, global, out)
}

fn mark(
    store: &Store,
    args: &Args,
    status: Status,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let changed = match &args.series {
        Some(series) => store.mark_series(series, status)?,
        None => store.mark(&name::all(store, &args.ids)?, status)?,
    };
    tell(&changed, status, global, out)
}

fn tell(changed: &[Entry], status: Status, global: &Global, out: &mut dyn Write) -> Result<()> {
    if global.json {
        let outcome = Outcome {
            status,
            checkpoints: changed.len(),
            ids: changed.iter().map(|entry| entry.id.clone()).collect(),
            removed: Vec::new(),
            stored_bytes: 0,
            policy: None,
            operation: None,
        };
        return Ok(output::json_line(out, &outcome)?);
    }
    changed.iter().try_for_each(|entry| writeln!(out, "{}", entry.id))?;
    out.flush()?;
    global.note(match changed.len() {
        0 => format!("{status}: nothing to change, all had ended or had that status already"),
        count => format!("{status}: {count} changed"),
    });
    Ok(())
}
