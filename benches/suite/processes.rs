//! Durable saves of eight processes into one store, with and without the spool.
//!
//! `cargo bench --bench suite -- processes`. The processes are this program itself.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use waypost::{Durability, Options, State, Store};

use crate::place;
use crate::save::Saver;

const WRITERS: u32 = 8;
const DURING: Duration = Duration::from_secs(6);
// Of a writer: where the store is, after how many milliseconds it spools, and its number.
const ROLE: &str = "WAYPOST_BENCH_WRITER";
const NEVER: u64 = u64::MAX;

/// Runs as one of the processes, if this is one.
pub(crate) fn is_writer() -> bool {
    let Ok(role) = env::var(ROLE) else { return false };
    let mut words = role.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
    let (after, seed) = (number(), number());
    let path = words.next().expect("a path");
    let spool_after = if after == NEVER { Duration::MAX } else { Duration::from_millis(after) };
    let wait = Duration::from_mins(1);
    let options = Options { spool_after, wait, open_late: true, ..Options::default() };
    let store = Store::open_with(path, options).expect("a store");
    let mut saver = Saver::new(u32::try_from(seed).expect("a small number"));
    saver.save(&store, Durability::Immediate);
    println!("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < DURING {
        let since = Instant::now();
        saver.save(&store, Durability::Immediate);
        times.push(since.elapsed().as_micros());
    }
    store.close().expect("it is closed");
    for time in times {
        println!("{time}");
    }
    true
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
        if found.is_ok_and(|found| found.state == State::Held) {
            return holder;
        }
        holder.kill().and_then(|()| holder.wait()).expect("it ends");
    }
}

/// Lets them all begin, and returns how long each save took, in microseconds.
fn run(mut writers: Vec<Child>) -> Vec<u64> {
    for writer in &mut writers {
        writer.stdin.take().expect("a pipe").write_all(b"\n").expect("it listens");
    }
    let mut times = Vec::new();
    for mut writer in writers {
        let mut text = String::new();
        writer.stdout.take().expect("a pipe").read_to_string(&mut text).expect("numbers");
        assert!(writer.wait().expect("it ends").success());
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
