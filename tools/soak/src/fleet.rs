//! The processes: started, killed, started again, and ended.

use std::env;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::arguments::Run;
use crate::duration;
use crate::kind::Kind;
use crate::ledger::Ledger;
use crate::random::Random;
use crate::sample;
use crate::tail::Tail;
use crate::tally::Tally;

const SIGKILL: i32 = 9;
// Longer than any call waits for its turn.
const END_WITHIN: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(5);

/// All processes that use the store, and what they noted.
pub(crate) struct Fleet<'a> {
    run: &'a Run,
    store: &'a Path,
    members: Vec<Member>,
    random: Random,
    pub(crate) ledger: Ledger,
    pub(crate) tally: Tally,
}

struct Member {
    worker: u32,
    start: u64,
    child: Child,
    notes: PathBuf,
    tail: Tail,
}

impl<'a> Fleet<'a> {
    /// Starts all processes on a store that is there.
    pub(crate) fn start(run: &'a Run, store: &'a Path) -> Result<Self> {
        let mut ledger = Ledger::default();
        let start = |worker| Member::start(run, store, (worker, 0), &mut ledger);
        let members = (0..run.processes).map(start).collect::<Result<_>>()?;
        let random = Random::of(&[run.seed]);
        Ok(Self { run, store, members, random, ledger, tally: Tally::default() })
    }

    /// Reads what was noted since the last time.
    pub(crate) fn listen(&mut self) -> Result<()> {
        for member in &mut self.members {
            for note in member.tail.read()? {
                self.ledger.take(member.worker, &note);
                self.tally.take(member.worker, &note);
            }
        }
        Ok(())
    }

    /// Kills one of those that are not spared, and starts it again.
    pub(crate) fn kill_one(&mut self) -> Result<()> {
        let Some(mortal) = self.run.processes.checked_sub(self.run.spare).filter(|it| *it > 0)
        else {
            return Ok(());
        };
        let at = (self.run.spare + self.random.below(mortal)) as usize;
        self.members[at].child.kill()?;
        let status = self.members[at].child.wait()?;
        if status.signal() == Some(SIGKILL) {
            self.tally.kills += 1;
        }
        self.replace(at)
    }

    /// Starts those again that ended by themselves, which none of them should.
    pub(crate) fn tend(&mut self) -> Result<()> {
        for at in 0..self.members.len() {
            if let Some(status) = self.members[at].child.try_wait()? {
                self.blame(at, status);
                self.replace(at)?;
            }
        }
        Ok(())
    }

    /// Lets all of them come to an end.
    pub(crate) fn end(&mut self) -> Result<()> {
        for member in &mut self.members {
            drop(member.child.stdin.take());
        }
        let deadline = Instant::now() + END_WITHIN;
        for at in 0..self.members.len() {
            match self.members[at].wait_until(deadline)? {
                Some(status) if status.success() => {}
                Some(status) => self.blame(at, status),
                None => self.tally.wrong.push(format!("worker {at} did not end")),
            }
        }
        self.listen()
    }

    /// Resident memory of those that are spared, and of the others.
    pub(crate) fn memory_bytes(&self) -> (Vec<u64>, Vec<u64>) {
        let spared = (self.run.spare as usize).min(self.members.len());
        let (spared, others) = self.members.split_at(spared);
        let bytes = |members: &[Member]| {
            members.iter().filter_map(|it| sample::memory_bytes(it.child.id())).collect()
        };
        (bytes(spared), bytes(others))
    }

    fn blame(&mut self, at: usize, status: ExitStatus) {
        self.tally.wrong.push(format!("worker {at} ended by itself: {status}"));
    }

    fn replace(&mut self, at: usize) -> Result<()> {
        self.listen()?;
        let Member { worker, start, notes, .. } = &self.members[at];
        let (worker, start) = (*worker, *start);
        fs::remove_file(notes)?;
        self.ledger.give_up(worker);
        let next = Member::start(self.run, self.store, (worker, start + 1), &mut self.ledger)?;
        self.members[at] = next;
        Ok(())
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for member in &mut self.members {
            // No effect on a process that has ended.
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

impl Member {
    fn start(
        run: &Run,
        store: &Path,
        (worker, start): (u32, u64),
        ledger: &mut Ledger,
    ) -> Result<Self> {
        let notes = store.with_file_name(format!("notes-{worker}-{start}"));
        File::create(&notes).with_context(|| notes.display().to_string())?;
        let highest = Kind::ALL.map(|kind| ledger.line(worker, kind).highest().to_string());
        let child = Command::new(env::current_exe()?)
            .args(["worker", "--worker", &worker.to_string(), "--start", &start.to_string()])
            .args(["--processes", &run.processes.to_string(), "--seed", &run.seed.to_string()])
            .args(["--pause", &duration::show(run.pause), "--highest", &highest.join(",")])
            .arg("--store")
            .arg(store)
            .arg("--notes")
            .arg(&notes)
            // Its end is how a worker learns that the run, or this process, is over.
            .stdin(Stdio::piped())
            .spawn()?;
        let tail = Tail::open(&notes)?;
        Ok(Self { worker, start, child, notes, tail })
    }

    fn wait_until(&mut self, deadline: Instant) -> Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(POLL);
        }
    }
}
