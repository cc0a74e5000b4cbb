//! Checkpoints as lines of JSON, made by several threads and written in order.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use anyhow::{Context as _, Result};
use waypost::{Entry, Error, Query, Store};

use crate::args::Global;
use crate::output;
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
struct Part {
    number: u64,
    lines: Vec<u8>,
    count: u64,
    /// Which could not be read, and why.
    damaged: Vec<Error>,
}

type Jobs = Mutex<Receiver<(u64, Vec<Entry>)>>;

/// Writes all that a query asks for. What is damaged is reported, and the rest goes on.
pub(super) fn run(
    store: &Store,
    query: Query,
    out: &mut impl Write,
    global: &Global,
) -> Result<Dumped> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (to_workers, jobs) = mpsc::sync_channel(workers);
    let (to_writer, parts) = mpsc::sync_channel(workers);
    let jobs: &Jobs = &Mutex::new(jobs);
    thread::scope(|scope| {
        let lister = scope.spawn(move || list(store, query, &to_workers));
        for _ in 0..workers {
            let to_writer = to_writer.clone();
            scope.spawn(move || work(store, jobs, &to_writer));
        }
        drop(to_writer);
        let dumped = write(&parts, out, global);
        // Whoever still hands over hears that nobody takes any more.
        drop(parts);
        let end = lister.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let dumped = dumped?;
        end?;
        Ok(dumped)
    })
}

/// Hands out entries in parts, in order.
fn list(store: &Store, query: Query, jobs: &SyncSender<(u64, Vec<Entry>)>) -> Result<()> {
    let (mut part, mut bytes, mut number) = (Vec::new(), 0, 0);
    for entry in store.entries(query) {
        let entry = entry?;
        bytes += entry.document_bytes;
        part.push(entry);
        if part.len() >= PART_ENTRIES || bytes >= PART_BYTES {
            if jobs.send((number, std::mem::take(&mut part))).is_err() {
                return Ok(());
            }
            (bytes, number) = (0, number + 1);
        }
    }
    // Nobody takes it any more if writing failed, and that is said elsewhere.
    let _ = jobs.send((number, part));
    Ok(())
}

fn work(store: &Store, jobs: &Jobs, parts: &SyncSender<Result<Part>>) {
    loop {
        let job = jobs.lock().ok().and_then(|jobs| jobs.recv().ok());
        let Some((number, entries)) = job else { return };
        if parts.send(lines(store, number, entries)).is_err() {
            return;
        }
    }
}

fn lines(store: &Store, number: u64, entries: Vec<Entry>) -> Result<Part> {
    let mut part = Part { number, lines: Vec::new(), count: 0, damaged: Vec::new() };
    for entry in entries {
        match store.get(&entry.id) {
            Ok(checkpoint) => {
                output::checkpoint_line(&mut part.lines, &checkpoint)?;
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

/// Writes parts in the order of their numbers.
fn write(parts: &Receiver<Result<Part>>, out: &mut impl Write, global: &Global) -> Result<Dumped> {
    let mut progress = Progress::new("exported", global);
    let mut dumped = Dumped::default();
    let mut waiting: BTreeMap<u64, Part> = BTreeMap::new();
    let mut next = 0;
    for part in parts {
        let part = part?;
        waiting.insert(part.number, part);
        while let Some(part) = waiting.remove(&next) {
            out.write_all(&part.lines).context("cannot write the export")?;
            dumped.exported += part.count;
            dumped.bytes += part.lines.len() as u64;
            dumped.damaged += part.damaged.len() as u64;
            part.damaged
                .iter()
                .for_each(|error| global.note(format_args!("not exported: {error}")));
            progress.show(dumped.exported);
            next += 1;
        }
    }
    Ok(dumped)
}
