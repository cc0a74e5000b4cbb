//! The files room: contents of captured files, each stored once.
//!
//! It owns captured files on their way into the store, their contents in chunks, and the rows that
//! tell which checkpoints have a content.
//!
//! `save` stores captured files, `ask` reads them, `keep` releases them, `care` checks them.
//!
//! Locks: it has none. What it writes is part of the caller's transaction.

pub(in crate::store) mod artifact;
pub(in crate::store) mod blobs;
pub(in crate::store) mod holders;
