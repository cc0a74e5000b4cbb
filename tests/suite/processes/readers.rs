//! Readers beside savers that are killed, and beside all commands that maintain a store.
//!
//! Readers run with `--wait 0`. So a read that needs a turn fails if another process has the store;
//! otherwise the turn shows in the locks of this process.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use waypost::care::Verify;
use waypost::options::Hold;
use waypost::{Error, Id, Options, Query, SecretKey, Series, Store};

use super::{Writer, command_with, document, ended, store_in};
use crate::extent::extent;

const WRITERS: usize = 8;
const READERS: [fn(&Scene, usize); 5] = [anew, kept, by_command, kept, by_verifying];
const KILL_EVERY: Duration = Duration::from_millis(25);
const DURING: Duration = Duration::from_millis(1500);
/// Only a hang takes this long: the test ends once every thread has done something.
const PATIENCE: Duration = Duration::from_mins(10);
/// Number of acknowledged documents that each read checks.
const LOOKED_AT: usize = 4;
/// Commands that maintain the store, run in turn.
const CARE: [&str; 7] = [
    "compact",
    "rekey --new-key-file second.key",
    "repair",
    "prune --policy last-2 --series other --yes --now",
    "verify",
    "backup copy.redb --overwrite",
    "rekey --new-key-file first.key",
];
/// The only commands that may keep a reader from a view. `compact` commits with one sync. `rekey`
/// makes many commits in a row, and each overtakes the view opened before it.
const IN_THE_WAY: [&str; 2] = ["compact", "rekey"];
const KEYS: &str = "--key-file first.key --key-file second.key";

struct Scene {
    path: PathBuf,
    keys: Vec<SecretKey>,
    is_over: AtomicBool,
    running: Mutex<[Option<Pid>; WRITERS]>,
    answered: Mutex<Vec<(String, (usize, u64))>>,
    killed: AtomicU64,
    /// How often a command of `IN_THE_WAY` began or ended: odd while one runs.
    obstacles: AtomicU64,
    cared: AtomicUsize,
    reads: [AtomicU64; READERS.len()],
    /// Reads that failed because another process had the store, and reads that took a turn.
    hindered: AtomicU64,
    turns: AtomicU64,
}

