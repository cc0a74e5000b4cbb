//! Where keys come from: files that are named, the environment, and the config of the project.
//!
//! Never from the command line itself, which everybody on the machine can see, and never printed.

use std::env;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::{Config, SecretKey};

use crate::args::Global;
use crate::exit::Refusal;
use crate::{config, open, private};

/// The variable that has a key itself.
pub(crate) const VARIABLE: &str = "WAYPOST_KEY";
/// The variable that names the file of one.
pub(crate) const FILE_VARIABLE: &str = "WAYPOST_KEY_FILE";
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
        && let Some(path) = of_project(store)?
    {
        keys.push(of_file(&path, global)?);
    }
    if keys.is_empty() && !store.exists() {
        // Such as `WAYPOST_KEY=$(cat store.key)` without the file.
        for variable in [VARIABLE, FILE_VARIABLE] {
            if env::var_os(variable).is_some() {
                return Err(Refusal::EmptyKey { variable }.into());
            }
        }
    }
    Ok(keys)
}

/// The file that the config of the project names.
fn of_project(store: &Path) -> Result<Option<PathBuf>> {
    let config = match config::of_project(store) {
        Ok(found) => found.map(|(_, config)| config),
        // One that should have been encrypted cannot be made good again later.
        Err(error) if config::is_own(store) && !store.exists() => {
            return Err(error.context("no store is made: its config may name a key"));
        }
        // Who saves is told what is wrong with a config.
        Err(_) => None,
    };
    let named = config.as_ref().and_then(Config::key_file);
    Ok(named.zip(open::home(store)).map(|(name, home)| home.join(name)))
}

/// The key of a file.
pub(crate) fn of_file(path: &Path, global: &Global) -> Result<SecretKey> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    if file.metadata().is_ok_and(|found| private::is_open(&found)) {
        global.warn(format_args!("others can read the key: chmod go-rwx {}", path.display()));
    }
    match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
        // Bytes that are no text are no key, either.
        Err(error) if error.kind() == ErrorKind::InvalidData => text.clear(),
        read => _ = read.with_context(|| format!("cannot read {}", path.display()))?,
    }
    text.parse::<SecretKey>().with_context(|| path.display().to_string())
}
