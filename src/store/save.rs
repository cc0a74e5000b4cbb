//! The save room: from a draft to durable bytes.
//!
//! It owns drafts, sharing one write among many savers, the order of checkpoints, and the write
//! transaction with the rows of a checkpoint.
//!
//! Everything that changes the tables calls `Shared::write` or `Shared::write_durably` here.
//!
//! Locks: that of the queue of savers is held for a moment, before the turn is entered. Then come
//! those of the turn, the spool, the journal and the transaction; see the room `turn`.

pub(in crate::store) mod commit;
pub(in crate::store) mod draft;
pub(in crate::store) mod intake;
pub(in crate::store) mod listing;
pub(in crate::store) mod moved;
pub(in crate::store) mod order;
pub(in crate::store) mod write;
