//! `waypost series`: every series, and whether `resume` would go on with it.

use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Result;
use waypost::recovery::SeriesState;
use waypost::{Query, Timestamp};

use crate::args::{self, Global};
use crate::filter::{Filter, nothing};
use crate::output;
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

    /// List at most N
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
        output::table(out, &output::of_states(&store, &states, now)?, global)?;
    }
    out.flush()?;
    if has_more && global.json {
        global.note_fact(&output::More::THERE_IS);
    } else if has_more {
        global.note(format_args!("there are more than {limit}; --all lists the rest"));
    }
    damaged(&states)
}

/// Fails if damage left no readable entry of a series, once everything is listed.
fn damaged(states: &[SeriesState]) -> Result<()> {
    let count = states.iter().map(|it| it.damage.len() as u64).sum();
    if count == 0 {
        return Ok(());
    }
    Err(exit::Refusal::Damaged { count, total: count }.into())
}
