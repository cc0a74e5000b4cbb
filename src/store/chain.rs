//! The chain room: which earlier document a document is stored as a delta to, and how it is read
//! back.
//!
//! It owns the choice of a base, the recent documents in memory, packing, unpacking, and storing
//! anew what loses its base.
//!
//! The rooms that save, remove and read call it. A delta is chosen in `choice`.
//!
//! Locks: that of `bases` is held for a moment. No other lock is taken while it is held.

pub(in crate::store) mod bases;
pub(in crate::store) mod choice;
pub(in crate::store) mod dependents;
pub(in crate::store) mod pack;
pub(in crate::store) mod recent;
pub(in crate::store) mod unpack;
