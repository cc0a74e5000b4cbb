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
/// What names a file with one.
const FLAG: &str = "--key-file";
const FILE_VARIABLE: &str = "WAYPOST_KEY_FILE";
// A key and whatever blanks are around it; what is longer is something else.
const FILE_BYTES_MAX: u64 = 1024;

/// A key, and by what it was given.
pub(crate) struct Named {
    pub(crate) from: String,
    pub(crate) key: Result<SecretKey>,
    is_of_project: bool,
}

/// All keys that were given for the store at a path: those of files first, in their order. If there
/// are none, that of the project.
pub(crate) fn given(global: &Global, store: &Path) -> Result<Vec<SecretKey>> {
    named(global, store).into_iter().map(|named| named.key).collect()
}

/// As [`given`], for who may do without: a key that is lost with the file that the config names is
/// told of, and whatever takes it says so.
pub(crate) fn given_or_told(global: &Global, store: &Path) -> Result<Vec<SecretKey>> {
    let mut keys = Vec::new();
    for Named { key, is_of_project, .. } in named(global, store) {
        match key {
            Err(error) if is_of_project => global.warn(format_args!("{error:#}")),
            key => keys.push(key?),
        }
    }
    Ok(keys)
}

/// As [`given`], with by what each was given, and why it cannot be had.
pub(crate) fn named(global: &Global, store: &Path) -> Vec<Named> {
    let flag = if open::is_flag_given(FLAG) { FLAG } else { FILE_VARIABLE };
    let mut keys: Vec<Named> = Vec::new();
    for path in global.key_files() {
        let key = of_file_named(path, &format!(", named by {flag}"), global);
        let from = format!("{}, {flag}", path.display());
        keys.push(Named { from, key, is_of_project: false });
    }
    if let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        let key = text.to_str().unwrap_or_default().parse::<SecretKey>().context(VARIABLE);
        keys.push(Named { from: VARIABLE.to_owned(), key, is_of_project: false });
    }
    if keys.is_empty()
        && let Some(path) = of_project(store)
    {
        let key = of_file_named(&path, ", named by key_file in the config of the project", global);
        let from = format!("{}, key_file in the config", path.display());
        keys.push(Named { from, key, is_of_project: true });
    }
    keys
}

/// The file that the config of the project names.
fn of_project(store: &Path) -> Option<PathBuf> {
    // Who saves is told what is wrong with a config.
    let (_, config) = config::of_project(store).ok()??;
    Some(open::home(store)?.join(config.key_file()?))
}

/// The key of a file.
pub(crate) fn of_file(path: &Path, global: &Global) -> Result<SecretKey> {
    of_file_named(path, "", global)
}

/// The key of a file; errors say by what it was named.
fn of_file_named(path: &Path, by: &str, global: &Global) -> Result<SecretKey> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}{by}", path.display()))?;
    if file.metadata().is_ok_and(|found| private::is_open(&found)) {
        global.warn(format_args!("others can read the key: chmod go-rwx {}", path.display()));
    }
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    // Bytes that are no text are no key, either; the message of the system would say no more.
    let key = if read.is_ok() { text.parse() } else { "".parse::<SecretKey>() };
    key.with_context(|| format!("{}{by}", path.display()))
}
