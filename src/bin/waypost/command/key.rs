//! `waypost key`: a file with a new key.

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;
use waypost::SecretKey;
use waypost::care::KeyId;

use crate::args::Global;
use crate::exit::Refusal;
use crate::output;
use waypost::transfer::private;

const EXAMPLES: &str = "\
Examples:
  waypost key ~/.waypost-key        # then WAYPOST_KEY_FILE or --key-file names it
  waypost key store.key --json | jq -r .id";

/// Make a file with a new key to encrypt a store with
///
/// The key is 32 random bytes, written as 64 hexadecimal digits into a file that only you can read.
/// What is printed is its id, by which errors and `waypost stats` name it. Keep a copy of the file
/// elsewhere: without the key, what was encrypted with it cannot be read.
///
/// A store that is made while a key is given (--key-file, `WAYPOST_KEY_FILE`, or the key itself in
/// `WAYPOST_KEY`) is encrypted with it; `waypost rekey` encrypts one that is there. Encrypted are
/// documents and captured files. What can be listed is not: names, times, tags, sizes, warnings,
/// and of files their paths and hashes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file to make
    file: PathBuf,
}

#[derive(Serialize)]
struct Made<'a> {
    path: Cow<'a, str>,
    id: KeyId,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let path = &args.file;
    if path.as_os_str() == "-" {
        return Err(Refusal::NoStream.into());
    }
    let key = SecretKey::generate().context("cannot make a key")?;
    // If a power failure removed the key file, everything encrypted with it would be lost.
    match private::write_lasting(path, format!("{}\n", key.to_hex()).as_bytes()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Refusal::KeyExists { path: path.clone() }.into());
        }
        made => made.with_context(|| format!("cannot make {}", path.display()))?,
    }
    if global.json {
        return Ok(output::json_line(out, &Made { path: path.to_string_lossy(), id: key.id() })?);
    }
    Ok(writeln!(out, "{}", key.id())?)
}
