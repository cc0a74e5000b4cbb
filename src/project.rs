//! The project around a store: where its store and its config are, and which policy is in force.
//!
//! A project keeps its store in `.waypost/store.redb` and its config beside it, or in the file that
//! claude-crunch has. Looks only at the paths that it is given; it never asks for the current
//! directory or the environment.
//!
//! ```
//! use waypost::project;
//! use waypost::Store;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let here = dir.path();
//! let path = project::store_for(here);
//! assert!(path.ends_with(".waypost/store.redb"));
//! std::fs::create_dir(project::directory_of(here))?;
//! let store = Store::open(&path)?;
//! assert!(project::policy_in_force(&store)?.is_none());
//! # Ok(())
//! # }
//! ```

mod config;
#[cfg(feature = "world")]
mod ignoring;
mod policy;
mod site;
mod suggest;

use std::path::{Path, PathBuf};

use crate::transfer::home::Home;

pub use config::{ConfigError, config, find_config, has_own_config, location, read_config};
#[cfg(feature = "world")]
pub use ignoring::ignore_command;
pub use policy::{
    Chosen, Named, PolicyError, PolicySource, named_policy, policy_in_force, required_policy,
};
pub use site::{NoPlace, Prepared, Site};
pub use suggest::{Suggestion, suggest};

const DIRECTORY: &str = ".waypost";
const FILE: &str = "store.redb";

/// Returns the directory of a project in which its store lies.
#[must_use]
pub fn directory_of(project: &Path) -> PathBuf {
    project.join(DIRECTORY)
}

/// Returns where the store of a project is, if it has one.
#[must_use]
pub fn store_of(project: &Path) -> PathBuf {
    directory_of(project).join(FILE)
}

/// Returns the store that counts in a directory: its own or that of the nearest directory above
/// that has one, else where one would be made, at the [`root`] of the project.
#[must_use]
pub fn store_for(directory: &Path) -> PathBuf {
    let found = directory.ancestors().map(store_of).find(|path| path.exists());
    found.unwrap_or_else(|| store_of(root(directory)))
}

/// Returns the root of the git repository around a directory, else the directory itself.
///
/// A worktree and a submodule have a file called `.git`, and are roots of their own.
#[must_use]
pub fn root(directory: &Path) -> &Path {
    directory.ancestors().find(|above| above.join(".git").exists()).unwrap_or(directory)
}

/// Returns the directory that a store is for, with links resolved: the one above `.waypost`, else
/// the one that the store is in. `None` if a relative path names the store and the current
/// directory is unknown.
#[must_use]
pub fn home(store: &Path) -> Option<PathBuf> {
    Home::of(store).path().map(Path::to_owned)
}
