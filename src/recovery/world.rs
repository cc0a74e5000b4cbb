//! The present state of branch, issue and files, with which a checkpoint is compared.

use super::proposal::Offer;
use crate::checkpoint::{Issue, Timestamp};
use crate::error::Result;

/// Answers questions about the world. An unanswerable question gets [`Answer::Unknown`].
///
/// Names and paths come from documents as they are written there, and are not to be trusted.
///
/// ```
/// use waypost::recovery::{Answer, FileNow, IssueNow, World};
///
/// struct Container;
///
/// impl World for Container {
///     fn has_branch(&self, name: &str) -> Answer<bool> {
///         Answer::Known(name == "main")
///     }
/// #     fn issue(&self, _: &str) -> Answer<IssueNow> {
/// #         Answer::Unknown("no network".to_owned())
/// #     }
/// #     fn has_directory(&self, _: &str) -> Answer<bool> {
/// #         Answer::Known(true)
/// #     }
/// #     fn worktree(&self) -> Answer<String> {
/// #         Answer::Known("/work".to_owned())
/// #     }
///     fn file(&self, _path: &str) -> Answer<Option<FileNow>> {
///         Answer::Unknown("files are not mounted".to_owned())
///     }
/// #     fn pull_request(&self, _: &str) -> Answer<Option<String>> {
/// #         Answer::Known(None)
/// #     }
///     // And so on.
/// }
///
/// assert_eq!(Container.has_branch("main"), Answer::Known(true));
/// ```
pub trait World {
    /// Whether a branch exists.
    fn has_branch(&self, name: &str) -> Answer<bool>;
    /// The state of an issue.
    fn issue(&self, issue: &str) -> Answer<IssueNow>;
    /// Whether there is a directory at a path, as a document has it.
    fn has_directory(&self, path: &str) -> Answer<bool>;
    /// The directory that the work would go on in.
    fn worktree(&self) -> Answer<String>;
    /// The state of a file, by a path as a document has it; `None` if there is none.
    fn file(&self, path: &str) -> Answer<Option<FileNow>>;
    /// The address or number of the open pull request of a branch; `None` if there is none.
    fn pull_request(&self, branch: &str) -> Answer<Option<String>>;

    /// The issue that the work is to go on with, if one is asked for.
    fn wanted_issue(&self) -> Option<Issue> {
        None
    }

    /// The branch that the work would go on in; `None` if none is checked out.
    fn branch(&self) -> Answer<Option<String>> {
        Answer::Unknown("it is not known which branch is checked out".to_owned())
    }

    /// Whether there is a file at a path. Override it where that is cheaper than reading the file.
    fn has_file(&self, path: &str) -> Answer<bool> {
        match self.file(path) {
            Answer::Known(file) => Answer::Known(file.is_some()),
            Answer::Unknown(reason) => Answer::Unknown(reason),
        }
    }

    /// Whether a file changed since a moment, by a path as a document has it. For files without a
    /// hash in the document.
    fn has_changed(&self, _path: &str, _since: &Moment<'_>) -> Answer<bool> {
        Answer::Unknown("it is not known whether files changed".to_owned())
    }

    /// The content of a file; `None` if there is none. A longer one is unknown.
    fn content(&self, _path: &str, _bytes_max: u64) -> Answer<Option<Vec<u8>>> {
        Answer::Unknown("it is not known what files contain".to_owned())
    }

    /// The content that a file had at a moment; `None` if there was none.
    fn content_at(&self, _path: &str, _when: &Moment<'_>) -> Answer<Option<Vec<u8>>> {
        Answer::Unknown("it is not known what files contained".to_owned())
    }

    /// The same world around the directory that the work of a checkpoint belongs to, if that is
    /// another one.
    ///
    /// # Errors
    /// If this world was made for other work, as with the description of another issue.
    fn around_work_of(&self, _offer: &Offer) -> Result<Option<Box<dyn World>>> {
        Ok(None)
    }

    /// Whether two paths that are spelled differently lead to the same directory, as links do.
    fn is_same_directory(&self, _one: &str, _other: &str) -> bool {
        false
    }
}

/// The state of a project at a time.
///
/// ```
/// use waypost::recovery::Moment;
///
/// # fn main() -> waypost::Result<()> {
/// let time = "2026-01-25T15:00:00Z".parse()?;
/// let moment = Moment { time, branch: Some("fix-tests") };
/// assert_eq!(moment.time.to_string(), "2026-01-25T15:00:00.000000Z");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment<'a> {
    /// The time.
    pub time: Timestamp,
    /// The branch that was worked on, as a document has it; without one, what is checked out.
    pub branch: Option<&'a str>,
}

/// An answer, or why there is none.
///
/// See [`World`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// The answer.
    Known(T),
    /// Unknown, for this reason: a clause such as `git is not installed`.
    Unknown(String),
}

/// An issue as it is now.
///
/// See [`Surroundings`](crate::recovery::Surroundings) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueNow {
    /// Its text.
    pub body: Option<String>,
    /// Its labels, in any order.
    pub labels: Option<Vec<String>>,
}

/// A file as it is now.
///
/// See [`World`] for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNow {
    /// The SHA-256 of its content, in lower-case hexadecimal digits.
    pub sha256: String,
    /// When it was changed last, in seconds since 1970.
    pub modified_at: i64,
}
