//! Imports lines of JSON: several threads draft them, and they are saved in their order.

use std::io::{self, BufRead};

use super::failure::{Ended, Ending, ImportError};
use super::line::{self, FromLine};
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::store::{Draft, Limits, Store};
use crate::transfer::line::read_line;
use crate::transfer::ordered::in_order;

// With this many, a transaction costs little per line, and they fit in memory.
const PART_LINES: usize = 256;
const PART_BYTES: usize = 4 << 20;

/// Numbered lines. `None` stands for one that is too long.
type Part = Vec<(u64, Option<Vec<u8>>)>;
type Drafts = Vec<(u64, Result<FromLine>)>;

#[derive(Default)]
struct Counted {
    lines: u64,
    refused: u64,
}

/// Saves all lines of an input and counts them. Reports each line that cannot be imported by its
/// number.
pub(super) fn run(
    store: &Store,
    source: impl BufRead + Send,
    input: &str,
    tally: &mut Tally<'_>,
) -> Ended {
    let before = store.count()?;
    let mut counted = Counted::default();
    let ended = save_all(store, source, input, &mut counted, tally);
    let after = match store.count() {
        // The first failure counts.
        Err(_) if ended.is_err() => return ended,
        count => count?,
    };
    let Counted { lines, refused } = counted;
    // Other processes may save meanwhile, so this is an upper bound.
    let imported = after.saturating_sub(before).min(lines - refused);
    tally.report.lines += lines;
    tally.report.imported += imported;
    tally.report.known += lines - refused - imported;
    tally.report.refused += refused;
    ended
}

fn save_all(
    store: &Store,
    source: impl BufRead + Send,
    input: &str,
    counted: &mut Counted,
    tally: &mut Tally<'_>,
) -> Ended {
    let save = |drafts: Drafts| {
        tally.step()?;
        let lines = drafts.len() as u64;
        counted.refused += save_part(store, drafts, input, tally).map_err(|source| {
            Ending::Failed(ImportError::Lines { input: input.to_owned(), source })
        })?;
        counted.lines += lines;
        tally.advance(lines);
        Ok(())
    };
    let read = |hand_out: &mut dyn FnMut(Part) -> bool| {
        read(source, hand_out).map_err(|source| {
            Ending::Failed(ImportError::Unreadable { input: input.to_owned(), source })
        })
    };
    in_order(read, |lines| drafts(store, lines), save)
}

/// Hands out lines in parts, without blank ones.
fn read(mut source: impl BufRead, hand_out: &mut dyn FnMut(Part) -> bool) -> io::Result<()> {
    let (mut part, mut bytes): (Part, usize) = (Vec::new(), 0);
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

fn drafts(store: &Store, lines: Part) -> Drafts {
    let draft = |line: Option<Vec<u8>>| match line {
        Some(line) => line::draft(store, &line),
        None => Err(too_long()),
    };
    lines.into_iter().map(|(number, line)| (number, draft(line))).collect()
}

/// Saves drafts with one sync, and returns how many lines were refused.
fn save_part(store: &Store, drafts: Drafts, input: &str, tally: &mut Tally<'_>) -> Result<u64> {
    let mut refused = 0;
    let mut lines: Vec<(u64, Vec<String>)> = Vec::with_capacity(drafts.len());
    let mut taken: Vec<Draft> = Vec::with_capacity(drafts.len());
    for (number, draft) in drafts {
        match draft {
            Ok(FromLine { draft, missing }) => {
                lines.push((number, missing));
                taken.push(draft);
            }
            Err(error) => {
                refused += 1;
                tally.refused_line(input, number, &error.to_string());
            }
        }
    }
    for ((number, missing), outcome) in lines.into_iter().zip(store.batch(taken)?) {
        if let Err(error) = outcome {
            refused += 1;
            tally.refused_line(input, number, &error.to_string());
            continue;
        }
        tally.report.incomplete += u64::from(!missing.is_empty());
        for path in missing {
            let reason = format!("without {path:?}, which was damaged when it was exported");
            tally.incomplete_line(input, number, &reason);
        }
    }
    Ok(refused)
}

pub(super) fn too_long() -> Error {
    Error::Limit { what: "length of the line".to_owned(), limit: line_bytes_max() as u64 }
}

pub(super) fn line_bytes_max() -> usize {
    let limits = Limits::default();
    // Text is longer than the stored form, to which the limit of the store applies. A control
    // character takes six bytes.
    4 * limits.document_bytes + 6 * limits.artifacts_bytes()
}
