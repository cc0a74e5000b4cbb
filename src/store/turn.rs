//! The turn room: which process has the file, what that process keeps in memory meanwhile, and
//! views for the others.
//!
//! It owns the lock file, waiting for the turn, opening the file, letting it go, what the keeper
//! thread has to do, and holding a store for a check. Locks are taken in `enter`.
//!
//! Calls enter a turn by `Shared::with` and its like in the room `save`. `care` holds a store
//! without a turn, for calls that have no handle.
//!
//! Locks, in the order in which a call takes them:
//! 1. `Turn::open`: shared for a call, exclusive to open, close or compact the file. A call
//!    that has it exclusively may wait for the lock of another process.
//! 2. `Spool::seen`, while the spool is taken in; with it `Open::logs`, for a moment.
//! 3. `Open::journal`, from writing a save until it is pending, and for every durable commit.
//! 4. `Open::next_name`, for the whole of a write transaction.
//! 5. `Open::intake` and the other locks of `Open`, `Turn` and `Keeper`, each for a moment.
//!
//! # Waiting for the turn
//!
//! There is no queue of waiting processes, because an entry of it would not end with its process. A
//! waiting process tries every 2 ms at first and ever more often, up to every 0.2 ms after half a
//! second. So the process that waited longest is mostly the first to see the file free. After two
//! seconds it tries less often again, since then the others do not seem to take turns. A process
//! that let the file go for others does not take it for 3 ms.
//!
//! # Replaced files
//!
//! Locks are on files, not on names. A process that has a lock compares the file with the path, by
//! device and inode. If they differ, it tries again as if the lock were held: a repair, a backup
//! with `overwrite` or an `mv` may have put another file there between opening and locking. Waypost
//! itself replaces a file only while it holds its lock.

pub(in crate::store) mod enter;
pub(in crate::store) mod file;
pub(in crate::store) mod found;
pub(in crate::store) mod held;
pub(in crate::store) mod keeper;
pub(in crate::store) mod key;
pub(in crate::store) mod kind;
pub(in crate::store) mod lock;
pub(in crate::store) mod open;
pub(in crate::store) mod pause;
pub(in crate::store) mod settings;
pub(in crate::store) mod tables;
pub(in crate::store) mod taken;
pub(in crate::store) mod view;
pub(in crate::store) mod wait;
