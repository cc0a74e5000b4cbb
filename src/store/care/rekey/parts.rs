//! Changes a table in parts, row by row, and lets other processes work in between.

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::store::engine::fault::OUT_OF_ORDER;
use crate::store::save::shared::give_way;

// Some milliseconds of work, so that other processes can save in between.
const PART_BYTES: usize = 4 << 20;
const PART_ROWS: usize = 1000;

/// The result of one part of the work.
pub(super) struct Part<P> {
    /// Where the next part starts; `None` if this was the last.
    pub(super) next: Option<P>,
    /// Number of rows read.
    pub(super) rows: usize,
    pub(super) changed: u64,
    pub(super) damaged: u64,
    pub(super) sealed: u64,
}

/// The result of one row.
pub(super) struct Done<P> {
    pub(super) outcome: Outcome,
    /// The place of the next row; `None` if no row can follow.
    pub(super) next: Option<P>,
}

/// The outcome for one frame.
pub(super) enum Outcome {
    /// It has the wanted key already.
    AsWanted,
    Changed {
        stored_bytes: usize,
    },
    Damaged,
    /// It is sealed with a key that was not given.
    Sealed,
}

/// Runs `work` for each part of a table, until it returns `None` because the watcher ended the
/// call.
pub(super) fn each_part<P: Ord + Copy>(
    table: &str,
    first: P,
    mut work: impl FnMut(P) -> Result<Option<Part<P>>>,
) -> Result<ControlFlow<()>> {
    let mut next = Some(first);
    while let Some(from) = next {
        let Some(part) = work(from)? else { return Ok(ControlFlow::Break(())) };
        next = part.next;
        // The rows of a damaged page may be out of order; the loop would then never end.
        if next.is_some_and(|next| next <= from) {
            return Err(Error::corrupt(format!("table {table}"), OUT_OF_ORDER));
        }
        give_way();
    }
    Ok(ControlFlow::Continue(()))
}

/// Runs `one` for row after row, until a part is full.
///
/// `one` handles the first row at or after a place, if there is one.
pub(super) fn row_by_row<P>(
    from: P,
    mut one: impl FnMut(P) -> Result<Option<Done<P>>>,
) -> Result<Part<P>> {
    let mut part = Part { next: Some(from), rows: 0, changed: 0, damaged: 0, sealed: 0 };
    let mut bytes = 0;
    while part.rows < PART_ROWS && bytes < PART_BYTES {
        let Some(from) = part.next.take() else { break };
        let Some(Done { outcome, next }) = one(from)? else { break };
        part.rows += 1;
        part.next = next;
        match outcome {
            Outcome::AsWanted => {}
            Outcome::Changed { stored_bytes } => {
                bytes += stored_bytes;
                part.changed += 1;
            }
            Outcome::Damaged => part.damaged += 1,
            Outcome::Sealed => part.sealed += 1,
        }
    }
    Ok(part)
}
