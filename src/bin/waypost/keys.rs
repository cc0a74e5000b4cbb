//! Where keys come from: files that are named, the environment, and the config of the project.
//!
//! Never from the command line itself, which everybody on the machine can see, and never printed.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::SecretKey;

use crate::args::Global;
use crate::{config, open, private};

/// The variable that has a key itself.
const VARIABLE: &str = "WAYPOST_KEY";
// A key and whatever blanks are around it; what is longer is something else.
const FILE_BYTES_MAX: u64 = 1024;

/// All keys that were given for the store at a path: those of files first, in their order. If there
/// are none, that of the project.
pub(crate) fn given(global: &Global, store: &Path) -> Result<Vec<SecretKey>> {
    let mut keys = Vec::new();
    for path in global.key_files() {
        keys.push(of_file(path, global)?);
    }
    if let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        let key = text.to_str().unwrap_or_default().parse::<SecretKey>();
        keys.push(key.context(VARIABLE)?);
    }
    if keys.is_empty()
        && let Some(path) = of_project(store)
    {
        keys.push(of_file(&path, global)?);
    }
    Ok(keys)
}

/// The file that the config of the project names.
fn of_project(store: &Path) -> Option<PathBuf> {
    // Who saves is told what is wrong with a config.
    let (_, config) = config::of_project(store).ok()??;
    Some(open::home(store)?.join(config.key_file()?))
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
