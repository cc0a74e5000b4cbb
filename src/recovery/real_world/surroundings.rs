//! The settings of a real world.

use std::path::PathBuf;

use crate::checkpoint::{Issue, Timestamp};

/// The directories of a [`RealWorld`](super::RealWorld), and the sources it queries.
///
/// ```
/// use waypost::recovery::{Answer, IssueJson, RealWorld, Surroundings, World};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let json = r#"{"number": 42, "body": "Fix it", "labels": []}"#.to_owned();
/// let world = RealWorld::new(Surroundings {
///     home: dir.path().to_owned(),
///     issue_json: Some(IssueJson::Text(json)),
///     use_gh: false,
///     ..Surroundings::default()
/// })?;
/// let Answer::Known(issue) = world.issue("42") else { panic!("it was given") };
/// assert_eq!(issue.body.as_deref(), Some("Fix it"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directory that the store is for; by default the current one.
    pub home: PathBuf,
    /// The directory in which the work goes on. If not given it is the one that the work belongs
    /// to, if that lies below `home`, and else `home`.
    pub worktree: Option<PathBuf>,
    /// The current directory of the user. If it is in the worktree of another issue and no
    /// `worktree` is given, the comparison finds the wrong place.
    pub here: Option<PathBuf>,
    /// The issue as it is now; without it gh is asked.
    pub issue_json: Option<IssueJson>,
    /// Whether gh is asked about issues and pull requests, as it is by default.
    pub use_gh: bool,
    /// The issue to go on with; work on another one is not resumed.
    pub wanted_issue: Option<Issue>,
    /// Variables that git and gh do not inherit, beside
    /// [`RealWorld::KEY_VARIABLE`](super::RealWorld::KEY_VARIABLE): a repository may name programs
    /// for git to run, and they must not see a key.
    pub hidden_variables: Vec<String>,
    /// The clock. A checkpoint that is dated ahead of it does not prove that a file is older.
    pub clock: fn() -> Timestamp,
}

/// An issue as `gh issue view N --json number,body,labels` or the REST interface of GitHub writes
/// it.
///
/// See [`Surroundings`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueJson {
    /// In a file, of at most 64 MiB.
    File(PathBuf),
    /// As a text.
    Text(String),
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            home: PathBuf::from("."),
            worktree: None,
            here: None,
            issue_json: None,
            use_gh: true,
            wanted_issue: None,
            hidden_variables: Vec::new(),
            clock: Timestamp::now,
        }
    }
}
