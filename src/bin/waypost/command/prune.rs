//! `waypost prune`: removes what a policy does not keep, and says why.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use waypost::care::Step;
use waypost::keep::Deleted;
use waypost::project::ChosenPolicy;
use waypost::retention::{Excess, Planned};
use waypost::{Entry, Plan, Query, Store, Timestamp, plan};

use crate::args::Global;
use crate::confirm::{confirm, is_asked};
use crate::filter::{Filter, nothing};
use crate::interrupt::{self, Signal};
use crate::output::{self, Column, come_back, grouped};
use crate::progress::{Progress, Watcher};
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
/// until the store is compacted, or for a week unless the store is set otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
pub(super) struct Args {
    /// A preset (crunch, claude, aiwg, keep-all, last-N) or a config file; by default that of the
    /// store, else that of the project's config
    #[arg(long, value_name = "PRESET|FILE")]
    policy: Option<String>,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Show what is kept, too
    #[arg(long)]
    kept: bool,

    /// Remove for good, with no way back
    #[arg(long)]
    now: bool,

    /// Do not ask before more than half of the store is removed
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    filter: Filter,
}

// More would hide the result.
const EXCESSES_SHOWN: usize = 3;

/// The result, or that of a dry run, for a program.
#[derive(Serialize)]
struct Outcome<'a> {
    policy: &'a str,
    source: String,
    dry_run: bool,
    /// Number of checkpoints that the filters admit.
    total: u64,
    removed: Vec<Planned<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<Planned<'a>>>,
    stored_bytes: u64,
    operation: Option<u64>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "prune")?;
    let chosen = policy::required(args.policy.as_deref(), &store)?;
    let now = Timestamp::now();
    let query = args.filter.query(now);
    let checkpoints = store.count()?;
    let progress = Progress::new("reading", global);
    // The size limits of an issue or the store need all its checkpoints.
    let series = query.series.as_ref().filter(|_| !chosen.policy.has_size_limit());
    let entries = store.inventory(series)?;
    let matching = entries.iter().filter(|entry| query.admits(entry)).count() as u64;
    if matching == 0 && checkpoints > 0 {
        return Err(nothing(&query).into());
    }
    progress.stage("planning", None);
    let plan = plan(&entries, &chosen.policy, now).only(|entry| query.admits(entry));
    let count = plan.removed().count() as u64;
    drop(progress);
    let mut shown = Shown {
        store: &store,
        chosen: &chosen,
        plan: &plan,
        query: &query,
        checkpoints,
        matching,
        removed: usize::MAX,
        has_kept: args.kept,
        now,
    };
    let asks = !args.dry_run && !args.yes && count * 2 > checkpoints;
    if asks {
        if is_asked() && !global.json {
            shown.write(out, global)?;
            out.flush()?;
        }
        let way = if args.now { "for good" } else { "restorably" };
        let name = &chosen.policy.name;
        confirm(&format!("Remove {count} of {checkpoints} checkpoints by policy {name}, {way}"))?;
    }
    let (deleted, stopped) =
        if args.dry_run { Default::default() } else { apply(&store, &plan, args.now, global)? };
    if let Some((_, step)) = stopped {
        shown.removed = usize::try_from(step.done)?;
    }
    let deleted = Some(deleted).filter(|_| !args.dry_run);
    if global.json {
        output::json_line(out, &shown.outcome(deleted.as_ref()))?;
    } else if !asks {
        shown.write(out, global)?;
    }
    out.flush()?;
    if let Some(stopped) = stopped {
        return Err(stopped_at(stopped, &deleted.unwrap_or_default()));
    }
    if !global.json {
        global.note(shown.words(deleted.as_ref()));
        plan.excesses().iter().take(EXCESSES_SHOWN).for_each(|excess| global.note(warning(excess)));
    }
    Ok(())
}

/// Applies a plan. After an interrupt, returns the signal and the step before which it stopped.
fn apply(
    store: &Store,
    plan: &Plan<'_>,
    is_final: bool,
    global: &Global,
) -> Result<(Deleted, Option<(Signal, Step)>)> {
    interrupt::listen()?;
    let mut watcher = Watcher::new(Progress::new("pruning", global));
    let watch = &mut |step| watcher.step(step);
    let deleted = if is_final {
        store.apply_now_with(plan, watch)?
    } else {
        store.apply_with(plan, watch)?
    };
    Ok((deleted, watcher.stopped()))
}

