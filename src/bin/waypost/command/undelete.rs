//! `waypost undelete`: second thoughts.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::{Error, Id, Query, Restorable};

use crate::args::Global;
use crate::exit::Refusal;
use crate::{open, output};

const EXAMPLES: &str = "\
Examples:
  waypost undelete 019a8b2c-d3e4
  waypost undelete --operation 7
  waypost list --deleted --json | jq -r .id | xargs waypost undelete";

/// Restore what was deleted or pruned
///
/// Possible until the store is compacted, and for a week unless the policy says otherwise. What
/// was removed with --now, or on save, is gone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Ids or starts of ids, as `waypost list --deleted` shows them
    #[arg(value_name = "ID", required_unless_present = "operation")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,

    /// Everything that an operation removed, as `waypost log --operations` numbers them
    #[arg(long, value_name = "N", conflicts_with = "ids")]
    operation: Option<u64>,
}

#[derive(Serialize)]
struct Outcome {
    ids: Vec<Id>,
    checkpoints: usize,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "undelete")?;
    let deleted = store.deleted(&Query::default())?;
    let mut ids = match args.operation {
        Some(number) => of_operation(&deleted, number),
        None => args.ids.iter().map(|id| resolve(&deleted, id)).collect::<Result<_>>()?,
    };
    ids.sort();
    ids.dedup();
    if ids.is_empty() {
        return Err(Refusal::Nothing.into());
    }
    store.undelete(&ids)?;
    if global.json {
        let checkpoints = ids.len();
        return Ok(output::json_line(out, &Outcome { ids, checkpoints })?);
    }
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    out.flush()?;
    global.note(format_args!("restored {}", ids.len()));
    Ok(())
}

fn of_operation(deleted: &[Restorable], number: u64) -> Vec<Id> {
    let of_it = deleted.iter().filter(|it| it.operation == number);
    of_it.map(|it| it.entry.id.clone()).collect()
}

/// The deleted checkpoint that a text names: by its id, or by the start of one.
fn resolve(deleted: &[Restorable], text: &str) -> Result<Id> {
    let ids = || deleted.iter().map(|it| &it.entry.id);
    if let Some(id) = ids().find(|id| id.as_str() == text) {
        return Ok(id.clone());
    }
    let mut found: Vec<&Id> = ids().filter(|id| id.as_str().starts_with(text)).collect();
    found.sort();
    found.dedup();
    match found[..] {
        [] => Err(Refusal::NotDeleted { wanted: text.to_owned() }.into()),
        [id] => Ok(id.clone()),
        [first, second, ..] => Err(Error::Ambiguous {
            prefix: text.to_owned(),
            first: first.to_string(),
            second: second.to_string(),
        }
        .into()),
    }
}
