//! Checkpoints as lines of JSON, made by several threads and written in order.

use std::io::Write;

use anyhow::{Context as _, Result};
use waypost::{Checkpoint, Entry, Error, Query, Store};

use crate::args::Global;
use crate::ordered::in_order;
use crate::output::{self, Kept};
use crate::progress::Progress;

// Enough to make handing over cheap beside it; few enough that little waits for the slowest.
const PART_ENTRIES: usize = 64;
const PART_BYTES: u64 = 1 << 20;

/// What became of an export.
#[derive(Debug, Default)]
pub(super) struct Dumped {
    pub(super) exported: u64,
    pub(super) bytes: u64,
    pub(super) damaged: u64,
}

/// Lines of some entries.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    count: u64,
    /// What could not be read, and why.
    damaged: Vec<Error>,
}

/// Writes all that a query asks for. What is damaged is reported, and the rest goes on.
pub(super) fn run(
    store: &Store,
    query: Query,
    out: &mut impl Write,
    global: &Global,
) -> Result<Dumped> {
    let mut progress = Progress::new("exported", global);
    let mut dumped = Dumped::default();
    let write = |part: Result<Part>| {
        let part = part?;
        out.write_all(&part.lines).context("cannot write the export")?;
        dumped.exported += part.count;
        dumped.bytes += part.lines.len() as u64;
        dumped.damaged += part.damaged.len() as u64;
        part.damaged.iter().for_each(|error| global.note(format_args!("not exported: {error}")));
        progress.show(dumped.exported);
        Ok(())
    };
    in_order(|hand_out| list(store, query, hand_out), |part| lines(store, part), write)?;
    Ok(dumped)
}

/// Hands out entries in parts.
fn list(store: &Store, query: Query, hand_out: &mut dyn FnMut(Vec<Entry>) -> bool) -> Result<()> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    for entry in store.entries(query) {
        let entry = entry?;
        bytes += entry.document_bytes;
        part.push(entry);
        if part.len() >= PART_ENTRIES || bytes >= PART_BYTES {
            if !hand_out(std::mem::take(&mut part)) {
                return Ok(());
            }
            bytes = 0;
        }
    }
    hand_out(part);
    Ok(())
}

fn lines(store: &Store, entries: Vec<Entry>) -> Result<Part> {
    let mut part = Part::default();
    for entry in entries {
        match read(store, &entry) {
            Ok((checkpoint, artifacts)) => {
                output::checkpoint_line(&mut part.lines, &checkpoint, &artifacts)?;
                part.count += 1;
            }
            // Deleted since it was listed.
            Err(Error::NotFound { .. }) => {}
            Err(error @ Error::Corrupt { .. }) => part.damaged.push(error),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(part)
}

/// A checkpoint, and the files that were captured with it.
fn read(store: &Store, entry: &Entry) -> waypost::Result<(Checkpoint, Vec<Kept>)> {
    let checkpoint = store.get(&entry.id)?;
    let mut kept = Vec::new();
    for artifact in output::artifacts(store, &checkpoint.entry)? {
        let has_content = artifact.sha256.is_some();
        let content = has_content.then(|| store.artifact(&entry.id, &artifact.path));
        kept.push(Kept::new(artifact, content.transpose()?));
    }
    Ok((checkpoint, kept))
}
