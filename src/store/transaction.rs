//! The transaction room: what one transaction reads and writes.
//!
//! It owns snapshots, the write transaction, and the rows of a checkpoint: its record, its frame,
//! the index, names, the rows that lead from bases to dependents and from files to checkpoints.
//! They all change in one transaction or not at all.
//!
//! Every room above it reads and writes the tables through it. It decides nothing.
//!
//! Locks: a write transaction holds `Open::next_name` from its begin to its end, and takes
//! `Open::intake` for a moment. A transaction that is to last needs the journal, which its caller
//! has.

pub(in crate::store) mod artifact_tables;
pub(in crate::store) mod chains;
pub(in crate::store) mod dependents;
pub(in crate::store) mod index;
pub(in crate::store) mod lag;
pub(in crate::store) mod listing;
pub(in crate::store) mod lookup;
pub(in crate::store) mod snapshot;
pub(in crate::store) mod sources;
pub(in crate::store) mod touched;
pub(in crate::store) mod writer;
