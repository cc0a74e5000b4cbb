//! `waypost list`: entries that some filters ask for.

use std::io::{self, IsTerminal as _, Write};
use std::num::NonZeroUsize;

use anyhow::Result;
use waypost::{Cursor, Entry, Order, Query, Store, Timestamp};

use crate::args::Global;
use crate::exit::Refusal;
use crate::filter::Filter;
use crate::{open, output};

const EXAMPLES: &str = "\
Examples:
  waypost list --issue 42 --since 2h
  waypost list --trigger manual,user_interrupt --limit 5
  waypost list --all --json | jq -r .id";

/// List checkpoints, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    filter: Filter,

    /// List the oldest first
    #[arg(long, help_heading = None)]
    oldest: bool,

    /// List at most so many
    #[arg(long, help_heading = None, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,

    /// List everything
    #[arg(long, help_heading = None, conflicts_with = "limit")]
    all: bool,

    /// Go on where an earlier listing ended
    #[arg(long, help_heading = None, value_name = "CURSOR")]
    after: Option<Cursor>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "list")?;
    let now = Timestamp::now();
    let query = Query {
        order: if args.oldest { Order::Oldest } else { Order::Newest },
        limit: (!args.all).then_some(args.limit.get()),
        after: args.after,
        ..args.filter.query(now)
    };
    if args.all && global.json {
        return stream(&store, query, out);
    }
    let (entries, next) = if args.all {
        (store.entries(query).collect::<Result<Vec<_>, _>>()?, None)
    } else {
        let page = store.list(&query)?;
        (page.entries, page.next)
    };
    if entries.is_empty() {
        return Err(Refusal::Nothing.into());
    }
    if global.json {
        entries.iter().try_for_each(|entry| output::json_line(out, entry))?;
    } else {
        write_table(out, &entries, now)?;
    }
    if let Some(cursor) = next {
        out.flush()?;
        if global.json {
            global.note(format_args!("{{\"next\":\"{cursor}\"}}"));
        } else {
            global.note(format_args!("more with --after {cursor}"));
        }
    }
    Ok(())
}

/// Writes entries as they are read, so that any number of them takes the same memory.
fn stream(store: &Store, query: Query, out: &mut dyn Write) -> Result<()> {
    let mut is_empty = true;
    for entry in store.entries(query) {
        output::json_line(out, &entry?)?;
        is_empty = false;
    }
    if is_empty { Err(Refusal::Nothing.into()) } else { Ok(()) }
}

fn write_table(out: &mut dyn Write, entries: &[Entry], now: Timestamp) -> io::Result<()> {
    let stdout = io::stdout();
    // A pipe has no width: whoever reads it wants whole lines.
    let size = if stdout.is_terminal() { terminal_size::terminal_size_of(&stdout) } else { None };
    let width = size.map(|(width, _)| width.0);
    writeln!(out, "{}", output::table(entries, now, width))
}
