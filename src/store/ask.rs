//! The ask room: snapshots, and what can be asked of one.
//!
//! It owns reading records, index rows and documents, the arrivals since a position, and figures
//! about a store.
//!
//! `Store` and the modules above it (`query`, `recovery`, `transfer`) call it. It never writes.
//!
//! Locks: it takes none of its own. `Shared::read` enters the turn and puts pending saves into the
//! tables before a snapshot is taken.

pub(in crate::store) mod arrivals;
pub(in crate::store) mod artifacts;
pub(in crate::store) mod of_file;
pub(in crate::store) mod reading;
pub(in crate::store) mod restorable;
pub(in crate::store) mod stats;
