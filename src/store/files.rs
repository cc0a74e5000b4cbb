//! The files room: files that checkpoints capture, and files that checkpoints came from.
//!
//! It owns captured contents, each stored once, and the rows that lead from a source file to its
//! checkpoints.
//!
//! The rooms `save` and `keep` call it while they write, `care` to check and copy contents.
//!
//! Locks: it has none. What it writes is part of the caller's transaction.

pub(in crate::store) mod artifact;
pub(in crate::store) mod blobs;
pub(in crate::store) mod sources;
