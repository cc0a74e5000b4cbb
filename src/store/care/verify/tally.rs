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

// A store of which everything is damaged must not fill the memory with words.
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
    /// Whether all of it was read: false if the one who watched ended it.
    #[serde(skip)]
    pub is_whole: bool,
    /// Number of pages that are in use.
    pub pages: u64,
    /// Number of checkpoints, damaged ones included.
    pub checkpoints: u64,
    /// Number of deleted ones that can be restored.
    pub deleted: u64,
    /// How many documents were read and are right, those of deleted ones included.
    pub documents: u64,
    /// Their length in stored form, before compression.
    pub document_bytes: u64,
    /// Number of captured files; each counts once for every checkpoint.
    pub artifacts: u64,
    /// How many contents of captured files were read and have the hash they are known by.
    pub contents: u64,
    /// Their length.
    pub content_bytes: u64,
    /// How many documents and contents are encrypted with a key that was not given: of these only
    /// what is stored was checked, and not what is in it.
    pub sealed: u64,
    /// How many documents and contents are under another key than the store, or under none though
    /// it has one. No save leaves such a one: a rekey that was not done does, or somebody else.
    pub unlike: u64,
    /// Whether a [`Store::rekey`](crate::Store::rekey) is unfinished: some frames may be under
    /// another key, or under none. That is no damage: run it again.
    pub is_rekeying: bool,
    /// Number of rows that were followed to where they lead.
    pub rows: u64,
    /// How many checkpoints wait in the journal; whoever opens the store next takes them in.
    pub waiting: u64,
    /// Byte ranges of the file and its journal that the disk cannot read. Each is a finding, too.
    pub unreadable: Vec<Unreadable>,
    /// What is wrong, as it was found; not more than 10,000 of them.
    pub findings: Vec<Defect>,
    /// How many more there are.
    pub more: u64,
}

/// Something that is wrong with a store.
///
/// See [`Verification`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Defect {
    /// The checkpoint, the table and row, or the page.
    pub place: String,
    /// Which check failed.
    pub reason: String,
    /// Whom it hurts.
    pub harm: Harm,
    /// The checkpoint that is hurt, if it is one and can be told.
    pub checkpoint: Option<Id>,
}

/// Whom a damage hurts.
///
/// See [`Verification`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Harm {
    /// No checkpoint: what is damaged is needed for upkeep only, or shows elsewhere, too.
    Upkeep,
    /// A save that was acknowledged lies beside the store and cannot be taken in. The store itself
    /// is not damaged by that, and a repair does not bring it back.
    Aside,
    /// A checkpoint that is whole is not found everywhere, or cannot be removed.
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
    /// Whether all of it was read, and nothing is wrong. What is encrypted takes its key for that.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.is_complete() && !self.is_damaged()
    }

    /// Whether everything was looked into: it was not ended, and no key was missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_whole && self.sealed == 0
    }

    /// Whether anything is wrong.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Whether anything is wrong that [`Store::repair`](crate::Store::repair) is for.
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

    /// What is wrong with a checkpoint.
    pub(super) fn find_at(&mut self, harm: Harm, entry: &Entry, reason: impl fmt::Display) {
        self.note(Defect {
            place: format!("checkpoint {}", entry.id),
            reason: reason.to_string(),
            harm,
            checkpoint: Some(entry.id.clone()),
        });
    }

    /// What an error says, of a checkpoint if that is known.
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

    /// Counts a frame that is not sealed as all of the store is to be.
    pub(super) fn compare(&mut self, sealing: Sealing, key: Option<KeyId>) {
        let is_unlike = sealing != Sealing::Unknown && sealing != key.into();
        self.unlike += u64::from(is_unlike);
    }

    /// Adds what another part found.
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
