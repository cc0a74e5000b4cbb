//! The first line that a store may take: an import that finds none makes no store.

use std::io::{self, Cursor, Read as _};

use anyhow::{Context as _, Result};

use super::super::save::inbox::read_line;
use super::lines::{line_bytes_max, too_long};
use super::{Lines, Tally, line};
use crate::args::Global;

/// Reports and counts the lines before the first that a store may take. Returns the inputs from
/// that line on; none if all lines are refused.
pub(super) fn found(
    all: Vec<(String, Lines)>,
    tally: &mut Tally,
    global: &Global,
) -> Result<Vec<(String, Lines)>> {
    let mut all = all.into_iter();
    while let Some((name, mut source)) = all.next() {
        let first = first(&mut source, &name, tally, global);
        if let Some(first) = first.with_context(|| format!("cannot read {name}"))? {
            let source: Lines = Box::new(Cursor::new(first).chain(source));
            return Ok([(name, source)].into_iter().chain(all).collect());
        }
    }
    Ok(Vec::new())
}

/// The first such line of an input, after blank ones in place of those before, so that it keeps its
/// number.
fn first(
    source: &mut Lines,
    name: &str,
    tally: &mut Tally,
    global: &Global,
) -> io::Result<Option<Vec<u8>>> {
    let mut before = Vec::new();
    while let Some(line) = read_line(source, line_bytes_max())? {
        let refused = match line {
            Ok(line) if line.trim_ascii().is_empty() => None,
            Ok(line) => match line::check(&line) {
                Ok(()) => return Ok(Some([before, line, b"\n".to_vec()].concat())),
                Err(error) => Some(error),
            },
            Err(_) => Some(too_long()),
        };
        before.push(b'\n');
        if let Some(error) = refused {
            global.note(format_args!("{name}: line {}: {error}", before.len()));
            tally.of_lines(1, 0, 1);
        }
    }
    Ok(None)
}
