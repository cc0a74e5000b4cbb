//! `waypost fork` and `waypost rollback`: go on from an earlier checkpoint.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::{Entry, NewEntry, Query, Series, Store, Trigger};

use crate::about::About;
use crate::args::Global;
use crate::exit::Refusal;
use crate::{name, open, output};

const FORK_EXAMPLES: &str = "\
Examples:
  waypost fork issue:42@3 --series issue:42/other-way
  waypost fork 019a8b2c-d3e4 --loop-id ralph-second-try-a1b2c3d4
  waypost fork latest --series nightly --append --tag retry";
const ROLLBACK_EXAMPLES: &str = "\
Examples:
  waypost rollback issue:42@3
  waypost rollback 019a8b2c-d3e4";

/// Go on from a checkpoint in a new series
///
/// Prints the id of the copy that the series starts with. The copy has the same document, to the
/// byte, and the checkpoint as its parent, which no policy removes as long as the copy is there.
/// What is not said about it is as with the checkpoint, but for its tags, its session and the file
/// that it came from; its trigger is `manual`.
#[derive(Debug, clap::Args)]
#[command(after_help = FORK_EXAMPLES)]
pub(super) struct ForkArgs {
    /// An id, the start of one, `latest`, a NAME (series, issue, loop) for its newest, or NAME@N
    /// for the Nth newest, from 0
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    checkpoint: String,

    /// Add it to a series that has checkpoints already
    #[arg(long)]
    append: bool,

    #[command(flatten)]
    about: About,
}

/// Make an earlier checkpoint the newest of its series again
///
/// Prints the id of the copy that is the newest then. Nothing is removed: what came after it stays
/// in the history, and what goes on with the newest of the series goes on from the copy.
#[derive(Debug, clap::Args)]
#[command(after_help = ROLLBACK_EXAMPLES)]
pub(super) struct RollbackArgs {
    /// An id, the start of one, or NAME@N for the Nth newest of a series, issue or loop, from 0
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(super) fn fork(args: &ForkArgs, global: &Global, out: &mut dyn Write) -> Result<()> {
    let about = args.about.with_default(Trigger::Manual);
    if about.parent.is_some() {
        let reason = "--parent is the checkpoint that is forked, and cannot be another one";
        return Err(Refusal::Usage(reason.to_owned()).into());
    }
    let store = open::existing(global, "fork")?;
    let checkpoint = name::one(&store, &args.checkpoint)?;
    let series = named_series(&about).ok_or(Refusal::NoSeries)?;
    if !args.append && newest(&store, &series)?.is_some() {
        return Err(Refusal::SeriesExists { series }.into());
    }
    let entry = store.fork(&checkpoint.id, about)?;
    store.close()?;
    answer(out, &entry, global)
}

pub(super) fn rollback(args: &RollbackArgs, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "rollback")?;
    let checkpoint = name::one(&store, &args.id)?;
    let newer = store.newer(&checkpoint)?;
    if newer == 0 {
        return Err(Refusal::Newest { id: checkpoint.id, series: checkpoint.series }.into());
    }
    let about = NewEntry { trigger: Trigger::Manual, ..NewEntry::default() };
    let entry = store.fork(&checkpoint.id, about)?;
    store.close()?;
    answer(out, &entry, global)?;
    if !global.json {
        out.flush()?;
        let series = output::plain(entry.series.as_str());
        global.note(match newer {
            1 => format!("1 newer checkpoint of {series} stays in the history"),
            _ => format!(
                "{} newer checkpoints of {series} stay in the history",
                output::grouped(newer)
            ),
        });
    }
    Ok(())
}

/// The series that the flags name, if any.
fn named_series(about: &NewEntry) -> Option<Series> {
    let names = [
        about.series.is_some(),
        about.loop_id.is_some(),
        about.workflow_id.is_some(),
        about.issue.is_some(),
    ];
    names.contains(&true).then(|| Series::of(about))
}

fn newest(store: &Store, series: &Series) -> Result<Option<Entry>> {
    let query = Query { series: Some(series.clone()), limit: Some(1), ..Query::default() };
    Ok(store.list(&query)?.entries.pop())
}

fn answer(out: &mut dyn Write, entry: &Entry, global: &Global) -> Result<()> {
    if global.json {
        return Ok(output::json_line(out, entry)?);
    }
    Ok(writeln!(out, "{}", entry.id)?)
}
