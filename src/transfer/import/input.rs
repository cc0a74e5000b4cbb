//! Inputs with lines of JSON: which files are such inputs, and which line is the first to import.

use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::Path;

use super::line;
use super::lines::{line_bytes_max, too_long};
use super::tally::Tally;
use crate::layouts::{Kind, kind};
use crate::store::opening;
use crate::transfer::gzip;
use crate::transfer::line::read_line;

// Documents may be longer, but a file with such a first line has a name that tells what it is.
const FIRST_LINE_BYTES_MAX: usize = 8 << 20;
// Longer than any run of blanks before real lines. An input that starts with more counts as not
// blank.
const BLANK_BYTES_MAX: usize = 64 << 10;

/// Lines of JSON, as an export writes them.
pub type Lines = Box<dyn BufRead + Send>;

/// True if a file has lines of an export: by its name, else by its first line.
pub(super) fn has_lines(path: &Path) -> io::Result<bool> {
    let name = path.to_string_lossy();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if matches!(kind(&name), Kind::Lines) || ends(&[".json", ".yaml", ".yml", ".json.gz"]) {
        return Ok(false);
    }
    if ends(&[".jsonl", ".jsonl.gz"]) {
        return Ok(true);
    }
    let first = read_line(&mut lines_of(path)?, FIRST_LINE_BYTES_MAX)?;
    let first = first.and_then(Result::ok).unwrap_or_default();
    Ok(line::is_one(&first))
}

pub(super) fn lines_of(path: &Path) -> io::Result<Lines> {
    unpacked(Box::new(BufReader::new(opening::read_named(path)?)))
}

/// Decompresses lines if they are compressed with gzip. Reads the start of the input.
///
/// # Errors
/// Those of the input.
pub fn unpacked(mut lines: Lines) -> io::Result<Lines> {
    if gzip::is_gzip(lines.fill_buf()?) {
        return Ok(Box::new(BufReader::new(gzip::reader(lines))));
    }
    Ok(lines)
}

/// The same lines from their start; `None` if all are blank.
pub(super) fn from_start(mut source: Lines) -> io::Result<Option<Lines>> {
    let mut blanks = Vec::new();
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        if !bytes.trim_ascii().is_empty() || blanks.len() > BLANK_BYTES_MAX {
            // Errors name lines by their numbers, so blank ones must be counted.
            return Ok(Some(Box::new(Cursor::new(blanks).chain(source))));
        }
        blanks.extend_from_slice(bytes);
        let length = bytes.len();
        source.consume(length);
    }
}

/// Reports the lines before the first that a store may take. Returns the input from that line on,
/// `None` if there is no such line, and how many lines were refused.
pub(super) fn from_first(
    mut source: Lines,
    input: &str,
    tally: &mut Tally<'_>,
) -> io::Result<(Option<Lines>, u64)> {
    let (mut number, mut refused) = (0, 0);
    while let Some(line) = read_line(&mut source, line_bytes_max())? {
        number += 1;
        let error = match line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => match line::check(&line) {
                Ok(()) => {
                    // Blank lines in place of those before, so that this one keeps its number.
                    let start = [vec![b'\n'; number - 1], line, vec![b'\n']].concat();
                    return Ok((Some(Box::new(Cursor::new(start).chain(source))), refused));
                }
                Err(error) => error,
            },
            Err(_) => too_long(),
        };
        refused += 1;
        tally.refused_line(input, number as u64, &error.to_string());
    }
    Ok((None, refused))
}
