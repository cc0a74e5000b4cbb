//! Paths of files as the store knows them: from the directory that the store is for.
//!
//! So they are the same however the import was asked for, and an export to that directory puts
//! files where they were.

use std::path::{Component, Path, PathBuf};

/// What paths start from.
#[derive(Debug, Clone)]
pub(in crate::command) struct Base {
    /// The directory that the store is for.
    home: Option<PathBuf>,
}

impl Base {
    /// For the store at `store`.
    pub(in crate::command) fn new(store: &Path) -> Self {
        Self { home: waypost::project::home(store) }
    }

    /// The directory that the store is for, links resolved.
    pub(in crate::command) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The path of `root`, which is absolute, with `/`; of what lies elsewhere all of it, so that
    /// it does not depend on what else is imported.
    pub(super) fn place(&self, root: &Path) -> String {
        let below = self.home.as_ref().and_then(|home| root.strip_prefix(home).ok());
        let name = |part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        };
        let names: Vec<&str> = below.unwrap_or(root).components().filter_map(name).collect();
        names.join("/")
    }
}

/// `directory/name`, without a slash if there is no directory.
pub(in crate::command) fn join(directory: &str, name: &str) -> String {
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
            assert_eq!(Base::new(Path::new(store)).place(Path::new(root)), place, "{root}");
        }
    }

    /// The home of `--store all.redb` was unknown, and whole paths were kept.
    #[test]
    fn a_store_that_is_named_without_a_directory_is_for_this_one() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let base = Base::new(Path::new("all.redb"));
        assert_eq!(base.home(), Some(here.as_path()));
        assert_eq!(base.place(&here.join("a/b")), "a/b");
    }
}
