//! The care room: calls that deal with a whole store.
//!
//! It owns verifying, repairing, backups, compacting, inspecting without opening, and changing the
//! key.
//!
//! Only `Store` and the public functions call it; nothing in the store depends on it.
//!
//! Locks: `verify`, `repair` and `inspect` take the lock of the file without a turn, for calls that
//! have no open store. The others enter the turn, and let others have it between two steps.

pub(in crate::store) mod backup;
pub(in crate::store) mod compact;
pub(in crate::store) mod inspect;
pub(in crate::store) mod rekey;
pub(in crate::store) mod repair;
pub(in crate::store) mod verify;
