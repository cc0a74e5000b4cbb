//! The last durable commit of a file that another process may be writing to.
//!
//! # When a page that was read is right
//!
//! The engine overwrites no page of its last durable commit before the header names the next one.
//! So a page read from the file is a page of that commit if the header still names it afterwards.
//! [`Published::read`] notes what the header names, and [`Published::is_still`] compares.
//!
//! - The header is read twice until both reads agree, since a reader may see half of a write.
//! - Only a commit in two phases counts: it was synced before the header named it. While `compact`
//!   runs it commits in one phase, and nothing counts as published.
//! - The comparison covers the slot of the commit, which slot it is, and its number of phases.
//!   Everything else in the header may change without a commit.
//!
//! Journal and spool follow the same rule: the journal starts over, and logs of the spool are
//! removed, only after a durable commit that has their saves. So if the header still names this
//! commit after they were read, they have all later saves.
//!
//! Must never write.

use std::io;

use super::disk::DiskFile;
use super::pages::header::{self, BYTES};

// Enough tries: a write of the header takes far less time.
const READS: usize = 100;

/// The header of a file that names a durable commit, and the length of the file then.
#[derive(Clone)]
pub(in crate::store) struct Published {
    header: [u8; BYTES],
    /// The length of the file when the header was read.
    pub(in crate::store) file_bytes: u64,
}

impl Published {
    /// Reads the header; `None` if its last commit is not durable, or if it keeps changing.
    pub(in crate::store) fn read(file: &dyn DiskFile) -> io::Result<Option<Self>> {
        for _ in 0..READS {
            let header = bytes(file)?;
            // The length must fit the header, too: the engine compares them.
            let file_bytes = file.length()?;
            if header == bytes(file)? {
                let is_sure = header::is_durable(&header);
                return Ok(is_sure.then_some(Self { header, file_bytes }));
            }
        }
        Ok(None)
    }

    /// Whether the file still names this commit.
    pub(in crate::store) fn is_still(&self, file: &dyn DiskFile) -> io::Result<bool> {
        let now = bytes(file)?;
        Ok(header::commit_bytes(&self.header) == header::commit_bytes(&now))
    }

    /// The bytes of the header, for the engine.
    pub(in crate::store) fn header(&self) -> &[u8] {
        &self.header
    }
}

impl std::fmt::Debug for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Published").field("file_bytes", &self.file_bytes).finish_non_exhaustive()
    }
}

fn bytes(file: &dyn DiskFile) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}
