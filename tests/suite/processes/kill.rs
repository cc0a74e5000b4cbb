//! Writers and readers of which one is killed every few milliseconds.

use std::collections::{HashMap, HashSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Times, Writer, check, command, document, ended, store_in};
use crate::extent::extent_of;

const WRITERS: usize = 8;
const READERS: usize = 2;
const KILL_EVERY: Duration = Duration::from_millis(20);
const KILLED_MIN: u64 = 100;
/// A busy machine needs longer for the first kills, saves and reads; only a hang needs this long.
const PATIENCE: Duration = Duration::from_mins(10);

struct Scene {
    path: PathBuf,
    is_over: AtomicBool,
    /// Who runs now.
    running: Mutex<Vec<Option<Pid>>>,
    /// What was answered, with what was sent.
    answered: Mutex<Vec<(String, (usize, u64))>>,
    killed: AtomicU64,
    read: AtomicU64,
}

impl Scene {
    fn note_running(&self, at: usize, child: &Child) {
        self.running.lock().unwrap()[at] = Some(Pid::from_child(child));
    }

    /// Its process number may be reused, so it must not be killed again.
    fn note_ended(&self, at: usize) {
        self.running.lock().unwrap()[at] = None;
    }

    /// Whether it was killed, which is the only reason to end before its time.
    fn is_killed(&self, child: Child) -> bool {
        let (status, said) = ended(child);
        let is_killed = status.signal() == Some(9);
        assert!(is_killed || status.success(), "{status}: {said}");
        self.killed.fetch_add(u64::from(is_killed), Ordering::Relaxed);
        is_killed
    }

    /// Saves and saves, with a new process for each that is killed; how often, and how long that
    /// took.
    fn write(&self, at: usize) -> (usize, Times) {
        let (mut saved, mut times) = (0, Times::default());
        let mut number = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let mut writer = Writer::start(&self.path);
            self.note_running(at, &writer.child);
            let mut is_started = false;
            while !self.is_over.load(Ordering::Relaxed) {
                number += 1;
                let since = Instant::now();
                let Some(id) = writer.save(&document(at, number)) else { break };
                // The first has the start of the process in it.
                if std::mem::replace(&mut is_started, true) {
                    times.note(since);
                }
                saved += 1;
                self.answered.lock().unwrap().push((id, (at, number)));
            }
            self.note_ended(at);
            drop(writer.input.take());
            self.is_killed(writer.child);
        }
        (saved, times)
    }

    /// Reads what was answered before, again and again.
    fn read(&self, at: usize) {
        while !self.is_over.load(Ordering::Relaxed) {
            let newest = self.answered.lock().unwrap().last().cloned();
            let Some((id, (writer, number))) = newest else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let child = command(&self.path, &format!("show {id} --json")).spawn().unwrap();
            self.note_running(at, &child);
            let output = child.wait_with_output().unwrap();
            self.note_ended(at);
            if output.status.signal() == Some(9) {
                self.killed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            assert!(output.status.success(), "{output:?}");
            let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(shown["document"], document(writer, number));
            self.read.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether enough were killed, each writer was answered and something was read.
    fn is_enough(&self) -> bool {
        let answered = self.answered.lock().unwrap();
        let writers: HashSet<usize> = answered.iter().map(|(_, (writer, _))| *writer).collect();
        let is_killed = self.killed.load(Ordering::Relaxed) > KILLED_MIN;
        is_killed && writers.len() == WRITERS && self.read.load(Ordering::Relaxed) > 0
    }

    fn kill(&self, during: Duration) {
        let start = Instant::now();
        let mut random = 1_u64;
        while start.elapsed() < during || (!self.is_enough() && start.elapsed() < PATIENCE) {
            thread::sleep(KILL_EVERY);
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // A reader needs longer, since it starts anew for every read.
            let at = usize::try_from(random >> 33).unwrap() % (4 * WRITERS + READERS);
            let at = at.checked_sub(4 * WRITERS).map_or(at / 4, |reader| WRITERS + reader);
            let running = self.running.lock().unwrap();
            if let Some(pid) = running[at] {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// `WAYPOST_KILL_SECONDS` sets another time.
fn during() -> Duration {
    Duration::from_secs(extent_of("WAYPOST_KILL_SECONDS", 5, 60))
}

fn scene(path: &Path) -> Scene {
    Scene {
        path: path.to_owned(),
        is_over: AtomicBool::new(false),
        running: Mutex::new(vec![None; WRITERS + READERS]),
        answered: Mutex::default(),
        killed: AtomicU64::new(0),
        read: AtomicU64::new(0),
    }
}

#[test]
fn nothing_that_was_answered_is_lost_to_kills() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    let scene = scene(&path);
    let mut times = Times::default();
    let mut saved = Vec::new();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|at| {
                scope.spawn({
                    let scene = &scene;
                    move || scene.write(at)
                })
            })
            .collect();
        for at in WRITERS..WRITERS + READERS {
            scope.spawn({
                let scene = &scene;
                move || scene.read(at)
            });
        }
        scene.kill(during());
        for writer in writers {
            let (count, took) = writer.join().unwrap();
            saved.push(count);
            times.add(took);
        }
    });
    let answered: HashMap<_, _> = scene.answered.into_inner().unwrap().into_iter().collect();
    let (killed, read) = (scene.killed.into_inner(), scene.read.into_inner());
    println!(
        "{killed} kills, {} saves answered ({saved:?} by writer), {read} read: {}",
        answered.len(),
        times.told()
    );
    assert_eq!(answered.len(), saved.iter().sum::<usize>());
    assert!(killed > KILLED_MIN, "only {killed} were killed");
    assert!(read > 0, "nothing was read");
    assert!(saved.iter().all(|count| *count > 0), "one never had its turn: {saved:?}");
    check(&path, &answered);
}
