//! A world of which nothing is known: what is left is what a checkpoint itself says.

use super::world::{FileNow, IssueNow, Seen, World};

/// A world that is not looked at: it answers no question.
#[derive(Debug, Clone, Copy)]
pub struct Blind;

fn unknown<T>() -> Seen<T> {
    Seen::Unknown("only the store is read".to_owned())
}

impl World for Blind {
    fn has_branch(&self, _name: &str) -> Seen<bool> {
        unknown()
    }

    fn issue(&self, _issue: &str) -> Seen<IssueNow> {
        unknown()
    }

    fn has_directory(&self, _path: &str) -> Seen<bool> {
        unknown()
    }

    fn worktree(&self) -> Seen<String> {
        unknown()
    }

    fn file(&self, _path: &str) -> Seen<Option<FileNow>> {
        unknown()
    }

    fn pull_request(&self, _branch: &str) -> Seen<Option<String>> {
        unknown()
    }
}
