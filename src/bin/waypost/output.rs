//! Results as people and programs read them.

mod changed;
mod column;
mod deleted;
mod fields;
mod fit;
mod human;
mod json;
pub(crate) mod palette;
mod short;
mod states;
mod table;
mod terminal;

use std::io::{self, Write};

use anyhow::Result;
use waypost::layouts::{self, Problem};
use waypost::source::JsonStyle;
pub(crate) use waypost::transfer::json::artifacts;
use waypost::transfer::json::{Unwritten, write_checkpoint};
use waypost::{Artifact, Checkpoint, Timestamp};

use crate::args::Global;
use crate::exit::Refusal;
pub(crate) use changed::Changed;
pub(crate) use column::{Column, Fitted, fitted, padded, taken};
pub(crate) use deleted::come_back;
pub(crate) use fields::Fields;
pub(crate) use fit::{columns, cut};
pub(crate) use human::{
    age_of, ago, ago_in_words, counted, grouped, plain, quoted, rounded, short_id, short_length,
    size,
};
pub(crate) use json::{More, json_line, json_open, json_text};
pub(crate) use short::id_length;
pub(crate) use states::{of_states, state_lines};
pub(crate) use table::{of_entries, table, width};
pub(crate) use terminal::{Shown, is_hidden, stderr};

/// Writes named values, one a line, for a person.
pub(crate) fn fields(out: &mut dyn Write, fields: &Fields, global: &Global) -> io::Result<()> {
    let style = global.style(&io::stdout(), palette::TITLE);
    fields.write(out, style)
}

/// Writes a checkpoint: its fields, the files that were captured with it, and its document.
pub(crate) fn checkpoint(
    mut out: &mut dyn Write,
    checkpoint: &Checkpoint,
    artifacts: &[Artifact],
    global: &Global,
) -> Result<()> {
    if global.json {
        let problems = problems(checkpoint)?;
        return match write_checkpoint(&mut out, checkpoint, artifacts, &problems) {
            Err(Unwritten::Io(error)) => Err(error.into()),
            Err(Unwritten::Store(error)) => Err(error.into()),
            written => Ok(written?),
        };
    }
    let problems = problems(checkpoint)?;
    let mut shown = Fields::of_entry(&checkpoint.entry, Timestamp::now());
    shown.problems(&problems);
    shown.artifacts(artifacts);
    fields(out, &shown, global)?;
    writeln!(out)?;
    document(out, checkpoint, global)
}

fn problems(checkpoint: &Checkpoint) -> Result<Vec<Problem>> {
    Ok(layouts::problems(checkpoint, &checkpoint.document()?)?)
}

/// Writes the document alone. Refuses a checkpoint whose file could not be read: its `null` would
/// pass for a state.
pub(crate) fn document(
    mut out: &mut dyn Write,
    checkpoint: &Checkpoint,
    global: &Global,
) -> Result<()> {
    if checkpoint.entry.is_unreadable() {
        return Err(Refusal::NoContent { id: checkpoint.entry.id.clone() }.into());
    }
    let style = if global.json { JsonStyle::Compact } else { JsonStyle::Pretty };
    checkpoint.write_json(&mut out, style)?;
    Ok(writeln!(out)?)
}
