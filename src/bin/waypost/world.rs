//! The world that checkpoints are compared with: a directory, its git, its issues.
//!
//! Must never change anything, wait for anyone, or trust what a document says.

mod child;
mod files;
mod gh;
mod git;
mod issue_json;
mod sha256;
mod since;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::fs;
use std::path::{self, Path, PathBuf};

use anyhow::Result;
use waypost::recovery::{FileNow, IssueNow, Moment, Seen, World};
use waypost::{Issue, Timestamp};

use files::Bounds;
use gh::Gh;
use git::Git;
pub(crate) use git::Ignored;
use issue_json::GivenIssue;
use since::Since;

/// The world as git, gh and the file system tell it.
#[derive(Debug)]
pub(crate) struct RealWorld {
    /// The directory in which the work goes on.
    root: PathBuf,
    /// The directory that the store is for: worktrees may be named from there.
    home: Option<PathBuf>,
    git: Git,
    gh: Option<Gh>,
    given: Option<GivenIssue>,
    wanted: Option<Issue>,
    /// Asked for once: every file is held against it.
    worktree: OnceCell<PathBuf>,
    /// How many bytes of files may still be read.
    left: Cell<u64>,
    since: Since,
}

impl RealWorld {
    /// The world around `root`. The issue is as `issue_json` has it, else as `gh` tells if that
    /// may be asked.
    ///
    /// # Errors
    /// If the file cannot be read, or has no issue.
    pub(crate) fn new(root: PathBuf, issue_json: Option<&Path>, use_gh: bool) -> Result<Self> {
        let root = path::absolute(&root).unwrap_or(root);
        Ok(Self {
            git: Git::new(&root),
            gh: use_gh.then(|| Gh::new(&root)),
            given: issue_json.map(GivenIssue::read).transpose()?,
            wanted: None,
            worktree: OnceCell::new(),
            left: Cell::new(files::ALL_BYTES_MAX),
            home: None,
            since: Since::default(),
            root,
        })
    }

    /// The same, for work that is to go on with `issue`.
    pub(crate) fn wanting(self, issue: Option<Issue>) -> Self {
        Self { wanted: issue, ..self }
    }

    /// The same, for a store that is for the directory `home`.
    pub(crate) fn for_store_of(self, home: &Path) -> Self {
        Self { home: Some(home.to_owned()), ..self }
    }

    /// The same, for work that goes on in `root`.
    pub(crate) fn moved_to(self, root: PathBuf) -> Self {
        let gh = self.gh.map(|_| Gh::new(&root));
        Self { git: Git::new(&root), gh, worktree: OnceCell::new(), root, ..self }
    }

    /// The directory in which the work goes on.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The issue that was written down, if it says which it is.
    pub(crate) fn given_issue(&self) -> Option<&str> {
        self.given.as_ref().and_then(GivenIssue::number)
    }

    fn gh(&self) -> Result<&Gh, String> {
        self.gh.as_ref().ok_or_else(|| "gh is not to be asked".to_owned())
    }

    fn top(&self) -> &Path {
        self.worktree.get_or_init(|| self.git.worktree().unwrap_or_else(|| self.root.clone()))
    }

    fn bounds(&self) -> Bounds<'_> {
        // A worktree below the directory of the store may name files of that, too.
        let around = self.home.as_deref().filter(|home| self.root.starts_with(home));
        let worktree = around.filter(|home| !home.starts_with(self.top()));
        Bounds { root: &self.root, worktree: worktree.unwrap_or(self.top()), left: &self.left }
    }
}

impl World for RealWorld {
    fn has_branch(&self, name: &str) -> Seen<bool> {
        seen(self.git.has_branch(name))
    }

    fn issue(&self, issue: &str) -> Seen<IssueNow> {
        seen(match &self.given {
            Some(given) => given.of(issue),
            None => self.gh().and_then(|gh| gh.issue(issue)),
        })
    }

    fn has_directory(&self, path: &str) -> Seen<bool> {
        let home = self.home.as_deref().filter(|_| Path::new(path).is_relative());
        let all = [Some(self.root.as_path()), home].into_iter().flatten();
        let mut all = all.map(|from| files::has_directory(from, path));
        seen(all.find(|it| *it != Ok(false)).unwrap_or(Ok(false)))
    }

    fn worktree(&self) -> Seen<String> {
        let path = self.top().to_str();
        seen(
            path.map(str::to_owned).ok_or_else(|| "the name of the worktree is no text".to_owned()),
        )
    }

    fn file(&self, path: &str) -> Seen<Option<FileNow>> {
        seen(self.bounds().file(path))
    }

    fn pull_request(&self, branch: &str) -> Seen<Option<String>> {
        seen(self.gh().and_then(|gh| gh.pull_request(branch)))
    }

    fn wanted_issue(&self) -> Option<Issue> {
        self.wanted.clone()
    }

    fn branch(&self) -> Seen<Option<String>> {
        seen(self.git.branch())
    }

    fn has_file(&self, path: &str) -> Seen<bool> {
        seen(self.bounds().has_file(path))
    }

    fn has_changed(&self, path: &str, since: &Moment<'_>) -> Seen<bool> {
        let now = Timestamp::now();
        seen(self.bounds().find(path).and_then(|found| match found {
            Some((_, found)) if since::is_untouched(&found, since.time, now) => Ok(false),
            _ => self.since.has_changed(&self.git, path, since),
        }))
    }

    fn content(&self, path: &str, bytes_max: u64) -> Seen<Option<Vec<u8>>> {
        seen(self.bounds().content(path, bytes_max))
    }

    fn content_at(&self, path: &str, when: &Moment<'_>) -> Seen<Option<Vec<u8>>> {
        let found = self.bounds().find(path);
        seen(found.and_then(|_| self.since.content(&self.git, path, when)))
    }

    fn is_same_directory(&self, one: &str, other: &str) -> bool {
        let real = |from: &Path, path: &str| fs::canonicalize(from.join(path)).ok();
        let Some(other) = real(&self.root, other) else { return false };
        let all = [Some(self.root.as_path()), self.home.as_deref()].into_iter().flatten();
        all.into_iter().any(|from| real(from, one).as_ref() == Some(&other))
    }
}

/// The worktree that a directory lies in, if git knows one.
pub(crate) fn worktree_around(directory: &Path) -> Option<PathBuf> {
    Git::new(directory).worktree()
}

/// Whether git would commit a file.
pub(crate) fn ignored(file: &Path) -> Ignored {
    let Some(directory) = file.parent() else { return Ignored::NoRepository };
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
        return Ignored::Unknown("its name is no text".to_owned());
    };
    Git::new(directory).ignored(name).unwrap_or_else(Ignored::Unknown)
}

fn seen<T>(answer: Result<T, String>) -> Seen<T> {
    match answer {
        Ok(answer) => Seen::Known(answer),
        Err(reason) => Seen::Unknown(reason),
    }
}
