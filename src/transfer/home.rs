//! The directory that the paths of a store start from.
//!
//! Every stored path is relative to it. So a file has one path however it was named, and an export
//! to that directory writes each file back to its place.

use std::path::{self, Component, Path, PathBuf};

/// A store in a directory of this name is for the directory above.
const OWN_DIRECTORY: &str = ".waypost";

/// The directory that a store is for.
///
/// ```
/// use std::path::Path;
/// use waypost::transfer::home::Home;
///
/// let home = Home::of(Path::new("/project/.waypost/store.redb"));
/// assert_eq!(home.path(), Some(Path::new("/project")));
/// assert_eq!(home.place(Path::new("/project/.aiwg/a.json")), ".aiwg/a.json");
/// assert_eq!(home.place(Path::new("/elsewhere/a.json")), "elsewhere/a.json");
/// ```
#[derive(Debug, Clone)]
pub struct Home {
    path: Option<PathBuf>,
}

/// Why a file has no path below the directory that a store is for.
///
/// ```
/// use std::path::Path;
/// use waypost::transfer::home::{Home, Outside};
///
/// let home = Home::of(Path::new("/project/.waypost/store.redb"));
/// assert_eq!(home.below(Path::new("/etc/passwd")), Err(Outside::Elsewhere));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// The file is not below that directory.
    Elsewhere,
    /// A part of the path is not UTF-8.
    NotUtf8,
}

impl Home {
    /// The directory that the store at `store` is for: the one above `.waypost`, else the one that
    /// the store is in. The store itself need not exist.
    #[must_use]
    pub fn of(store: &Path) -> Self {
        Self { path: find(store) }
    }

    /// The directory, with links resolved. `None` if a relative path names the store and the
    /// current directory is unknown.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The path from here to `path`, which must be absolute and without links, with `/` between its
    /// parts.
    ///
    /// # Errors
    /// [`Outside`] if there is none.
    pub fn below(&self, path: &Path) -> Result<String, Outside> {
        let below = self.path.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let mut place = String::new();
        for part in below.ok_or(Outside::Elsewhere)?.components() {
            let Component::Normal(name) = part else { return Err(Outside::Elsewhere) };
            place = join(&place, name.to_str().ok_or(Outside::NotUtf8)?);
        }
        Ok(place)
    }

    /// As [`below`](Self::below). A path that lies elsewhere keeps all of its parts, so that it
    /// does not depend on what else is imported.
    #[must_use]
    pub fn place(&self, path: &Path) -> String {
        self.below(path).unwrap_or_else(|_| {
            let name = |part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            };
            path.components().filter_map(name).fold(String::new(), |place, it| join(&place, it))
        })
    }
}

fn find(store: &Path) -> Option<PathBuf> {
    // `store.redb` alone has no directory in its name.
    let store = path::absolute(store).ok()?;
    let directory = store.parent().unwrap_or(&store);
    let is_own = directory.file_name().is_some_and(|name| name == OWN_DIRECTORY);
    let home = if is_own { directory.parent()? } else { directory };
    Some(home.canonicalize().unwrap_or_else(|_| home.to_owned()))
}

/// `directory/name`, without a slash if `directory` is empty.
#[must_use]
pub fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_whatever_else_is_imported() {
        for (store, root, place) in [
            ("/p/.waypost/store.redb", "/p", ""),
            ("/p/.waypost/store.redb", "/p/.claude/crunch/42", ".claude/crunch/42"),
            ("/p/.waypost/store.redb", "/p/shop", "shop"),
            ("/all/store.redb", "/all/b/.aiwg", "b/.aiwg"),
            ("/all/store.redb", "/other/b", "other/b"),
        ] {
            assert_eq!(Home::of(Path::new(store)).place(Path::new(root)), place, "{root}");
        }
    }

    /// The home of `--store all.redb` was unknown, and whole paths were kept.
    #[test]
    fn a_store_that_is_named_without_a_directory_is_for_this_one() {
        let here = Path::new(".").canonicalize().unwrap();
        let home = Home::of(Path::new("all.redb"));
        assert_eq!(home.path(), Some(here.as_path()));
        assert_eq!(home.place(&here.join("a/b")), "a/b");
    }
}
