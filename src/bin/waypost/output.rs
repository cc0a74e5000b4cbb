//! Results as people and programs read them.

mod artifact;
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
use serde::Serialize;
use waypost::layouts::{self, Problem};
use waypost::transfer::json::{ARTIFACTS, PROBLEMS, SOURCE_HEX, SOURCE_TEXT};
use waypost::{Artifact, Checkpoint, JsonStyle, Timestamp};

use crate::args::Global;
pub(crate) use artifact::{Kept, artifacts};
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
        return checkpoint_object(&mut out, checkpoint, artifacts, &problems);
    }
    let problems = problems(checkpoint)?;
    let mut shown = Fields::of_entry(&checkpoint.entry, Timestamp::now());
    shown.problems(&problems);
    shown.artifacts(artifacts);
    fields(out, &shown, global)?;
    writeln!(out)?;
    document(out, checkpoint, global)
}

/// Writes a checkpoint as one line of JSON: the fields of its entry, its captured files, and its
/// document.
pub(crate) fn checkpoint_line(
    out: &mut impl Write,
    checkpoint: &Checkpoint,
    artifacts: &[impl Serialize],
) -> Result<()> {
    checkpoint_object(out, checkpoint, artifacts, &[])
}

fn problems(checkpoint: &Checkpoint) -> Result<Vec<Problem>> {
    Ok(layouts::problems(checkpoint, &checkpoint.document()?)?)
}

fn checkpoint_object(
    mut out: &mut impl Write,
    checkpoint: &Checkpoint,
    artifacts: &[impl Serialize],
    problems: &[Problem],
) -> Result<()> {
    // The document becomes the last member of the object, without being read again.
    write!(out, "{}", json_open(&checkpoint.entry)?)?;
    kept_text(&mut out, checkpoint)?;
    if !artifacts.is_empty() {
        write!(out, ",\"{ARTIFACTS}\":")?;
        serde_json::to_writer(&mut out, artifacts)?;
    }
    if !problems.is_empty() {
        write!(out, ",\"{PROBLEMS}\":")?;
        serde_json::to_writer(&mut out, problems)?;
    }
    write!(out, ",\"document\":")?;
    checkpoint.write_json(&mut out, JsonStyle::Compact)?;
    Ok(writeln!(out, "}}")?)
}

/// Writes the text of the file that a checkpoint came from, if its document does not give it back.
fn kept_text(mut out: &mut impl Write, checkpoint: &Checkpoint) -> Result<()> {
    let is_kept = checkpoint.entry.source.is_some_and(|source| source.style.is_none());
    let Some(text) = checkpoint.source_text()?.filter(|_| is_kept) else { return Ok(()) };
    if let Ok(text) = std::str::from_utf8(&text) {
        write!(out, ",\"{SOURCE_TEXT}\":")?;
        return Ok(serde_json::to_writer(&mut out, text)?);
    }
    write!(out, ",\"{SOURCE_HEX}\":\"")?;
    text.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    Ok(write!(out, "\"")?)
}

/// Writes the document alone.
pub(crate) fn document(
    mut out: &mut dyn Write,
    checkpoint: &Checkpoint,
    global: &Global,
) -> Result<()> {
    let style = if global.json { JsonStyle::Compact } else { JsonStyle::Pretty };
    checkpoint.write_json(&mut out, style)?;
    Ok(writeln!(out)?)
}
