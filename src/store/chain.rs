//! The chain room: which earlier document a document is stored as a delta to, and how it is read
//! back.
//!
//! It owns the choice of a base (`choice`), recent documents in memory (`bases`), compressing, and
//! unpacking from base to base. It reads frames from a table that its caller has opened.
//!
//! The rooms that read, save and remove documents call it. It uses only `engine`.
//!
//! Locks: that of `bases` is held for a moment. No other lock is taken while it is held.
//!
//! # What is kept in memory
//!
//! While the file is open, each active series keeps its chain and the raw bytes of the four frames
//! from which later steps can start. These and the documents that were read lately take up to half
//! of `cache_bytes`, or as much as the last document if that is longer. After opening, the first
//! save of a series finds its newest checkpoint by the index and reads its chain. Readers keep what
//! they ask for, and on the way what many others depend on. So reading a series from end to end
//! takes one step for each document.
//!
//! # A base may go before it is used
//!
//! A saver chooses a base before it holds the lock. Once it holds the lock, it checks whether
//! anything was removed since, and whether the base still exists. If not, or if a transaction has
//! failed and its outcome is unknown, it compresses again without a base. In a batch, an earlier
//! draft may be the base. Two savers of one series may take the same base at the same moment; one
//! of them then continues the chain.
//!
//! # When a delta pays
//!
//! A delta pays if it is less than half as long as the frame that stands alone. A delta that does
//! not pay, right after one that did, is kept all the same: what does not match the base is
//! compressed as if there were no base. After the second one in a row, the frame stands alone, and
//! the next 3, then 15, then 32 documents are not tried as deltas. So in a series of unrelated
//! documents one in 33 is compressed twice. A base that is four times as long as the document is
//! not used, because a small read would have to read it all.
//!
//! # When a base is removed
//!
//! Each base has a row that leads to its dependents. Each dependent that stays becomes a delta to
//! the nearest ancestor that stays. If there is none, the first of them stands alone, and the
//! others become deltas to it. Chains never get longer by this. The work grows with the removed
//! checkpoints and their dependents, not with the store.
//!
//! # Damage
//!
//! A damaged frame makes its dependents unreadable: at most 511 others if it stands alone, 7 if its
//! rank is 0. They report their own id and name the damaged frame. All others can be read, and the
//! series continues with a frame that stands alone.

pub(in crate::store) mod bases;
pub(in crate::store) mod choice;
pub(in crate::store) mod packed;
pub(in crate::store) mod recent;
pub(in crate::store) mod unpack;
pub(in crate::store) mod way;
