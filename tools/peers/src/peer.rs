//! What every rival can do, and which rivals there are.
//!
//! A rival gets the state of a loop as a program has it, and gives documents back in the form that
//! it keeps them in, out of which a program makes its state, and others JSON text. Nothing here may
//! favour one of them.

mod frame;
mod legacy;
mod ordered;
mod sqlite;
mod store;

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use waypost::source::JsonStyle;
use waypost::{Checkpoint, NewEntry, Series, Timestamp};

use crate::document::LoopState;
use legacy::Legacy;
use ordered::Ordered;
use sqlite::{Form, Sqlite};
use store::Waypost;

/// A way to keep checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// This library.
    Waypost,
    /// One `.json.gz` file a checkpoint: temporary file, sync, rename, sync of the directory.
    Legacy,
    /// `SQLite`, the document as JSON text.
    SqliteJson,
    /// `SQLite`, the document as a zstd frame.
    SqliteZstd,
    /// LMDB, the document as a zstd frame.
    Lmdb,
    /// `RocksDB`, the document as JSON text in blocks that it compresses by zstd.
    #[cfg(feature = "rocksdb")]
    Rocksdb,
    /// fjall, the document as a zstd frame.
    Fjall,
    /// Bare redb, the document as a zstd frame.
    Redb,
}

/// When a save of a store returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Once the checkpoint is on disk.
    Durable,
    /// As soon as the rival can do it without losing what was saved before.
    Relaxed,
}

/// An open store of one kind. Dropping it is not closing it: [`Peer::close`] reports failure.
pub(crate) trait Peer: Send + Sync {
    /// Saves a checkpoint in a transaction of its own, and returns what [`Peer::get`] takes.
    fn save(&self, about: NewEntry, state: &LoopState) -> Result<String>;

    /// The document of the newest checkpoint of a series.
    fn latest(&self, series: &str) -> Result<Document>;

    /// The document of a checkpoint.
    fn get(&self, id: &str) -> Result<Document>;

    /// What is known about the newest checkpoints of an issue, newest first, without documents.
    fn list(&self, issue: &str, limit: usize) -> Result<Vec<Record>>;

    /// What is known about the newest checkpoints of a series with this trigger.
    fn filter(&self, series: &str, trigger: &str) -> Result<Vec<Record>>;

    /// Writes all documents, one a line.
    fn export(&self, out: &mut dyn Write) -> Result<()>;

    /// Deletes checkpoints with one sync.
    fn delete(&self, ids: &[String]) -> Result<()>;

    /// Gives free space back to the file system.
    fn reclaim(&mut self) -> Result<()>;

    /// Makes every save durable.
    fn flush(&self) -> Result<()>;

    fn close(self: Box<Self>) -> Result<()>;

    /// Lets the savers of this process wait in line for each other, and returns whether that is
    /// another way than it was.
    fn line_up(&mut self) -> bool {
        false
    }
}

/// A document in memory, decompressed.
pub(crate) enum Document {
    /// JSON, as most keep it.
    Text(String),
    /// Waypost's own form, checked.
    Checkpoint(Box<Checkpoint>),
}

impl Document {
    pub(crate) fn state(&self) -> Result<LoopState> {
        Ok(match self {
            Self::Text(json) => serde_json::from_str(json)?,
            Self::Checkpoint(checkpoint) => checkpoint.state()?,
        })
    }

    pub(crate) fn into_text(self) -> Result<String> {
        Ok(match self {
            Self::Text(json) => json,
            Self::Checkpoint(checkpoint) => checkpoint.to_json(JsonStyle::Compact)?,
        })
    }
}

/// How many are listed by [`Peer::filter`].
const PAGE: usize = 20;

impl Kind {
    pub(crate) fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// The name on the command line and in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Waypost => "waypost",
            Self::Legacy => "legacy",
            Self::SqliteJson => "sqlite-json",
            Self::SqliteZstd => "sqlite-zstd",
            Self::Lmdb => "lmdb",
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => "rocksdb",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
        }
    }

    /// The name in a picture, for those who have read nothing else.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Waypost => "Waypost",
            Self::Legacy => ".json.gz files",
            Self::SqliteJson => "SQLite, JSON",
            Self::SqliteZstd => "SQLite, zstd",
            Self::Lmdb => "LMDB, zstd",
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => "RocksDB",
            Self::Fjall => "fjall, zstd",
            Self::Redb => "redb, zstd",
        }
    }

    /// Opens the store in `directory`, making it if there is none.
    pub(crate) fn open(self, directory: &Path, durability: Durability) -> Result<Box<dyn Peer>> {
        Ok(match self {
            Self::Waypost => Box::new(Waypost::open(directory, durability)?),
            Self::Legacy => Box::new(Legacy::open(directory, durability)),
            Self::SqliteJson => Box::new(Sqlite::open(directory, durability, Form::Json)?),
            Self::SqliteZstd => Box::new(Sqlite::open(directory, durability, Form::Zstd)?),
            Self::Lmdb => Box::new(Ordered::<ordered::Lmdb>::open(directory, durability)?),
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => Box::new(Ordered::<ordered::Rocks>::open(directory, durability)?),
            Self::Fjall => Box::new(Ordered::<ordered::Fjall>::open(directory, durability)?),
            Self::Redb => Box::new(Ordered::<ordered::Redb>::open(directory, durability)?),
        })
    }
}

/// What a rival keeps about a checkpoint beside its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) series: String,
    pub(crate) issue: String,
    pub(crate) trigger: String,
    pub(crate) phase: String,
    pub(crate) iteration: u64,
    pub(crate) created_micros: i64,
}

impl Record {
    fn new(about: &NewEntry) -> Self {
        Self {
            series: Series::of(about).as_str().to_owned(),
            issue: about.issue.as_ref().map_or("", |issue| issue.as_str()).to_owned(),
            trigger: about.trigger.as_str().to_owned(),
            phase: about.phase.clone().unwrap_or_default(),
            iteration: about.iteration.unwrap_or_default(),
            created_micros: Timestamp::now().as_micros(),
        }
    }
}
