//! Sections with a row for each trigger.

use super::field::{Field, Section};
use crate::checkpoint::Trigger;
use crate::error::Result;
use crate::spelling::slip;
use crate::yaml::Value;

/// Stands for both ends of a conflict.
const CONFLICT_EVENTS: &str = "conflict_events";
const CONFLICT: [Trigger; 2] = [Trigger::ConflictStart, Trigger::ConflictResolved];

/// The triggers of a section with their rows, in order; `others` are keys that are no triggers.
///
/// A trigger that has a row of its own is not among those that another row stands for.
pub(super) fn rows<'s, 'a>(
    section: &'s Section<'a>,
    others: &[&str],
) -> Result<Vec<(Trigger, &'s Field<'a>)>> {
    let mut rows = Vec::new();
    for field in section.fields().iter().filter(|field| !others.contains(&field.name())) {
        if field.name() == CONFLICT_EVENTS {
            let of_both = CONFLICT.into_iter().filter(|it| section.get(it.as_str()).is_none());
            rows.extend(of_both.map(|trigger| (trigger, field)));
        } else {
            rows.push((key(field, others)?, field));
        }
    }
    Ok(rows)
}

/// The triggers that a value names, one or a list.
pub(super) fn named(field: &Field<'_>) -> Result<Vec<Trigger>> {
    let mut triggers = Vec::new();
    for item in field.one_or_more()? {
        match item.value() {
            Value::Text(name) if name == CONFLICT_EVENTS => triggers.extend(CONFLICT),
            Value::Text(name) => triggers.push(trigger(name, &item)?),
            _ => return Err(item.wrong("the name of a trigger")),
        }
    }
    Ok(triggers)
}

/// A key that is nearly a known one is more likely a slip than a trigger of the user's own, and a
/// row that is about nothing would go unnoticed. A rule can name such a trigger all the same.
fn key(field: &Field<'_>, others: &[&str]) -> Result<Trigger> {
    let own = trigger(field.name(), field)?;
    if !matches!(own, Trigger::Custom(_)) {
        return Ok(own);
    }
    let mut known: Vec<&str> = Trigger::ALL.iter().map(Trigger::as_str).collect();
    known.push(CONFLICT_EVENTS);
    known.extend(others);
    match slip(field.name(), &known) {
        Some(near) => Err(field.refused(format_args!("is not known; did you mean {near}?"))),
        None => Ok(own),
    }
}

fn trigger(name: &str, field: &Field<'_>) -> Result<Trigger> {
    let reason = "is not a trigger: use a to z, 0 to 9 and _, at most 64, starting with a letter";
    name.parse().map_err(|_| field.refused(reason))
}
