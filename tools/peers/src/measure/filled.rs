//! A store with many checkpoints: how large it is, and what reading and pruning it takes.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{micros, per_second};
use crate::cost::median;
use crate::figures::{Figures, Metric};
use crate::peer::{Durability, Kind, Peer};
use crate::place::{self, usage};
use crate::random::Random;
use crate::workload::{FIRST_ISSUE, Fleet, absent_trigger};

const LISTED: usize = 20;
/// Reads that do not count.
const WARM_UP: u32 = 20;

/// What was put into a store.
struct Contents {
    ids: Vec<String>,
    /// The length of all documents as lines of JSON.
    json_bytes: u64,
}

pub(super) fn measure(figures: &mut Figures, kind: Kind, directory: &Path) -> Result<()> {
    let scratch = place::scratch(directory)?;
    let open = || kind.open(scratch.path(), Durability::Durable);
    let contents = fill(figures, kind, scratch.path())?;
    let each = f64::from(figures.counts.fill);
    let closed = usage(scratch.path())?;
    figures.set(Metric::BytesClosed, kind, as_f64(closed.apparent_bytes) / each);

    let mut peer = open()?;
    peer.reclaim()?;
    peer.close()?;
    let compact = usage(scratch.path())?;
    figures.set(Metric::BytesCompact, kind, as_f64(compact.apparent_bytes) / each);
    figures.set(Metric::AllocatedCompact, kind, as_f64(compact.allocated_bytes) / each);

    let mut peer = open()?;
    read(figures, kind, &*peer, &contents)?;
    export(figures, kind, &*peer, &contents)?;

    let doomed = &contents.ids[..figures.counts.delete as usize];
    let start = Instant::now();
    peer.delete(doomed)?;
    figures.set(Metric::Delete, kind, micros(start.elapsed()) / 1e3);
    let start = Instant::now();
    peer.reclaim()?;
    figures.set(Metric::Reclaim, kind, micros(start.elapsed()) / 1e3);
    peer.close()?;
    figures.set(Metric::PrunedBefore, kind, as_f64(compact.apparent_bytes));
    let pruned = usage(scratch.path())?;
    figures.set(Metric::PrunedAfter, kind, as_f64(pruned.apparent_bytes));
    Ok(())
}

/// Fills a store by relaxed saves, which is how their rate is measured.
fn fill(figures: &mut Figures, kind: Kind, directory: &Path) -> Result<Contents> {
    let peer = kind.open(directory, Durability::Relaxed)?;
    let mut fleet = Fleet::new(figures.scenario);
    let mut contents = Contents { ids: Vec::new(), json_bytes: 0 };
    let mut spent = Duration::ZERO;
    for _ in 0..figures.counts.fill {
        let (about, state) = fleet.step()?;
        contents.json_bytes += state.to_json().len() as u64 + 1;
        let start = Instant::now();
        contents.ids.push(peer.save(about, state)?);
        spent += start.elapsed();
    }
    let start = Instant::now();
    peer.flush()?;
    spent += start.elapsed();
    figures.set(Metric::Relaxed, kind, per_second(figures.counts.fill, spent));
    peer.close()?;
    Ok(contents)
}

fn read(figures: &mut Figures, kind: Kind, peer: &dyn Peer, contents: &Contents) -> Result<()> {
    let series = Fleet::new(figures.scenario).series();
    let absent = absent_trigger();
    let reads = figures.counts.reads;
    let mut random = Random::new(1);

    let latest = timed(reads, || {
        black_box(peer.latest(random.choose(&series).as_str())?);
        Ok(())
    })?;
    figures.set(Metric::Latest, kind, latest);
    let resume = timed(reads, || {
        black_box(peer.latest(random.choose(&series).as_str())?.state()?);
        Ok(())
    })?;
    figures.set(Metric::Resume, kind, resume);
    let get = timed(reads, || {
        black_box(peer.get(random.choose(&contents.ids).as_str())?);
        Ok(())
    })?;
    figures.set(Metric::Get, kind, get);
    let text = timed(reads, || {
        black_box(peer.get(random.choose(&contents.ids).as_str())?.into_text()?);
        Ok(())
    })?;
    figures.set(Metric::GetText, kind, text);
    let list = timed(reads, || {
        ensure!(peer.list(FIRST_ISSUE, LISTED)?.len() == LISTED, "a list that is not full");
        Ok(())
    })?;
    figures.set(Metric::List, kind, list);
    let filter = timed(reads, || {
        let found = peer.filter(series[0].as_str(), absent.as_str())?;
        ensure!(found.is_empty(), "a filter without a match has one");
        Ok(())
    })?;
    figures.set(Metric::Filter, kind, filter);
    Ok(())
}

/// The median of this many calls, in microseconds.
fn timed(count: u32, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..WARM_UP.min(count) {
        work()?;
    }
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    Ok(micros(median(times)))
}

fn export(figures: &mut Figures, kind: Kind, peer: &dyn Peer, contents: &Contents) -> Result<()> {
    let mut sink = Sink { bytes: 0 };
    let start = Instant::now();
    peer.export(&mut sink)?;
    figures.set(Metric::Export, kind, per_second(figures.counts.fill, start.elapsed()));
    let (expected, found) = (contents.json_bytes, sink.bytes);
    ensure!(found == expected, "{} exports {found} bytes of {expected}", kind.name());
    Ok(())
}

/// Takes everything and keeps its length.
struct Sink {
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += black_box(bytes).len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "no store here has a length beyond 2^52")]
fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}
