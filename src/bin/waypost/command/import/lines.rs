//! Lines of JSON into the store: encoded by several threads, saved in their order.

use std::fmt::Display;
use std::io::{self, BufRead};

use anyhow::{Context as _, Result};
use waypost::{Error, Limits, Store};

use super::super::save::inbox::read_line;
use super::line::{self, Taken};
use crate::args::Global;
use crate::interrupt;
use crate::progress::Progress;
use waypost::transfer::ordered::in_order;

// A transaction of so many is cheap for each; few enough that they fit the memory.
const PART_LINES: usize = 256;
const PART_BYTES: usize = 4 << 20;

/// What became of an import.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) lines: u64,
    pub(super) refused: u64,
    /// Of the others, those that lack a captured file.
    pub(super) incomplete: u64,
}

/// Some lines that follow each other, with their numbers from one; `None` if one is too long.
type Lines = Vec<(u64, Option<Vec<u8>>)>;
type Drafts = Vec<(u64, Result<Taken, Error>)>;

/// Saves all lines of `source`, and counts them. What cannot be taken is reported by its line.
pub(super) fn run(
    store: &Store,
    source: impl BufRead + Send,
    name: &str,
    global: &Global,
    imported: &mut Imported,
) -> Result<()> {
    let progress = Progress::new("importing", global);
    let save = |drafts: Drafts| {
        interrupt::check()?;
        let lines = drafts.len() as u64;
        let part = save_part(store, drafts, name, global)?;
        imported.lines += lines;
        imported.refused += part.refused;
        imported.incomplete += part.incomplete;
        progress.show(imported.lines);
        Ok(())
    };
    let read =
        |hand_out: &mut dyn FnMut(Lines) -> bool| read(source, hand_out).context("cannot read");
    in_order(read, |lines| drafts(store, lines), save)
}

/// Hands out lines in parts. Blank ones say nothing.
fn read(mut source: impl BufRead, hand_out: &mut dyn FnMut(Lines) -> bool) -> io::Result<()> {
    let (mut part, mut bytes): (Lines, usize) = (Vec::new(), 0);
    for number in 1.. {
        let Some(line) = read_line(&mut source, line_bytes_max())? else { break };
        let line = line.ok();
        if line.as_ref().is_some_and(|line| line.trim_ascii().is_empty()) {
            continue;
        }
        bytes += line.as_ref().map_or(0, Vec::len);
        part.push((number, line));
        if part.len() >= PART_LINES || bytes >= PART_BYTES {
            if !hand_out(std::mem::take(&mut part)) {
                return Ok(());
            }
            bytes = 0;
        }
    }
    hand_out(part);
    Ok(())
}

fn drafts(store: &Store, lines: Lines) -> Drafts {
    let draft = |line: Option<Vec<u8>>| match line {
        Some(line) => line::draft(store, &line),
        None => Err(too_long()),
    };
    lines.into_iter().map(|(number, line)| (number, draft(line))).collect()
}

/// Saves some drafts with one sync, and counts lines that were refused or lack something.
fn save_part(store: &Store, drafts: Drafts, name: &str, global: &Global) -> Result<Imported> {
    let mut part = Imported::default();
    let note = |number: u64, text: &dyn Display| {
        global.note(format_args!("{name}: line {number}: {text}"));
    };
    let mut lines = Vec::with_capacity(drafts.len());
    let mut taken = Vec::with_capacity(drafts.len());
    for (number, draft) in drafts {
        match draft {
            Ok(Taken { draft, missing }) => {
                lines.push((number, missing));
                taken.push(draft);
            }
            Err(error) => {
                part.refused += 1;
                note(number, &error);
            }
        }
    }
    for ((number, missing), outcome) in lines.into_iter().zip(store.batch(taken)?) {
        if let Err(error) = outcome {
            part.refused += 1;
            note(number, &error);
            continue;
        }
        part.incomplete += u64::from(!missing.is_empty());
        for path in missing {
            note(number, &format_args!("without {path:?}, which was damaged when it was exported"));
        }
    }
    Ok(part)
}

pub(super) fn too_long() -> Error {
    Error::Limit { what: "length of the line".to_owned(), limit: line_bytes_max() as u64 }
}

pub(super) fn line_bytes_max() -> usize {
    let limits = Limits::default();
    // Text is longer than what is stored; the store knows the limit for that. A control character
    // takes six bytes.
    4 * limits.document_bytes + 6 * limits.artifacts_bytes()
}
