//! A world that knows nothing, so that only the checkpoint itself counts.

use super::world::{Answer, FileNow, IssueNow, World};

/// A world that answers no question.
///
/// ```
/// use waypost::recovery::{Answer, Blind, World};
///
/// assert!(matches!(Blind.has_branch("main"), Answer::Unknown(_)));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Blind;

fn unknown<T>() -> Answer<T> {
    Answer::Unknown("only the store is read".to_owned())
}

impl World for Blind {
    fn has_branch(&self, _name: &str) -> Answer<bool> {
        unknown()
    }

    fn issue(&self, _issue: &str) -> Answer<IssueNow> {
        unknown()
    }

    fn has_directory(&self, _path: &str) -> Answer<bool> {
        unknown()
    }

    fn worktree(&self) -> Answer<String> {
        unknown()
    }

    fn file(&self, _path: &str) -> Answer<Option<FileNow>> {
        unknown()
    }

    fn pull_request(&self, _branch: &str) -> Answer<Option<String>> {
        unknown()
    }
}
