//! The config of the project, for commands that may make its store.

use std::path::Path;

use anyhow::Result;
use waypost::layouts::crunch::Location;
use waypost::project;

/// Where the project whose store is at `store` has the files of claude-crunch.
pub(crate) fn location(store: &Path) -> Result<Location> {
    project::location(store).map_err(|error| told_before_making(store, error.into()))
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
/// A store that should have been encrypted from its first save cannot be mended later.
pub(crate) fn keeps_from_making(store: &Path) -> bool {
    project::has_own_config(store) && !store.exists()
}
