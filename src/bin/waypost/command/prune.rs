//! `waypost prune`: removes what a policy does not keep, and says why.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use waypost::{Deleted, Entry, Id, Plan, Planned, Series, Timestamp, Trigger, plan};

use crate::args::Global;
use crate::confirm::confirm;
use crate::filter::Filter;
use crate::output::{self, Column};
use crate::{open, policy};

const EXAMPLES: &str = "\
Examples:
  waypost prune --policy crunch --dry-run
  waypost prune --policy .waypost/config.yaml
  waypost prune --series loop:ralph-fix-tests-a1b2c3d4 --policy aiwg --yes
  waypost prune --dry-run --kept --json | jq '.kept[] | .reason'";

/// Remove what a policy does not keep
///
/// The policy is the one you name, else that of the store (`waypost policy set`), else that of the
/// project's config. Whatever it says, tagged checkpoints, the newest of each series, the newest
/// that can be resumed and fork points stay. What goes can be restored with `waypost undelete`
/// until the store is compacted, or for a week.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
pub(super) struct Args {
    /// A preset (crunch, claude, aiwg, keep-all) or a config file
    #[arg(long, value_name = "PRESET|FILE")]
    policy: Option<String>,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Show what is kept, too
    #[arg(long)]
    kept: bool,

    /// Remove for good, with no way back
    #[arg(long)]
    now: bool,

    /// Do not ask before more than half of the store is removed
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    filter: Filter,
}

/// What was done, or would be, for a program.
#[derive(Serialize)]
struct Outcome<'a> {
    policy: &'a str,
    source: &'a str,
    dry_run: bool,
    /// How many there were.
    checkpoints: u64,
    removed: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<Row<'a>>>,
    stored_bytes: u64,
    operation: Option<u64>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a Id,
    series: &'a Series,
    trigger: &'a Trigger,
    phase: Option<&'a str>,
    created_at: Timestamp,
    stored_bytes: u64,
    reason: String,
}

impl<'a> From<Planned<'a>> for Row<'a> {
    fn from(Planned { entry, verdict }: Planned<'a>) -> Self {
        Self {
            id: &entry.id,
            series: &entry.series,
            trigger: &entry.trigger,
            phase: entry.phase.as_deref(),
            created_at: entry.created_at,
            stored_bytes: entry.stored_bytes,
            reason: verdict.to_string(),
        }
    }
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "prune")?;
    let chosen = policy::required(args.policy.as_deref(), &store)?;
    let now = Timestamp::now();
    let query = args.filter.query(now);
    let checkpoints = store.count()?;
    let entries = store.inventory(query.series.as_ref())?;
    let plan = plan(&entries, &chosen.policy, now).only(|entry| query.admits(entry));
    let count = plan.removed().count() as u64;
    if !args.dry_run && !args.yes && count * 2 > checkpoints {
        confirm(&format!("Remove {count} of {checkpoints} checkpoints, more than half"))?;
    }
    let deleted = match (args.dry_run, args.now) {
        (true, _) => Deleted::default(),
        (false, true) => store.apply_now(&plan)?,
        (false, false) => store.apply(&plan)?,
    };
    let stored_bytes: u64 = plan.removed().map(|planned| planned.entry.stored_bytes).sum();
    if global.json {
        let outcome = Outcome {
            policy: &chosen.policy.name,
            source: &chosen.source,
            dry_run: args.dry_run,
            checkpoints,
            removed: plan.removed().map(Row::from).collect(),
            kept: args.kept.then(|| kept(&plan).map(Row::from).collect()),
            stored_bytes: if args.dry_run { stored_bytes } else { deleted.stored_bytes },
            operation: deleted.operation,
        };
        return Ok(output::json_line(out, &outcome)?);
    }
    write_table(out, &plan, args.kept, now)?;
    out.flush()?;
    let name = &chosen.policy.name;
    global.note(match (count, args.dry_run) {
        (0, _) => format!("nothing to prune: policy {name} keeps all {checkpoints}"),
        (_, true) => {
            let size = output::size(stored_bytes);
            format!("would prune {count} of {checkpoints} by policy {name}: {size} stored")
        }
        (_, false) => {
            let what = format!("pruned {} of {checkpoints} by policy {name}", deleted.checkpoints);
            format!("{what}: {}", come_back(&deleted))
        }
    });
    Ok(())
}

/// What comes back of what was deleted, in words.
pub(super) fn come_back(deleted: &Deleted) -> String {
    let size = output::size(deleted.stored_bytes);
    match deleted.operation.filter(|_| deleted.is_restorable) {
        Some(number) => format!(
            "`waypost undelete --operation {number}` restores, `waypost compact` gives back {size}"
        ),
        None => format!("{size} less stored"),
    }
}

fn kept<'a>(plan: &Plan<'a>) -> impl Iterator<Item = Planned<'a>> {
    plan.iter().filter(|planned| !planned.verdict.removes())
}

fn write_table(out: &mut dyn Write, plan: &Plan<'_>, has_kept: bool, now: Timestamp) -> Result<()> {
    let is_shown = |planned: &Planned<'_>| has_kept || planned.verdict.removes();
    let mut rows: Vec<Planned<'_>> = plan.iter().filter(is_shown).collect();
    if rows.is_empty() {
        return Ok(());
    }
    rows.sort_by(|one, other| {
        let place = |entry: &Entry| (entry.created_at, entry.sequence);
        one.entry.series.cmp(&other.entry.series).then(place(other.entry).cmp(&place(one.entry)))
    });
    let entries: Vec<&Entry> = rows.iter().map(|row| row.entry).collect();
    let mut columns = output::of_entries(&entries, now);
    if has_kept {
        let verdict = |row: &Planned<'_>| if row.verdict.removes() { "remove" } else { "keep" };
        columns.push(Column::text("VERDICT", &rows, |row| Some(verdict(row).to_owned())));
    }
    columns.push(Column::text("REASON", &rows, |row| Some(row.verdict.to_string())));
    Ok(output::table(out, columns)?)
}
