//! The save room: from a draft to durable bytes.
//!
//! It owns what all calls of a handle share (`shared`), drafts, packing them, sharing one write
//! among many savers (`group`), the write itself (`commit`), and both ways of the spool.
//!
//! `Store` calls it to save. The rooms above change the tables by `Shared::write`. What a save
//! prunes is a function that the handle passes: `keep` lies above.
//!
//! Locks: that of the queue of savers is held for a moment, before the turn is entered. Then come
//! those of the turn, the spool, the journal and the transaction; see the room `turn`.

pub(in crate::store) mod add;
pub(in crate::store) mod batch;
pub(in crate::store) mod commit;
pub(in crate::store) mod draft;
mod gather;
pub(in crate::store) mod group;
pub(in crate::store) mod moved;
pub(in crate::store) mod order;
pub(in crate::store) mod pack;
pub(in crate::store) mod place;
pub(in crate::store) mod queue;
pub(in crate::store) mod settle;
pub(in crate::store) mod shared;
pub(in crate::store) mod spooling;
pub(in crate::store) mod take_in;
pub(in crate::store) mod tending;
