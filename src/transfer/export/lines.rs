//! Exports checkpoints as lines of JSON, made by several threads and written in order.

use std::io::{self, Write};

use super::captured::Captured;
use super::event::{ExportEvent, Halt, Watch, Watcher};
use super::failure::{ExportError, NotExported, Trying as _};
use super::report::ExportedLines;
use super::selection::{Selected, Selection};
use crate::checkpoint::{Checkpoint, Entry, Id};
use crate::error::{Error, Result};
use crate::key::Order;
use crate::store::Store;
use crate::transfer::json::{Unwritten, artifacts, write_checkpoint};
use crate::transfer::ordered::in_order;

// Enough to make handing over cheap beside it; few enough that little waits for the slowest.
const PART_ENTRIES: usize = 64;
const PART_BYTES: u64 = 1 << 20;
// A checkpoint with more bytes of captured files is written by itself: each thread holds some parts
// in memory.
const FILES_BYTES: u64 = 4 << 20;

/// Entries that are read together.
enum Job {
    Part(Vec<Entry>),
    /// So long that no other is held in memory at the same time.
    Alone(Box<Entry>),
}

/// What has become of a [`Job`].
enum Done {
    Part(Part),
    /// To be read when its turn comes.
    Alone(Box<Entry>),
}

/// The lines of some entries.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    report: ExportedLines,
    /// Checkpoints that were left out, or lack captured files.
    left_out: Vec<(Id, NotExported)>,
}

/// A checkpoint, the files that were captured with it, and the errors of those that are damaged.
type Whole = (Checkpoint, Vec<Captured>, Vec<Error>);

