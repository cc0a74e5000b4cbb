//! An embedded checkpoint store for agent workflows: one file, compressed, indexed, durable.
//!
//! A loop saves its state every iteration and goes on from the last one after a kill, a crash or
//! a closed laptop:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use waypost::{NewEntry, Query, Store, Trigger};
//!
//! #[derive(Default, Serialize, Deserialize)]
//! struct State {
//!     iteration: u64,
//!     notes: Vec<String>,
//! }
//!
//! # fn main() -> waypost::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("store.redb");
//! let store = Store::open(path)?;
//!
//! // Go on where the last run stopped, or start.
//! let mut state = match store.latest(&Query::issue("42")?)? {
//!     Some(checkpoint) => checkpoint.state::<State>()?,
//!     None => State::default(),
//! };
//!
//! for _ in 0..3 {
//!     state.iteration += 1;
//!     state.notes.push(format!("what iteration {} found", state.iteration));
//!     let about = NewEntry::issue("42")?.trigger(Trigger::Iteration).iteration(state.iteration);
//!     store.save(about, &state)?; // On disk when this returns.
//! }
//! # assert_eq!(store.latest(&Query::issue("42")?)?.unwrap().state::<State>()?.iteration, 3);
//! # Ok(())
//! # }
//! ```
//!
//! Start with [`Store`]. [`NewEntry`] describes a checkpoint, [`Query`] selects some, and
//! [`Options`] say how a store is opened. Then, by task:
//!
//! - resume after a crash: [`Store::resume`] and [`recovery`];
//! - look back: [`history`], [`diff()`] and [`Condition`];
//! - keep by rules: [`Policy`], [`plan`] and [`Store::apply`]; undo and the log: [`keep`];
//! - save files with a checkpoint: [`Draft::with_artifacts`], and restore them: `Store::restore`
//!   (feature `transfer`);
//! - exchange files with five other systems: [`layouts`] and `transfer` (feature `transfer`);
//! - verify, repair, back up: [`care`]; examine the whole set-up: `doctor`; find the store and the
//!   config of a project: `project`;
//! - encrypt: `SecretKey` and `Options::keys` (feature `encrypt`).
//!
//! How it works inside, and which bytes it writes, is in [`docs`].
//!
//! It is not a database for anything but checkpoints, not a server, and not a log of what agents
//! said. One process changes the file at a time; readers wait for no other process.

/// How much a run of the tests tries.
#[cfg(test)]
#[path = "../tests/run/extent.rs"]
mod extent;
/// Documents of other systems for these targets.
#[cfg(test)]
#[path = "../tests/fuzz/state.rs"]
mod state;
/// Choices for the targets that try hostile input.
#[cfg(test)]
#[macro_use]
#[path = "../tests/fuzz/tape.rs"]
mod tape;
/// Programs that a test needs and a machine may lack.
#[cfg(test)]
#[macro_use]
#[path = "../tests/run/tool.rs"]
mod tool;

// In the order of layers: each uses only those above it.
mod spelling;
mod sync;
mod threads;
mod yaml;

// Only for the command, so far.
#[doc(hidden)]
pub mod ordered;

mod checkpoint;
mod codec;
mod condition;
mod key;
mod store;

pub mod config;
pub mod diff;
pub mod docs;
#[cfg(all(feature = "transfer", feature = "world"))]
pub mod doctor;
pub mod error;
pub mod history;
pub mod layouts;
#[cfg(feature = "transfer")]
pub mod project;
pub mod query;
pub mod recovery;
pub mod retention;
pub mod text;
#[cfg(feature = "transfer")]
pub mod transfer;

/// The example of the README is compiled, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use checkpoint::{
    Artifact, Checkpoint, CustomTrigger, Document, Entry, Id, Issue, Layout, LoopId, NewArtifact,
    NewEntry, Series, Status, Timestamp, Trigger,
};
#[cfg(feature = "encrypt")]
pub use codec::SecretKey;
pub use condition::Condition;
pub use config::Config;
pub use diff::{Diff, diff};
pub use error::{Error, Result};
pub use query::{Order, Page, Query};
pub use retention::{Plan, Policy, plan};
pub use store::{Draft, Durability, Options, Settings, Stats, Store};

/// Captured files of a checkpoint.
pub mod artifact {
    pub use crate::checkpoint::{Artifact, ArtifactStatus, Hash, NewArtifact};
}

/// Looking after a store: checks, repairs, backups, compaction, other keys, and how far they are.
///
/// ```
/// # fn show(_line: String) {}
/// use std::ops::ControlFlow;
/// use waypost::care::Repair;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # let store = Store::open(&path)?;
/// # store.save(NewEntry::issue("42")?, &"state")?;
/// # store.close()?;
/// let how = Repair { dry_run: true, ..Repair::default() };
/// let repaired = Store::repair(&path, &how, &mut |_| ControlFlow::Continue(()))?;
/// for lost in &repaired.lost {
///     show(format!("cannot save {}: {}", lost.place, lost.reason));
/// }
/// assert_eq!((repaired.checkpoints, repaired.lost.len()), (1, 0));
/// # Ok(())
/// # }
/// ```
pub mod care {
    pub use crate::codec::KeyId;
    pub use crate::store::{
        Backup, Compacted, Contents, Copied, Defect, Harm, Holder, Inspection, LockText, Lost,
        Rekeyed, Repair, Repaired, SetAside, Spooled, Stage, Step, StoreState, Unreadable,
        Verification, Verify,
    };
}

/// What was removed from a store, how to restore it, and the log of operations.
pub mod keep {
    pub use crate::store::{Action, Deleted, Operation, Restorable};
}

/// How a store is opened.
pub mod options {
    pub use crate::store::{Durability, Hold, Limits, Options};
}

/// Documents with their text, so that they are given back byte for byte.
pub mod source {
    pub use crate::checkpoint::{Format, SourceForm, Spacing, TextStyle};
    pub use crate::codec::{JsonStyle, Source};
}

// Only for the command, so that a single module opens files, and a single one makes whole ones.
#[doc(hidden)]
pub use store::{opening, whole};
