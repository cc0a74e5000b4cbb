//! Where keys come from: files that are named, the environment, and the config of the project.
//!
//! Keys never come from the command line, which all users of the machine can see, and are never
//! printed.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::project;
use waypost::recovery::RealWorld;
use waypost::{Config, SecretKey, opening};

use crate::args::Global;
use crate::exit::Refusal;
use crate::{config, open};
use waypost::transfer::private;

/// The variable that has a key itself.
pub(crate) const VARIABLE: &str = RealWorld::KEY_VARIABLE;
/// The flag that names a key file.
const FLAG: &str = "--key-file";
pub(crate) const FILE_VARIABLE: &str = "WAYPOST_KEY_FILE";
// Room for a key and blanks around it; a longer file is no key file.
const FILE_BYTES_MAX: u64 = 1024;

/// A key and its source.
pub(crate) struct Named {
    pub(crate) from: String,
    pub(crate) key: Result<SecretKey>,
    is_of_project: bool,
}

/// All keys given for the store at a path, those of files first, in order. Without any, the key of
/// the project.
pub(crate) fn given(global: &Global, store: &Path) -> Result<Vec<SecretKey>> {
    named(global, store).into_iter().map(|named| named.key).collect()
}

/// As [`given`], for commands that may need no key: if the file that the config names cannot be
/// read, this warns, and a call that needs the key fails later.
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

/// As [`given`], with the source of each key, or why it cannot be read.
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
    // Given keys replace that of the config, so the config need not be read.
    let of_project = if keys.is_empty() { of_project(store) } else { Ok(None) };
    match of_project {
        Ok(None) => {}
        Ok(Some(path)) => {
            let by = ", named by key_file in the config of the project";
            let key = of_file_named(&path, by, global);
            let from = format!("{}, key_file in the config", path.display());
            keys.push(Named { from, key, is_of_project: true });
        }
        Err(error) => {
            let from = "the config of the project".to_owned();
            keys.push(Named { from, key: Err(error), is_of_project: false });
        }
    }
    if keys.is_empty() && !store.exists() {
        // Such as `WAYPOST_KEY=$(cat store.key)` without the file.
        let set = [VARIABLE, FILE_VARIABLE].into_iter().filter(|it| env::var_os(it).is_some());
        keys.extend(set.map(|variable| Named {
            from: variable.to_owned(),
            key: Err(Refusal::EmptyKey { variable }.into()),
            is_of_project: false,
        }));
    }
    keys
}

/// The file that the config of the project names.
fn of_project(store: &Path) -> Result<Option<PathBuf>> {
    let config = match project::config(store) {
        Ok(found) => found.map(|(_, config)| config),
        Err(error) if config::keeps_from_making(store) => {
            return Err(config::told_before_making(store, error.into()));
        }
        // A save warns about a config that cannot be read.
        Err(_) => None,
    };
    let named = config.as_ref().and_then(Config::key_file);
    Ok(named.zip(project::home(store)).map(|(name, home)| home.join(name)))
}

/// The key of a file.
pub(crate) fn of_file(path: &Path, global: &Global) -> Result<SecretKey> {
    of_file_named(path, "", global)
}

/// The key of a file; errors name its source.
fn of_file_named(path: &Path, by: &str, global: &Global) -> Result<SecretKey> {
    let mut text = String::new();
    let file = open_file(path).with_context(|| format!("cannot read {}{by}", path.display()))?;
    if file.metadata().is_ok_and(|found| private::is_open(&found)) {
        global.warn(format_args!("others can read the key: chmod go-rwx {}", path.display()));
    }
    match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
        // Bytes that are not UTF-8 are no key.
        Err(error) if error.kind() == ErrorKind::InvalidData => text.clear(),
        read => _ = read.with_context(|| format!("cannot read {}{by}", path.display()))?,
    }
    text.parse::<SecretKey>().with_context(|| format!("{}{by}", path.display()))
}

/// A pipe of the shell, such as `<(pass show waypost)`, is a valid key file. Any other FIFO is
/// refused: one in a cloned project would hang the command.
fn open_file(path: &Path) -> io::Result<File> {
    let is_of_shell =
        ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|it| path.starts_with(it));
    if is_of_shell { File::open(path) } else { opening::read_named(path) }
}
