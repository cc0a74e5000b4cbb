//! The world as it is now: what a checkpoint is compared with.

/// Answers questions about the world. A question that cannot be answered is told as such.
pub trait World {
    /// Whether a branch exists.
    fn has_branch(&self, name: &str) -> Seen<bool>;
    /// What an issue is like.
    fn issue(&self, issue: &str) -> Seen<IssueNow>;
    /// Whether there is a directory at a path, as a document has it.
    fn has_directory(&self, path: &str) -> Seen<bool>;
    /// The directory that the work would go on in.
    fn worktree(&self) -> Seen<String>;
    /// What a file is like, by a path as a document has it; `None` if there is none.
    fn file(&self, path: &str) -> Seen<Option<FileNow>>;
    /// The address or number of the open pull request of a branch; `None` if there is none.
    fn pull_request(&self, branch: &str) -> Seen<Option<String>>;
}

/// An answer, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<T> {
    /// It is so.
    Known(T),
    /// Nobody could tell, for this reason.
    Unknown(String),
}

/// An issue as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueNow {
    /// Its text.
    pub body: Option<String>,
    /// Its labels, in any order.
    pub labels: Option<Vec<String>>,
}

/// A file as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNow {
    /// The SHA-256 of its content, in lower-case hexadecimal digits.
    pub sha256: String,
    /// When it was changed last, in seconds since 1970.
    pub modified_at: i64,
}
