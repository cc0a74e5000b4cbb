//! An embedded checkpoint store for agent workflows.

mod error;

mod checkpoint;

mod codec;
mod key;

mod store;

mod query;

pub use checkpoint::{
    Checkpoint, Document, Entry, Id, Issue, Layout, LoopId, NewEntry, Series, Status, Timestamp,
    Trigger,
};
pub use codec::JsonStyle;
pub use error::{Error, Result};
pub use query::{Cursor, Order, Page, Query};
pub use store::{Compacted, Deleted, Draft, Durability, Hold, Limits, Options, Stats, Store};
