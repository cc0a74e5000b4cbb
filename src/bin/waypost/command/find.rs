//! `waypost find`: checkpoints whose document fulfils a condition.

use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use waypost::diff::Pointer;
use waypost::history::{Match, Search, Searched};
use waypost::{Condition, Entry, Order, Store, Timestamp};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::filter::{Filter, nothing};
use crate::output::{self, Column, cut, plain};
use crate::progress::Progress;
use crate::{name, open};

const EXAMPLES: &str = "\
Examples:
  waypost find --first '/last_score < 50' issue:42
  waypost find --last '/tests/passing == true and /phase != setup' 42
  waypost find --all '/error exists or /tasks ~ parser' --since 2d
  waypost find --first '\"/open files\" ~ src/lib.rs' --json | jq .values";

const CONDITIONS: &str = "\
Conditions:
  /score < 50            also <= > >=, of numbers (exactly) and of texts
  /phase == build        also !=; a value is a number, true, false, null, a word, or a text in
                         double quotes; \"50\" is a text and 50 a number
  /tasks ~ parser        a text that has it in it, a list with it, an object with that key
  /error exists          also absent
  not A, A and B, A or B, (A)
  A place is a JSON pointer, in double quotes if it has spaces. A comparison with what is not
  there does not hold, not even !=.";

/// Find checkpoints by what is in their documents
///
/// Prints them as `list` does, with the values that the condition is about. It reads documents
/// until it has found enough, so filters make it faster.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{CONDITIONS}"))]
#[command(group = clap::ArgGroup::new("wanted").required(true))]
pub(super) struct Args {
    /// The first checkpoint, by time, for which a condition holds
    #[arg(long, value_name = "CONDITION", group = "wanted")]
    first: Option<Condition>,

    /// The last one
    #[arg(long, value_name = "CONDITION", group = "wanted")]
    last: Option<Condition>,

    /// All of them, newest first
    #[arg(long, value_name = "CONDITION", group = "wanted")]
    all: Option<Condition>,

    /// A series, an issue (42 or #42), a loop, or a checkpoint (an id, the start of one, NAME@N),
    /// for its series up to it; everything if not said
    #[arg(conflicts_with_all = ["series", "issue", "loop_id"])]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,

    /// Find at most N
    #[arg(long, short = 'n', value_name = "N", requires = "all")]
    #[arg(value_parser = args::whole::<NonZeroUsize>(1..=u64::MAX))]
    #[arg(allow_negative_numbers = true)]
    limit: Option<NonZeroUsize>,

    #[command(flatten)]
    filter: Filter,
}

impl Args {
    fn search(&self) -> Option<Search<'_>> {
        let first = self.first.as_ref().map(|it| (it, Order::Oldest, 1));
        let last = self.last.as_ref().map(|it| (it, Order::Newest, 1));
        let limit = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let all = self.all.as_ref().map(|it| (it, Order::Newest, limit));
        let found = first.or(last).or(all);
        found.map(|(condition, order, limit)| Search { condition, order, limit })
    }
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let Some(search) = args.search() else {
        return Err(Refusal::Usage("give a condition".to_owned()).into());
    };
    let store = open::existing(global, "find")?;
    let now = Timestamp::now();
    let scope = name::scope(&store, args.target.as_deref(), args.filter.query(now))?;
    let pointers = search.condition.pointers();
    // Only a search for all of them reads to the end, so that its progress has a total.
    let total = if search.limit == usize::MAX { scope.count(&store)? } else { None };
    let progress = Progress::new("looking", global).of(total);
    let mut searching = search.run(&store, &scope);
    let mut rows = Vec::new();
    let mut count = 0;
    while let Some(searched) = searching.next() {
        let searched = searched?;
        progress.show(searching.tally().total);
        match searched {
            Searched::Match(found) => {
                count += 1;
                if global.json {
                    output::json_text(out, &found.to_json(pointers)?)?;
                } else {
                    rows.push(shortened(*found));
                }
            }
            Searched::Damaged(reason) => global.note(format_args!("passed over: {reason}")),
            _ => {}
        }
    }
    drop(progress);
    if !rows.is_empty() {
        output::table(out, &columns(&store, &rows, pointers, now)?, global)?;
    }
    out.flush()?;
    // A damaged document may match.
    let tally = searching.tally();
    Refusal::if_damaged(tally)?;
    match (count, tally.total) {
        (0, 0) => Err(nothing(scope.query()).into()),
        (0, total) => {
            let pointer = pointers.first().map(ToString::to_string);
            Err(Refusal::Unfulfilled { total, pointer }.into())
        }
        _ => Ok(()),
    }
}

/// Keeps only as much of each value as a table shows: there may be many matches.
fn shortened(mut found: Match) -> Match {
    for value in found.values.iter_mut().flatten() {
        *value = short(value);
    }
    found
}

fn columns(
    store: &Store,
    rows: &[Match],
    pointers: &[Pointer],
    now: Timestamp,
) -> Result<Vec<Column>> {
    let entries: Vec<&Entry> = rows.iter().map(|row| &row.entry).collect();
    let id_length = output::id_length(store, entries.iter().copied())?;
    let mut columns = output::of_entries(&entries, id_length, now);
    for (number, pointer) in pointers.iter().enumerate() {
        let title = if pointer.as_str().is_empty() { "(document)" } else { pointer.as_str() };
        let value = |row: &Match| row.values[number].clone().or_else(|| Some("absent".to_owned()));
        columns.push(Column::text(title, rows, value));
    }
    Ok(columns)
}

/// The start of a value, as long as a table shows.
fn short(value: &str) -> String {
    const VALUE_CHARS: usize = 40;
    let start: String = value.chars().take(VALUE_CHARS + 1).collect();
    cut(&plain(&start), VALUE_CHARS)
}
