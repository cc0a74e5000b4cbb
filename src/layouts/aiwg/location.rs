//! The path of a checkpoint, and the parts of its file name.

use std::fmt;
use std::str::FromStr;

use super::{LoopCheckpoint, LoopTrigger};
use crate::checkpoint::Timestamp;
use crate::error::{Error, Result};
use crate::layouts::{Field, Word, part};

pub(super) const LOOPS: &str = ".aiwg/ralph/loops/";
pub(super) const CHECKPOINTS: &str = "/checkpoints/";
const LEGACY: &str = ".aiwg/checkpoints/";
pub(super) const SUFFIX: &str = ".json.gz";

/// The name of a file, in either of two forms.
///
/// ```
/// use waypost::layouts::aiwg::LoopFileName;
///
/// # fn main() -> waypost::Result<()> {
/// let name: LoopFileName = "iteration-005.json.gz".parse()?;
/// assert_eq!(name, LoopFileName::Iteration(5));
/// assert_eq!(name.to_string(), "iteration-005.json.gz");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopFileName {
    /// `iteration-005.json.gz`, in the directory of a loop.
    Iteration(u64),
    /// `WORKFLOW-2026-01-25T15-00-00Z-iteration.json.gz`, of a system with a single loop.
    Legacy {
        /// The workflow.
        workflow_id: String,
        /// When it was saved, with `-` for `:`, as written.
        time: String,
        /// Why it was saved.
        trigger: Word<LoopTrigger>,
    },
}

impl fmt::Display for LoopFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iteration(number) => write!(f, "iteration-{number:03}{SUFFIX}"),
            Self::Legacy { workflow_id, time, trigger } => {
                write!(f, "{workflow_id}-{time}-{trigger}{SUFFIX}")
            }
        }
    }
}

impl FromStr for LoopFileName {
    type Err = Error;

    /// Parses a file name without directories.
    fn from_str(text: &str) -> Result<Self> {
        let stem = text.strip_suffix(SUFFIX).filter(|stem| !stem.contains(['/', '\\']));
        stem.and_then(|stem| iteration(stem).or_else(|| legacy(stem)))
            .ok_or_else(|| Error::invalid("name", "neither of the two forms of AIWG"))
    }
}

impl LoopFileName {
    /// Returns when it was saved, if the name says so.
    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        match self {
            Self::Iteration(_) => None,
            Self::Legacy { time, .. } => parse_time(time),
        }
    }
}

impl LoopCheckpoint {
    /// Returns the name of the file by the schema's rules.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a field is missing, or cannot be part of a name.
    pub fn name(&self) -> Result<LoopFileName> {
        if !self.is_single_loop() {
            return Ok(LoopFileName::Iteration(self.iteration()?));
        }
        let created_at = present("/created_at", &self.created_at)?;
        let trigger = present("/trigger", &self.trigger)?;
        as_part("/trigger", trigger.as_str())?;
        Ok(LoopFileName::Legacy {
            workflow_id: as_part("/workflow_id", present("/workflow_id", &self.workflow_id)?)?,
            time: name_time(created_at)?,
            trigger: trigger.clone(),
        })
    }

    /// Returns the path of the file from the root of the project, by the schema's rules.
    ///
    /// With a loop id it is in the directory of that loop, else in that of single loops.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a field is missing, or cannot be part of a path.
    pub fn location(&self) -> Result<String> {
        let name = self.name()?;
        match self.loop_id.value() {
            Some(loop_id) => {
                Ok(format!("{LOOPS}{}{CHECKPOINTS}{name}", as_part("/loop_id", loop_id)?))
            }
            None => Ok(format!("{LEGACY}{name}")),
        }
    }

    fn iteration(&self) -> Result<u64> {
        const AT: &str = "/state/iteration/current";
        let iteration = self.state.value().and_then(|state| state.iteration.value());
        let current = iteration.and_then(|iteration| iteration.current.value());
        let current = current.ok_or_else(|| Error::invalid(AT, "is required"))?;
        let number = current.as_i64().and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| Error::invalid(AT, "must be a whole number, 0 or more"))
    }
}

/// The loop in whose directory the file at `path` lies.
pub(super) fn loop_of(path: &str) -> Option<&str> {
    let (_, rest) = path.rsplit_once(LOOPS)?;
    let (directory, name) = rest.split_once(CHECKPOINTS)?;
    (!directory.contains('/') && !name.contains('/')).then_some(directory)
}

fn present<'a, T>(at: &str, field: &'a Field<T>) -> Result<&'a T> {
    field.value().ok_or_else(|| Error::invalid(at, "is required"))
}

/// A text that is one valid part of a path.
fn as_part(at: &str, text: &str) -> Result<String> {
    if !part::is_name(text) {
        return Err(Error::invalid(at, part::RULE));
    }
    Ok(text.to_owned())
}

/// The time as written, if it is in UTC; else the same time in UTC.
fn name_time(created_at: &str) -> Result<String> {
    let time: Timestamp = created_at
        .parse()
        .map_err(|_| Error::invalid("/created_at", "must be a time like 2026-01-25T15:00:00Z"))?;
    let as_written = created_at.replace(':', "-");
    if parse_time(&as_written).is_some() {
        return Ok(as_written);
    }
    Ok(time.to_string().replace(".000000", "").replace(':', "-"))
}

fn iteration(stem: &str) -> Option<LoopFileName> {
    let digits = stem.strip_prefix("iteration-")?;
    let is_right = digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_right.then(|| digits.parse().ok().map(LoopFileName::Iteration))?
}

/// From the right: workflows have dashes in their names, triggers do not.
fn legacy(stem: &str) -> Option<LoopFileName> {
    let (rest, trigger) = stem.rsplit_once('-')?;
    let is_trigger = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    if trigger.is_empty() || !trigger.bytes().all(is_trigger) {
        return None;
    }
    let starts = rest.match_indices('-').map(|(at, _)| at).filter(|at| *at > 0);
    let (workflow_id, time) = starts
        .map(|at| (&rest[..at], &rest[at + 1..]))
        .find(|(_, time)| parse_time(time).is_some())?;
    let (workflow_id, time) = (workflow_id.to_owned(), time.to_owned());
    Some(LoopFileName::Legacy { workflow_id, time, trigger: Word::of(trigger) })
}

/// A time with `-` for `:`, such as `2026-01-25T15-00-00Z`. JavaScript may have replaced the `.` of
/// the fraction, too.
fn parse_time(text: &str) -> Option<Timestamp> {
    let (date, clock) = text.split_once('T')?;
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = clock.strip_suffix('Z')?.splitn(4, ['-', '.']);
    let [hour, minute, second] = [parts.next()?, parts.next()?, parts.next()?];
    let is_clock = [hour, minute, second].into_iter().all(|part| digits(part, 2));
    let is_date =
        date.len() == 10 && date.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let fraction = parts.next();
    let is_fraction = fraction.is_none_or(|part| (1..=9).any(|count| digits(part, count)));
    if !is_clock || !is_date || !is_fraction {
        return None;
    }
    let fraction = fraction.map(|part| format!(".{part}")).unwrap_or_default();
    format!("{date}T{hour}:{minute}:{second}{fraction}Z").parse().ok()
}
