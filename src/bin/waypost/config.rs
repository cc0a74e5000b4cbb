//! The config of the project that a store belongs to.

use std::io::Read as _;
use std::path::{self, Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::layouts::crunch::Location;
use waypost::{Config, opening};

use crate::exit::Refusal;

const OWN: &str = "config.yaml";
const DIRECTORY: &str = ".waypost";
/// What the crunch system has beside it.
const CRUNCH: &str = ".claude/checkpoint-config.yaml";

/// Reads a config file.
pub(crate) fn read(path: &Path) -> Result<Config> {
    let mut text = Vec::new();
    // What is longer is refused; a file that never ends must not fill the memory first.
    opening::read_named(path)
        .and_then(|file| file.take(Config::BYTES_MAX + 1).read_to_end(&mut text))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let config = Config::from_yaml_bytes(&text)
        .map_err(|source| Refusal::Config { path: path.to_owned(), source })?;
    Ok(config.named(path.display().to_string()))
}

/// The config of the project whose store is at `store`, if there is one, and where it is.
///
/// That is `.waypost/config.yaml`, else `.claude/checkpoint-config.yaml` beside `.waypost`. A store
/// elsewhere belongs to no project.
pub(crate) fn of_project(store: &Path) -> Result<Option<(PathBuf, Config)>> {
    let Some(path) = find(store) else { return Ok(None) };
    let config = read(&path)?;
    Ok(Some((path, config)))
}

/// Where the project whose store is at `store` has the files of claude-crunch.
pub(crate) fn location(store: &Path) -> Result<Location> {
    let found = of_project(store).map_err(|error| told_before_making(store, error))?;
    let Some((path, config)) = found else { return Ok(Location::default()) };
    let Some(text) = config.location() else { return Ok(Location::default()) };
    Ok(Location::new(text).map_err(|source| Refusal::Config { path, source })?)
}

/// `error` with what it means if the store is still to be made.
pub(crate) fn told_before_making(store: &Path, error: anyhow::Error) -> anyhow::Error {
    if keeps_from_making(store) {
        return error.context("no store is made: its config may name a key");
    }
    error
}

/// Whether a config that cannot be read keeps the store from being made.
///
/// One that should have been encrypted cannot be made good again later.
pub(crate) fn keeps_from_making(store: &Path) -> bool {
    find(store).is_some_and(|path| path.ends_with(OWN)) && !store.exists()
}

/// Where the config of a project is, if it has one.
pub(crate) fn find(store: &Path) -> Option<PathBuf> {
    // `store.redb` alone may stand for one in the directory of a project.
    let store = path::absolute(store).ok()?;
    let directory = store.parent().filter(|it| it.file_name().is_some_and(|it| it == DIRECTORY))?;
    let of_project = directory.parent().map(|project| project.join(CRUNCH));
    // Whatever is there and is no file says so when it is read.
    [Some(directory.join(OWN)), of_project].into_iter().flatten().find(|path| path.exists())
}