impl Scene {
    fn new(path: PathBuf) -> Self {
        let keys = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
        for (key, name) in keys.iter().zip(["first.key", "second.key"]) {
            let file = path.with_file_name(name);
            fs::write(&file, format!("{}\n", key.to_hex())).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self {
            path,
            keys: keys.into(),
            is_over: AtomicBool::new(false),
            running: Mutex::default(),
            answered: Mutex::default(),
            killed: AtomicU64::new(0),
            obstacles: AtomicU64::new(0),
            cared: AtomicUsize::new(0),
            reads: Default::default(),
            hindered: AtomicU64::new(0),
            turns: AtomicU64::new(0),
        }
    }

    /// Runs one thread. If it panics, the other threads end, too.
    fn run(&self, work: impl FnOnce(&Self)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.is_over.fetch_or(outcome.is_err(), Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    fn command(&self, args: &str, wait: &str) -> Command {
        command_with(&self.path, &format!("{args} {KEYS}"), wait)
    }

    fn options(&self) -> Options {
        let wait = Duration::ZERO;
        Options { wait, create: false, keys: self.keys.clone(), ..Options::default() }
    }

    /// Saves without a pause, with a new process for each that is killed.
    fn write(&self, at: usize) {
        let mut number = 0;
        while self.goes_on() {
            let mut writer = Writer::of(self.command("save --lines --series writers", "60"));
            self.running.lock().unwrap()[at] = Some(Pid::from_child(&writer.child));
            while self.goes_on() {
                number += 1;
                let Some(id) = writer.save(&document(at, number)) else { break };
                self.answered.lock().unwrap().push((id, (at, number)));
            }
            // Its process number may be reused, so it must not be killed again.
            self.running.lock().unwrap()[at] = None;
            let (status, said) = writer.end();
            assert!(status.success() || status.code().is_none(), "{status}: {said}");
            self.killed.fetch_add(u64::from(status.code().is_none()), Ordering::Relaxed);
        }
    }

    fn kill(&self) {
        let mut random = 1_u64;
        while self.goes_on() {
            thread::sleep(KILL_EVERY);
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let running = self.running.lock().unwrap();
            if let Some(pid) = running[usize::try_from(random >> 33).unwrap() % WRITERS] {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Runs the commands that maintain the store, and saves checkpoints for the prune.
    fn care(&self) {
        let mut other = Writer::of(self.command("save --lines --series other", "60"));
        for args in CARE.iter().cycle().take_while(|_| self.goes_on()) {
            other.save(&json!(args)).unwrap();
            let change = u64::from(IN_THE_WAY.iter().any(|it| args.starts_with(it)));
            self.obstacles.fetch_add(change, Ordering::SeqCst);
            let (status, said) = ended(self.command(args, "60").spawn().unwrap());
            self.obstacles.fetch_add(change, Ordering::SeqCst);
            assert!(status.success(), "{args}: {status}: {said}");
            self.cared.fetch_add(1, Ordering::Relaxed);
            // So that most reads have only savers beside them.
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Ends the test after `DURING`, or later once every thread has done something.
    fn end(&self) {
        let start = Instant::now();
        let cares = usize::try_from(extent(4, CARE.len() as u64)).unwrap();
        let is_enough = || {
            let answered = self.answered.lock().unwrap();
            let writers: HashSet<usize> = answered.iter().map(|(_, (writer, _))| *writer).collect();
            writers.len() == WRITERS
                && self.killed.load(Ordering::Relaxed) > 0
                && self.cared.load(Ordering::Relaxed) >= cares
                && self.reads.iter().all(|count| count.load(Ordering::Relaxed) > 2)
        };
        let is_late = || start.elapsed() >= DURING && (is_enough() || start.elapsed() >= PATIENCE);
        while self.goes_on() && !is_late() {
            thread::sleep(Duration::from_millis(20));
        }
        let is_enough = is_enough();
        self.is_over.store(true, Ordering::Relaxed);
        assert!(is_enough, "a thread did nothing");
    }

    fn is_in_the_way(&self, before: u64) -> bool {
        before % 2 == 1 || self.obstacles.load(Ordering::SeqCst) != before
    }

    /// Runs `read` until the test ends, each time with all saves acknowledged before. It returns
    /// false if another process has the store.
    fn reading(&self, at: usize, mut read: impl FnMut(&[(String, (usize, u64))]) -> bool) {
        while self.goes_on() {
            let answered = self.answered.lock().unwrap().clone();
            if answered.is_empty() {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            let before = self.obstacles.load(Ordering::SeqCst);
            let turns = self.turns.load(Ordering::Relaxed);
            let is_read = read(&answered);
            let took_turn = self.turns.load(Ordering::Relaxed) > turns;
            assert!(!took_turn || self.is_in_the_way(before), "a reader took a turn");
            if is_read {
                self.reads[at].fetch_add(1, Ordering::Relaxed);
            } else {
                self.hindered.fetch_add(1, Ordering::Relaxed);
                assert!(self.is_in_the_way(before), "a reader needed a turn");
            }
        }
    }

    /// Reads with a handle, and notes whether that took a turn.
    fn read(&self, store: &Store, answered: &[(String, (usize, u64))]) -> Result<(), Error> {
        let outcome = check(store, answered);
        self.turns.fetch_add(u64::from(is_locked_by_us(&self.path)), Ordering::Relaxed);
        outcome
    }
}

fn check(store: &Store, answered: &[(String, (usize, u64))]) -> Result<(), Error> {
    let series = Some(Series::new("writers").unwrap());
    let mut found = HashSet::new();
    for entry in store.entries(Query { series, ..Query::default() }) {
        let id = entry?.id.to_string();
        assert!(found.insert(id.clone()), "{id} is there twice");
    }
    for (id, _) in answered {
        assert!(found.contains(id), "{id} was answered");
    }
    let step = answered.len().div_ceil(LOOKED_AT);
    for (id, (writer, number)) in answered.iter().rev().step_by(step) {
        let read = store.get(&Id::new(id.clone()).unwrap())?;
        assert_eq!(read.state::<Value>()?, document(*writer, *number));
    }
    Ok(())
}

/// Whether a handle of this process has the store.
fn is_locked_by_us(path: &Path) -> bool {
    let Ok(locks) = fs::read_to_string("/proc/locks") else { return false };
    let (process, file) = (std::process::id().to_string(), fs::metadata(path).unwrap().ino());
    let end = format!(":{file}");
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&process.as_str()) && words.iter().any(|word| word.ends_with(&end))
    })
}

/// Whether the read succeeded; any error but `Locked` fails the test.
#[track_caller]
fn is_read(outcome: Result<(), Error>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(Error::Locked { .. }) => false,
        Err(error) => panic!("{error:?}"),
    }
}

fn anew(scene: &Scene, at: usize) {
    scene.reading(at, |answered| {
        let outcome = Store::open_with(&scene.path, scene.options());
        is_read(outcome.and_then(|store| scene.read(&store, answered)))
    });
}

fn kept(scene: &Scene, at: usize) {
    let mut store = None;
    while scene.goes_on() && store.is_none() {
        store = Store::open_with(&scene.path, scene.options()).ok();
    }
    let Some(store) = store else { return };
    scene.reading(at, |answered| is_read(scene.read(&store, answered)));
}

fn by_command(scene: &Scene, at: usize) {
    scene.reading(at, |answered| {
        let (id, (writer, number)) = answered.last().unwrap();
        let output = scene.command(&format!("show {id} --json"), "0").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(6) => return false,
            // Failed tries before the successful one print nothing.
            code => assert_eq!((code, said.as_ref()), (Some(0), "")),
        }
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["document"], document(*writer, *number));
        true
    });
}

fn by_verifying(scene: &Scene, at: usize) {
    let how = Verify { wait: Duration::ZERO, keys: scene.keys.clone() };
    scene.reading(at, |_| {
        let before = scene.obstacles.load(Ordering::SeqCst);
        let verified = Store::verify_with(&scene.path, &how, &mut |_| {
            let took_turn = is_locked_by_us(&scene.path);
            scene.turns.fetch_add(u64::from(took_turn), Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        is_read(verified.map(|found| {
            assert!(found.is_clean() || scene.is_in_the_way(before), "{found:#?}");
        }))
    });
}

fn run() {
    let dir = tempfile::tempdir().unwrap();
    let scene = Scene::new(store_in(&dir));
    let options = Options { hold: Hold::Forever, create: true, ..scene.options() };
    let store = Store::open_with(&scene.path, options).unwrap();
    // Without this check, the test might never notice a turn.
    assert!(is_locked_by_us(&scene.path) || !Path::new("/proc/locks").exists());
    store.close().unwrap();
    thread::scope(|scope| {
        let scene = &scene;
        for at in 0..WRITERS {
            scope.spawn(move || scene.run(|it| it.write(at)));
        }
        for (at, reader) in READERS.iter().enumerate() {
            scope.spawn(move || scene.run(|it| reader(it, at)));
        }
        scope.spawn(move || scene.run(Scene::care));
        scope.spawn(move || scene.run(Scene::kill));
        scene.end();
    });
    let reads: Vec<u64> = scene.reads.into_iter().map(AtomicU64::into_inner).collect();
    println!(
        "{} saves, {:?} killed, cared {:?} times; {reads:?} read, {:?} hindered, {:?} turns",
        scene.answered.into_inner().unwrap().len(),
        scene.killed,
        scene.cared,
        scene.hindered,
        scene.turns,
    );
}

#[test]
fn readers_see_all_that_was_answered_and_take_no_turn() {
    for _ in 0..extent(1, 20) {
        run();
    }
}
