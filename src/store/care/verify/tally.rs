//! What a verification counts and finds.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::checkpoint::{Entry, Id};
use crate::codec::KeyId;
use crate::error::Error;
use crate::store::engine::lossy;
use crate::store::engine::sealing::Sealing;
use crate::store::engine::sectors::Unreadable;

// Bounds the memory for the findings of a store that is damaged all over.
const FINDINGS_MAX: usize = 10_000;

/// What [`Store::verify`](crate::Store::verify) read, and what is wrong with it.
///
/// ```
/// # fn show(_line: String) {}
/// use std::time::Duration;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # let store = Store::open(&path)?;
/// # store.save(NewEntry::issue("42")?, &"state")?;
/// # store.close()?;
/// let found = Store::verify(&path, Duration::from_secs(1))?;
/// for defect in &found.findings {
///     show(format!("{}: {} ({})", defect.place, defect.reason, defect.harm));
/// }
/// assert!(found.is_clean() && found.unreadable.is_empty());
/// assert_eq!((found.checkpoints, found.documents), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// The store, links resolved.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Whether all of it was read: false if the watcher ended it.
    #[serde(skip)]
    pub is_whole: bool,
    /// Number of pages that are in use.
    pub pages: u64,
    /// Number of checkpoints, damaged ones included.
    pub checkpoints: u64,
    /// Number of deleted ones that can be restored.
    pub deleted: u64,
    /// How many documents are intact, those of deleted checkpoints included.
    pub documents: u64,
    /// Their length in stored form, before compression.
    pub document_bytes: u64,
    /// Number of captured files; each counts once for every checkpoint.
    pub artifacts: u64,
    /// How many captured contents were read and match their hash.
    pub contents: u64,
    /// Their length.
    pub content_bytes: u64,
    /// How many documents and contents are encrypted with a key that was not given. They were
    /// checked only as stored.
    pub sealed: u64,
    /// How many documents and contents are not under the key of the store. Saves never leave such
    /// frames; an unfinished rekey or another program does.
    pub unlike: u64,
    /// True while a [`Store::rekey`](crate::Store::rekey) is unfinished: some frames may still use
    /// another key or none. That is no damage: run it again.
    pub is_rekeying: bool,
    /// Number of rows that were followed to where they lead.
    pub rows: u64,
    /// How many checkpoints wait in the journal. The next process that opens the store takes them
    /// in.
    pub waiting: u64,
    /// Byte ranges of the file and its journal that the disk cannot read. Each is a finding, too.
    pub unreadable: Vec<Unreadable>,
    /// The findings, at most 10,000 of them.
    pub findings: Vec<Defect>,
    /// Number of further findings.
    pub more: u64,
}

/// A fault of a store.
///
/// See [`Verification`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Defect {
    /// The checkpoint, the table and row, or the page.
    pub place: String,
    /// Which check failed.
    pub reason: String,
    /// The harm that it does.
    pub harm: Harm,
    /// The id of the damaged checkpoint, if it is one and known.
    pub checkpoint: Option<Id>,
}

/// The harm that damage does.
///
/// See [`Verification`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Harm {
    /// No checkpoint is hurt: the damaged part is for upkeep only, or another finding covers it.
    Upkeep,
    /// An acknowledged save beside the store cannot be taken in. The store itself is not damaged,
    /// and a repair does not bring the save back.
    Aside,
    /// An intact checkpoint is not found everywhere, or cannot be removed.
    Listing,
    /// A checkpoint or a captured file cannot be read, or is lost.
    Reading,
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Upkeep => "upkeep",
            Self::Aside => "aside",
            Self::Listing => "listing",
            Self::Reading => "reading",
        })
    }
}

impl Verification {
    /// Whether all of it was read without a finding. Encrypted content needs its key for that.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.is_complete() && !self.is_damaged()
    }

    /// Whether everything was read: the call was not ended, and no key was missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_whole && self.sealed == 0
    }

    /// Whether there is any finding.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Whether there is a finding that [`Store::repair`](crate::Store::repair) can mend.
    #[must_use]
    pub fn needs_repair(&self) -> bool {
        self.more > 0 || self.findings.iter().any(|finding| finding.harm != Harm::Aside)
    }

    pub(super) fn find(&mut self, harm: Harm, place: impl Into<String>, reason: impl fmt::Display) {
        self.note(Defect {
            place: place.into(),
            reason: reason.to_string(),
            harm,
            checkpoint: None,
        });
    }

    /// Adds a finding for bytes that the disk cannot read.
    pub(super) fn find_unreadable(&mut self, harm: Harm, unreadable: &Unreadable) {
        let reason = &unreadable.reason;
        self.find(harm, unreadable.to_string(), format!("the disk cannot read them: {reason}"));
        self.unreadable.push(unreadable.clone());
    }

    /// Adds a finding about a checkpoint.
    pub(super) fn find_at(&mut self, harm: Harm, entry: &Entry, reason: impl fmt::Display) {
        self.note(Defect {
            place: format!("checkpoint {}", entry.id),
            reason: reason.to_string(),
            harm,
            checkpoint: Some(entry.id.clone()),
        });
    }

    /// Adds an error as a finding, about a checkpoint if that is known.
    pub(super) fn find_error(&mut self, harm: Harm, entry: Option<&Entry>, error: &Error) {
        let checkpoint = entry.map(|entry| entry.id.clone());
        let (place, reason) = match error {
            Error::Corrupt { place, reason, .. } => (place.clone(), reason.clone()),
            other => {
                let place = entry.map(|entry| format!("checkpoint {}", entry.id));
                (place.unwrap_or_else(|| "store".to_owned()), other.to_string())
            }
        };
        self.note(Defect { place, reason, harm, checkpoint });
    }

    /// Counts a frame that is not under the key of the store.
    pub(super) fn compare(&mut self, sealing: Sealing, key: Option<KeyId>) {
        let is_unlike = sealing != Sealing::Unknown && sealing != key.into();
        self.unlike += u64::from(is_unlike);
    }

    /// Adds the findings of another part.
    pub(super) fn add(&mut self, part: Self) {
        self.checkpoints += part.checkpoints;
        self.deleted += part.deleted;
        self.documents += part.documents;
        self.document_bytes += part.document_bytes;
        self.artifacts += part.artifacts;
        self.contents += part.contents;
        self.content_bytes += part.content_bytes;
        self.sealed += part.sealed;
        self.unlike += part.unlike;
        self.is_rekeying |= part.is_rekeying;
        self.rows += part.rows;
        self.more += part.more;
        self.unreadable.extend(part.unreadable);
        part.findings.into_iter().for_each(|finding| self.note(finding));
    }

    pub(super) fn note(&mut self, finding: Defect) {
        if self.findings.len() >= FINDINGS_MAX {
            self.more += 1;
        } else if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}
