//! The words of the systems for a status.

use crate::checkpoint::Status;

/// Returns the status that a system's own word means.
///
/// Real files spell it in many ways: `running`, `IN_PROGRESS`, `complete`, `COMPLETED`, `SUCCESS`,
/// `ABORTED`. A word that none of them uses is [`Status::Unknown`].
#[must_use]
pub fn status(word: &str) -> Status {
    match word.to_ascii_lowercase().replace('-', "_").as_str() {
        "in_progress" | "running" | "pre_execution" => Status::InProgress,
        "completed" | "complete" | "success" | "done" => Status::Completed,
        "failed" | "failure" | "aborted" | "fatal" => Status::Failed,
        "paused" => Status::Paused,
        "archived" => Status::Archived,
        _ => Status::Unknown,
    }
}
