//! Exports checkpoints as lines of JSON: one thread reads, others make the lines, and the caller
//! writes them in order.

use std::io::{self, Write};

use super::captured::Captured;
use super::event::{ExportEvent, Halt, Watch, Watcher};
use super::failure::{ExportError, NotExported, Trying as _};
use super::report::ExportedLines;
use super::selection::{LineOptions, Selected};
use crate::checkpoint::{Checkpoint, Entry};
use crate::error::{Damage, Error, Result};
use crate::key::Order;
use crate::ordered::in_order_by;
use crate::query::{Documents, Unread};
use crate::store::Store;
use crate::transfer::json::{Unwritten, artifacts, write_checkpoint};

// Of captured files, beside the documents of a part.
const PART_BYTES: u64 = 1 << 20;
// A checkpoint with more bytes of captured files is written by itself: each thread holds some parts
// in memory.
const FILES_BYTES: u64 = 4 << 20;

/// Checkpoints whose lines are made together.
enum Job {
    Part(Vec<Document>),
    /// A checkpoint whose captured files fill the memory that lines may take.
    Alone(Box<Checkpoint>),
}

type Document = Result<Checkpoint, Unread>;

/// What has become of a [`Job`].
enum Done {
    Part(Part),
    /// To be written when its turn comes.
    Alone(Box<Checkpoint>),
}

/// The lines of some checkpoints.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    report: ExportedLines,
    /// Checkpoints that were left out, or lack captured files, by id or place.
    left_out: Vec<(String, NotExported)>,
}

/// The files that were captured with a checkpoint, and the errors of those that are damaged.
type Files = (Vec<Captured>, Vec<Error>);

