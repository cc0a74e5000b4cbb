//! The turn room: which process has the file, and what of it is in memory meanwhile.
//!
//! It owns the lock file, waiting for the turn, the keeper thread that lets the file go, the open
//! file, opening in memory on a full disk, and holding a store for a check.
//!
//! Every room above it enters the file here, by `Shared::with`, `Shared::read` and their like; they
//! never lock or open the store themselves.
//!
//! Locks, in the order in which a call takes them:
//! 1. `Turn::open`: shared for a call, exclusive to open, close or compact the file. Who holds it
//!    exclusively may wait for the lock of another process.
//! 2. The lock of the spool, while files of the spool are taken in.
//! 3. `Open::journal`, from writing a save until it is pending, and for every durable commit.
//! 4. `Open::next_name`, for the whole of a write transaction.
//! 5. `Open::intake` and the other locks of `Open`, the `Turn` and the `Keeper`, each for a moment.

pub(in crate::store) mod enter;
pub(in crate::store) mod full_disk;
pub(in crate::store) mod held;
pub(in crate::store) mod keeper;
pub(in crate::store) mod lock;
pub(in crate::store) mod open;
pub(in crate::store) mod pause;
