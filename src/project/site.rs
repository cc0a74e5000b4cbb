//! Where a new store goes: checked before anything is made, and taken back if that fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::store_of;
use crate::transfer::private;

/// A directory and its store, which need not exist.
///
/// ```
/// use waypost::Store;
/// use waypost::project::Site;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let site = Site::of(dir.path(), None)?;
/// assert!(site.is_new());
/// let made = site.prepare()?;
/// match Store::open(site.store()) {
///     Ok(store) => store.close()?,
///     Err(_) => made.take_back(),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Site {
    directory: PathBuf,
    store: PathBuf,
    /// The store was named, so its directory is not ours to make.
    is_named: bool,
    is_new: bool,
}

/// Why no store can be made in a directory.
///
/// ```
/// use std::path::Path;
/// assert!(waypost::project::Site::of(Path::new("no/such/directory"), None).is_err());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("no store can be made in {}: {reason}", path.display())]
#[non_exhaustive]
pub struct NoPlace {
    /// The directory.
    pub path: PathBuf,
    /// Why not.
    pub reason: String,
}

impl NoPlace {
    /// Names the directory and the reason.
    #[must_use]
    pub fn new(path: &Path, reason: &str) -> Self {
        Self { path: path.to_owned(), reason: reason.to_owned() }
    }
}

/// What [`Site::prepare`] made.
///
/// See [`Site`] for an example.
#[derive(Debug)]
#[must_use = "what a failed attempt made is taken back"]
pub struct Prepared(Option<PathBuf>);

impl Site {
    /// The store of the project in `directory`, or the one at `store` if one is named.
    ///
    /// # Errors
    /// [`NoPlace`] if it is not a directory.
    pub fn of(directory: &Path, store: Option<&Path>) -> Result<Self, NoPlace> {
        let refused = |reason: &str| NoPlace::new(directory, reason);
        let real = match fs::canonicalize(directory) {
            Ok(found) if found.is_dir() => found,
            Ok(_) => return Err(refused("it is not a directory")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused("it is not there"));
            }
            Err(error) => return Err(refused(&error.to_string())),
        };
        let is_named = store.is_some();
        let store = store.map_or_else(|| store_of(&real), Path::to_owned);
        let own = store.parent().filter(|_| !is_named);
        if own.is_some_and(|own| fs::metadata(own).is_ok_and(|found| !found.is_dir())) {
            return Err(refused("its .waypost is not a directory"));
        }
        Ok(Self { is_new: !store.exists(), directory: real, store, is_named })
    }

    /// Returns the directory, with links resolved.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the path of the store.
    #[must_use]
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Whether there was no store yet.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Makes the directory of a new store, and keeps git from it.
    ///
    /// # Errors
    /// [`NoPlace`] if the system refuses.
    pub fn prepare(&self) -> Result<Prepared, NoPlace> {
        let Some(own) = self.store.parent().filter(|_| !self.is_named) else {
            return Ok(Prepared(None));
        };
        let is_made = !own.exists();
        if self.is_new {
            let refused = |error: io::Error| NoPlace::new(&self.directory, &error.to_string());
            private::own_directory(own).map_err(refused)?;
        }
        Ok(Prepared(is_made.then(|| own.to_owned())))
    }

    /// Returns the store of the nearest directory above that has one, which no longer counts here.
    #[must_use]
    pub fn above(&self) -> Option<PathBuf> {
        let above = self.directory.ancestors().skip(1).filter(|_| !self.is_named);
        above.map(store_of).find(|path| path.exists())
    }
}

impl Prepared {
    /// Removes the directory that was made, with the files of a failed attempt.
    pub fn take_back(self) {
        let Some(own) = self.0 else { return };
        for name in [".gitignore", "store.redb.lock"] {
            let _ = fs::remove_file(own.join(name));
        }
        let _ = fs::remove_dir(own);
    }
}