pub(super) fn run(
    store: &Store,
    selection: &Selection,
    out: &mut impl Write,
    watch: Watch<'_>,
) -> Result<ExportedLines, ExportError> {
    let selected = Selected::new(store, selection, Order::Oldest)?;
    let mut watcher = Watcher::new(watch, selected.total(store)?);
    let mut report = ExportedLines::default();
    let write = |done: Result<Done, ExportError>| {
        watcher.step(report.exported)?;
        let part = match done? {
            Done::Part(part) => part,
            Done::Alone(entry) => {
                let mut part = Part::default();
                let mut counted = Counted { out: &mut *out, bytes: 0 };
                part.add(store, &entry, &mut counted)?;
                part.report.bytes = counted.bytes;
                part
            }
        };
        out.write_all(&part.lines).trying(attempt)?;
        report.add(&part.report);
        report.bytes += part.lines.len() as u64;
        for (id, why) in &part.left_out {
            watcher.tell(ExportEvent::NotExported { name: id.as_str(), why });
        }
        Ok(())
    };
    let ended =
        in_order(|hand_out| Ok(list(store, &selected, hand_out)?), |job| work(store, job), write);
    match watcher.halted(ended, report.exported) {
        Ok(()) => {
            watcher.end(report.exported);
            Ok(report)
        }
        Err(Halt::Stopped) => Ok(ExportedLines { is_stopped: true, ..report }),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn attempt() -> String {
    "write the export".to_owned()
}

/// Hands out entries in parts.
fn list(store: &Store, selected: &Selected, hand_out: &mut dyn FnMut(Job) -> bool) -> Result<()> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    for entry in selected.entries(store) {
        let entry = entry?;
        let files = files_bytes(store, &entry);
        if files > FILES_BYTES {
            let before = std::mem::take(&mut part);
            if !(hand_out(Job::Part(before)) && hand_out(Job::Alone(Box::new(entry)))) {
                return Ok(());
            }
            bytes = 0;
            continue;
        }
        bytes += entry.document_bytes + files;
        part.push(entry);
        if part.len() >= PART_ENTRIES || bytes >= PART_BYTES {
            if !hand_out(Job::Part(std::mem::take(&mut part))) {
                return Ok(());
            }
            bytes = 0;
        }
    }
    hand_out(Job::Part(part));
    Ok(())
}

/// About how many bytes the captured files of a checkpoint take in a line.
fn files_bytes(store: &Store, entry: &Entry) -> u64 {
    // If they cannot be listed, reading the checkpoint reports it.
    let artifacts = artifacts(store, entry).unwrap_or_default();
    // Two digits a byte; text is shorter.
    artifacts.iter().map(|artifact| artifact.bytes.saturating_mul(2)).sum()
}

/// Makes the lines of a part.
fn work(store: &Store, job: Job) -> Result<Done, ExportError> {
    let entries = match job {
        Job::Part(entries) => entries,
        Job::Alone(entry) => return Ok(Done::Alone(entry)),
    };
    let (mut part, mut lines) = (Part::default(), Vec::new());
    for entry in entries {
        part.add(store, &entry, &mut lines)?;
    }
    Ok(Done::Part(Part { lines, ..part }))
}

impl Part {
    /// Writes the line of a checkpoint.
    fn add(
        &mut self,
        store: &Store,
        entry: &Entry,
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        match read(store, entry) {
            Ok((checkpoint, files, faults)) => {
                write_checkpoint(out, &checkpoint, &files, &[]).map_err(unwritten)?;
                self.report.exported += 1;
                self.report.incomplete += u64::from(!faults.is_empty());
                for fault in faults {
                    self.leave_out(entry, NotExported::Damaged(fault));
                }
            }
            // Deleted since it was listed.
            Err(Error::NotFound { .. }) => {}
            Err(error @ Error::Corrupt { .. }) => {
                self.report.damaged += 1;
                self.leave_out(entry, NotExported::Damaged(error));
            }
            // The process that saved it may have had larger limits.
            Err(error @ Error::Limit { .. }) => {
                self.report.refused += 1;
                self.leave_out(entry, NotExported::Limit(error));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn leave_out(&mut self, entry: &Entry, why: NotExported) {
        self.left_out.push((entry.id.clone(), why));
    }
}

fn unwritten(error: Unwritten) -> ExportError {
    match error {
        Unwritten::Io(source) => ExportError::Io { attempt: attempt(), source },
        Unwritten::Store(error) => error.into(),
    }
}

fn read(store: &Store, entry: &Entry) -> Result<Whole> {
    let checkpoint = store.get(&entry.id)?;
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for artifact in artifacts(store, &checkpoint.entry)? {
        let has_content = artifact.sha256.is_some();
        let content = has_content.then(|| store.artifact(&entry.id, &artifact.path));
        match content.transpose() {
            Ok(content) => files.push(Captured::new(artifact, content)),
            // The document and the other files are not hurt.
            Err(error @ Error::Corrupt { .. }) => {
                faults.push(error);
                files.push(Captured::damaged(artifact));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((checkpoint, files, faults))
}

/// Counts the bytes that are written.
struct Counted<'a, W> {
    out: &'a mut W,
    bytes: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{ArtifactStatus, NewArtifact, NewEntry};
    use crate::transfer::export::event::unwatched;

    /// Only documents were counted: 64 checkpoints with all of their files were held at once.
    #[test]
    fn files_of_many_checkpoints_are_not_in_memory_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("s.redb")).unwrap();
        let lengths = [0, 0, 3 << 20, 3 << 20, 0, 400 << 10, 400 << 10, 400 << 10, 0];
        for length in lengths {
            let file = |length| NewArtifact {
                path: "a".to_owned(),
                content: Some(vec![0xff; length]),
                mode: None,
                status: ArtifactStatus::Created,
            };
            let files = Some(length).filter(|length| *length > 0).map(file);
            let draft = store.draft(NewEntry::default(), &1).unwrap();
            store.save_draft(draft.with_artifacts(files.into_iter().collect()).unwrap()).unwrap();
        }
        let selection = Selection::default();
        let selected = Selected::new(&store, &selection, Order::Oldest).unwrap();
        let mut jobs = Vec::new();
        let mut hand_out = |job| {
            jobs.push(match job {
                Job::Part(entries) => entries.len(),
                Job::Alone(_) => usize::MAX,
            });
            true
        };
        list(&store, &selected, &mut hand_out).unwrap();
        assert_eq!(jobs, [2, usize::MAX, 0, usize::MAX, 3, 2]);

        // In the order in which they were saved, whichever thread wrote them.
        let mut out = Vec::new();
        let report = run(&store, &selection, &mut out, &mut unwatched).unwrap();
        assert_eq!((report.exported, report.bytes), (9, out.len() as u64));
        let lines = out.split_inclusive(|byte| *byte == b'\n');
        let found: Vec<_> = lines.map(|line| (line.len() / 2) >> 10).collect();
        assert!(found.iter().zip(lengths).all(|(found, length)| *found == length >> 10));
    }
}
