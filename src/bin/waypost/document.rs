//! Reads the document of a command from a file or standard input.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use anyhow::{Context as _, Result};
use waypost::Error;
use waypost::options::Limits;

use crate::args::Global;

/// True for the path that means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file, or standard input if that is its name.
pub(crate) fn read(path: &Path, global: &Global) -> Result<Vec<u8>> {
    if !is_stdin(path) {
        let context = || format!("cannot read {}", path.display());
        return read_all(File::open(path).with_context(context)?).with_context(context);
    }
    if io::stdin().is_terminal() {
        global.note("reading the document from the terminal; Ctrl-D ends it");
    }
    read_all(io::stdin().lock()).context("cannot read standard input")
}

/// Reads a text up to a limit, so that an endless one cannot fill the memory.
fn read_all(input: impl Read) -> Result<Vec<u8>> {
    // Indented text is longer than the stored form, for which the store has its own limit.
    let limit = 4 * Limits::default().document_bytes as u64;
    let mut text = Vec::new();
    input.take(limit + 1).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(Error::Limit { what: "length of the input".to_owned(), limit }.into());
    }
    Ok(text)
}
