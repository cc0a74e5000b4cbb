//! The documents of five systems as Rust types, each checked against what its system requires.
//!
//! [`from_json`] and [`from_yaml`] read real files: fields may be missing or null, numbers in
//! quotes, words and keys unknown. Writing the value again loses nothing. `validate` checks the
//! rules of the system. It names every [`Problem`] by the JSON pointer of its field and never
//! quotes a value.
//!
//! ```
//! use waypost::layouts::{from_json, pipeline};
//!
//! # fn main() -> waypost::Result<()> {
//! let text = r#"{"storyId": "PROJ-42", "stage": 1, "agentId": "a", "verdict": "NO-GO",
//!     "timestamp": "2026-02-14T14:30:00Z", "lastAction": "validated", "readiness": 4,
//!     "tasksCompleted": [], "tasksRemaining": []}"#;
//! let checkpoint: pipeline::StoryCheckpoint = from_json(text.as_bytes())?;
//! let problems = checkpoint.validate();
//! assert_eq!(problems[0].to_string(), "/reason: is required if the verdict is NO-GO");
//! # Ok(())
//! # }
//! ```
//!
//! Files may break the rules of their system, and files beside them may be no checkpoints:
//! [`kind()`] classifies a file by its path, and [`recognise()`] describes a document without
//! checking all of it.
//!
//! ```
//! use waypost::layouts::{Kind, Place, kind, recognise};
//! use waypost::{Document, Status};
//!
//! # fn main() -> waypost::Result<()> {
//! let path = ".aiwg/ralph/current-loop.json";
//! assert_eq!(kind(path), Kind::Checkpoint);
//! let json = br#"{"task": "Fix tests", "current_iteration": "3", "status": "IN_PROGRESS"}"#;
//! let place = Place { path, ..Place::default() };
//! let entry = recognise(&Document::from_json(json)?, &place).expect("the state of a loop");
//! assert_eq!((entry.iteration, entry.status), (Some(3), Status::InProgress));
//! # Ok(())
//! # }
//! ```
//!
//! [`standing()`] reads what a document says about the work: its progress, what is left, and what
//! it was based on.
//!
//! In the other direction, [`file_as`] turns any checkpoint with the required fields into a file of
//! a layout, and [`to_yaml`] writes YAML. [`file_with`] also chooses the version of the schema.
//!
//! The types can be saved in a [`Store`](crate::Store) and read back by
//! [`Checkpoint::state`](crate::Checkpoint::state). Fields are written in the order in which they
//! are declared, and what is in `other` after them, sorted by key.

pub mod agentize;
pub mod aiwg;
pub mod claude;
pub mod crunch;
pub mod pipeline;

mod carried;
mod check;
mod described;
mod field;
#[cfg(test)]
mod fuzz;
mod given;
mod kind;
mod lines;
mod migrate;
mod native;
mod part;
mod path;
mod problem;
mod read;
mod reading;
mod recognise;
mod revision;
mod scalar;
mod standing;
mod status;
mod time;
mod unreadable;
mod word;
mod write;
mod writing;
mod yaml;

pub use carried::{Carried, carried};
#[cfg(feature = "transfer")]
pub(crate) use check::check_datum;
pub use check::{check, problems};
pub use described::{described, refuse_broken};
pub use field::Field;
pub use kind::{Kind, kind};
pub use lines::locate;
pub use problem::{Code, Level, Problem};
pub use read::{from_json, from_yaml};
#[cfg(feature = "transfer")]
pub(crate) use recognise::recognise_datum;
pub use recognise::{Place, recognise, recognise_as, unrecognised};
pub use revision::Revision;
pub use scalar::Scalar;
pub use standing::{
    Batch, Graph, GraphNode, Knowledge, Messages, NamedFile, Progress, Snapshot, Standing, standing,
};
pub use status::status;
pub use unreadable::{marked_unreadable, unreadable};
pub use word::{Vocabulary, Word};
pub use write::{LayoutFile, file_as, file_with};
pub use writing::{Form, Schema, Writing};
pub use yaml::to_yaml;
