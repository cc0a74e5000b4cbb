//! Paths of files as the store knows them: from the directory that the store is for.
//!
//! So they are the same however the import was asked for, and an export to that directory puts
//! files where they were.

use std::path::{Component, Path, PathBuf};

/// Directories of the systems, and what is below them if that is theirs alone.
const ANCHORS: [(&str, &[&str]); 5] = [
    (".claude", &["crunch", "checkpoints", "data"]),
    (".aiwg", &[]),
    (".hex-skills", &[]),
    (".pipeline", &[]),
    (".tmp", &[]),
];
const WORKTREES: &str = ".worktrees";

/// What paths start from.
#[derive(Debug, Clone)]
pub(super) struct Base {
    /// The directory that the store is for.
    home: Option<PathBuf>,
    /// Above all that lies elsewhere.
    elsewhere: PathBuf,
}

impl Base {
    /// For roots, which are absolute, and the store at `store`.
    pub(super) fn new(store: &Path, roots: &[PathBuf]) -> Self {
        let directory = store.parent().unwrap_or(store);
        // `.waypost/store.redb` is for the project that it lies in.
        let is_own = directory.file_name().is_some_and(|name| name == ".waypost");
        let home = if is_own { directory.parent() } else { Some(directory) };
        let home = home.and_then(|home| std::path::absolute(home).ok());
        let home = home.map(|home| home.canonicalize().unwrap_or(home));
        let is_elsewhere =
            |root: &&PathBuf| !home.as_ref().is_some_and(|home| root.starts_with(home));
        let mut projects = roots.iter().filter(is_elsewhere).map(|root| project(root));
        let first = projects.next().unwrap_or_default();
        let elsewhere = projects.fold(first, |above, project| common(&above, &project));
        Self { home, elsewhere }
    }

    /// The path of `root`, which is absolute, with `/`.
    pub(super) fn place(&self, root: &Path) -> String {
        let home = self.home.as_ref().and_then(|home| root.strip_prefix(home).ok());
        let place = home.or_else(|| root.strip_prefix(&self.elsewhere).ok()).unwrap_or(root);
        names(place).join("/")
    }
}

/// The project that a root is, or lies in if it is within a directory of a system.
///
/// `import project/.claude/crunch/42` must know the same files as `import project`.
fn project(root: &Path) -> PathBuf {
    let is_within = |at: &&Path| {
        let below = root.strip_prefix(at).map(names).unwrap_or_default();
        is_anchor(&below)
    };
    let mut directories: Vec<&Path> = root.ancestors().collect();
    directories.reverse();
    let found = directories.iter().copied().find(|at| is_within(at)).unwrap_or(root);
    match found.parent().map(|above| (above, above.file_name())) {
        Some((above, Some(name))) if name == WORKTREES => {
            above.parent().unwrap_or(above).to_owned()
        }
        _ => found.to_owned(),
    }
}

fn common(a: &Path, b: &Path) -> PathBuf {
    let pairs = a.components().zip(b.components());
    pairs.take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}

fn names(path: &Path) -> Vec<&str> {
    let name = |part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

fn is_anchor(parts: &[&str]) -> bool {
    let [name, rest @ ..] = parts else { return false };
    ANCHORS.into_iter().any(|(anchor, below)| {
        // Other tools have such a directory, too, but nothing that deep in it.
        let is_near = |next: &&str| below.contains(next) || (below.is_empty() && rest.len() < 8);
        anchor == *name && rest.first().is_none_or(is_near)
    })
}

/// `directory/name`, without a slash if there is no directory.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(store: &str, roots: &[&str]) -> Vec<String> {
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        let base = Base::new(Path::new(store), &roots);
        roots.iter().map(|root| base.place(root)).collect()
    }

    #[test]
    fn what_is_below_the_directory_of_the_store_is_named_from_there() {
        let own = "/p/.waypost/store.redb";
        for (root, place) in [
            ("/p", ""),
            ("/p/.claude/crunch/42", ".claude/crunch/42"),
            ("/p/.worktrees/a", ".worktrees/a"),
            ("/p/shop", "shop"),
        ] {
            assert_eq!(places(own, &[root]), [place], "{root}");
        }
        assert_eq!(places("/all/store.redb", &["/all/a", "/all/b/.aiwg"]), ["a", "b/.aiwg"]);
    }

    #[test]
    fn what_is_elsewhere_is_named_from_its_project_or_above_all_of_them() {
        let store = "/s/.waypost/store.redb";
        for (root, place) in [
            ("/home/a/project", ""),
            ("/home/a/project/.claude", ".claude"),
            ("/home/a/project/.claude/crunch/42/checkpoints", ".claude/crunch/42/checkpoints"),
            ("/home/a/.claude/projects/b", ""),
            ("/p/.worktrees/story-1/.pipeline", ".worktrees/story-1/.pipeline"),
            ("/p/.pipeline", ".pipeline"),
        ] {
            assert_eq!(places(store, &[root]), [place], "{root}");
        }
        assert_eq!(places(store, &["/h/a", "/h/b/.claude"]), ["a", "b/.claude"]);
        assert_eq!(places(store, &["/h/a/.tmp", "/h/a/.pipeline"]), [".tmp", ".pipeline"]);
        assert_eq!(places(store, &["/h/a", "/h/a/b"]), ["", "b"]);
    }
}
