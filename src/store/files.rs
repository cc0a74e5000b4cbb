//! The files room: contents of captured files, each stored once.
//!
//! It owns captured files on their way into the store, their contents in chunks, and the rows that
//! tell which checkpoints have a content.
//!
//! `save` stores captured files, `ask` reads them, `keep` releases them, `care` checks them.
//!
//! Locks: it has none. What it writes is part of the caller's transaction.
//!
//! # When a content goes
//!
//! A content goes with the last checkpoint that has it. Which one is the last must be known for
//! certain and without looking at all checkpoints, because a mistake destroys an intact file. So
//! the table `holders` has one row for each content: the number of checkpoints that have it, a mix
//! of their sequences, and a sum over both. A content goes only if its row passes the sum and says
//! that the departing checkpoint is the only one left.
//!
//! One row for each pair of content and checkpoint would be weaker: a lost row would look like one
//! that never existed. A row for each content is always expected, so its loss shows. It is also
//! cheaper: a file that stays the same costs one row, not one more for each save. Saving or
//! removing a checkpoint takes one lookup and one write for each of its files, so pruning on save
//! stays bounded.
//!
//! If the row is damaged, missing or does not fit, the content stays for now. `compact` reads the
//! rows of all files of everything that exists or can be restored, makes the rows of `holders`
//! anew, and removes contents without a checkpoint. It removes nothing while a single record or
//! file row is damaged or missing. If a content and its row are both lost and it is captured again,
//! it counts as new: that takes two damages.
//!
//! # Reading and saving
//!
//! A record says how many files its checkpoint has. So saves, lists and reads without files never
//! touch these tables, and the tables are made with the first captured file.
//! `Store::get_with_artifacts` reads a document and its files in one snapshot, since an id may be
//! deleted and saved again between two. Rows of files are sorted and numbered, so a path is found
//! by halving.
//!
//! Before anything is locked, the contents that the store has are read and checked; what is missing
//! or damaged is compressed. So capturing a file again mends a damaged content, and an unchanged
//! file costs no compression. If a content went with its last checkpoint meanwhile, it is stored
//! again. When a checkpoint with a damaged row goes, its content cannot be told and stays until the
//! store is compacted.

pub(in crate::store) mod artifact;
pub(in crate::store) mod blobs;
pub(in crate::store) mod holders;
