//! `waypost log --operations`: what was done to the store beside saving.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use waypost::keep::{Action, Operation};
use waypost::{Id, Store, Timestamp, Trigger};

use super::note_more;
use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Column};

/// An operation for a program; its number is called `operation`, as in other output.
#[derive(Serialize)]
struct Line<'a> {
    operation: u64,
    action: Action,
    at: Timestamp,
    until: Option<Timestamp>,
    times: u64,
    checkpoints: u64,
    stored_bytes: u64,
    source: Option<&'a str>,
    policy: Option<&'a str>,
    triggers: &'a BTreeMap<Trigger, u64>,
    ids: &'a [Id],
}

impl<'a> Line<'a> {
    fn of(operation: &'a Operation) -> Self {
        Self {
            operation: operation.number,
            action: operation.action,
            at: operation.at,
            until: operation.until,
            times: operation.times,
            checkpoints: operation.checkpoints,
            stored_bytes: operation.stored_bytes,
            source: operation.source.as_deref(),
            policy: operation.policy.as_deref(),
            triggers: &operation.triggers,
            ids: &operation.ids,
        }
    }
}

pub(super) fn run(store: &Store, limit: usize, global: &Global, out: &mut dyn Write) -> Result<()> {
    let mut operations = store.operations(limit.saturating_add(1))?;
    let has_more = operations.len() > limit;
    operations.truncate(limit);
    if operations.is_empty() {
        return Err(Refusal::NoOperations.into());
    }
    if global.json {
        operations.iter().try_for_each(|it| output::json_line(out, &Line::of(it)))?;
    } else {
        output::table(out, &columns(&operations, Timestamp::now()), global)?;
    }
    if has_more {
        out.flush()?;
        note_more(limit, global);
    }
    Ok(())
}

fn columns(operations: &[Operation], now: Timestamp) -> Vec<Column> {
    let age = |it: &Operation| output::age_of(it.until.unwrap_or(it.at), now);
    vec![
        Column::number("OP", operations, |it| Some(it.number.to_string())),
        Column::number("AGE", operations, |it| Some(age(it))),
        Column::text("ACTION", operations, |it| Some(it.action.as_str().to_owned())).whole(),
        Column::number("TIMES", operations, times).worth(0),
        Column::number("COUNT", operations, |it| Some(it.checkpoints.to_string())),
        Column::text("POLICY", operations, |it| it.policy.clone()).worth(1),
        Column::number("STORED", operations, |it| Some(output::size(it.stored_bytes))).worth(0),
        Column::text("OF", operations, of),
    ]
}

fn times(operation: &Operation) -> Option<String> {
    (operation.times > 1).then(|| operation.times.to_string())
}

/// What the operation changed: the id, or the number of checkpoints per trigger.
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
