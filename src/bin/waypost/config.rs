//! The config of the project that a store belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::Config;

const OWN: &str = "config.yaml";
const DIRECTORY: &str = ".waypost";
/// What the crunch system has beside it.
const CRUNCH: &str = ".claude/checkpoint-config.yaml";

/// Reads a config file.
pub(crate) fn read(path: &Path) -> Result<Config> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let config = Config::from_yaml(&text).with_context(|| format!("in {}", path.display()))?;
    Ok(config.named(path.display().to_string()))
}

/// The config of the project whose store is at `store`, if there is one.
///
/// That is `.waypost/config.yaml`, else `.claude/checkpoint-config.yaml` beside `.waypost`. A store
/// elsewhere belongs to no project.
pub(crate) fn of_project(store: &Path) -> Result<Option<(PathBuf, Config)>> {
    let Some(path) = path(store) else { return Ok(None) };
    let config = read(&path)?;
    Ok(Some((path, config)))
}

/// Where the config of a project is, if it has one.
pub(crate) fn path(store: &Path) -> Option<PathBuf> {
    let directory = store.parent().filter(|it| it.file_name().is_some_and(|it| it == DIRECTORY))?;
    let of_project = directory.parent().map(|project| project.join(CRUNCH));
    [Some(directory.join(OWN)), of_project].into_iter().flatten().find(|path| path.is_file())
}
