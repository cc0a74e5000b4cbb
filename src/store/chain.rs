//! The chain room: which earlier document a document is stored as a delta to, and how it is read
//! back.
//!
//! It owns the choice of a base (`choice`), recent documents in memory (`bases`), compressing, and
//! unpacking from base to base. It reads frames from a table that its caller has opened.
//!
//! The rooms that read, save and remove documents call it. It uses only `engine`.
//!
//! Locks: that of `bases` is held for a moment. No other lock is taken while it is held.

pub(in crate::store) mod bases;
pub(in crate::store) mod choice;
pub(in crate::store) mod packed;
pub(in crate::store) mod recent;
pub(in crate::store) mod unpack;
