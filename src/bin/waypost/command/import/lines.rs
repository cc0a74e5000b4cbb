//! Lines of JSON into the store: encoded by several threads, saved in their order.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use anyhow::{Context as _, Result};
use waypost::{Draft, Error, Limits, Store};

use super::super::save::inbox::read_line;
use super::line;
use crate::args::Global;
use crate::progress::Progress;

// A transaction of so many is cheap for each; few enough that they fit the memory.
const PART_LINES: usize = 256;
const PART_BYTES: usize = 4 << 20;

/// What became of an import.
#[derive(Debug, Default)]
pub(super) struct Imported {
    pub(super) lines: u64,
    pub(super) refused: u64,
}

impl Imported {
    pub(super) fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.refused += other.refused;
    }
}

/// Some lines that follow each other, with their numbers from one.
type Lines = Vec<(u64, Option<Vec<u8>>)>;
type Drafts = Vec<(u64, Result<Draft, Error>)>;
type Jobs = Mutex<Receiver<(u64, Lines)>>;

/// Saves all lines of `source`. What cannot be taken is reported by its line.
pub(super) fn run(
    store: &Store,
    source: impl BufRead + Send,
    name: &str,
    global: &Global,
) -> Result<Imported> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (to_workers, jobs) = mpsc::sync_channel(workers);
    let (to_saver, parts) = mpsc::sync_channel(workers);
    let jobs: &Jobs = &Mutex::new(jobs);
    thread::scope(|scope| {
        let reader = scope.spawn(move || read(source, &to_workers));
        for _ in 0..workers {
            let to_saver = to_saver.clone();
            scope.spawn(move || work(store, jobs, &to_saver));
        }
        drop(to_saver);
        let imported = save(store, &parts, name, global);
        // Whoever still hands over hears that nobody takes any more.
        drop(parts);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let imported = imported?;
        read.context("cannot read")?;
        Ok(imported)
    })
}

/// Hands out lines in parts, in order. Blank ones say nothing.
fn read(mut source: impl BufRead, jobs: &SyncSender<(u64, Lines)>) -> std::io::Result<()> {
    let (mut part, mut bytes, mut number): (Lines, usize, u64) = (Vec::new(), 0, 0);
    for line_number in 1.. {
        let Some(line) = read_line(&mut source, line_bytes_max())? else { break };
        let line = line.ok();
        if line.as_ref().is_some_and(|line| line.trim_ascii().is_empty()) {
            continue;
        }
        bytes += line.as_ref().map_or(0, Vec::len);
        part.push((line_number, line));
        if part.len() >= PART_LINES || bytes >= PART_BYTES {
            if jobs.send((number, std::mem::take(&mut part))).is_err() {
                return Ok(());
            }
            (bytes, number) = (0, number + 1);
        }
    }
    // Nobody takes it any more if saving failed, and that is said elsewhere.
    let _ = jobs.send((number, part));
    Ok(())
}

fn work(store: &Store, jobs: &Jobs, parts: &SyncSender<(u64, Drafts)>) {
    loop {
        let job = jobs.lock().ok().and_then(|jobs| jobs.recv().ok());
        let Some((number, lines)) = job else { return };
        let draft = |line: Option<Vec<u8>>| match line {
            Some(line) => line::draft(store, &line),
            None => Err(Error::Limit {
                what: "length of the line".to_owned(),
                limit: line_bytes_max() as u64,
            }),
        };
        let drafts = lines.into_iter().map(|(number, line)| (number, draft(line))).collect();
        if parts.send((number, drafts)).is_err() {
            return;
        }
    }
}

/// Saves parts in the order of their numbers.
fn save(
    store: &Store,
    parts: &Receiver<(u64, Drafts)>,
    name: &str,
    global: &Global,
) -> Result<Imported> {
    let mut progress = Progress::new("imported", global);
    let mut imported = Imported::default();
    let mut waiting: BTreeMap<u64, Drafts> = BTreeMap::new();
    let mut next = 0;
    for (number, drafts) in parts {
        waiting.insert(number, drafts);
        while let Some(drafts) = waiting.remove(&next) {
            imported.lines += drafts.len() as u64;
            imported.refused += save_part(store, drafts, name, global)?;
            progress.show(imported.lines);
            next += 1;
        }
    }
    Ok(imported)
}

/// Saves some drafts with one sync, and returns how many lines were refused.
fn save_part(store: &Store, drafts: Drafts, name: &str, global: &Global) -> Result<u64> {
    let mut refused = 0;
    let mut refuse = |number: u64, error: &Error| {
        refused += 1;
        global.note(format_args!("{name}: line {number}: {error}"));
    };
    let mut numbers = Vec::with_capacity(drafts.len());
    let mut taken = Vec::with_capacity(drafts.len());
    for (number, draft) in drafts {
        match draft {
            Ok(draft) => {
                numbers.push(number);
                taken.push(draft);
            }
            Err(error) => refuse(number, &error),
        }
    }
    for (number, outcome) in numbers.into_iter().zip(store.batch(taken)?) {
        if let Err(error) = outcome {
            refuse(number, &error);
        }
    }
    Ok(refused)
}

fn line_bytes_max() -> usize {
    // Text is longer than what is stored; the store knows the limit for that.
    4 * Limits::default().document_bytes
}
