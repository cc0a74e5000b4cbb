//! The ask room: what callers ask of a store.
//!
//! It owns a call that only reads (`reading`), captured files, checkpoints of a file, deleted
//! checkpoints that can be restored, arrivals since a position, and figures about a store.
//!
//! `Store` and the modules above it (`query`, `recovery`, `transfer`) call it, and so do `keep` and
//! `care`. It writes nothing itself.
//!
//! Locks: none of its own. `Shared::read` enters the turn if this process has the file, and uses a
//! view otherwise. Then it puts pending saves into the tables before it takes a snapshot; see the
//! room `turn`.

pub(in crate::store) mod arrivals;
pub(in crate::store) mod artifacts;
pub(in crate::store) mod of_file;
pub(in crate::store) mod reading;
pub(in crate::store) mod restorable;
pub(in crate::store) mod stats;
