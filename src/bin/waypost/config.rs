//! The config of the project, for commands that may make its store.

use std::path::Path;

use anyhow::Result;
use waypost::layouts::crunch::Location;
use waypost::project;

/// The directory of claude-crunch files in the project of the store at `store`.
pub(crate) fn location(store: &Path) -> Result<Location> {
    project::location(store).map_err(|error| told_before_making(store, error.into()))
}

/// Adds to `error` that no store is made, if there is none yet.
pub(crate) fn told_before_making(store: &Path, error: anyhow::Error) -> anyhow::Error {
    if keeps_from_making(store) {
        return error.context("no store is made: its config may name a key");
    }
    error
}

/// True if an unreadable config prevents the store from being made.
///
/// The config may name a key, and plain text of the first save could not be taken back.
pub(crate) fn keeps_from_making(store: &Path) -> bool {
    project::has_own_config(store) && !store.exists()
}
