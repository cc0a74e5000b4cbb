//! Which files belong to the store itself, so that they are neither captured nor replaced.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::system::{self, Identity};

/// The reason not to capture a path or write to it.
pub const IS_OWN: &str = "is the store itself";

// The ends of names: the store, and the files beside it.
const SUFFIXES: [&str; 4] = ["", ".journal", ".lock", SPOOL];
// The only directory among them.
const SPOOL: &str = ".spool";
// The end of the name of an unfinished store.
const UNFINISHED: &str = ".unfinished";

/// The files of a store.
///
/// ```
/// use waypost::transfer::own::Own;
///
/// # fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let own = Own::new(&dir.path().join("store.redb"))?;
/// assert!(own.has(&dir.path().join("store.redb.journal")));
/// assert!(!own.has(&dir.path().join("notes")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Own {
    /// By the path that was given, and by the one that links in it lead to.
    paths: Vec<PathBuf>,
    /// The identities of those that exist, since a file may have several names.
    identities: Vec<Identity>,
}

impl Own {
    /// Finds the files of the store at this path, which need not be there.
    ///
    /// # Errors
    /// Those of the system, from resolving links in the path.
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

    /// Returns whether a path is that of a file of the store. Does not follow a link at its end.
    #[must_use]
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

    /// Returns whether a path is a link to a file of the store.
    pub(crate) fn is_led_to(&self, path: &Path) -> bool {
        path.is_symlink() && path.canonicalize().is_ok_and(|real| self.has(&real))
    }

    /// Returns whether a path is that of an unfinished store, backup or repair beside this store.
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

/// Returns the absolute path of a file that may not exist, with links in its directory resolved.
///
/// # Errors
/// Those of the system.
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
