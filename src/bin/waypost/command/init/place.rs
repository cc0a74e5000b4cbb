//! Where the new store goes: checked before anything is made, and taken back if that fails.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::Store;

use crate::args::Global;
use crate::exit::Refusal;
use crate::open;

/// A directory and its store.
#[derive(Debug)]
pub(super) struct Place {
    /// Links resolved.
    pub(super) directory: PathBuf,
    pub(super) store: PathBuf,
    /// Whether the store was named, and its directory is not ours to make.
    is_named: bool,
    pub(super) is_new: bool,
}

impl Place {
    /// Of the directory that was given; of a store that was named without one, where it lies; else
    /// of the project around the current directory.
    pub(super) fn of(directory: Option<&Path>, global: &Global) -> Result<Self> {
        let here = match (directory, global.store()) {
            (Some(directory), _) => directory.to_owned(),
            (None, Some(store)) => open::home(store).unwrap_or_else(|| ".".into()),
            (None, None) => own_project()?,
        };
        let refused = |reason: &str| Refusal::NoPlace { path: here.clone(), reason: reason.into() };
        let directory = match fs::canonicalize(&here) {
            Ok(found) if found.is_dir() => found,
            Ok(_) => return Err(refused("it is not a directory").into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused("it is not there").into());
            }
            Err(error) => return Err(refused(&error.to_string()).into()),
        };
        let is_named = global.store().is_some();
        let store = match global.store() {
            Some(path) => path.to_owned(),
            None => open::of_directory(&directory),
        };
        let own = store.parent().filter(|_| !is_named);
        if own.is_some_and(|own| fs::metadata(own).is_ok_and(|found| !found.is_dir())) {
            return Err(refused("its .waypost is not a directory").into());
        }
        Ok(Self { is_new: !store.exists(), directory, store, is_named })
    }

    /// Makes the store, or opens the one that is there.
    pub(super) fn open(&self, global: &Global) -> Result<Store> {
        let own = self.store.parent().filter(|_| !self.is_named);
        let is_made = own.is_some_and(|own| !own.exists());
        if let Some(own) = own.filter(|_| self.is_new) {
            self.prepare(own)?;
        }
        open::make(&self.store, global, "init").inspect_err(|_| {
            if let Some(own) = own.filter(|_| is_made) {
                take_back(own);
            }
        })
    }

    /// Makes the directory of the store, and keeps git from it.
    fn prepare(&self, own: &Path) -> Result<()> {
        open::create_directory(own).map_err(|error| {
            let reason = error.root_cause().to_string();
            Refusal::NoPlace { path: self.directory.clone(), reason }.into()
        })
    }

    /// The store of the nearest directory above that has one.
    pub(super) fn above(&self) -> Option<PathBuf> {
        let above = self.directory.ancestors().skip(1).filter(|_| !self.is_named);
        above.map(open::of_directory).find(|path| path.exists())
    }
}

/// The directory of the project around the current one: that of its store, else its root.
fn own_project() -> Result<PathBuf> {
    let here = env::current_dir().context("cannot tell the current directory")?;
    if open::of_directory(&here).exists() {
        return Ok(here);
    }
    Ok(open::project(&here).to_owned())
}

/// Removes a directory with what a failed attempt put into it; nothing else was ever there.
fn take_back(own: &Path) {
    for name in [".gitignore", "store.redb.lock"] {
        let _ = fs::remove_file(own.join(name));
    }
    let _ = fs::remove_dir(own);
}
