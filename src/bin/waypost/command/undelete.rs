//! `waypost undelete`: restores deleted checkpoints.

use std::io::Write;

use anyhow::Result;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use waypost::keep::Action;
use waypost::{Entry, Error, Id, Store};

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::progress::Progress;
use crate::{open, output};

const EXAMPLES: &str = "\
Examples:
  waypost undelete 019a8b2c-d3e4
  waypost undelete --operation 7
  waypost list --deleted --all --json | jq -r .id | xargs waypost undelete";

/// Restore what was deleted or pruned
///
/// Possible until the store is compacted, and for a week unless the store is set otherwise. What
/// was removed with --now, or on save, is gone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(required = true, multiple = false)]
pub(super) struct Args {
    /// Ids or starts of ids, as `waypost list --deleted` shows them
    #[arg(value_name = "ID")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,

    /// Everything that an operation removed, as `waypost log --operations` numbers them
    #[arg(long, value_name = "N")]
    #[arg(value_parser = args::whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    operation: Option<u64>,
}

#[derive(Serialize)]
struct Outcome {
    ids: Vec<Id>,
    checkpoints: usize,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let store = open::existing(global, "undelete")?;
    let progress = Progress::new("restoring", global);
    let restored = if let Some(number) = args.operation {
        of_operation(&store, number)?
    } else {
        store.undelete(&resolve(&store, &args.ids)?).map_err(alive)?
    };
    drop(progress);
    let mut ids: Vec<Id> = restored.into_iter().map(|entry| entry.id).collect();
    ids.sort();
    if global.json {
        let checkpoints = ids.len();
        return Ok(output::json_line(out, &Outcome { ids, checkpoints })?);
    }
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    out.flush()?;
    global.note(format_args!("restored {}", ids.len()));
    Ok(())
}

fn of_operation(store: &Store, number: u64) -> Result<Vec<Entry>> {
    let restored = store.undelete_operation(number).map_err(alive)?;
    if !restored.is_empty() {
        return Ok(restored);
    }
    let found = store.operations(usize::MAX)?.into_iter().find(|it| it.number == number);
    let reason = match found.map(|it| it.action) {
        None => "is not in the log".to_owned(),
        Some(Action::Delete | Action::Prune | Action::PruneOnSave) => {
            "has nothing left to restore: it is restored already, or gone for good".to_owned()
        }
        Some(action) => format!("removed nothing: it was {action}"),
    };
    Err(Refusal::NotUndone { number, reason }.into())
}

fn alive(error: Error) -> anyhow::Error {
    match error {
        Error::Exists { id } => Refusal::Alive { id }.into(),
        other => other.into(),
    }
}

/// The deleted checkpoints of these names: ids, or starts of ids.
fn resolve(store: &Store, names: &[String]) -> Result<Vec<Id>> {
    store.resolve_deleted(names).map_err(|error| match error {
        Error::NotFound { wanted } => {
            Refusal::NotDeleted { wanted: wanted.checkpoint().to_owned() }.into()
        }
        error => error.into(),
    })
}
