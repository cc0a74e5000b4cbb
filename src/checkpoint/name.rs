//! Names of issues, loops and series: non-empty text that cannot be mixed up.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::checkpoint::NewEntry;
use crate::error::{Error, Result};

/// The issue a checkpoint works on: `42`, `PROJ-42`.
///
/// ```
/// use waypost::{Issue, Series};
///
/// # fn main() -> waypost::Result<()> {
/// let issue = Issue::new("PROJ-42")?;
/// assert_eq!(Series::of_issue(&issue).as_str(), "issue:PROJ-42");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Issue(String);

/// The loop that writes a checkpoint.
///
/// ```
/// use waypost::{LoopId, Series};
///
/// # fn main() -> waypost::Result<()> {
/// let name = LoopId::new("ralph-fix-tests-a1b2c3d4")?;
/// assert!(name.is_ralph());
/// assert_eq!(Series::of_loop(&name).as_str(), "loop:ralph-fix-tests-a1b2c3d4");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct LoopId(String);

/// The line of checkpoints that one run writes, such as `loop:ralph-fix-tests-a1b2c3d4`.
///
/// ```
/// use waypost::{NewEntry, Series};
///
/// # fn main() -> waypost::Result<()> {
/// let about = NewEntry::issue("42")?;
/// assert_eq!(Series::of(&about), Series::new("issue:42")?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Series(String);

impl Issue {
    /// Checks and wraps `text`; a leading `#` is not part of the name.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let name = text.trim().trim_start_matches('#').trim_start();
        Ok(Self(non_empty("issue", name)?.to_owned()))
    }
}

impl LoopId {
    /// Checks and wraps `text`.
    ///
    /// # Errors
    /// If it is empty.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        non_empty("loop_id", &text)?;
        Ok(Self(text))
    }

    /// Tells whether it looks like `ralph-SLUG-0123abcd`, the form that a `ralph_loop` must use.
    #[must_use]
    pub fn is_ralph(&self) -> bool {
        let Some((slug, suffix)) =
            self.0.strip_prefix("ralph-").and_then(|rest| rest.rsplit_once('-'))
        else {
            return false;
        };
        let in_slug = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let in_suffix = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        !slug.is_empty()
            && slug.bytes().all(in_slug)
            && suffix.len() == 8
            && suffix.bytes().all(in_suffix)
    }
}

impl Series {
    /// Where checkpoints go that name no loop, workflow or issue.
    const DEFAULT: &str = "default";

    /// Checks and wraps `text`.
    ///
    /// # Errors
    /// If it is empty.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        non_empty("series", &text)?;
        Ok(Self(text))
    }

    /// The series that `entry` belongs to: its own, else that of its loop, workflow or issue.
    #[must_use]
    pub fn of(entry: &NewEntry) -> Self {
        if let Some(series) = &entry.series {
            series.clone()
        } else if let Some(name) = &entry.loop_id {
            Self::of_loop(name)
        } else if let Some(name) = &entry.workflow_id {
            Self(format!("workflow:{name}"))
        } else if let Some(name) = &entry.issue {
            Self::of_issue(name)
        } else {
            Self(Self::DEFAULT.to_owned())
        }
    }

    /// The series of everything that a loop writes.
    #[must_use]
    pub fn of_loop(name: &LoopId) -> Self {
        Self(format!("loop:{name}"))
    }

    /// The series of work on an issue outside any loop or workflow.
    #[must_use]
    pub fn of_issue(name: &Issue) -> Self {
        Self(format!("issue:{name}"))
    }
}

fn non_empty<'a>(what: &str, text: &'a str) -> Result<&'a str> {
    if text.is_empty() { Err(Error::invalid(what, "empty")) } else { Ok(text) }
}

/// What every name can do: be read, printed and parsed.
macro_rules! text {
    ($($name:ident)*) => {$(
        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }
    )*};
}

text!(Issue LoopId Series);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_sign_is_not_part_of_an_issue() {
        assert_eq!(Issue::new(" #42 ").unwrap().as_str(), "42");
        assert_eq!(Issue::new("PROJ-42").unwrap().as_str(), "PROJ-42");
        assert_eq!(Issue::new("# 42").unwrap().as_str(), "42");
        assert!(Issue::new("#").is_err());
    }

    #[test]
    fn a_ralph_loop_id_has_a_slug_and_eight_hex_digits() {
        let is_ralph = |text: &str| LoopId::new(text).unwrap().is_ralph();
        assert!(is_ralph("ralph-fix-tests-a1b2c3d4"));
        assert!(is_ralph("ralph-a--a1b2c3d4"));
        for wrong in ["ralph-a1b2c3d4", "ralph--a1b2c3d4", "ralph-a-a1b2c3dg", "ralph-A-a1b2c3d4"] {
            assert!(!is_ralph(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_series_comes_from_the_loop_then_the_workflow_then_the_issue() {
        let mut entry = NewEntry::default();
        assert_eq!(Series::of(&entry).as_str(), "default");
        entry.issue = Some(Issue::new("42").unwrap());
        assert_eq!(Series::of(&entry).as_str(), "issue:42");
        entry.workflow_id = Some("build".to_owned());
        assert_eq!(Series::of(&entry).as_str(), "workflow:build");
        entry.loop_id = Some(LoopId::new("ralph-x-00000000").unwrap());
        assert_eq!(Series::of(&entry).as_str(), "loop:ralph-x-00000000");
        entry.series = Some(Series::new("mine").unwrap());
        assert_eq!(Series::of(&entry).as_str(), "mine");
    }
}