pub(super) fn run(
    store: &Store,
    options: &LineOptions,
    out: &mut impl Write,
    watch: Watch<'_>,
) -> Result<ExportedLines, ExportError> {
    let selected = Selected::new(store, &options.selection, Order::Oldest)?;
    let mut watcher = Watcher::new(watch, selected.total(store)?);
    let mut report = ExportedLines::default();
    let write = |done: Result<Done, ExportError>| {
        watcher.step(report.exported)?;
        let part = match done? {
            Done::Part(part) => part,
            Done::Alone(checkpoint) => {
                let mut part = Part::default();
                let mut counted = Counted { out: &mut *out, bytes: 0 };
                part.add(store, Ok(*checkpoint), &mut counted)?;
                part.report.bytes = counted.bytes;
                part
            }
        };
        out.write_all(&part.lines).trying(attempt)?;
        report.add(&part.report);
        report.bytes += part.lines.len() as u64;
        for (name, why) in &part.left_out {
            watcher.tell(ExportEvent::NotExported { name, why });
        }
        Ok(())
    };
    let produce = |hand_out: &mut dyn FnMut(Job) -> bool| {
        read(store, selected.documents(store), hand_out);
        Ok(())
    };
    let ended = in_order_by(options.workers(), produce, |job| work(store, job), write);
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

/// Hands out documents in parts: those that were read together, unless they have many files.
fn read(store: &Store, mut documents: Documents<'_>, hand_out: &mut dyn FnMut(Job) -> bool) {
    while let Some(read) = documents.next_part() {
        let (mut part, mut bytes) = (Vec::new(), 0);
        for document in read {
            match document {
                Ok(checkpoint) if files_bytes(store, &checkpoint.entry) > FILES_BYTES => {
                    let before = Job::Part(std::mem::take(&mut part));
                    if !(hand_out(before) && hand_out(Job::Alone(Box::new(checkpoint)))) {
                        return;
                    }
                    bytes = 0;
                }
                document => {
                    let files = document.as_ref().map(|it| files_bytes(store, &it.entry));
                    bytes += files.unwrap_or_default();
                    part.push(document);
                }
            }
            if bytes >= PART_BYTES {
                if !hand_out(Job::Part(std::mem::take(&mut part))) {
                    return;
                }
                bytes = 0;
            }
        }
        if !hand_out(Job::Part(part)) {
            return;
        }
    }
}

/// About how many bytes the captured files of a checkpoint take in a line.
fn files_bytes(store: &Store, entry: &Entry) -> u64 {
    // If they cannot be listed, reading them reports it.
    let artifacts = artifacts(store, entry).unwrap_or_default();
    // Two digits a byte; text is shorter.
    artifacts.iter().map(|artifact| artifact.bytes.saturating_mul(2)).sum()
}

/// Makes the lines of a part.
fn work(store: &Store, job: Job) -> Result<Done, ExportError> {
    let documents = match job {
        Job::Part(documents) => documents,
        Job::Alone(checkpoint) => return Ok(Done::Alone(checkpoint)),
    };
    let (mut part, mut lines) = (Part::default(), Vec::new());
    for document in documents {
        part.add(store, document, &mut lines)?;
    }
    Ok(Done::Part(Part { lines, ..part }))
}

impl Part {
    /// Writes the line of a checkpoint.
    fn add(
        &mut self,
        store: &Store,
        document: Document,
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        let (entry, error) = match document {
            Ok(checkpoint) => match files(store, &checkpoint.entry) {
                Ok((files, faults)) => {
                    write_checkpoint(out, &checkpoint, &files, &[]).map_err(unwritten)?;
                    self.report.exported += 1;
                    self.report.incomplete += u64::from(!faults.is_empty());
                    for fault in faults {
                        let name = checkpoint.entry.id.to_string();
                        self.left_out.push((name, NotExported::Damaged(fault)));
                    }
                    return Ok(());
                }
                Err(error) => (Some(Box::new(checkpoint.entry)), error),
            },
            Err(Unread { entry, error }) => (entry, error),
        };
        self.leave_out(entry.as_deref(), error)
    }

    fn leave_out(&mut self, entry: Option<&Entry>, error: Error) -> Result<(), ExportError> {
        let name = entry.map(|entry| entry.id.to_string());
        match error {
            // Deleted since it was listed.
            Error::NotFound { .. } => {}
            Error::Corrupt { ref place, damage: Damage::Part, .. } => {
                self.report.damaged += 1;
                let name = name.unwrap_or_else(|| place.clone());
                self.left_out.push((name, NotExported::Damaged(error)));
            }
            // The process that saved it may have had larger limits.
            Error::Limit { .. } => {
                self.report.refused += 1;
                self.left_out.push((name.unwrap_or_default(), NotExported::Limit(error)));
            }
            error => return Err(error.into()),
        }
        Ok(())
    }
}

fn unwritten(error: Unwritten) -> ExportError {
    match error {
        Unwritten::Io(source) => ExportError::Io { attempt: attempt(), source },
        Unwritten::Store(error) => error.into(),
    }
}

fn files(store: &Store, entry: &Entry) -> Result<Files> {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for artifact in artifacts(store, entry)? {
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
    Ok((files, faults))
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
    use crate::transfer::export::Selection;
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
                Job::Part(documents) => documents.len(),
                Job::Alone(_) => usize::MAX,
            });
            true
        };
        read(&store, selected.documents(&store), &mut hand_out);
        assert_eq!(jobs, [2, usize::MAX, 0, usize::MAX, 3, 1, 1]);

        // In the order in which they were saved, whichever thread wrote them.
        let mut out = Vec::new();
        let options = LineOptions { selection, threads: None };
        let report = run(&store, &options, &mut out, &mut unwatched).unwrap();
        assert_eq!((report.exported, report.bytes), (9, out.len() as u64));
        let lines = out.split_inclusive(|byte| *byte == b'\n');
        let found: Vec<_> = lines.map(|line| (line.len() / 2) >> 10).collect();
        assert!(found.iter().zip(lengths).all(|(found, length)| *found == length >> 10));
    }
}
