//! Stores with many checkpoints: how large they are, and what reading and pruning them takes.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::cost::{Cost, median};
use crate::figures::{Figures, Metric};
use crate::peer::{Durability, Kind, Peer};
use crate::place::{self, usage};
use crate::random::Random;
use crate::rounds::medians;
use crate::workload::{FIRST_ISSUE, Fleet, absent_trigger};

const LISTED: usize = 20;
/// Reads of a turn that do not count.
const WARM_UP: u32 = 10;

/// A rival with its store, and what was put into it.
struct Rival {
    kind: Kind,
    directory: TempDir,
    /// While it is read.
    peer: Option<Box<dyn Peer>>,
    fleet: Fleet,
    ids: Vec<String>,
    /// The length of all documents as lines of JSON.
    json_bytes: u64,
    random: Random,
}

pub(super) fn measure(figures: &mut Figures, directory: &Path) -> Result<()> {
    let fleet = Fleet::new(figures.scenario);
    let new = |kind: &Kind| Rival::new(*kind, fleet.clone(), directory);
    let mut rivals = figures.kinds.iter().map(new).collect::<Result<Vec<_>>>()?;
    fill(figures, &mut rivals)?;
    for rival in &mut rivals {
        rival.compact(figures)?;
    }
    read(figures, &mut rivals)?;
    for rival in rivals {
        rival.prune(figures)?;
    }
    Ok(())
}

/// Fills the stores by relaxed saves, which is how their rate is measured. No other store is open
/// while a rival has its turn, so no other has a thread whose time would be counted.
fn fill(figures: &mut Figures, rivals: &mut [Rival]) -> Result<()> {
    let (total, rounds) = (figures.counts.fill, figures.counts.rounds);
    let share = total.div_ceil(rounds);
    let costs = medians(rivals, rounds, |rival| {
        let left = total - u32::try_from(rival.ids.len())?;
        rival.fill(share.min(left))
    })?;
    for (rival, cost) in rivals.iter().zip(costs) {
        ensure!(rival.ids.len() == total as usize, "a store that is not full");
        figures.set_cost(Metric::Relaxed, rival.kind, cost);
    }
    Ok(())
}

fn read(figures: &mut Figures, rivals: &mut [Rival]) -> Result<()> {
    type Turn = fn(&mut Rival, u32) -> Result<Cost>;
    let works: [(Metric, Turn); 7] = [
        (Metric::Latest, |rival, reads| rival.latest(reads, |_| Ok(()))),
        (Metric::Resume, |rival, reads| rival.latest(reads, |peer| peer.state().map(drop))),
        (Metric::Get, Rival::get),
        (Metric::GetText, Rival::get_text),
        (Metric::List, Rival::list),
        (Metric::Filter, Rival::filter),
        (Metric::Export, |rival, _| rival.export()),
    ];
    let (rounds, reads) = (figures.counts.rounds, figures.counts.reads);
    for (metric, turn) in works {
        let costs = medians(rivals, rounds, |rival| turn(rival, reads))?;
        for (rival, cost) in rivals.iter().zip(costs) {
            figures.set_cost(metric, rival.kind, cost);
        }
    }
    Ok(())
}

impl Rival {
    fn new(kind: Kind, fleet: Fleet, directory: &Path) -> Result<Self> {
        Ok(Self {
            kind,
            directory: place::scratch(directory)?,
            peer: None,
            fleet,
            ids: Vec::new(),
            json_bytes: 0,
            random: Random::new(1),
        })
    }

    fn fill(&mut self, count: u32) -> Result<Cost> {
        let peer = self.kind.open(self.directory.path(), Durability::Relaxed)?;
        let mut cost = Cost::default();
        for _ in 0..count {
            let (about, state) = self.fleet.step()?;
            self.json_bytes += state.to_json().len() as u64 + 1;
            let (id, spent) = Cost::of(|| peer.save(about, state));
            self.ids.push(id?);
            cost = cost.plus(spent);
        }
        let (flushed, spent) = Cost::of(|| peer.flush());
        flushed?;
        peer.close()?;
        Ok(cost.plus(spent).each(count.max(1)))
    }

