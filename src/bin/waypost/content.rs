//! The documents of checkpoints where one that cannot be read must not end the work.

use anyhow::Result;
use waypost::{Document, Error, Id, Store};

use crate::exit::Refusal;

/// What has become of the document of a checkpoint that was listed.
#[derive(Debug)]
pub(crate) enum Content {
    Read(Document),
    /// In words.
    Damaged(String),
    /// Deleted since it was listed.
    Gone,
}

impl Content {
    pub(crate) fn of(store: &Store, id: &Id) -> Result<Self> {
        match store.get(id).and_then(|checkpoint| checkpoint.document()) {
            Ok(document) => Ok(Self::Read(document)),
            Err(Error::NotFound { .. }) => Ok(Self::Gone),
            Err(error @ Error::Corrupt { .. }) => Ok(Self::Damaged(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

/// How many documents were asked for, and how many of them are damaged.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) total: u64,
    pub(crate) damaged: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, content: &Content) {
        self.total += 1;
        self.damaged += u64::from(matches!(content, Content::Damaged(_)));
    }

    /// An error if there was damage, once everything else is told.
    pub(crate) fn verdict(&self) -> Result<()> {
        let Self { total, damaged } = *self;
        if damaged > 0 {
            return Err(Refusal::Damaged { count: damaged, total }.into());
        }
        Ok(())
    }
}
