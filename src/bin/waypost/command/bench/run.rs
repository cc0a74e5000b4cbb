//! The measurement: both contenders save the same loops, in turns.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use waypost::doctor::{Floor, Scratch};

use super::Plan;
use super::document::AgentLoop;
use super::files::Files;
use super::random::Random;
use super::report::{Documents, Measured, Report};
use super::spread::Spread;
use super::waypost::Waypost;
use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt::{self, Signal};
use crate::progress::Progress;
use crate::threads::start_in;

const ROUNDS: u32 = 10;
const FLOOR_APPENDS: u32 = 20;
// Enough for a percentile, and quick.
const READS: usize = 300;

/// A way to keep checkpoints: the store, or files.
pub(super) trait Contender: Sync {
    /// The handle by which a saved checkpoint is found again.
    type Saved: Send;

    fn save(&self, agent_loop: &AgentLoop) -> Result<Self::Saved>;
    /// Syncs everything that was saved.
    fn finish(&self) -> Result<()>;
    /// The newest document of the same loop, as JSON.
    fn newest(&self, saved: &Self::Saved) -> Result<String>;
    fn get(&self, saved: &Self::Saved) -> Result<String>;
    /// Lists the newest 20 of the same loop; how many there were.
    fn list(&self, saved: &Self::Saved) -> Result<usize>;
    /// How many bytes it takes to keep everything.
    fn bytes(&self) -> Result<u64>;
}

/// A contender with its loops and its figures so far.
struct Course<C: Contender> {
    contender: C,
    loops: Vec<AgentLoop>,
    saved: Vec<C::Saved>,
    times: Vec<Duration>,
    elapsed: Duration,
    written: Option<u64>,
}

/// The signal that ended a measurement, and the number of saves before it.
type Stopped = (Signal, u64);

/// Measures. After an interrupt it reports what was saved until then, with the number of saves.
pub(super) fn run(
    plan: &Plan,
    parent: &Path,
    global: &Global,
) -> Result<(Option<Report>, Option<Stopped>)> {
    interrupt::listen()?;
    let place = scratch(parent)?;
    let mut floor = Floor::new(place.path())?;
    let mut waypost = Course::new(Waypost::new(place.path(), plan)?, plan);
    let mut files = Course::new(Files::new(place.path(), plan)?, plan);
    let progress = Progress::new("saving", global).of(Some(2 * u64::from(plan.saves)));
    for round in 0..ROUNDS {
        let saves = plan.saves / ROUNDS + u32::from(round < plan.saves % ROUNDS);
        floor.append(FLOOR_APPENDS)?;
        waypost.go(saves, plan)?;
        progress.show((waypost.saved.len() + files.saved.len()) as u64);
        files.go(saves, plan)?;
        progress.show((waypost.saved.len() + files.saved.len()) as u64);
    }
    let (saves, saves_of_files) = (waypost.saved.len(), files.saved.len());
    let is_whole = saves_of_files as u64 == u64::from(plan.saves);
    let stopped = interrupt::signal().filter(|_| !is_whole).map(|signal| (signal, saves as u64));
    if saves_of_files == 0 {
        return Ok((None, stopped));
    }
    progress.stage("reading", None);
    let plan = &Plan { saves: u32::try_from(saves)?, ..*plan };
    // After an interrupted save phase, reads are still measured; a second signal stops those, too.
    let measured = waypost.measured().and_then(|own| Ok((own, files.measured()?)));
    let (own, others) = match interrupt::caught(measured)? {
        Ok(measured) => measured,
        Err(signal) => return Ok((None, Some((signal, saves as u64)))),
    };
    let report = Report {
        documents: Documents::of(plan, waypost.document_bytes()),
        floor: Spread::of(floor.times()),
        waypost: own,
        files: others,
    };
    Ok((Some(report), stopped))
}

fn scratch(parent: &Path) -> Result<Scratch> {
    let path = Scratch::path_in(parent, "bench");
    Scratch::new(parent, "bench").with_context(|| format!("cannot make {}", path.display()))
}

