//! `waypost list`: entries that match the filters.

use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Result;
use serde::Serialize;
use waypost::keep::Restorable;
use waypost::query::Cursor;
use waypost::{Entry, Id, Order, Query, Store, Timestamp};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::filter::{Filter, asked, nothing};
use crate::output::{self, Column};
use crate::{name, open};

const EXAMPLES: &str = "\
Examples:
  waypost list 42 --since 2h
  waypost list --trigger manual,user_interrupt --limit 5
  waypost list --deleted
  waypost list --all --json | jq -r .id";

/// List checkpoints, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A series, an issue (42 or #42) or a loop; of an id, its series
    #[arg(conflicts_with_all = ["series", "issue", "loop_id", "deleted"])]
    target: Option<String>,

    #[command(flatten)]
    filter: Filter,

    /// List the oldest first
    #[arg(long, help_heading = None)]
    oldest: bool,

    /// List at most N
    #[arg(long, short = 'n', help_heading = None, value_name = "N", default_value = "20")]
    #[arg(value_parser = args::whole::<NonZeroUsize>(1..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    limit: NonZeroUsize,

    /// List everything
    #[arg(long, help_heading = None, conflicts_with = "limit")]
    all: bool,

    /// Go on where an earlier listing ended
    #[arg(long, help_heading = None, value_name = "CURSOR")]
    after: Option<Cursor>,

    /// List what was deleted and can be restored, the last deleted first
    #[arg(long, help_heading = None, conflicts_with_all = ["oldest", "after"])]
    deleted: bool,
}

/// The cursor of the next page, for a program.
#[derive(Serialize)]
struct Next {
    next: String,
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
    let query = name::scope(&store, args.target.as_deref(), query)?.into_query();
    if args.deleted {
        return list_deleted(&store, &query, global, out);
    }
    if args.all && global.json {
        return stream(&store, &query, out);
    }
    let (entries, next) = if args.all {
        (store.entries(query.clone()).collect::<Result<Vec<_>, _>>()?, None)
    } else {
        let page = store.list(&query)?;
        (page.entries, page.next)
    };
    if entries.is_empty() {
        return Err(nothing(&query).into());
    }
    if global.json {
        entries.iter().try_for_each(|entry| output::json_line(out, entry))?;
    } else {
        let id_length = output::id_length(&store, &entries)?;
        let rows: Vec<&Entry> = entries.iter().collect();
        output::table(out, &output::of_entries(&rows, id_length, now), global)?;
    }
    if let Some(cursor) = next {
        out.flush()?;
        if global.json {
            global.note_fact(&Next { next: cursor.to_string() });
        } else {
            global.note(format_args!("more with --after {cursor}"));
        }
    }
    Ok(())
}

/// Writes entries as they are read, so that memory does not grow with their number.
fn stream(store: &Store, query: &Query, out: &mut dyn Write) -> Result<()> {
    let mut is_empty = true;
    for entry in store.entries(query.clone()) {
        output::json_line(out, &entry?)?;
        is_empty = false;
    }
    if is_empty { Err(nothing(query).into()) } else { Ok(()) }
}

fn list_deleted(store: &Store, query: &Query, global: &Global, out: &mut dyn Write) -> Result<()> {
    let (mut deleted, mut damage) = (Vec::new(), None);
    for found in store.deleted_each(query)? {
        match found {
            Ok(found) => deleted.push(found),
            Err(error) => damage = damage.or(Some(error)),
        }
    }
    if deleted.is_empty() {
        damage.map_or(Ok(()), Err)?;
        return Err(match asked(query) {
            asked if asked.is_empty() => Refusal::NothingDeleted,
            asked => Refusal::Nothing { asked: format!("--deleted {asked}") },
        }
        .into());
    }
    let total = deleted.len();
    let ids: Vec<&Id> = deleted.iter().map(|it| &it.entry.id).collect();
    let id_length = output::short_length(&ids);
    deleted.truncate(query.limit.unwrap_or(total));
    if global.json {
        deleted.iter().try_for_each(|it| output::json_line(out, it))?;
    } else {
        write_deleted(out, &deleted, id_length, global)?;
    }
    if deleted.len() < total {
        out.flush()?;
        if global.json {
            global.note_fact(&output::More::THERE_IS);
        } else {
            global.note(format_args!("{} of {total}; --all lists the rest", deleted.len()));
        }
    }
    out.flush()?;
    // Everything readable has been listed.
    Ok(damage.map_or(Ok(()), Err)?)
}

fn write_deleted(
    out: &mut dyn Write,
    deleted: &[Restorable],
    id_length: usize,
    global: &Global,
) -> Result<()> {
    let now = Timestamp::now();
    let entries: Vec<&Entry> = deleted.iter().map(|it| &it.entry).collect();
    let mut columns = output::of_entries(&entries, id_length, now);
    let age = |it: &Restorable| output::age_of(it.deleted_at, now);
    columns.push(Column::number("DELETED", deleted, |it| Some(age(it))));
    columns.push(Column::number("OP", deleted, |it| Some(it.operation.to_string())));
    Ok(output::table(out, &columns, global)?)
}