    /// Compacts the store and leaves it open for reading.
    fn compact(&mut self, figures: &mut Figures) -> Result<()> {
        let (kind, path) = (self.kind, self.directory.path());
        let each = f64::from(figures.counts.fill);
        let closed = usage(path)?;
        figures.set(Metric::BytesClosed, kind, as_f64(closed.apparent_bytes) / each);
        let mut peer = kind.open(path, Durability::Durable)?;
        peer.reclaim()?;
        peer.close()?;
        let compact = usage(path)?;
        figures.set(Metric::BytesCompact, kind, as_f64(compact.apparent_bytes) / each);
        figures.set(Metric::AllocatedCompact, kind, as_f64(compact.allocated_bytes) / each);
        figures.set(Metric::PrunedBefore, kind, as_f64(compact.apparent_bytes));
        self.peer = Some(kind.open(path, Durability::Durable)?);
        Ok(())
    }

    fn peer(&self) -> Result<&dyn Peer> {
        self.peer.as_deref().context("the store is open while it is read")
    }

    fn latest(
        &mut self,
        reads: u32,
        then: fn(&crate::peer::Document) -> Result<()>,
    ) -> Result<Cost> {
        let series = self.fleet.series();
        let mut random = self.random.clone();
        let peer = self.peer()?;
        let cost = timed(reads, || {
            let document = black_box(peer.latest(random.choose(&series).as_str())?);
            then(&document)
        })?;
        self.random = random;
        Ok(cost)
    }

    fn get(&mut self, reads: u32) -> Result<Cost> {
        let mut random = self.random.clone();
        let peer = self.peer()?;
        let cost = timed(reads, || {
            black_box(peer.get(random.choose(&self.ids).as_str())?);
            Ok(())
        })?;
        self.random = random;
        Ok(cost)
    }

    fn get_text(&mut self, reads: u32) -> Result<Cost> {
        let mut random = self.random.clone();
        let peer = self.peer()?;
        let cost = timed(reads, || {
            black_box(peer.get(random.choose(&self.ids).as_str())?.into_text()?);
            Ok(())
        })?;
        self.random = random;
        Ok(cost)
    }

    fn list(&mut self, reads: u32) -> Result<Cost> {
        let peer = self.peer()?;
        timed(reads, || {
            ensure!(peer.list(FIRST_ISSUE, LISTED)?.len() == LISTED, "a list that is not full");
            Ok(())
        })
    }

    fn filter(&mut self, reads: u32) -> Result<Cost> {
        let (series, absent) = (self.fleet.series(), absent_trigger());
        let peer = self.peer()?;
        timed(reads, || {
            let found = peer.filter(series[0].as_str(), absent.as_str())?;
            ensure!(found.is_empty(), "a filter without a match has one");
            Ok(())
        })
    }

    /// Exports all documents, and returns the cost of one.
    fn export(&mut self) -> Result<Cost> {
        let peer = self.peer()?;
        let mut sink = Sink { bytes: 0 };
        let (exported, cost) = Cost::of(|| peer.export(&mut sink));
        exported?;
        let (expected, found) = (self.json_bytes, sink.bytes);
        ensure!(found == expected, "{} exports {found} bytes of {expected}", self.kind.name());
        Ok(cost.each(u32::try_from(self.ids.len())?))
    }

    /// Deletes most checkpoints and gives the space back. Only once, since a full store is needed.
    fn prune(mut self, figures: &mut Figures) -> Result<()> {
        let mut peer = self.peer.take().context("the store is open")?;
        let doomed = &self.ids[..figures.counts.delete as usize];
        let (deleted, cost) = Cost::of(|| peer.delete(doomed));
        deleted?;
        figures.set_cost(Metric::Delete, self.kind, cost);
        let (reclaimed, cost) = Cost::of(|| peer.reclaim());
        reclaimed?;
        figures.set_cost(Metric::Reclaim, self.kind, cost);
        peer.close()?;
        let pruned = usage(self.directory.path())?;
        figures.set(Metric::PrunedAfter, self.kind, as_f64(pruned.apparent_bytes));
        Ok(())
    }
}

/// The median wall time of this many calls, and their mean processor time.
fn timed(count: u32, mut work: impl FnMut() -> Result<()>) -> Result<Cost> {
    for _ in 0..WARM_UP.min(count) {
        work()?;
    }
    let (mut walls, mut total) = (Vec::new(), Cost::default());
    for _ in 0..count {
        let (done, cost) = Cost::of(&mut work);
        done?;
        walls.push(cost.wall);
        total = total.plus(cost);
    }
    Ok(Cost { wall: median(walls), ..total.each(count) })
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