impl<C: Contender> Course<C> {
    fn new(contender: C, plan: &Plan) -> Self {
        let loops = (0..plan.loops).map(|seed| AgentLoop::new(seed, plan.shape)).collect();
        let (times, elapsed) = (Vec::new(), Duration::ZERO);
        Self { contender, loops, saved: Vec::new(), times, elapsed, written: Some(0) }
    }

    /// Saves this many checkpoints; the threads share them, and the loops.
    fn go(&mut self, saves: u32, plan: &Plan) -> Result<()> {
        let contender = &self.contender;
        let (written, start) = (written_bytes(), Instant::now());
        let outcomes: Vec<Result<Vec<_>>> = thread::scope(|scope| {
            let mut rest = self.loops.as_mut_slice();
            let threads: Vec<_> = (0..plan.threads)
                .map(|thread| {
                    let count = share(plan.loops, plan.threads, thread) as usize;
                    let loops = rest.split_off_mut(..count).expect("each thread has its loops");
                    let saves = share(saves, plan.threads, thread);
                    start_in(scope, move || save(contender, loops, saves))
                })
                .collect();
            let outcome = |thread: io::Result<_>| match thread {
                Ok(thread) => join(thread),
                Err(error) => Err(Refusal::NoThread(error).into()),
            };
            threads.into_iter().map(outcome).collect()
        });
        contender.finish()?;
        self.elapsed += start.elapsed();
        let written = written.zip(written_bytes()).map(|(before, after)| after - before);
        self.written = self.written.zip(written).map(|(sum, more)| sum + more);
        for outcome in outcomes {
            for (one, time) in outcome? {
                self.saved.push(one);
                self.times.push(time);
            }
        }
        Ok(())
    }

    /// Length of all documents that the loops would save next.
    fn document_bytes(&self) -> usize {
        self.loops.iter().map(|it| it.state.to_json().len()).sum::<usize>() / self.loops.len()
    }

    /// The figures of the saves, and those of the reads, which it runs.
    fn measured(&self) -> Result<Measured> {
        let last = self.saved.last().context("nothing was saved")?;
        let newest = self.contender.newest(last)?;
        let is_right = self.loops.iter().any(|it| it.state.to_json() == newest);
        ensure!(is_right, "what was read is not what was saved");
        let mut random = Random::new(1);
        let saves = u32::try_from(self.saved.len())?;
        Ok(Measured {
            saves_per_second: f64::from(saves) / self.elapsed.as_secs_f64(),
            save: Spread::of(&self.times),
            newest: many(|| self.contender.newest(last).map(drop))?,
            get: many(|| self.contender.get(random.choose(&self.saved)).map(drop))?,
            list: many(|| self.contender.list(last).map(drop))?,
            written_bytes_per_save: self.written.map(|bytes| bytes / u64::from(saves)),
            bytes_per_checkpoint: self.contender.bytes()? / u64::from(saves),
        })
    }
}

fn many(mut work: impl FnMut() -> Result<()>) -> Result<Spread> {
    let times = (0..READS).map(|_| {
        interrupt::check()?;
        let start = Instant::now();
        work()?;
        Ok(start.elapsed())
    });
    Ok(Spread::of(&times.collect::<Result<Vec<Duration>>>()?))
}

/// Saves the loops in turn and returns the time of each save.
fn save<C: Contender>(
    contender: &C,
    loops: &mut [AgentLoop],
    count: u32,
) -> Result<Vec<(C::Saved, Duration)>> {
    let mut saved = Vec::new();
    let turns = (0..loops.len()).cycle().zip(0..count);
    for (at, _) in turns {
        if interrupt::signal().is_some() {
            break;
        }
        let agent_loop = &mut loops[at];
        agent_loop.advance();
        let start = Instant::now();
        let one = contender.save(agent_loop)?;
        saved.push((one, start.elapsed()));
    }
    Ok(saved)
}

/// The number of items for one thread.
fn share(all: u32, among: u32, number: u32) -> u32 {
    all / among + u32::from(number < all % among)
}

fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Bytes that this process has caused to be written to disks, where the system counts them.
fn written_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
}
