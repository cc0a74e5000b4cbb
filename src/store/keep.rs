//! The keep room: which checkpoints stay, which go, and what is noted about that.
//!
//! It owns applying a plan, pruning on save and once a day, removing, deleting and undeleting,
//! forks, facts that are noted after a save, changing the settings, and the log of operations.
//!
//! `Store` calls it, and passes `prune_on_save` to `save`. It decides nothing by itself: what a
//! policy removes is what a plan says.
//!
//! Locks: it takes those of a write transaction; see the room `turn`. A call that removes much
//! makes several transactions, and other calls get their turn in between.

pub(in crate::store) mod apply;
mod at_once;
pub(in crate::store) mod daily;
mod delete;
pub(in crate::store) mod deleted;
pub(in crate::store) mod fork;
pub(in crate::store) mod lifecycle;
pub(in crate::store) mod operation;
pub(in crate::store) mod prune_on_save;
pub(in crate::store) mod remove;
pub(in crate::store) mod settings;
