//! What belongs to the store, wherever it lies: no file of a project, and never one to be replaced.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::system::{self, Identity};

/// What keeps a path from being captured or written to.
pub const IS_OWN: &str = "is the store itself";

// The store, and what it keeps beside it.
const SUFFIXES: [&str; 4] = ["", ".journal", ".lock", SPOOL];
// The one of these that is a directory.
const SPOOL: &str = ".spool";
// The end of the name of an unfinished store.
const UNFINISHED: &str = ".unfinished";

/// The files of a store.
#[derive(Debug, Default)]
pub struct Own {
    /// Under the name that was given, and under that which links lead to.
    paths: Vec<PathBuf>,
    /// Of those that are there: a file may have several names.
    identities: Vec<Identity>,
}

impl Own {
    pub fn new(store: &Path) -> io::Result<Self> {
        let named = resolve(store)?;
        let real = named.canonicalize().unwrap_or_else(|_| named.clone());
        let mut own = Self::default();
        for path in [named, real].iter().flat_map(|store| SUFFIXES.map(|end| beside(store, end))) {
            let found = fs::metadata(&path).ok();
            own.identities.extend(found.as_ref().and_then(system::identity));
            own.paths.push(path);
        }
        Ok(own)
    }

    /// Whether what has this name is part of the store. What a link leads to is not looked at.
    pub fn has(&self, path: &Path) -> bool {
        if self.is_unfinished(path) {
            return true;
        }
        let found = fs::symlink_metadata(path).ok();
        let identity = found.as_ref().and_then(system::identity);
        let is_spool = |above: &&Path| above.to_string_lossy().ends_with(SPOOL);
        if path.ancestors().skip(1).filter(is_spool).any(|above| self.has(above)) {
            return true;
        }
        identity.is_some_and(|identity| self.identities.contains(&identity))
            || (self.paths.iter().any(|own| own.file_name() == path.file_name())
                && resolve(path).is_ok_and(|path| self.paths.contains(&path)))
    }

    /// Whether it is a link that leads to part of the store: another name of it.
    pub(crate) fn is_led_to(&self, path: &Path) -> bool {
        path.is_symlink() && path.canonicalize().is_ok_and(|real| self.has(&real))
    }

    /// Whether it is an unfinished store, backup or repair beside this store.
    fn is_unfinished(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_beside = |own: &PathBuf| {
            let start = own.file_name().unwrap_or_default().as_encoded_bytes();
            name.starts_with(start) && resolve(path).is_ok_and(|it| it.parent() == own.parent())
        };
        name.ends_with(UNFINISHED.as_bytes()) && self.paths.iter().any(is_beside)
    }
}

fn beside(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The whole path of what may not be there, with links on the way to it resolved.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let Some(name) = path.file_name() else { return path.canonicalize() };
    let parent = path.parent().unwrap_or(&path);
    match parent.canonicalize() {
        Ok(parent) => Ok(parent.join(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(resolve(parent)?.join(name)),
        Err(error) => Err(error),
    }
}
