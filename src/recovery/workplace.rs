//! The directory in which work goes on if the user does not name one.
//!
//! Work continues in the directory that the store is for. Work of agentize continues in its
//! worktree, and that of a pipeline in its project, if those lie below that directory. A user who
//! is in the worktree of another issue is refused.

use crate::checkpoint::{Entry, Layout};
use crate::layouts::Standing;

/// Returns the directory that the work of a checkpoint belongs to, as a path from the one that the
/// store is for; `None` if it belongs to that one.
///
/// Agentize works in a worktree for each issue, and a pipeline in the directory of its project. The
/// path comes from a document: follow it only below the directory that the store is for.
#[must_use]
pub fn workplace<'a>(entry: &Entry, standing: &'a Standing) -> Option<&'a str> {
    match entry.layout {
        Layout::Agentize => standing.snapshot.worktree.as_deref(),
        Layout::Pipeline => standing.assignment.as_ref()?.project.as_deref(),
        Layout::Native | Layout::Crunch | Layout::Claude | Layout::Aiwg => None,
    }
}
