//! The care room: calls that deal with a whole store.
//!
//! It owns verifying, repairing, backups, compacting, inspecting without opening, and changing the
//! key.
//!
//! Only `Store` and the public functions call it; nothing in the store depends on it.
//!
//! Locks: `repair` and `inspect` take the lock of the file without a turn, for calls that have no
//! open store. `verify` does so only if a view is not enough. The others enter the turn, and let
//! others have it between two steps.
//!
//! # Verify
//!
//! Damage to a few pages makes the engine panic, and panic again while it unwinds, which ends the
//! process. These pages belong to the engine's own tables. So the first opening of a file verifies
//! their checksums, and refuses the file if they are damaged.
//!
//! For any other page, a panic of the engine is a finding about the checkpoint or table that was
//! read. Unreadable rows are skipped by bisecting the keys behind them. Most checks read
//! rows of one checkpoint, so they run in parts of some hundred, on all processors, and the store
//! may change between two parts. The walk through the pages is one part; so is collecting the
//! owners of frames (16 bytes of memory for each checkpoint), and those of contents.
//!
//! # Repair
//!
//! A damaged inner page hides the intact pages below it. So where trees are damaged, or an entry
//! has no document, every page that did not pass its checksum in the walk is searched. If it has
//! the shape of a leaf, its rows replace what the tables lack, as far as their own sums prove them:
//!
//! - A document is bound to its sequence and never changes, so any version of it that passes its
//!   sum will do. Only a save that was cut short may have left a frame whose sequence was given out
//!   again: one that is not as long as the entry says is `unsure`.
//! - An entry may have been changed or deleted since, so one found only there is `unsure`. It is
//!   left out where the tables still show that it is gone: its document is not in a whole tree, or
//!   it is among the deleted.
//! - Names are bound to their number, but `compact` gives numbers anew. Where two are found,
//!   neither counts, and one that is found is `unsure`.
//! - Settings are not taken from there: an old policy could prune.
//!
//! Where neither commit of the header leads to the tables, pages that look like the table of tables
//! are tried. The one with the least damage and the newest document counts. All this reads a few
//! times the length of the file at most, and takes memory in proportion to it. If nothing can be
//! saved, nothing is moved.
//!
//! Sequences are kept, so frames stay as they are. What depended on a lost frame is lost too; what
//! depended on a frame that is no checkpoint any more stands alone. The new store is renamed to the
//! name that the old one will get, and then the two exchange their names in one step. Where the
//! file system cannot do that, the old store is copied to that name, and the new one is renamed
//! over the old one. A kill leaves one or the other at the path, and neither ever has two names.
//! The new store keeps the identity, so what other processes spool meanwhile is taken in. The
//! journal of the old store is copied by then and is removed before any process can open the new
//! store. A repair into another path gets a new identity.
//!
//! # Backup
//!
//! The file is copied once while others change it, noting the sum of each 256 KiB. Then, with the
//! file closed and held, the parts whose sum changed are copied again. So changes wait about as
//! long as reading the file from memory takes, and not for the disk. The copy is opened, every page
//! of it is checked, and it gets an identity of its own before it gets its name. A copy row by row
//! would be as consistent and smaller, but would hold the file many times as long.

pub(in crate::store) mod apart;
pub(in crate::store) mod backup;
pub(in crate::store) mod compact;
pub(in crate::store) mod inspect;
pub(in crate::store) mod rekey;
pub(in crate::store) mod remains;
pub(in crate::store) mod repair;
pub(in crate::store) mod verify;