fn stopped_at((signal, step): (Signal, Step), deleted: &Deleted) -> anyhow::Error {
    let (done, total) = (grouped(deleted.checkpoints), grouped(step.total.unwrap_or_default()));
    let back = match deleted.checkpoints {
        0 => String::new(),
        _ => format!(" ({})", come_back(deleted)),
    };
    signal.error(format!("{done} of {total} pruned{back}; run it again to go on"))
}

/// A plan, and the part of it that is shown.
struct Shown<'a> {
    store: &'a Store,
    chosen: &'a ChosenPolicy,
    plan: &'a Plan<'a>,
    query: &'a Query,
    /// Number of checkpoints in the store.
    checkpoints: u64,
    /// Number of checkpoints that the filters admit.
    matching: u64,
    /// Number of removed checkpoints that are shown.
    removed: usize,
    has_kept: bool,
    now: Timestamp,
}

impl Shown<'_> {
    fn removed(&self) -> impl Iterator<Item = Planned<'_>> {
        self.plan.removed().take(self.removed)
    }

    /// The kept checkpoints among those that the filters admit.
    fn kept(&self) -> impl Iterator<Item = Planned<'_>> {
        let is_asked_for = |planned: &Planned<'_>| self.query.admits(planned.entry);
        self.plan.iter().filter(|it| !it.verdict.removes()).filter(is_asked_for)
    }

    fn stored_bytes(&self) -> u64 {
        self.plan.removed().map(|planned| planned.entry.stored_bytes).sum()
    }

    /// The outcome for programs; `None` for a dry run.
    fn outcome(&self, deleted: Option<&Deleted>) -> Outcome<'_> {
        Outcome {
            policy: &self.chosen.policy.name,
            source: self.chosen.source.to_string(),
            dry_run: deleted.is_none(),
            total: self.matching,
            removed: self.removed().collect(),
            kept: self.has_kept.then(|| self.kept().collect()),
            stored_bytes: deleted.map_or_else(|| self.stored_bytes(), |it| it.stored_bytes),
            operation: deleted.and_then(|it| it.operation),
        }
    }

    /// The last line for people; `None` for a dry run.
    fn words(&self, deleted: Option<&Deleted>) -> String {
        let (name, matching) = (&self.chosen.policy.name, self.matching);
        let planned = self.plan.removed().count();
        match deleted {
            _ if planned == 0 => {
                let which = if self.checkpoints == matching { "" } else { " that match" };
                format!("nothing to prune: policy {name} keeps all {matching}{which}")
            }
            None => {
                let size = output::size(self.stored_bytes());
                format!("would prune {planned} of {matching} by policy {name}: {size} stored")
            }
            Some(deleted) => {
                let pruned = deleted.checkpoints;
                let back = come_back(deleted);
                format!("pruned {pruned} of {matching} by policy {name}: {back}")
            }
        }
    }

    fn write(&self, out: &mut dyn Write, global: &Global) -> Result<()> {
        let mut rows: Vec<Planned<'_>> = self.removed().collect();
        if self.has_kept {
            rows.extend(self.kept());
        }
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_by(|one, other| {
            let by_series = one.entry.series.cmp(&other.entry.series);
            by_series.then_with(|| other.entry.order().cmp(&one.entry.order()))
        });
        let entries: Vec<&Entry> = rows.iter().map(|row| row.entry).collect();
        let id_length = output::id_length(self.store, entries.iter().copied())?;
        let mut columns = output::of_entries(&entries, id_length, self.now);
        if self.has_kept {
            let verdict = |row: &Planned<'_>| if row.verdict.removes() { "remove" } else { "keep" };
            columns
                .push(Column::text("VERDICT", &rows, |row| Some(verdict(row).to_owned())).whole());
        }
        columns.push(Column::text("REASON", &rows, |row| Some(row.verdict.to_string())));
        Ok(output::table(out, &columns, global)?)
    }
}

fn warning(excess: &Excess) -> String {
    let Excess { issue, bytes, bytes_max, .. } = excess;
    let what = issue.as_ref().map_or("the store".to_owned(), |issue| format!("issue {issue}"));
    let (bytes, max) = (output::size(*bytes), output::size(*bytes_max));
    format!("warning: {what} takes {bytes} of {max}; the rules keep what is left")
}
