//! `waypost log`: what happened, as a time line, through one value, or to the store.

mod graph;
mod operations;
mod page;
mod sparkline;
mod values;

use std::collections::BTreeSet;
use std::env;
use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::diff::Pointer;
use waypost::history::{Row, Timeline};
use waypost::{Entry, Id, Store, Timestamp};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::filter::{Filter, nothing};
use crate::progress::Progress;
use crate::{name, open, output};
use graph::Signs;
use page::Page;

const EXAMPLES: &str = "\
Examples:
  waypost log issue:42
  waypost log 42 --since 2h --limit 50
  waypost log --trigger manual --json | jq -r .changed[]
  waypost log issue:42 --path /state/last_score
  waypost log --operations";

// One screen of checkpoints or values.
const LIMIT: usize = 20;
const PATH_LIMIT: usize = 1000;

/// Show checkpoints as a time line, with what changed in each
///
/// The newest is first. Every series is a line, and a fork a line that leads to where it was forked
/// from; `~` stands where more of a line is not shown. Each checkpoint is compared with the one
/// before it in the series, in a few words: `+2 -1 ~3 in /queue` are elements that were added,
/// removed and moved.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A series, an issue (42 or #42), a loop, or a checkpoint (an id, the start of one, NAME@N),
    /// for its series up to it; everything if not said
    #[arg(conflicts_with_all = ["series", "issue", "loop_id"])]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,

    /// Follow the value at this JSON pointer, such as /state/score, through time
    #[arg(long, value_name = "POINTER")]
    path: Option<Pointer>,

    /// Look at the newest N; 20 by default, with --path 1000
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(value_parser = args::whole::<NonZeroUsize>(1..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    limit: Option<NonZeroUsize>,

    /// Look at everything
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    /// Draw lines with ASCII characters only, as where the locale is not UTF-8
    #[arg(long)]
    ascii: bool,

    /// Show instead what was done to the store beside saving: what was pruned, deleted, restored,
    /// ended or set, when, and by which policy
    #[arg(long, conflicts_with_all = [
        "target", "path", "ascii", "issue", "loop_id", "series", "triggers", "status", "phase",
        "tag", "since", "until", "iteration",
    ])]
    operations: bool,

    #[command(flatten)]
    filter: Filter,
}

impl Args {
    /// True if the graph uses ASCII only.
    fn draws_ascii(&self) -> bool {
        self.ascii || !has_utf8()
    }

    fn limit(&self) -> usize {
        let default = match (self.all, &self.path) {
            (true, _) => usize::MAX,
            (false, Some(_)) => PATH_LIMIT,
            (false, None) => LIMIT,
        };
        self.limit.map_or(default, NonZeroUsize::get)
    }
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "log")?;
    if args.operations {
        return operations::run(&store, args.limit(), global, out);
    }
    let now = Timestamp::now();
    let scope = name::scope(&store, args.target.as_deref(), args.filter.query(now))?;
    let (entries, has_more) = scope.newest(&store, args.limit())?;
    if entries.is_empty() {
        return Err(nothing(scope.query()).into());
    }
    let told = match &args.path {
        Some(pointer) => values::run(&store, &entries, pointer, args.draws_ascii(), global, out),
        None => time_line(&store, entries, args.draws_ascii(), global, out),
    };
    if has_more {
        out.flush()?;
        note_more(args.limit(), global);
    }
    told
}

fn note_more(limit: usize, global: &Global) {
    if global.json {
        return global.note_fact(&output::More::THERE_IS);
    }
    let count = output::grouped(limit as u64);
    global.note(format_args!("these are the newest {count}; --limit or --all shows more"));
}

fn time_line(
    store: &Store,
    entries: Vec<Entry>,
    is_ascii: bool,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let mut timeline = Timeline::new(store, entries);
    if global.json {
        for row in timeline.by_ref() {
            output::json_line(out, &row?)?;
        }
        return Ok(Refusal::if_damaged(timeline.tally())?);
    }
    let progress = Progress::new("reading", global).of(Some(timeline.len() as u64));
    let mut rows = Vec::with_capacity(timeline.len());
    for row in timeline.by_ref() {
        progress.show(rows.len() as u64);
        rows.push(row?);
    }
    drop(progress);
    let signs = if is_ascii { Signs::ASCII } else { Signs::UNICODE };
    let ids: BTreeSet<&Id> = rows.iter().flat_map(Row::ids).collect();
    let id_length = store.short_length(&ids.into_iter().collect::<Vec<_>>())?;
    Page::new(&rows, id_length, signs, Timestamp::now()).write(out, output::width(), global)?;
    out.flush()?;
    Ok(Refusal::if_damaged(timeline.tally())?)
}

/// True if the locale is UTF-8.
fn has_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    set.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
