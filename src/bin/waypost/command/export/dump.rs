//! Checkpoints as lines of JSON, made by several threads and written in order.

use std::io::{self, Write};

use anyhow::{Context as _, Result};
use waypost::{Checkpoint, Entry, Error, Store};

use super::chosen::Chosen;
use crate::args::Global;
use crate::interrupt;
use crate::output::{self, Kept};
use crate::progress::Progress;
use waypost::transfer::ordered::in_order;

// Enough to make handing over cheap beside it; few enough that little waits for the slowest.
const PART_ENTRIES: usize = 64;
const PART_BYTES: u64 = 1 << 20;
// With files of more bytes a checkpoint is written by itself: each thread has some parts at hand.
const FILES_BYTES: u64 = 4 << 20;

/// What became of an export.
#[derive(Debug, Default)]
pub(super) struct Dumped {
    pub(super) exported: u64,
    pub(super) bytes: u64,
    /// Those that could not be read.
    pub(super) damaged: u64,
    /// Of those that were exported, those that lack a captured file, since it is damaged.
    pub(super) incomplete: u64,
    /// Those that are beyond a limit.
    pub(super) skipped: u64,
}

/// Entries that are read together.
enum Job {
    Part(Vec<Entry>),
    /// Long enough that no other is held in memory at the same time.
    Alone(Box<Entry>),
}

/// What has become of it.
enum Done {
    Part(Part),
    /// To be read when its turn comes.
    Alone(Box<Entry>),
}

/// Lines of some entries.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    dumped: Dumped,
    /// What could not be read, and why.
    faults: Vec<Error>,
}

/// A checkpoint, the files that were captured with it, and why some of them cannot be read.
type Whole = (Checkpoint, Vec<Kept>, Vec<Error>);

/// Writes all that a query asks for. What is damaged is reported, and the rest goes on.
pub(super) fn run(
    store: &Store,
    chosen: &Chosen,
    out: &mut impl Write,
    global: &Global,
) -> Result<Dumped> {
    let progress = Progress::new("exporting", global).of(chosen.total(store)?);
    let mut dumped = Dumped::default();
    let write = |done: Result<Done>| {
        interrupt::check()?;
        let part = match done? {
            Done::Part(part) => part,
            Done::Alone(entry) => {
                let mut part = Part::default();
                let mut counted = Counted { out: &mut *out, bytes: 0 };
                part.add(store, &entry, &mut counted).context("cannot write the export")?;
                part.dumped.bytes = counted.bytes;
                part
            }
        };
        out.write_all(&part.lines).context("cannot write the export")?;
        dumped.exported += part.dumped.exported;
        dumped.bytes += part.dumped.bytes + part.lines.len() as u64;
        dumped.damaged += part.dumped.damaged;
        dumped.incomplete += part.dumped.incomplete;
        dumped.skipped += part.dumped.skipped;
        part.faults.iter().for_each(|error| global.note(format_args!("not exported: {error}")));
        progress.show(dumped.exported);
        Ok(())
    };
    in_order(|hand_out| list(store, chosen, hand_out), |job| work(store, job), write)?;
    Ok(dumped)
}

/// Hands out entries in parts.
fn list(store: &Store, chosen: &Chosen, hand_out: &mut dyn FnMut(Job) -> bool) -> Result<()> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    for entry in chosen.entries(store) {
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

/// How many bytes the captured files of a checkpoint take in a line, about.
fn files_bytes(store: &Store, entry: &Entry) -> u64 {
    // What cannot be listed is reported by whoever reads it.
    let artifacts = output::artifacts(store, entry).unwrap_or_default();
    // Two digits a byte; text is shorter.
    artifacts.iter().map(|artifact| artifact.bytes.saturating_mul(2)).sum()
}

fn work(store: &Store, job: Job) -> Result<Done> {
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
    fn add(&mut self, store: &Store, entry: &Entry, out: &mut impl Write) -> Result<()> {
        match read(store, entry) {
            Ok((checkpoint, artifacts, faults)) => {
                output::checkpoint_line(out, &checkpoint, &artifacts)?;
                self.dumped.exported += 1;
                self.dumped.incomplete += u64::from(!faults.is_empty());
                self.faults.extend(faults);
            }
            // Deleted since it was listed.
            Err(Error::NotFound { .. }) => {}
            Err(error @ Error::Corrupt { .. }) => {
                self.dumped.damaged += 1;
                self.faults.push(error);
            }
            // Another process may have been told to take more.
            Err(error @ Error::Limit { .. }) => {
                self.dumped.skipped += 1;
                self.faults.push(error);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn read(store: &Store, entry: &Entry) -> waypost::Result<Whole> {
    let checkpoint = store.get(&entry.id)?;
    let (mut kept, mut faults) = (Vec::new(), Vec::new());
    for artifact in output::artifacts(store, &checkpoint.entry)? {
        let has_content = artifact.sha256.is_some();
        let content = has_content.then(|| store.artifact(&entry.id, &artifact.path));
        match content.transpose() {
            Ok(content) => kept.push(Kept::new(artifact, content)),
            // The document and the other files are not hurt.
            Err(error @ Error::Corrupt { .. }) => {
                faults.push(error);
                kept.push(Kept::damaged(artifact));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((checkpoint, kept, faults))
}

/// Counts what is written.
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
    use waypost::{ArtifactStatus, NewArtifact, NewEntry, Order, Query};

    use super::*;

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
        let query = Query { order: Order::Oldest, ..Query::default() };
        let chosen = Chosen::new(&store, &[], query).unwrap();
        let mut jobs = Vec::new();
        let mut hand_out = |job| {
            jobs.push(match job {
                Job::Part(entries) => entries.len(),
                Job::Alone(_) => usize::MAX,
            });
            true
        };
        list(&store, &chosen, &mut hand_out).unwrap();
        assert_eq!(jobs, [2, usize::MAX, 0, usize::MAX, 3, 2]);

        // In the order in which they were saved, whoever wrote them.
        let mut out = Vec::new();
        let args = ["waypost", "--quiet", "stats"];
        let global = <crate::command::Cli as clap::Parser>::parse_from(args).global;
        let dumped = run(&store, &chosen, &mut out, &global).unwrap();
        assert_eq!((dumped.exported, dumped.bytes), (9, out.len() as u64));
        let lines = out.split_inclusive(|byte| *byte == b'\n');
        let found: Vec<_> = lines.map(|line| (line.len() / 2) >> 10).collect();
        assert!(found.iter().zip(lengths).all(|(found, length)| *found == length >> 10));
    }
}
