//! The real world: a directory, its git repository, its issues.
//!
//! Must never change anything, prompt the user, or trust a path or name of a document. Reads no
//! variable of the environment itself; git and gh inherit it, except for keys.

mod child;
mod files;
mod gh;
mod git;
mod issue_json;
mod settled;
mod since;
mod surroundings;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::fs;
use std::path::{self, Path, PathBuf};

use self::files::Bounds;
use self::gh::Gh;
use self::git::Git;
pub use self::git::Ignored;
use self::issue_json::GivenIssue;
use self::since::Since;
pub use self::surroundings::{IssueJson, Surroundings};
use super::{Answer, FileNow, IssueNow, Moment, Offer, World};
use crate::checkpoint::Issue;
use crate::error::Result;

/// The world by git, gh and the file system.
///
/// Runs `git` and `gh` by name, ends them after ten seconds, and keeps them from prompting. Reads
/// files below the directory of the work only, at most 4 GiB of them, and asks git about at most
/// 200: make a world for each resume.
///
/// ```
/// use waypost::recovery::{RealWorld, Answer, Surroundings, World as _};
///
/// # fn main() -> waypost::Result<()> {
/// # let project = tempfile::tempdir().unwrap();
/// # std::fs::create_dir(project.path().join("src")).unwrap();
/// let world = RealWorld::new(Surroundings {
///     home: project.path().to_owned(),
///     use_gh: false,
///     ..Surroundings::default()
/// })?;
/// assert_eq!(world.has_directory("src"), Answer::Known(true));
/// assert_eq!(world.has_file("src/main.rs"), Answer::Known(false));
/// assert!(matches!(world.has_file("/etc/passwd"), Answer::Unknown(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RealWorld {
    around: Surroundings,
    /// The directory in which the work goes on.
    root: PathBuf,
    git: Git,
    gh: Option<Gh>,
    given: Option<GivenIssue>,
    /// Cached: every file is compared with it.
    worktree: OnceCell<PathBuf>,
    /// How many bytes of files may still be read.
    left: Cell<u64>,
    since: Since,
}

impl RealWorld {
    /// The variable that the `waypost` command takes a key from. Neither git nor gh inherits it.
    pub const KEY_VARIABLE: &str = child::KEY_VARIABLE;

    /// Makes the world around a directory.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file with the issue cannot be read,
    /// [`Error::Invalid`](crate::Error::Invalid) if it describes no issue.
    pub fn new(mut around: Surroundings) -> Result<Self> {
        let root = absolute(around.worktree.as_ref().unwrap_or(&around.home));
        around.home = fs::canonicalize(&around.home).unwrap_or_else(|_| absolute(&around.home));
        let hidden = &around.hidden_variables;
        Ok(Self {
            git: Git::new(&root, hidden),
            gh: around.use_gh.then(|| Gh::new(&root, hidden)),
            given: around.issue_json.as_ref().map(GivenIssue::of_source).transpose()?,
            worktree: OnceCell::new(),
            left: Cell::new(files::ALL_BYTES_MAX),
            since: Since::default(),
            around,
            root,
        })
    }

    /// Returns the directory in which the work goes on.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The issue that [`Surroundings::issue_json`] describes, if it says which it is.
    fn given_issue(&self) -> Option<Issue> {
        let number = self.given.as_ref().and_then(GivenIssue::number)?;
        Issue::new(number).ok()
    }

    fn gh(&self) -> Result<&Gh, String> {
        self.gh.as_ref().ok_or_else(|| "gh is turned off".to_owned())
    }

    fn top(&self) -> &Path {
        self.worktree.get_or_init(|| self.git.worktree().unwrap_or_else(|| self.root.clone()))
    }

    /// Directories from which a relative path may start: worktrees may be relative to the directory
    /// that the store is for.
    fn starts(&self) -> impl Iterator<Item = &Path> {
        [self.root.as_path(), self.around.home.as_path()].into_iter()
    }

    fn bounds(&self) -> Bounds<'_> {
        // A worktree below the directory of the store may also name files from there.
        let around = Some(self.around.home.as_path()).filter(|home| self.root.starts_with(home));
        let worktree = around.filter(|home| !home.starts_with(self.top()));
        Bounds { root: &self.root, worktree: worktree.unwrap_or(self.top()), left: &self.left }
    }
}

impl World for RealWorld {
    fn has_branch(&self, name: &str) -> Answer<bool> {
        seen(self.git.has_branch(name))
    }

    fn issue(&self, issue: &str) -> Answer<IssueNow> {
        seen(match &self.given {
            Some(given) => given.of(issue),
            None => self.gh().and_then(|gh| gh.issue(issue)),
        })
    }

    fn has_directory(&self, path: &str) -> Answer<bool> {
        // A full path is the same from both.
        let mut all = self.starts().map(|from| files::has_directory(from, path));
        seen(all.find(|it| *it != Ok(false)).unwrap_or(Ok(false)))
    }

    fn worktree(&self) -> Answer<String> {
        let path = self.top().to_str();
        seen(
            path.map(str::to_owned)
                .ok_or_else(|| "the name of the worktree is not UTF-8".to_owned()),
        )
    }

    fn file(&self, path: &str) -> Answer<Option<FileNow>> {
        seen(self.bounds().file(path))
    }

    fn pull_request(&self, branch: &str) -> Answer<Option<String>> {
        seen(self.gh().and_then(|gh| gh.pull_request(branch)))
    }

    fn wanted_issue(&self) -> Option<Issue> {
        self.around.wanted_issue.clone()
    }

    fn branch(&self) -> Answer<Option<String>> {
        seen(self.git.branch())
    }

    fn has_file(&self, path: &str) -> Answer<bool> {
        seen(self.bounds().has_file(path))
    }

    fn has_changed(&self, path: &str, since: &Moment<'_>) -> Answer<bool> {
        let now = (self.around.clock)();
        seen(self.bounds().find(path).and_then(|found| match found {
            Some((_, found)) if since::is_untouched(&found, since.time, now) => Ok(false),
            _ => self.since.has_changed(&self.git, path, since),
        }))
    }

    fn content(&self, path: &str, bytes_max: u64) -> Answer<Option<Vec<u8>>> {
        seen(self.bounds().content(path, bytes_max))
    }

    fn content_at(&self, path: &str, when: &Moment<'_>) -> Answer<Option<Vec<u8>>> {
        let found = self.bounds().find(path);
        seen(found.and_then(|_| self.since.content(&self.git, path, when)))
    }

    fn around_work_of(&self, offer: &Offer) -> Result<Option<Box<dyn World>>> {
        Ok(Some(Box::new(self.clone().settled(offer)?)))
    }

    fn is_same_directory(&self, one: &str, other: &str) -> bool {
        let real = |from: &Path, path: &str| fs::canonicalize(from.join(path)).ok();
        let Some(other) = real(&self.root, other) else { return false };
        self.starts().any(|from| real(from, one).as_ref() == Some(&other))
    }
}

/// Asks git whether it would commit a file.
#[must_use]
pub fn ignored(file: &Path) -> Ignored {
    let Some(directory) = file.parent() else { return Ignored::NoRepository };
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
        return Ignored::Unknown("its name is not UTF-8".to_owned());
    };
    Git::new(directory, &[]).ignored(name).unwrap_or_else(Ignored::Unknown)
}

fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn seen<T>(answer: Result<T, String>) -> Answer<T> {
    match answer {
        Ok(answer) => Answer::Known(answer),
        Err(reason) => Answer::Unknown(reason),
    }
}
