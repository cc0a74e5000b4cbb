//! What happened: checkpoints one after the other, what changed in each, and one value over time.
//!
//! [`Store::scope`](crate::Store::scope) says which checkpoints are meant. [`Timeline`] tells of
//! each what changed since the one before, [`Values`] follows a JSON pointer, [`Search`] finds
//! documents by a [`Condition`](crate::Condition), and [`Follower`] waits for new checkpoints.
//! One damaged document never hides the others.
//!
//! ```
//! use waypost::history::Timeline;
//! use waypost::{NewEntry, Query, Series, Store};
//!
//! # fn main() -> waypost::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let store = Store::open(dir.path().join("store.redb"))?;
//! let about = NewEntry { series: Some(Series::new("nightly")?), ..NewEntry::default() };
//! store.save(about.clone(), &serde_json::json!({"score": 71}))?;
//! store.save(about, &serde_json::json!({"score": 74}))?;
//!
//! let scope = store.scope(Some("nightly"), Query::default())?;
//! let (entries, has_more) = scope.newest(&store, 20)?;
//! let rows = Timeline::new(&store, entries).collect::<waypost::Result<Vec<_>>>()?;
//! assert_eq!(rows[0].summary().unwrap().words, "/score 71 -> 74");
//! assert!(!has_more);
//! # Ok(())
//! # }
//! ```
//!
//! Prints nothing and never looks outside the store, but for the time between two looks of a
//! [`Follower`].

mod content;
mod files;
mod find;
mod follow;
mod links;
mod nearby;
mod row;
mod scope;
mod summary;
mod timeline;
mod values;

pub use content::{ReadDocument, Tally};
pub use files::{Alone, FileChanges};
pub use find::{Match, Search, Searched, Searching};
pub use follow::{Followed, Follower, Looked, Waiting};
pub use links::{Link, links};
pub use nearby::nearby;
pub use row::{Captured, Origin, Reading, Row, Since};
pub use scope::Scope;
pub use summary::Summary;
pub use timeline::Timeline;
pub use values::{Course, Value, ValueAt, Values};
