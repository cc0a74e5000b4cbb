//! The log room: files beside the store in which saves are durable before the tables have them.
//!
//! It owns the journal, which the process that has the store appends to, and the spool, where other
//! processes leave saves that could not have the store in time.
//!
//! The rooms `turn` and `save` write and empty them. `care` checks and repairs them.
//!
//! Locks: that of the spool is taken before the journal; see the room `turn` for the whole order.

pub(in crate::store) mod journal;
pub(in crate::store) mod spool;
