//! Checkpoints as files below a directory, each as its system would find it.

mod claims;
mod decide;
mod index;
mod lines;
mod placer;
mod prepare;
mod render;
mod tally;
mod vacate;

use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;

use anyhow::Result;
use waypost::{Entry, Order, Query, Store};

use super::chosen::Chosen;
use crate::args::Global;
use crate::interrupt::{self, Signal};
use crate::progress::Progress;
use crate::threads::start_in;
use claims::Seen;
use decide::{Export, Places};
use placer::Placer;
use prepare::Part;
use render::Way;
pub(super) use render::Wish;
pub(super) use tally::Tally;
use waypost::transfer::directory::Directory;
pub(super) use waypost::transfer::directory::Modes;
use waypost::transfer::ordered::in_order;
pub(super) use waypost::transfer::place::Packing;

// Enough to make handing over cheap beside it; few enough that little waits for the slowest.
const PART_ENTRIES: usize = 64;
const PART_BYTES: u64 = 1 << 20;
// What is passed over counts for the progress that is shown.
const PASSED_OVER: u64 = 4096;

/// Writes all that was chosen, unless it is interrupted. What cannot be written is reported,
/// and the rest goes on.
pub(super) fn run(
    store: &Store,
    chosen: &Chosen,
    wish: &Wish<'_>,
    global: &Global,
) -> Result<(Tally, Option<Signal>)> {
    // The newest takes a path that several have.
    let chosen = &chosen.in_order(Order::Newest);
    let total = chosen.total(store)?;
    let directory = Directory::new(wish.directory, wish.overwrites, wish.modes);
    let progress = Progress::new("exporting", global).of(total);
    thread::scope(|scope| {
        // While some are put in their places, the next are written.
        let (to_placer, batches) = mpsc::sync_channel(1);
        let placing = start_in(scope, || Placer::new(&directory).run(batches, global));
        let placer = match &placing {
            Ok(_) => Places::Elsewhere(to_placer),
            Err(_) => Places::Here(Box::new(Placer::new(&directory))),
        };
        let mut export = Export::new(store, &directory, global, &progress, placer);
        let decided = in_order(
            |hand_out| list(store, chosen, wish, hand_out),
            |part: Part| part.prepare(store, &directory, wish),
            |prepared| export.take(prepared?),
        );
        let decided = decided.and_then(|()| export.finish());
        let decided = match interrupt::caught(decided) {
            Ok(Ok(())) => export.into_tally().map(|tally| (tally, None)),
            // What is written by then is put in its places, and not written again the next time.
            Ok(Err(signal)) => export
                .place_batch()
                .and_then(|()| export.into_tally())
                .map(|tally| (tally, Some(signal))),
            Err(error) => {
                drop(export);
                Err(error)
            }
        };
        // Whoever hands over to one that has failed hears only that nobody takes any more.
        let counted = placing.map_or(Ok(Tally::default()), |placing| {
            placing.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        let (mut tally, stopped) = decided?;
        tally.add(counted);
        // Their names are on disk in the new places by now.
        vacate::vacate(store, &directory, &mut tally, global)?;
        Ok((tally, stopped))
    })
}

/// Hands out entries in parts, the newest first, without older contents of a file.
fn list(
    store: &Store,
    chosen: &Chosen,
    wish: &Wish<'_>,
    hand_out: &mut dyn FnMut(Part) -> bool,
) -> Result<()> {
    let mut seen = Seen::default();
    let (mut part, mut bytes) = (Part::default(), 0);
    let mut lines = Vec::new();
    for entry in chosen.entries(store) {
        let entry = entry?;
        let way = wish.way(&entry);
        if wish.is_named && matches!(way, Way::Line(..)) {
            lines.push(entry.clone());
        }
        if seen.has_newer(&way) {
            part.older += 1;
        } else {
            bytes += entry.document_bytes;
            part.entries.push((entry, way));
        }
        if part.entries.len() >= PART_ENTRIES || bytes >= PART_BYTES || part.older >= PASSED_OVER {
            if !hand_out(std::mem::take(&mut part)) {
                return Ok(());
            }
            bytes = 0;
        }
    }
    for line in lines {
        for entry in beside(store, &line) {
            let entry = entry?;
            let way = wish.way(&entry);
            if !seen.has_newer(&way) {
                part.entries.push((entry, way));
            }
        }
    }
    hand_out(part);
    Ok(())
}

/// The lines of the file of a line, as they were when it came, and before; the newest first.
fn beside<'a>(
    store: &'a Store,
    line: &'a Entry,
) -> impl Iterator<Item = waypost::Result<Entry>> + 'a {
    store.entries(Query::default()).filter(move |entry| match entry {
        Ok(entry) => entry.source_path == line.source_path && entry.order() < line.order(),
        Err(_) => true,
    })
}
