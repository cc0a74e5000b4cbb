//! The log room: where saves are durable before the tables have them.
//!
//! It owns the journal, which the process that has the store appends to, the saves that wait for
//! the tables (`intake`), and the logs of the spool, where other processes leave saves that could
//! not have the store in time.
//!
//! `turn` opens the journal with the file, `save` writes and empties both, and `care` checks them.
//!
//! Locks: `Spool::seen` is taken before the journal, and the intake after it, for a moment; see the
//! room `turn` for the whole order.
//!
//! # Why the replay of the journal is right
//!
//! After a crash the engine goes back to its last durable commit. The next process that opens the
//! file puts into the tables what the journal has from the next sequence on. That misses nothing
//! and adds nothing twice, because:
//!
//! 1. Sequences rise in the journal, and they enter the tables in the same order.
//! 2. A durable commit is made only with the journal locked and everything in it in the tables. So
//!    a sequence below the next one is in the tables, or was deleted from them.
//! 3. The sum of an item is seeded with that of the item before, and the first with the identity of
//!    the store. So a torn write, the content of an earlier round, or the journal of another store
//!    is never taken for an item.
//!
//! # Torn writes and damage
//!
//! An item that does not pass its sum may be a torn write or damage. Any part of an unsynced write
//! may be on disk, so a whole item behind it proves nothing. The *mark* behind the last item does:
//! it says up to where the journal was on disk when that item was written. It is part of the same
//! write, and the next item overwrites it. If the items end before the position in the mark, the
//! journal is damaged: opening it is refused, and nothing changes. A mark of an earlier round names
//! a sequence that the tables already have.
//!
//! Limit: damage to the last write, with nothing written since, looks like a torn write. So does a
//! journal that was cut, or zeroed from its start.
//!
//! # When pending saves reach the tables
//!
//! Pending saves are in memory as well as in the journal. A reader puts them into the tables before
//! it looks; the keeper does so after 10 ms; savers do so when 4 MiB are pending. These commits are
//! not synced. A durable commit is made when the journal is full, when the file is let go, and by
//! every change that needs the tables. Then the journal starts over. The first durable save of a
//! turn goes to the tables at once, so a command that saves once makes no journal.
//!
//! After a failed write or sync, the journal accepts nothing more. Opening the file anew, or the
//! next durable commit, puts its content into the tables and replaces it.

pub(in crate::store) mod intake;
pub(in crate::store) mod journal;
pub(in crate::store) mod spool;
