//! Lines by which a worker tells its parent what it did; a kill ends them after any of them.
//!
//! What could be missing after a call is noted before it, and what must be there after it.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, Error, Result, bail};
use waypost::Id;

use crate::kind::Kind;

/// What a worker tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// The store has acknowledged a save.
    Saved { kind: Kind, number: u64, id: Id },
    /// A kept checkpoint is about to be deleted.
    Deleting { number: u64 },
    /// It is gone, and will not be restored.
    Deleted { number: u64 },
    /// It was restored.
    Restored { number: u64 },
    /// A checkpoint of the ring has a tag.
    Tagged { number: u64 },
    /// It is about to lose it.
    Untagging { number: u64 },
    /// A call succeeded, and took so long.
    Did { work: Work, micros: u64 },
    /// A call was refused for a reason that its documentation has.
    Refused { work: Work, reason: Refusal },
    /// Something that must never happen.
    Wrong(String),
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Open,
    /// A durable save of the ring.
    Save,
    /// Any other save of one checkpoint.
    SaveOther,
    Import,
    Export,
    Latest,
    List,
    Get,
    Tag,
    Untag,
    Delete,
    Undelete,
    Prune,
    Compact,
}

/// Why a call may be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    /// Others had the store for longer than it waits.
    Locked,
    /// Others changed what a plan was about.
    Outdated,
    /// Others removed it since it was seen.
    Gone,
}

impl Work {
    pub(crate) const ALL: [Self; 14] = [
        Self::Open,
        Self::Save,
        Self::SaveOther,
        Self::Import,
        Self::Export,
        Self::Latest,
        Self::List,
        Self::Get,
        Self::Tag,
        Self::Untag,
        Self::Delete,
        Self::Undelete,
        Self::Prune,
        Self::Compact,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Save => "save",
            Self::SaveOther => "save-other",
            Self::Import => "import",
            Self::Export => "export",
            Self::Latest => "latest",
            Self::List => "list",
            Self::Get => "get",
            Self::Tag => "tag",
            Self::Untag => "untag",
            Self::Delete => "delete",
            Self::Undelete => "undelete",
            Self::Prune => "prune",
            Self::Compact => "compact",
        }
    }
}

impl Refusal {
    pub(crate) const ALL: [Self; 3] = [Self::Locked, Self::Outdated, Self::Gone];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Outdated => "outdated",
            Self::Gone => "gone",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saved { kind, number, id } => write!(f, "saved {kind} {number} {id}"),
            Self::Deleting { number } => write!(f, "deleting {number}"),
            Self::Deleted { number } => write!(f, "deleted {number}"),
            Self::Restored { number } => write!(f, "restored {number}"),
            Self::Tagged { number } => write!(f, "tagged {number}"),
            Self::Untagging { number } => write!(f, "untagging {number}"),
            Self::Did { work, micros } => write!(f, "did {} {micros}", work.name()),
            Self::Refused { work, reason } => {
                write!(f, "refused {} {}", work.name(), reason.name())
            }
            // One line each, whatever an error has to say.
            Self::Wrong(what) => write!(f, "wrong {}", what.replace('\n', " ")),
        }
    }
}

impl FromStr for Note {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        let (verb, rest) = line.split_once(' ').context("a note has a verb and more")?;
        let parts: Vec<&str> = rest.split(' ').collect();
        let number = || -> Result<u64> { Ok(rest.parse()?) };
        Ok(match (verb, parts.as_slice()) {
            ("saved", [kind, number, id]) => {
                Self::Saved { kind: kind.parse()?, number: number.parse()?, id: Id::new(*id)? }
            }
            ("deleting", [_]) => Self::Deleting { number: number()? },
            ("deleted", [_]) => Self::Deleted { number: number()? },
            ("restored", [_]) => Self::Restored { number: number()? },
            ("tagged", [_]) => Self::Tagged { number: number()? },
            ("untagging", [_]) => Self::Untagging { number: number()? },
            ("did", [work, micros]) => Self::Did { work: work.parse()?, micros: micros.parse()? },
            ("refused", [work, reason]) => {
                Self::Refused { work: work.parse()?, reason: reason.parse()? }
            }
            ("wrong", _) => Self::Wrong(rest.to_owned()),
            _ => bail!("{line:?} is no note"),
        })
    }
}

impl FromStr for Work {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|work| work.name() == text);
        found.with_context(|| format!("{text:?} is no work"))
    }
}

impl FromStr for Refusal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|reason| reason.name() == text);
        found.with_context(|| format!("{text:?} is no reason"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_is_read_as_it_was_written() {
        let mut notes = vec![
            Note::Deleting { number: 1 },
            Note::Deleted { number: 1 },
            Note::Restored { number: 2 },
            Note::Tagged { number: 3 },
            Note::Untagging { number: u64::MAX },
            Note::Wrong("two words, and more".to_owned()),
        ];
        let id = Id::new("01a1e300-2c7a-75ac-a700-b259eb619351").unwrap();
        notes.extend(Kind::ALL.map(|kind| Note::Saved { kind, number: 7, id: id.clone() }));
        notes.extend(Work::ALL.map(|work| Note::Did { work, micros: 312 }));
        notes.extend(Refusal::ALL.map(|reason| Note::Refused { work: Work::Prune, reason }));
        for note in notes {
            assert_eq!(note.to_string().parse::<Note>().unwrap(), note);
        }
    }

    #[test]
    fn half_a_line_is_no_note() {
        for line in ["", "sav", "saved ring 7", "did save", "did save x", "deleting 1 2"] {
            assert!(line.parse::<Note>().is_err(), "{line}");
        }
    }
}
