//! Exports checkpoints to files below a directory: lists them, prepares them in several threads,
//! and puts them in their places in another.

use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use super::claims::SeenFiles;
use super::decide::{Export, Places};
use super::event::{Halt, Watch, Watcher};
use super::failure::ExportError;
use super::placer::{Placed, Placer};
use super::prepare::Part;
use super::render::Way;
use super::report::Exported;
use super::selection::Selected;
use super::vacate::vacate;
use super::{ExportOptions, Selection};
use crate::checkpoint::Entry;
use crate::error::Result;
use crate::key::Order;
use crate::query::Query;
use crate::store::{Store, opening};
use crate::threads::start_in;
use crate::transfer::directory::Directory;
use crate::transfer::ordered::in_order;

// Enough to make handing over cheap beside it; few enough that little waits for the slowest.
const PART_ENTRIES: usize = 64;
const PART_BYTES: u64 = 1 << 20;
// Older contents of files are read fast, but count for the progress that is reported.
const OLDER_MAX: u64 = 4096;

pub(super) fn run(
    store: &Store,
    root: &Path,
    options: &ExportOptions,
    watch: Watch<'_>,
) -> Result<Exported, ExportError> {
    check_root(root)?;
    options.check()?;
    // The newest takes a path that several have.
    let selected = Selected::new(store, &options.selection, Order::Newest)?;
    let mut watcher = Watcher::new(watch, selected.total(store)?);
    let directory = Directory::new(root, options.overwrite, options.modes);
    let (mut report, placed) = write(store, &selected, &directory, options, &mut watcher)?;
    for (name, why) in &placed.left_out {
        watcher.tell(super::ExportEvent::NotExported { name, why });
    }
    report.add_placed(placed.report);
    // The names of files in their new places are on disk by now.
    vacate(store, &directory, placed.moves, &mut report, &mut watcher)?;
    watcher.end(report.total());
    Ok(report)
}

fn check_root(root: &Path) -> Result<(), ExportError> {
    match fs::metadata(root) {
        Ok(found) if !found.is_dir() => {
            let kind = if found.is_file() { "a file" } else { opening::kind(found.file_type()) };
            Err(ExportError::NotADirectory { path: root.to_owned(), kind })
        }
        // The directory is made, or the error is reported, when the first file is written.
        _ => Ok(()),
    }
}

/// Writes all files and puts them in their places; those that were written before a stop, too.
fn write(
    store: &Store,
    selected: &Selected,
    directory: &Directory,
    options: &ExportOptions,
    watcher: &mut Watcher<'_>,
) -> Result<(Exported, Placed), ExportError> {
    thread::scope(|scope| {
        // While some are put in their places, the next are written.
        let (to_placer, batches) = mpsc::sync_channel(1);
        let placing = start_in(scope, || Placer::new(directory).run(batches));
        let places = match &placing {
            Ok(_) => Places::Elsewhere(to_placer),
            Err(_) => Places::Here(Box::new(Placer::new(directory))),
        };
        let export = Export::new(store, directory, watcher, places);
        let decided = decide(store, selected, directory, options, export);
        // If the placer has failed, the decider knows only that it takes no more files.
        let by_thread = placing.map_or(Ok(Placed::default()), |placing| {
            placing.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        let (mut report, mut by_caller) = decided?;
        by_caller.moves.extend(by_thread.moves);
        by_caller.left_out.extend(by_thread.left_out);
        report.add_placed(by_thread.report);
        Ok((report, by_caller))
    })
}

fn decide(
    store: &Store,
    selected: &Selected,
    directory: &Directory,
    options: &ExportOptions,
    mut export: Export<'_, '_>,
) -> Result<(Exported, Placed), ExportError> {
    let decided = in_order(
        |hand_out| Ok(list(store, selected, options, hand_out)?),
        |part: Part| part.prepare(store, directory, options),
        |prepared| export.take(prepared?),
    );
    let decided = decided.and_then(|()| export.finish());
    match export.halted(decided) {
        Ok(()) => export.end(),
        // Files that are written by then are put in their places, and spare the next run the work.
        Err(Halt::Stopped) => {
            export.place_batch()?;
            let (report, placed) = export.end()?;
            Ok((Exported { is_stopped: true, ..report }, placed))
        }
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// Hands out entries in parts, the newest first, without older contents of a file.
fn list(
    store: &Store,
    selected: &Selected,
    options: &ExportOptions,
    hand_out: &mut dyn FnMut(Part) -> bool,
) -> Result<()> {
    let mut seen = SeenFiles::default();
    let (mut part, mut bytes) = (Part::default(), 0);
    let mut lines = Vec::new();
    for entry in selected.entries(store) {
        let entry = entry?;
        let way = options.way(&entry);
        if matches!((&options.selection, &way), (Selection::Named(_), Way::Line(..))) {
            lines.push(entry.clone());
        }
        if seen.has_newer(&way) {
            part.older += 1;
        } else {
            bytes += entry.document_bytes;
            part.entries.push((entry, way));
        }
        if part.entries.len() >= PART_ENTRIES || bytes >= PART_BYTES || part.older >= OLDER_MAX {
            if !hand_out(std::mem::take(&mut part)) {
                return Ok(());
            }
            bytes = 0;
        }
    }
    for line in lines {
        for entry in beside(store, &line) {
            let entry = entry?;
            let way = options.way(&entry);
            if !seen.has_newer(&way) {
                part.entries.push((entry, way));
            }
        }
    }
    hand_out(part);
    Ok(())
}

/// The other lines of the file of a line, as they were when it was imported; the newest first.
fn beside<'a>(store: &'a Store, line: &'a Entry) -> impl Iterator<Item = Result<Entry>> + 'a {
    store.entries(Query::default()).filter(move |entry| match entry {
        Ok(entry) => entry.source_path == line.source_path && entry.order() < line.order(),
        Err(_) => true,
    })
}
