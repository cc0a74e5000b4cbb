//! Whether files changed since a time, by their own times and by git.
//!
//! Must never change the index or a file of the repository.
//!
//! Files that claude-crunch lists as modified have no hash. Such a file has not changed if nothing
//! touched it (mtime and ctime) after the date of the checkpoint, because the work itself is mostly
//! uncommitted. Otherwise git compares the file, and what is staged of it, with the newest commit
//! of the recorded branch, or of HEAD, that is not later than the checkpoint (by first parents).
//! Where git has no such commit or file, the file is not checked. At most 200 files are asked
//! about.

use std::cell::{Cell, RefCell};
use std::fs::Metadata;

use super::git::{Git, HEADS, can_name_a_branch};
use crate::checkpoint::Timestamp;
use crate::recovery::Moment;

// Each takes two or three processes: some seconds in all.
const FILES_MAX: u32 = 200;
/// Overrides a setting of the repository that would run a program.
const SETTINGS: [&str; 3] = ["-c", "core.fsmonitor=false", "--literal-pathspecs"];
/// The staged version against a commit. `git diff` of the file itself would refresh the index, and
/// write it, whatever `GIT_OPTIONAL_LOCKS` says.
const STAGED: [&str; 6] =
    ["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
/// The file against its staged version: by content where the times differ. Writes nothing.
const EDITED: [&str; 3] = ["ls-files", "--modified", "-z"];

/// The queries to git so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Since {
    files: Cell<u32>,
    /// The last moment that was looked up, and its commit.
    commit: RefCell<Option<CommitThen>>,
}

/// The commit of a moment, or why there is none.
#[derive(Debug, Clone)]
struct CommitThen {
    time: Timestamp,
    branch: Option<String>,
    commit: Result<String, String>,
}

impl Since {
    /// Whether a file, or its staged version, differs from the commit at a moment.
    pub(super) fn has_changed(
        &self,
        git: &Git,
        path: &str,
        since: &Moment<'_>,
    ) -> Result<bool, String> {
        if self.files.get() >= FILES_MAX {
            return Err(format!("git is asked about {FILES_MAX} files at most"));
        }
        self.files.set(self.files.get() + 1);
        let commit = self.commit(git, since)?;
        if is_staged(git, &commit, path)? || is_edited(git, path)? {
            return Ok(true);
        }
        let listed = ["--literal-pathspecs", "ls-tree", "--name-only", &commit, "--", path];
        if git.run(&listed)?.stdout.is_empty() {
            return Err("git knows no earlier content".to_owned());
        }
        Ok(false)
    }

    /// The content of a file in the commit at a moment; `None` if it has no such file.
    pub(super) fn content(
        &self,
        git: &Git,
        path: &str,
        when: &Moment<'_>,
    ) -> Result<Option<Vec<u8>>, String> {
        let commit = self.commit(git, when)?;
        let listed = git.run(&["--literal-pathspecs", "ls-tree", "-z", &commit, "--", path])?;
        // As `100644 blob HASH<tab>PATH`; the path may be any bytes.
        let row = listed.stdout.split(|it| *it == b'\t').next().unwrap_or_default();
        let row = String::from_utf8_lossy(row);
        let Some((_, hash)) = row.split_once(" blob ") else { return Ok(None) };
        let content = git.run(&["cat-file", "blob", hash])?;
        if content.status.success() {
            Ok(Some(content.stdout))
        } else {
            Err(content.complaint("git"))
        }
    }

    /// The newest commit of the branch, else of HEAD, that is not later than the moment.
    fn commit(&self, git: &Git, since: &Moment<'_>) -> Result<String, String> {
        let branch = since.branch.map(str::to_owned);
        if let Some(found) = &*self.commit.borrow()
            && (found.time, &found.branch) == (since.time, &branch)
        {
            return found.commit.clone();
        }
        let commit = newest(git, since);
        *self.commit.borrow_mut() =
            Some(CommitThen { time: since.time, branch, commit: commit.clone() });
        commit
    }
}

/// Tells whether nothing wrote to a file or put another one in its place after a time.
///
/// A time ahead of the clock proves nothing.
pub(super) fn is_untouched(found: &Metadata, since: Timestamp, now: Timestamp) -> bool {
    since <= now && touched_at(found).is_some_and(|micros| micros <= since.as_micros())
}

/// In microseconds since 1970, rounded up. A rename leaves the time of the last write, so the time
/// of the last change of any kind counts, too.
#[cfg(unix)]
fn touched_at(found: &Metadata) -> Option<i64> {
    use std::os::unix::fs::MetadataExt as _;
    let micros = |seconds: i64, nanos: i64| {
        seconds.checked_mul(1_000_000)?.checked_add((nanos + 999) / 1000)
    };
    let written = micros(found.mtime(), found.mtime_nsec())?;
    Some(written.max(micros(found.ctime(), found.ctime_nsec())?))
}

/// Unknown: there is no time of the last change here.
#[cfg(not(unix))]
fn touched_at(_found: &Metadata) -> Option<i64> {
    None
}

fn newest(git: &Git, since: &Moment<'_>) -> Result<String, String> {
    const NONE: &str = "git has no commit from before the checkpoint";
    let seconds = since.time.as_micros().div_euclid(1_000_000);
    if seconds < 0 {
        return Err(NONE.to_owned());
    }
    let age = format!("--min-age={seconds}");
    // First parents only: commits merged later were on other branches at the time.
    let start = start(git, since.branch)?;
    let asked = ["rev-list", "--first-parent", "--max-count=1", &age, &start, "--"];
    let commit = git.run(&asked)?.text("git")?;
    Some(commit.trim().to_owned()).filter(|it| !it.is_empty()).ok_or_else(|| NONE.to_owned())
}

/// The branch, if it is here.
fn start(git: &Git, branch: Option<&str>) -> Result<String, String> {
    let name = branch.map(|name| name.strip_prefix(HEADS).unwrap_or(name));
    if let Some(name) = name.filter(|name| can_name_a_branch(name)) {
        let full = format!("{HEADS}{name}");
        let verified = git.run(&["show-ref", "--verify", "--quiet", "--", &full])?;
        if verified.status.success() {
            return Ok(full);
        }
    }
    Ok("HEAD".to_owned())
}

/// Whether the staged version of a file differs from that of a commit.
fn is_staged(git: &Git, commit: &str, path: &str) -> Result<bool, String> {
    let answer = git.run(&[&SETTINGS[..], &STAGED, &[commit, "--", path]].concat())?;
    match answer.status.code() {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(answer.complaint("git")),
    }
}

/// Whether a file differs from its staged version.
fn is_edited(git: &Git, path: &str) -> Result<bool, String> {
    let answer = git.run(&[&SETTINGS[..], &EDITED, &["--", path]].concat())?;
    if answer.status.success() {
        Ok(!answer.stdout.is_empty())
    } else {
        Err(answer.complaint("git"))
    }
}
