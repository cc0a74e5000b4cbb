//! The ids of checkpoints: `CP-PHASE-DATE-HASH`, with or without a phase.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The parts of an id. Ids of another form are accepted, too; reading a file does not need the
/// parts.
///
/// ```
/// use waypost::layouts::crunch::IssueCheckpointId;
///
/// # fn main() -> waypost::Result<()> {
/// let id: IssueCheckpointId = "CP-enrich-20250114-a3f2".parse()?;
/// assert_eq!((id.phase.as_deref(), id.date.as_str()), (Some("enrich"), "20250114"));
/// assert_eq!(id.to_string(), "CP-enrich-20250114-a3f2");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueCheckpointId {
    /// The phase it was saved in.
    pub phase: Option<String>,
    /// `YYYYMMDD`, some with `THHMMSS` or `HHMMSS`.
    pub date: String,
    /// Four hexadecimal digits or more.
    pub hash: String,
}

impl fmt::Display for IssueCheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, date, hash } = self;
        match phase {
            Some(phase) => f.pad(&format!("CP-{phase}-{date}-{hash}")),
            None => f.pad(&format!("CP-{date}-{hash}")),
        }
    }
}

impl FromStr for IssueCheckpointId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text)
            .ok_or_else(|| Error::invalid("checkpoint_id", "not like CP-PHASE-20250114-a3f2"))
    }
}

/// From the right: phases have dashes, too.
fn parse(text: &str) -> Option<IssueCheckpointId> {
    let (rest, hash) = text.strip_prefix("CP-")?.rsplit_once('-')?;
    let (phase, date) = match rest.rsplit_once('-') {
        Some((phase, date)) => (Some(phase), date),
        None => (None, rest),
    };
    let is_right = is_hash(hash) && is_date(date) && phase.is_none_or(is_phase);
    is_right.then(|| IssueCheckpointId {
        phase: phase.map(str::to_owned),
        date: date.to_owned(),
        hash: hash.to_owned(),
    })
}

fn is_hash(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_date(text: &str) -> bool {
    let digits = match text.split_once('T') {
        None => text.to_owned(),
        Some((day, time)) if day.len() == 8 && time.len() == 6 => format!("{day}{time}"),
        Some(_) => return false,
    };
    matches!(digits.len(), 8 | 14) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_phase(text: &str) -> bool {
    let is_right =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    !text.is_empty() && text.bytes().all(is_right)
}
