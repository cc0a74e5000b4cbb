//! The ids of checkpoints, which are the names of their files: `TYPE_PROJECT_YYYYMMDD_HHMMSS`.

use std::fmt;
use std::str::FromStr;

use crate::checkpoint::Timestamp;
use crate::error::{Error, Result};

/// The length of `_YYYYMMDD_HHMMSS`.
const TIME_BYTES: usize = 16;

/// The parts of an id.
///
/// The id does not show where a type with an underscore ends, so fields of the document take
/// precedence.
///
/// ```
/// use waypost::layouts::claude::WorkflowCheckpointId;
///
/// # fn main() -> waypost::Result<()> {
/// let id: WorkflowCheckpointId = "implement_dark_mode_20251003_192230".parse()?;
/// assert_eq!((id.workflow_type.as_str(), id.project_name.as_str()), ("implement", "dark_mode"));
/// assert_eq!(id.to_string(), "implement_dark_mode_20251003_192230");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowCheckpointId {
    /// The kind of workflow, up to the first underscore.
    pub workflow_type: String,
    /// The project.
    pub project_name: String,
    /// When it was made, in UTC, to the second.
    pub time: Timestamp,
}

impl fmt::Display for WorkflowCheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String =
            self.time.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
        let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
        f.pad(&format!("{}_{}_{day}_{time}", self.workflow_type, self.project_name))
    }
}

impl FromStr for WorkflowCheckpointId {
    type Err = Error;

    /// Takes an id, or the name of a file with `.json` after it.
    fn from_str(text: &str) -> Result<Self> {
        parse(text.strip_suffix(".json").unwrap_or(text)).ok_or_else(|| {
            Error::invalid("checkpoint_id", "not like implement_dark_mode_20251003_192230")
        })
    }
}

fn parse(text: &str) -> Option<WorkflowCheckpointId> {
    let (name, time) = text.split_at_checked(text.len().checked_sub(TIME_BYTES)?)?;
    let (workflow_type, project_name) = name.split_once('_')?;
    let (day, time) = time.strip_prefix('_')?.split_once('_')?;
    let is_digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_right = !workflow_type.is_empty()
        && !project_name.is_empty()
        && is_digits(day, 8)
        && is_digits(time, 6);
    if !is_right {
        return None;
    }
    let (year, month, day) = (&day[..4], &day[4..6], &day[6..]);
    let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
    let time = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()?;
    let (workflow_type, project_name) = (workflow_type.to_owned(), project_name.to_owned());
    Some(WorkflowCheckpointId { workflow_type, project_name, time })
}
