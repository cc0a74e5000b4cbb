//! The engine room: the file and the disk below everything else in the store.
//!
//! It owns the disk as the store sees it, the engine's file and the tables in it, pages read
//! without the engine, bad sectors, interned names, and how frames are sealed.
//!
//! Every room may call it. It calls no other room.
//!
//! Locks: those of `names`, `overlay` and `sectors` are held for a moment each. No other lock is
//! taken while one of them is held.

pub(in crate::store) mod disk;
pub(in crate::store) mod fault;
pub(in crate::store) mod full;
pub(in crate::store) mod image;
pub(in crate::store) mod location;
pub(crate) mod lossy;
pub(in crate::store) mod names;
pub(in crate::store) mod overlay;
pub(in crate::store) mod pages;
pub(in crate::store) mod published;
pub(in crate::store) mod sealing;
pub(in crate::store) mod sectors;
pub(in crate::store) mod table;
pub(in crate::store) mod unfinished;
