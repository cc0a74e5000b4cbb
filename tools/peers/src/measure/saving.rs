//! Saving into stores that start empty: alone, in a crowd, and what it takes of the processor.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use tempfile::TempDir;

use crate::cost::{Cost, median};
use crate::counts::THREADS;
use crate::figures::{Figures, Metric, micros};
use crate::peer::{Durability, Kind, Peer};
use crate::place;
use crate::rounds::{medians, order};
use crate::workload::Fleet;

/// A page, the least that a store writes.
const FLOOR_BYTES: usize = 4096;
/// How much longer than in the best round a bare append may take in one that counts.
const QUIET: f64 = 1.5;
/// Savers that sleep while they wait for each other would else take minutes.
const CROWD_MAX: Duration = Duration::from_secs(2);

/// Saves durably by one thread.
///
/// The rivals take turns, since a disk is faster at one moment than at another, and so does the
/// floor: a bare append with a sync.
pub(super) fn in_turns(figures: &mut Figures, directory: &Path) -> Result<()> {
    let fleet = Fleet::new(figures.scenario);
    let mut runners = Vec::new();
    for kind in &figures.kinds {
        runners.push(Runner::open(*kind, fleet.clone(), directory)?);
    }
    let scratch = place::scratch(directory)?;
    let mut log = File::create(scratch.path().join("log"))?;
    let mut floor = Vec::new();
    // The first round does not count.
    for round in 0..=figures.counts.rounds as usize {
        for number in order(round, runners.len()) {
            runners[number].take_turn(figures.counts.turn)?;
        }
        floor.push(append(&mut log, figures.counts.turn)?);
    }
    let quiet = quiet(&floor);
    let of_quiet = |rounds: &[Vec<Duration>]| -> Vec<Duration> {
        quiet.iter().flat_map(|round| rounds[*round].clone()).collect()
    };
    figures.quiet_rounds = quiet.len();
    figures.floor_micros = micros(median(of_quiet(&floor)));
    for runner in runners {
        let times = of_quiet(&runner.rounds);
        let mean = times.iter().sum::<Duration>() / u32::try_from(times.len())?;
        figures.set(Metric::DurableMean, runner.kind, micros(mean));
        figures.set(Metric::DurableRate, runner.kind, 1e6 / micros(mean));
        // Of the rounds, not of all saves: a round is as fast as the disk was then.
        let rounds = quiet.iter().map(|round| median(runner.rounds[*round].clone())).collect();
        figures.set(Metric::DurableMedian, runner.kind, micros(median(rounds)));
        runner.peer.close()?;
    }
    Ok(())
}

fn append(log: &mut File, count: u32) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        log.write_all(&[7; FLOOR_BYTES])?;
        log.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// The rounds in which no other process used the disk, judged by the floor: the same for all
/// rivals.
fn quiet(floor: &[Vec<Duration>]) -> Vec<usize> {
    let medians: Vec<Duration> = floor.iter().map(|times| median(times.clone())).collect();
    let best = medians.iter().skip(1).min().copied().unwrap_or_default();
    (1..floor.len()).filter(|round| medians[*round] <= best.mul_f64(QUIET)).collect()
}

/// A rival whose turn comes and goes.
struct Runner {
    kind: Kind,
    peer: Box<dyn Peer>,
    fleet: Fleet,
    /// How long the saves of each round took.
    rounds: Vec<Vec<Duration>>,
    _directory: TempDir,
}

impl Runner {
    fn open(kind: Kind, fleet: Fleet, directory: &Path) -> Result<Self> {
        let directory = place::scratch(directory)?;
        let peer = kind.open(directory.path(), Durability::Durable)?;
        Ok(Self { kind, peer, fleet, rounds: Vec::new(), _directory: directory })
    }

    fn take_turn(&mut self, saves: u32) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..saves {
            let (about, state) = self.fleet.step()?;
            let start = Instant::now();
            self.peer.save(about, state)?;
            times.push(start.elapsed());
        }
        self.rounds.push(times);
        Ok(())
    }
}

