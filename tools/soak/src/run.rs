//! A run: workers work, some are killed, and again and again everything is measured and checked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use waypost::options::Hold;
use waypost::{Options, Store};

use crate::arguments::Run;
use crate::check::{Check, When, judge};
use crate::fleet::Fleet;
use crate::kind::settings;
use crate::note::Work;
use crate::sample::{self, Sample};
use crate::tally::Tally;

const POLL: Duration = Duration::from_millis(20);
// The one who checks must not give up because others are busy.
const PATIENCE: Duration = Duration::from_mins(1);
// More would tell nothing new.
const WRONG_MAX: usize = 1000;

/// What a run leaves behind.
pub(crate) struct Outcome {
    pub(crate) samples: Vec<Sample>,
    pub(crate) tally: Tally,
    /// The length of the file once all had ended, and after it was compacted.
    pub(crate) closed_bytes: u64,
    pub(crate) compacted_bytes: u64,
}

/// Makes a run, and tells `hear` of each sample.
pub(crate) fn run(run: &Run, hear: &mut dyn FnMut(&Sample, &Tally)) -> Result<Outcome> {
    let directory = scratch(run)?;
    let path = directory.path().join("store.redb");
    age(&path, run.operations)?;
    let options = Options { wait: PATIENCE, label: "the check".to_owned(), ..Options::default() };
    let store = Store::open_with(&path, options)?;
    let mut fleet = Fleet::start(run, &path)?;
    let mut watch = Watch {
        run,
        store: &store,
        start: Instant::now(),
        kill_at: run.kill_every,
        samples: Vec::new(),
    };
    watch.follow(&mut fleet, hear)?;
    fleet.end()?;
    watch.check(&mut fleet, When::After)?;
    let compacted = store.compact()?;
    Ok(Outcome {
        samples: watch.samples,
        tally: std::mem::take(&mut fleet.tally),
        closed_bytes: compacted.before_bytes,
        compacted_bytes: compacted.after_bytes,
    })
}

/// Makes a store with a log as one has that was used for long.
fn age(path: &Path, operations: u32) -> Result<()> {
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(path, options)?;
    store.set_settings(&settings())?;
    // As long as what takes its place: some 300 bytes, the mean of deletes and prunes.
    let source = "x".repeat(100);
    for _ in 0..operations {
        store.log_import(&source, 1)?;
    }
    store.compact()?;
    Ok(store.close()?)
}

struct Watch<'a> {
    run: &'a Run,
    store: &'a Store,
    start: Instant,
    kill_at: Duration,
    samples: Vec<Sample>,
}

impl Watch<'_> {
    /// Kills and measures until the time is over.
    fn follow(
        &mut self,
        fleet: &mut Fleet<'_>,
        hear: &mut dyn FnMut(&Sample, &Tally),
    ) -> Result<()> {
        let mut sample_at = self.run.interval();
        while self.start.elapsed() < self.run.time && fleet.tally.wrong.len() < WRONG_MAX {
            thread::sleep(POLL);
            self.disturb(fleet)?;
            if self.start.elapsed() >= sample_at {
                let sample = self.sample(fleet)?;
                hear(&sample, &fleet.tally);
                self.samples.push(sample);
                self.check(fleet, When::During)?;
                sample_at += self.run.interval();
            }
        }
        Ok(())
    }

    /// Kills one if it is time for that.
    fn disturb(&mut self, fleet: &mut Fleet<'_>) -> Result<()> {
        fleet.tend()?;
        fleet.listen()?;
        if self.start.elapsed() >= self.kill_at {
            fleet.kill_one()?;
            self.kill_at += self.run.kill_every;
        }
        Ok(())
    }

    fn sample(&self, fleet: &mut Fleet<'_>) -> Result<Sample> {
        let (file_bytes, beside_bytes) = sample::disk_bytes(self.store.path())?;
        let (spared_bytes, others_bytes) = fleet.memory_bytes();
        let at = self.start.elapsed();
        let latencies = fleet.tally.latencies();
        let latency = |work| latencies.get(&work).copied();
        let stats = self.store.stats()?;
        Ok(Sample {
            at,
            file_bytes,
            beside_bytes,
            checkpoints: stats.checkpoints,
            deleted: stats.deleted,
            spared_bytes,
            others_bytes,
            save: latency(Work::Save),
            latest: latency(Work::Latest),
            list: latency(Work::List),
            load: sample::load(),
        })
    }

    /// Compares the store with the notes, which are read before and after.
    fn check(&mut self, fleet: &mut Fleet<'_>, when: When) -> Result<()> {
        let check = Check { store: self.store, seed: self.run.seed, when };
        fleet.tally.checks += 1;
        for worker in 0..self.run.processes {
            fleet.listen()?;
            let found = check.look(worker, &mut fleet.ledger, &mut fleet.tally)?;
            fleet.listen()?;
            for found in &found {
                judge(found, &mut fleet.ledger, &mut fleet.tally);
            }
            // Reading everything takes its time, and they are killed meanwhile, too.
            if when == When::During {
                self.disturb(fleet)?;
            }
        }
        Ok(())
    }
}

/// A directory for the store that is gone when this is dropped.
fn scratch(run: &Run) -> Result<TempDir> {
    let directory = match &run.dir {
        Some(directory) => directory.clone(),
        None => beside_this_program()?,
    };
    fs::create_dir_all(&directory)?;
    Ok(tempfile::Builder::new().prefix("soak-").tempdir_in(directory)?)
}

fn beside_this_program() -> Result<PathBuf> {
    let program = env::current_exe()?;
    program.parent().map(Path::to_owned).context("a program lies in a directory")
}
