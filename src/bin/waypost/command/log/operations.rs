//! `waypost log --operations`: what was done to the store beside saving.

use std::io::Write;

use anyhow::Result;
use waypost::{Operation, Store, Timestamp};

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Column};

pub(super) fn run(store: &Store, limit: usize, global: &Global, out: &mut dyn Write) -> Result<()> {
    let operations = store.operations(limit)?;
    if operations.is_empty() {
        return Err(Refusal::Nothing.into());
    }
    if global.json {
        return Ok(operations.iter().try_for_each(|it| output::json_line(out, it))?);
    }
    Ok(output::table(out, &columns(&operations, Timestamp::now()), global)?)
}

fn columns(operations: &[Operation], now: Timestamp) -> Vec<Column> {
    let age = |it: &Operation| output::age(now.saturating_since(it.until.unwrap_or(it.at)));
    vec![
        Column::number("OP", operations, |it| Some(it.number.to_string())),
        Column::number("AGE", operations, |it| Some(age(it))),
        Column::text("ACTION", operations, |it| Some(it.action.as_str().to_owned())).whole(),
        Column::number("COUNT", operations, |it| Some(it.checkpoints.to_string())),
        Column::text("POLICY", operations, |it| it.policy.clone()).worth(1),
        Column::number("STORED", operations, |it| Some(output::size(it.stored_bytes))).worth(0),
        Column::text("OF", operations, of),
    ]
}

/// What it was done to: the one id, or how many of each trigger.
fn of(operation: &Operation) -> Option<String> {
    if let Some(source) = &operation.source {
        return Some(source.clone());
    }
    if let ([id], 1) = (&operation.ids[..], operation.checkpoints) {
        return Some(id.to_string());
    }
    let counts: Vec<String> =
        operation.triggers.iter().map(|(trigger, count)| format!("{count} {trigger}")).collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}
