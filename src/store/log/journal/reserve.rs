//! The reserve: disk space that a journal keeps for when the disk is full.
//!
//! The file is longer than its content by the space that the tables need for that content. On a
//! full disk, a process that writes truncates the file after its content, and the engine gets the
//! blocks. Must never cut off a byte of the content.

use std::path::Path;

use crate::error::{At, Result};
use crate::store::engine::disk::Disk;

// Two commits and the pages that they copy, even for a nearly empty journal.
const ROOM_BYTES_MIN: u64 = 256 << 10;

/// Roughly the space that the tables need for content of this length: half-full pages, and copies
/// of the pages that get new rows.
pub(in crate::store) fn room_for(content_bytes: u64) -> u64 {
    ROOM_BYTES_MIN + 2 * content_bytes
}

/// Truncates a journal to its content, which ends at `end`; returns how many bytes that frees.
pub(in crate::store) fn cut(disk: &dyn Disk, path: &Path, end: u64) -> Result<u64> {
    let file = disk.open_to_write(path).at(path)?;
    let freed = file.length().at(path)?.saturating_sub(end);
    if freed > 0 {
        file.set_length(end).at(path)?;
        // Only after a sync the blocks are free.
        file.sync().at(path)?;
    }
    Ok(freed)
}
