//! The documents of checkpoints where one that cannot be read must not end the work.

use crate::checkpoint::{Checkpoint, Document, Entry, Id};
use crate::error::{Error, Result};
use crate::query::Unread;
use crate::store::Store;

/// What became of the document of a checkpoint that was listed.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::ReadDocument;
/// # use waypost::{NewEntry, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let entry = store.save(NewEntry::default(), &1)?;
/// assert!(matches!(ReadDocument::of(&store, &entry.id)?, ReadDocument::Read(_)));
/// store.delete(&[entry.id.clone()])?;
/// assert!(matches!(ReadDocument::of(&store, &entry.id)?, ReadDocument::Gone));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ReadDocument {
    /// It was read.
    Read(Document),
    /// It is damaged; the text names the damage.
    Damaged(String),
    /// It was deleted after it was listed.
    Gone,
}

impl ReadDocument {
    /// Reads the document of a checkpoint.
    ///
    /// # Errors
    /// If the store cannot be read. Damage to this one checkpoint is no error.
    pub fn of(store: &Store, id: &Id) -> Result<Self> {
        Self::of_read(store.get(id).and_then(|checkpoint| checkpoint.document()))
    }

    /// A checkpoint of a list, and what became of its document.
    pub(super) fn with_entry(found: Result<Checkpoint, Unread>) -> Result<(Entry, Self)> {
        match found {
            Ok(checkpoint) => {
                let content = Self::of_read(checkpoint.document())?;
                Ok((checkpoint.entry, content))
            }
            Err(Unread { entry: Some(entry), error }) => Ok((*entry, Self::of_read(Err(error))?)),
            Err(Unread { entry: None, error }) => Err(error),
        }
    }

    fn of_read(document: Result<Document>) -> Result<Self> {
        match document {
            Ok(document) => Ok(Self::Read(document)),
            Err(Error::NotFound { .. }) => Ok(Self::Gone),
            Err(error @ Error::Corrupt { .. }) => Ok(Self::Damaged(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Counts documents that were asked for, and how many of them are damaged.
///
/// Code that goes on after damage reports it at the end by this count.
///
/// See [`Timeline`](crate::history::Timeline) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Documents that were asked for.
    pub total: u64,
    /// Those of them that are damaged.
    pub damaged: u64,
}

impl Tally {
    /// Counts one more document.
    pub fn add(&mut self, content: &ReadDocument) {
        self.total += 1;
        self.damaged += u64::from(matches!(content, ReadDocument::Damaged(_)));
    }
}
