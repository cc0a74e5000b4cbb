//! `waypost series`: every series, and whether `resume` would go on with it.

use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Result;
use waypost::recovery::{Outlook, SeriesState};
use waypost::{Entry, Query, Store, Timestamp};

use crate::args::{self, Global};
use crate::filter::{Filter, nothing};
use crate::output::{self, Column, palette};
use crate::{exit, open};

const EXAMPLES: &str = "\
Examples:
  waypost series
  waypost status --since 2d --status in_progress
  waypost series --all --json | jq -r 'select(.decision == \"resume\").series'";

/// List every series, the last active first
///
/// Shows the newest checkpoint of each series, and whether `waypost resume SERIES` would go on
/// with it: `resume`, `prompt_user`, `ended` or `refused`, as far as the store alone can tell.
/// Branches, files and issues are compared with what they are now only by `resume` itself, which
/// may refuse for their sake. Filters are about the newest checkpoint of a series.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "status", after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: Filter,

    /// List at most so many
    #[arg(long, short = 'n', help_heading = None, value_name = "N", default_value = "20")]
    #[arg(value_parser = args::whole::<NonZeroUsize>(1..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    limit: NonZeroUsize,

    /// List everything
    #[arg(long, help_heading = None, conflicts_with = "limit")]
    all: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "series")?;
    let now = Timestamp::now();
    let limit = if args.all { usize::MAX } else { args.limit.get() };
    let query = Query { limit: limit.checked_add(1), ..args.filter.query(now) };
    let mut states = store.overview(&query, now)?;
    if states.is_empty() {
        return Err(nothing(&query).into());
    }
    let has_more = states.len() > limit;
    states.truncate(limit);
    if global.json {
        states.iter().try_for_each(|state| output::json_line(out, state))?;
    } else {
        output::table(out, &columns(&store, &states, now)?, global)?;
    }
    out.flush()?;
    if has_more && global.json {
        global.note_fact(&output::More::THERE_IS);
    } else if has_more {
        global.note(format_args!("there are more than {limit}; --all lists the rest"));
    }
    damaged(&states)
}

/// A line for each series, to choose from.
pub(super) fn lines(store: &Store, states: &[SeriesState], now: Timestamp) -> Result<Vec<String>> {
    let columns = columns(store, states, now)?;
    let shown = output::fitted(&columns, usize::MAX);
    let line = |row: usize| {
        let cells = shown.iter().map(|it| columns[it.column].cell(row, it.width).1);
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    Ok((0..states.len()).map(line).collect())
}

fn columns(store: &Store, states: &[SeriesState], now: Timestamp) -> Result<Vec<Column>> {
    let id_length = output::id_length(store, states.iter().filter_map(|it| it.newest.as_ref()))?;
    let of_newest = |cell: fn(&Entry) -> Option<String>| {
        move |state: &SeriesState| state.newest.as_ref().and_then(cell)
    };
    let id = |state: &SeriesState| {
        state.newest.as_ref().map(|newest| output::short_id(&newest.id, id_length))
    };
    let age = |state: &SeriesState| {
        let newest = state.newest.as_ref()?;
        Some(output::age_of(newest.created_at, now))
    };
    let iteration = of_newest(|newest| newest.iteration.map(|number| number.to_string()));
    let state_of_work = of_newest(|newest| Some(newest.status.to_string()));
    let size = of_newest(|newest| Some(output::size(newest.document_bytes)));
    Ok(vec![
        Column::text("SERIES", states, |it| Some(it.series.to_string())).names(),
        Column::id(states, id).worth(3),
        Column::number("AGE", states, age),
        Column::text("PHASE", states, of_newest(|newest| newest.phase.clone())).worth(0),
        Column::number("ITER", states, iteration).worth(4),
        Column::text("STATUS", states, state_of_work).whole().worth(5).tinted(palette::status),
        Column::number("SCORE", states, |it| it.score.map(output::rounded)).worth(2),
        Column::number("SIZE", states, size).worth(1),
        Column::text("RESUME", states, |it| Some(resume(it))).worth(6),
    ])
}

/// What `resume` would do, and why if that is not to go on from the newest.
fn resume(state: &SeriesState) -> String {
    let newest = state.newest.as_ref().map(|newest| &newest.id);
    let word = match (state.decision, &state.from) {
        (Outlook::Resume, Some(from)) if newest != Some(from) => format!("from {from}"),
        (decision, _) => decision.as_str().to_owned(),
    };
    let damage = state.damage.first().map(|_| "is damaged".to_owned());
    let why = state.why.iter().cloned().chain(damage).collect::<Vec<_>>().join("; ");
    match state.decision {
        Outlook::Resume | Outlook::Refused if !why.is_empty() => format!("{word}: newest {why}"),
        Outlook::PromptUser => format!("{word}: {why}"),
        Outlook::Resume | Outlook::Refused | Outlook::Ended => word,
    }
}

/// What leaves no entry is told by the exit code, too, once everything is listed.
fn damaged(states: &[SeriesState]) -> Result<()> {
    let count = states.iter().map(|it| it.damage.len() as u64).sum();
    if count == 0 {
        return Ok(());
    }
    Err(exit::Refusal::Damaged { count, total: count }.into())
}
