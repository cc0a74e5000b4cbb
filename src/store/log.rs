//! The log room: where saves are durable before the tables have them.
//!
//! It owns the journal, which the process that has the store appends to, the saves that wait for
//! the tables (`intake`), and the files of the spool, where other processes leave saves that could
//! not have the store in time.
//!
//! `turn` opens the journal with the file, `save` writes and empties both, and `care` checks them.
//!
//! Locks: `Spool::seen` is taken before the journal, and the intake after it, for a moment; see the
//! room `turn` for the whole order.

pub(in crate::store) mod intake;
pub(in crate::store) mod journal;
pub(in crate::store) mod spool;
