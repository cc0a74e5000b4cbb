//! The reserve: disk space that a journal keeps for when the disk is full.
//!
//! The file is longer than its content by the space that the tables need for that content. On a
//! full disk, a process that writes truncates the file after its content, and the engine gets the
//! blocks. Must never cut off a byte of the content.
//!
//! First come zeros that are written ahead, because a sync is cheaper where the blocks are written
//! already. Then come blocks that are only allocated: the reserve. Without it, a full disk would
//! keep the journal out of the tables, and then nothing could be removed. A reader does not touch
//! the reserve: it opens the file in memory.
//!
//! 4 MiB of tiny saves took 6.2 MiB of new pages in the tables, and 6.4 MiB with 4,000 known names.
//! So the reserve is 256 KiB and twice the content.

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
        // The blocks are free only after a sync.
        file.sync().at(path)?;
    }
    Ok(freed)
}
