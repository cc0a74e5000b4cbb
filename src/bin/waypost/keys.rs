//! Where keys come from: files that are named, and the environment.
//!
//! Never from the command line itself, which everybody on the machine can see, and never printed.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use waypost::SecretKey;

use crate::args::Global;
use crate::private;

/// The variable that has a key itself.
const VARIABLE: &str = "WAYPOST_KEY";
// A key and whatever blanks are around it; what is longer is something else.
const FILE_BYTES_MAX: u64 = 1024;

/// All keys that were given: those of files first, in their order.
pub(crate) fn given(global: &Global) -> Result<Vec<SecretKey>> {
    let mut keys = Vec::new();
    for path in global.key_files() {
        keys.push(of_file(path, global)?);
    }
    if let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        let key = text.to_str().unwrap_or_default().parse::<SecretKey>();
        keys.push(key.context(VARIABLE)?);
    }
    Ok(keys)
}

/// The key of a file.
pub(crate) fn of_file(path: &Path, global: &Global) -> Result<SecretKey> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    if file.metadata().is_ok_and(|found| private::is_open(&found)) {
        global.warn(format_args!("others can read the key: chmod go-rwx {}", path.display()));
    }
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    // Bytes that are no text are no key, either; the message of the system would say no more.
    let key = if read.is_ok() { text.parse() } else { "".parse::<SecretKey>() };
    key.with_context(|| path.display().to_string())
}
