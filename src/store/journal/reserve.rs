//! The reserve: room that a journal keeps for the day on which the disk is full.
//!
//! What is in a journal can always be put into the tables, since the file is longer than its
//! content by as much as that takes. On a full disk whoever writes cuts it behind its content, and
//! the engine has the blocks. Must never cut off a byte of the content.

use std::path::Path;

use crate::error::{At, Result};
use crate::store::disk::Disk;

// Two commits and the pages that they copy, however little is in the journal.
const ROOM_BYTES_MIN: u64 = 256 << 10;

/// About the room that the tables take for content of this length: pages that are half full, and
/// copies of those that rows are added to.
pub(in crate::store) fn room_for(content_bytes: u64) -> u64 {
    ROOM_BYTES_MIN + 2 * content_bytes
}

/// Gives the reserve of a journal, whose content ends at `end`, back to the file system; how much
/// that is.
pub(in crate::store) fn cut(disk: &dyn Disk, path: &Path, end: u64) -> Result<u64> {
    let file = disk.open_to_write(path).at(path)?;
    let freed = file.length().at(path)?.saturating_sub(end);
    if freed > 0 {
        file.set_length(end).at(path)?;
        // Not before this are the blocks anybody's to take.
        file.sync().at(path)?;
    }
    Ok(freed)
}
