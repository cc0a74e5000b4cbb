//! The config of the project that a store belongs to.

use std::io::{self, Read as _};
use std::path::{self, Path, PathBuf};

use super::DIRECTORY;
use crate::config::Config;
use crate::error::Error;
use crate::layouts::crunch::Location;
use crate::store::opening;

const OWN: &str = "config.yaml";
/// The config of claude-crunch, beside `.waypost`.
const CRUNCH: &str = ".claude/checkpoint-config.yaml";

/// Why a config cannot be used.
///
/// ```
/// use std::path::Path;
/// use waypost::project::{ConfigError, read_config};
///
/// let missing = read_config(Path::new("no/such/config.yaml"));
/// assert!(matches!(missing, Err(ConfigError::Unreadable { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It has something that no config has.
    #[error("in {}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What it is, and where.
        source: Error,
    },
}

/// Reads a config file.
///
/// # Errors
/// [`ConfigError`].
pub fn read_config(path: &Path) -> Result<Config, ConfigError> {
    let mut text = Vec::new();
    // One byte more than is allowed shows that a file is too long, and may never end.
    opening::read_named(path)
        .and_then(|file| file.take(Config::BYTES_MAX + 1).read_to_end(&mut text))
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    let config = Config::from_yaml_bytes(&text)
        .map_err(|source| ConfigError::Invalid { path: path.to_owned(), source })?;
    Ok(config.named(path.display().to_string()))
}

/// Returns the config of the project whose store is at `store`, and where it is, if there is one.
///
/// That is `.waypost/config.yaml`, else `.claude/checkpoint-config.yaml` beside `.waypost`. A store
/// elsewhere belongs to no project.
///
/// # Errors
/// [`ConfigError`].
pub fn config(store: &Path) -> Result<Option<(PathBuf, Config)>, ConfigError> {
    let Some(path) = find_config(store) else { return Ok(None) };
    let config = read_config(&path)?;
    Ok(Some((path, config)))
}

/// Returns where the config of a project is, as [`config`] finds it.
#[must_use]
pub fn find_config(store: &Path) -> Option<PathBuf> {
    // `store.redb` alone may stand for one in the directory of a project.
    let store = path::absolute(store).ok()?;
    let directory = store.parent().filter(|it| it.file_name().is_some_and(|it| it == DIRECTORY))?;
    let of_project = directory.parent().map(|project| project.join(CRUNCH));
    // A directory or a dangling link is an error when it is read.
    [Some(directory.join(OWN)), of_project].into_iter().flatten().find(|path| path.exists())
}

/// Whether the project has a config of its own, in `.waypost`, which may name a key.
#[must_use]
pub fn has_own_config(store: &Path) -> bool {
    find_config(store).is_some_and(|path| path.file_name().is_some_and(|name| name == OWN))
}

/// Returns where the project whose store is at `store` has the files of claude-crunch.
///
/// # Errors
/// [`ConfigError`].
pub fn location(store: &Path) -> Result<Location, ConfigError> {
    let Some((path, config)) = config(store)? else { return Ok(Location::default()) };
    let Some(text) = config.location() else { return Ok(Location::default()) };
    Location::new(text).map_err(|source| ConfigError::Invalid { path, source })
}
