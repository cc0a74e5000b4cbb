//! The world by real git, real files and a fake gh.
//!
//! Covers branches, worktrees, files and changes since a time by git, issues of gh and of files,
//! and unknown answers.

mod branches;
mod files;
#[cfg(unix)]
mod gh;
mod issue;
mod since;
mod together;
mod worktree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{IssueJson, RealWorld, Surroundings};
use crate::recovery::{Answer, World as _};

/// A directory of its own, and the project in it.
struct Sandbox {
    directory: TempDir,
    root: PathBuf,
}

impl Sandbox {
    /// Without git.
    fn bare() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // Resolved, as git prints it: the temporary directory may be a link.
        let root = directory.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        Self { directory, root }
    }

    /// With one commit in branch `main`.
    fn with_git() -> Self {
        let place = Self::bare();
        git(&place.root, &["init", "--quiet", "--initial-branch=main"]);
        git(&place.root, &["commit", "--quiet", "--allow-empty", "--message=first"]);
        place
    }

    fn world(&self) -> RealWorld {
        world_at(self.root.clone())
    }

    fn write(&self, path: &str, content: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

fn world_at(home: PathBuf) -> RealWorld {
    RealWorld::new(Surroundings { home, ..Surroundings::default() }).unwrap()
}

/// Runs git, which these tests need, without the user's settings.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = super::child::command("git".as_ref(), &[])
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(["-c", "commit.gpgSign=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git must be installed: the tests of the command run it");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn reason<T: std::fmt::Debug>(seen: Answer<T>) -> String {
    match seen {
        Answer::Unknown(reason) => reason,
        Answer::Known(answer) => panic!("{answer:?} is known"),
    }
}
