//! Durable saves of eight processes into one store, with and without the spool, and reads beside
//! them.
//!
//! `cargo bench --bench suite -- processes`. The processes are this program itself.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use waypost::care::StoreState;
use waypost::{Durability, Options, Query, Store};

use crate::place;
use crate::save::Saver;

const WRITERS: u32 = 8;
const DURING: Duration = Duration::from_secs(6);
// Of a writer: where the store is, after how many milliseconds it spools, and its number.
const ROLE: &str = "WAYPOST_BENCH_WRITER";
const NEVER: u64 = u64::MAX;
// Of a reader, which opens the store for each read as a command does, in the place of that number.
const READER: u64 = u64::MAX - 1;
const READERS: u32 = 2;

/// Runs as one of the processes, if this is one.
pub(crate) fn is_writer() -> bool {
    let Ok(role) = env::var(ROLE) else { return false };
    let mut words = role.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
    let (after, seed) = (number(), number());
    let path = words.next().expect("a path");
    if after == READER {
        read(Path::new(path));
        return true;
    }
    let spool_after = if after == NEVER { Duration::MAX } else { Duration::from_millis(after) };
    let wait = Duration::from_mins(1);
    let options = Options { spool_after, wait, open_late: true, ..Options::default() };
    let store = Store::open_with(path, options).expect("a store");
    let mut saver = Saver::new(u32::try_from(seed).expect("a small number"));
    saver.save(&store, Durability::Immediate);
    let times = measure(|| drop(saver.save(&store, Durability::Immediate)));
    store.close().expect("it is closed");
    tell(&times);
    true
}

/// Reads what is newest, each time as a command does.
fn read(path: &Path) {
    let options = Options { wait: Duration::from_mins(1), ..Options::default() };
    let times = measure(|| {
        let store = Store::open_with(path, options.clone()).expect("a store");
        store.latest(&Query::default()).expect("it is read").expect("one is there");
        store.close().expect("it is closed");
    });
    tell(&times);
}

/// Runs `work` again and again once all are ready.
fn measure(mut work: impl FnMut()) -> Vec<u128> {
    println!("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < DURING {
        let since = Instant::now();
        work();
        times.push(since.elapsed().as_micros());
    }
    times
}

fn tell(times: &[u128]) {
    for time in times {
        println!("{time}");
    }
}

/// Prints how many are saved, and how long that takes.
pub(crate) fn print() {
    println!("durable saves of 16 KB by {WRITERS} processes, holder at work and holder stopped");
    println!("| spooled after | saves/s | p50 | p99 | max |\n|---|---|---|---|---|");
    for after in [NEVER, 40, 20, 10, 5, 2, 0] {
        let directory = place::temporary();
        let path = directory.path().join("store.redb");
        let writers = (0..WRITERS).map(|seed| start(&path, after, seed)).collect();
        let name = if after == NEVER { "never".to_owned() } else { format!("{after} ms") };
        report(&name, &run(writers));
    }
    let directory = place::temporary();
    let path = directory.path().join("store.redb");
    let writers: Vec<_> = (0..WRITERS).map(|seed| start(&path, 20, seed)).collect();
    let readers: Vec<_> = (0..READERS).map(|seed| start(&path, READER, seed)).collect();
    let [saves, reads] = run_all([writers, readers]);
    report(&format!("20 ms, beside {READERS} readers"), &saves);
    report("reads of those", &reads);
    for after in [20, 10, 5, 2] {
        let directory = place::temporary();
        let path = directory.path().join("store.redb");
        let holder = stopped(&path);
        let writers = (0..WRITERS).map(|seed| start(&path, after, seed)).collect();
        report(&format!("{after} ms, stopped"), &run(writers));
        kill_process(Pid::from_child(&holder), Signal::CONT).expect("it goes on");
        drop(run(vec![holder]));
    }
}

fn start(path: &Path, after: u64, seed: u32) -> Child {
    let mut child = Command::new(env::current_exe().expect("this program"))
        .env(ROLE, format!("{after} {seed} {}", path.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = child.stdout.take().expect("a pipe");
    // One byte at a time, since the rest is read later.
    let mut output = BufReader::with_capacity(1, output);
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    child.stdout = Some(output.into_inner());
    child
}

/// A process that is stopped while it has the store.
fn stopped(path: &Path) -> Child {
    loop {
        let mut holder = start(path, NEVER, 99);
        kill_process(Pid::from_child(&holder), Signal::STOP).expect("it stops");
        let found = Store::inspect(path, Duration::from_millis(100), &mut |_| {});
        if found.is_ok_and(|found| found.state == StoreState::Held) {
            return holder;
        }
        holder.kill().and_then(|()| holder.wait()).expect("it ends");
    }
}

/// Lets them all begin, and returns how long each call took, in microseconds.
fn run(writers: Vec<Child>) -> Vec<u64> {
    let [times] = run_all([writers]);
    times
}

fn run_all<const KINDS: usize>(mut kinds: [Vec<Child>; KINDS]) -> [Vec<u64>; KINDS] {
    for child in kinds.iter_mut().flatten() {
        child.stdin.take().expect("a pipe").write_all(b"\n").expect("it listens");
    }
    kinds.map(times)
}

fn times(children: Vec<Child>) -> Vec<u64> {
    let mut times = Vec::new();
    for mut child in children {
        let mut text = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("numbers");
        assert!(child.wait().expect("it ends").success());
        times.extend(text.lines().filter_map(|line| line.parse::<u64>().ok()));
    }
    times.sort_unstable();
    times
}

fn report(name: &str, times: &[u64]) {
    let each_second = times.len() as u64 / DURING.as_secs();
    let at = |percent: usize| {
        let micros = times[(times.len() * percent / 100).min(times.len() - 1)];
        Duration::from_micros(micros)
    };
    println!("| {name} | {each_second} | {:.1?} | {:.1?} | {:.1?} |", at(50), at(99), at(100));
}
