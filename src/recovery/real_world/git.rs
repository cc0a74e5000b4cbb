//! Branches, ignored files and the worktree, by git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::child::{self, Output};

pub(super) const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";

/// Whether git ignores a file.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::{Ignored, ignored};
///
/// # let dir = tempfile::tempdir().unwrap();
/// match ignored(&dir.path().join("store.redb")) {
///     Ignored::Yes | Ignored::NoRepository => show(format!("git leaves the store alone")),
///     Ignored::No | Ignored::Tracked => show(format!("the store may be committed by mistake")),
///     Ignored::Unknown(reason) => show(format!("{reason}")),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// It is ignored.
    Yes,
    /// The next `git add` of its directory takes it.
    No,
    /// It is in the index, so ignoring has no effect.
    Tracked,
    /// The file lies in no repository.
    NoRepository,
    /// Why this is unknown.
    Unknown(String),
}

/// git, as started for one directory.
#[derive(Debug, Clone)]
pub(super) struct Git {
    pub(super) program: OsString,
    root: PathBuf,
    /// Variables that it does not inherit.
    hidden: Vec<String>,
    patience: Duration,
}

impl Git {
    pub(super) fn new(root: &Path, hidden: &[String]) -> Self {
        let (root, hidden) = (root.to_owned(), hidden.to_owned());
        Self { program: "git".into(), root, hidden, patience: child::PATIENCE }
    }

    /// The same, started for another directory.
    pub(super) fn at(&self, root: PathBuf) -> Self {
        Self { root, ..self.clone() }
    }

    /// Whether there is a branch, local or remote-tracking: if a pushed branch was deleted here,
    /// `git switch` brings it back.
    pub(super) fn has_branch(&self, name: &str) -> Result<bool, String> {
        let name = name.strip_prefix(HEADS).unwrap_or(name);
        if name == "HEAD" {
            return Err("HEAD is the name of no branch".to_owned());
        }
        if !can_name_a_branch(name) {
            return Err("git has no branches of such a name".to_owned());
        }
        // A branch without a commit exists only in HEAD.
        Ok(self.has_ref(name)? || self.branch()?.as_deref() == Some(name))
    }

    fn has_ref(&self, name: &str) -> Result<bool, String> {
        let here = format!("{HEADS}{name}");
        // Some documents write `origin/main`. A name without a slash could be that of a remote.
        let written_with_remote = name.contains('/').then(|| format!("{REMOTES}{name}"));
        let of_any_remote = format!("{REMOTES}*/{name}");
        let patterns = [Some(here), written_with_remote, Some(of_any_remote)];
        // Patterns start with `refs/`, so git reads none as an option; they also match whole
        // directories.
        let arguments = ["for-each-ref".to_owned(), "--format=%(refname)".to_owned()];
        let arguments: Vec<String> =
            arguments.into_iter().chain(patterns.into_iter().flatten()).collect();
        let found = self.run(&arguments)?.text("git")?;
        Ok(found.lines().any(|line| is_of(line, name)))
    }

    /// The branch that is checked out; `None` if it is a commit.
    pub(super) fn branch(&self) -> Result<Option<String>, String> {
        let answer = self.run(&["symbolic-ref", "--quiet", "HEAD"])?;
        if answer.status.code() == Some(1) {
            return Ok(None);
        }
        let name = answer.text("git")?;
        Ok(name.trim_end().strip_prefix(HEADS).map(str::to_owned))
    }

    /// The directory of the worktree; `None` if there is none or it is unknown.
    pub(super) fn worktree(&self) -> Option<PathBuf> {
        let path = self.run(&["rev-parse", "--show-toplevel"]).ok()?.text("git").ok()?;
        let path = path.strip_suffix('\n').unwrap_or(&path);
        Some(PathBuf::from(path)).filter(|path| path.is_absolute())
    }

    /// Whether git ignores a file of the directory.
    pub(super) fn ignored(&self, name: &str) -> Result<Ignored, String> {
        let listed =
            self.run(&["--literal-pathspecs", "ls-files", "--error-unmatch", "--", name])?;
        if listed.status.success() {
            return Ok(Ignored::Tracked);
        }
        let answer = self.run(&["check-ignore", "--quiet", "--", name])?;
        match answer.status.code() {
            Some(0) => Ok(Ignored::Yes),
            Some(1) => Ok(Ignored::No),
            _ if !self.has_repository() => Ok(Ignored::NoRepository),
            _ => Err(answer.complaint("git")),
        }
    }

    /// Whether the directory is in a repository, by its files: the exit code of git does not
    /// distinguish this failure from others.
    fn has_repository(&self) -> bool {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        root.ancestors().any(|above| above.join(".git").exists())
    }

    pub(super) fn run(&self, arguments: &[impl AsRef<str>]) -> Result<Output, String> {
        let mut command = child::command(&self.program, &self.hidden);
        command.arg("-C").arg(&self.root).args(arguments.iter().map(AsRef::as_ref));
        child::run("git", &mut command, self.patience)
    }
}

/// Whether the full name of a ref is that of a branch, here or in a remote.
fn is_of(full: &str, name: &str) -> bool {
    let in_remote = |rest: &str| {
        rest == name || rest.split_once('/').is_some_and(|(_remote, branch)| branch == name)
    };
    full.strip_prefix(HEADS) == Some(name) || full.strip_prefix(REMOTES).is_some_and(in_remote)
}

/// The rules of `git check-ref-format`, as far as they keep a name from being a pattern or a path.
pub(super) fn can_name_a_branch(name: &str) -> bool {
    let is_odd = |it: char| it.is_ascii_control() || " ~^:?*[\\".contains(it);
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    !name.contains(is_odd)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_paths_and_revisions_name_no_branch() {
        for name in ["main", "feature/x-1", "-d", "--all", "a.b", "@", "\u{e9}"] {
            assert!(can_name_a_branch(name), "{name}");
        }
        let odd = ["", "a b", "a*", "a?", "[a]", "a~1", "a^", "a:b", "a\\b", "a\nb", "a\0b"];
        let paths = ["../a", "a/../b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a@{1}"];
        for name in odd.into_iter().chain(paths) {
            assert!(!can_name_a_branch(name), "{name:?}");
        }
    }

    #[test]
    fn a_ref_is_of_a_branch_only_by_all_of_its_name() {
        assert!(is_of("refs/heads/a/b", "a/b"));
        assert!(is_of("refs/remotes/origin/a/b", "a/b"));
        assert!(is_of("refs/remotes/origin/a", "origin/a"));
        assert!(!is_of("refs/heads/a/b", "a"));
        assert!(!is_of("refs/heads/a/b", "b"));
        assert!(!is_of("refs/remotes/origin/a/b", "b"));
        assert!(!is_of("refs/tags/a", "a"));
    }
}