/// Saves durably by many threads, each a loop of its own. In each round the store is a new one, and
/// no other is open.
pub(super) fn crowds(figures: &mut Figures, directory: &Path) -> Result<()> {
    let scenario = figures.scenario;
    let fleets: Vec<Fleet> = (0..THREADS).map(|number| Fleet::lone(scenario, number)).collect();
    let (rounds, saves) = (figures.counts.rounds, figures.counts.crowd);
    for (metric, in_line) in [(Metric::Crowd, false), (Metric::CrowdInLine, true)] {
        let mut kinds = Vec::new();
        for kind in &figures.kinds {
            let scratch = place::scratch(directory)?;
            let mut peer = kind.open(scratch.path(), Durability::Durable)?;
            kinds.extend((!in_line || peer.line_up()).then_some(*kind));
            peer.close()?;
        }
        let costs = medians(&mut kinds, rounds, |kind| {
            let scratch = place::scratch(directory)?;
            let mut peer = kind.open(scratch.path(), Durability::Durable)?;
            if in_line {
                peer.line_up();
            }
            let cost = crowd(&*peer, fleets.clone(), saves)?;
            peer.close()?;
            Ok(cost)
        })?;
        for (kind, cost) in kinds.into_iter().zip(costs) {
            figures.set_cost(metric, kind, cost);
        }
    }
    Ok(())
}

/// The cost of a save of all threads together.
fn crowd(peer: &dyn Peer, fleets: Vec<Fleet>, saves: u32) -> Result<Cost> {
    let start = Instant::now();
    let (total, cost) = Cost::of(|| {
        thread::scope(|scope| {
            let work = |fleet| move || save_until(peer, fleet, saves, start + CROWD_MAX);
            let threads: Vec<_> =
                fleets.into_iter().map(|fleet| scope.spawn(work(fleet))).collect();
            let outcomes = threads.into_iter().map(|it| it.join().expect("a saver that panicked"));
            outcomes.sum::<Result<u32>>()
        })
    });
    Ok(cost.each(total?.max(1)))
}

/// Saves so often, or until it is too late, and returns how often it was.
fn save_until(peer: &dyn Peer, mut fleet: Fleet, saves: u32, end: Instant) -> Result<u32> {
    for number in 0..saves {
        if Instant::now() > end {
            return Ok(number);
        }
        let (about, state) = fleet.step()?;
        peer.save(about, state)?;
    }
    Ok(saves)
}

/// What a save takes of the processor, in all threads of the store and in the kernel.
///
/// In each round into a new store, with no other open, whose threads would be counted, too.
pub(super) fn processor(figures: &mut Figures, directory: &Path) -> Result<()> {
    let cases = [
        (Durability::Durable, Metric::DurableProcessor),
        (Durability::Relaxed, Metric::RelaxedProcessor),
    ];
    let (fleet, counts) = (Fleet::new(figures.scenario), figures.counts);
    for (durability, metric) in cases {
        let mut kinds = figures.kinds.clone();
        let costs = medians(&mut kinds, counts.rounds, |kind| {
            let scratch = place::scratch(directory)?;
            let peer = kind.open(scratch.path(), durability)?;
            let cost = spent(&*peer, &mut fleet.clone(), counts.processor)?;
            peer.close()?;
            Ok(cost)
        })?;
        for (kind, cost) in kinds.into_iter().zip(costs) {
            figures.set(metric, kind, micros(cost.processor));
        }
    }
    Ok(())
}

/// The cost of each of this many saves, without that of making the documents.
fn spent(peer: &dyn Peer, fleet: &mut Fleet, saves: u32) -> Result<Cost> {
    let (about, state) = fleet.step()?;
    peer.save(about, state)?;
    // First all that is to be saved, so that what the store does meanwhile is counted, too.
    let mut steps = Vec::new();
    for _ in 0..saves {
        let (about, state) = fleet.step()?;
        steps.push((about, state.clone()));
    }
    let (outcome, cost) = Cost::of(|| {
        for (about, state) in &steps {
            peer.save(about.clone(), state)?;
        }
        // What relaxed saves leave to be written is part of their cost.
        peer.flush()
    });
    outcome?;
    Ok(cost.each(saves))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_counts_if_the_disk_was_as_fast_as_at_its_best() {
        let rounds = [1, 20, 10, 14, 16, 12].map(|millis| vec![Duration::from_millis(millis)]);
        assert_eq!(quiet(&rounds), [2, 3, 5], "the first is a warm-up");
    }
}
