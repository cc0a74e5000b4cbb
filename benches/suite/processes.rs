//! Durable saves of eight processes into one store, with and without the spool, and in `readers`
//! reads beside them.
//!
//! `cargo bench --bench suite -- processes`, or `-- readers` for those alone. The processes are
//! this program itself.

pub(crate) mod readers;

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use waypost::care::StoreState;
use waypost::{Durability, Options, Store};

use crate::cost::time;
use crate::place;
use crate::save::Saver;

const WRITERS: u32 = 8;
const DURING: Duration = Duration::from_secs(6);
// Of a writer: where the store is, after how many milliseconds it spools, and its number.
const ROLE: &str = "WAYPOST_BENCH_ROLE";
const NEVER: u64 = u64::MAX;
const PATIENT: Duration = Duration::from_mins(1);

/// What a process does.
#[derive(Clone, Copy)]
enum Role {
    /// Saves again and again. A save that waits longer than these milliseconds goes to the spool.
    Saver {
        after: u64,
        seed: u32,
    },
    /// Opens the store for each read, as a command does.
    Reader {
        pause: Duration,
    },
    /// Reads once.
    Once,
    Nothing,
}

/// Runs as one of the processes, if this is one.
pub(crate) fn is_one() -> bool {
    let Ok(role) = env::var(ROLE) else { return false };
    let mut words = role.splitn(4, ' ');
    let name = words.next().expect("a role");
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
    let (time, seed) = (number(), number());
    let path = Path::new(words.next().expect("a path"));
    match name {
        "saver" => save(path, time, u32::try_from(seed).expect("a small number")),
        "reader" => readers::read(path, Duration::from_millis(time)),
        "once" => readers::read_once(path),
        _ => {}
    }
    true
}

impl Role {
    /// The name, a time in milliseconds, and a number.
    fn words(self) -> String {
        match self {
            Self::Saver { after, seed } => format!("saver {after} {seed}"),
            Self::Reader { pause } => format!("reader {} 0", pause.as_millis()),
            Self::Once => "once 0 0".to_owned(),
            Self::Nothing => "nothing 0 0".to_owned(),
        }
    }
}

fn save(path: &Path, after: u64, seed: u32) {
    let spool_after = if after == NEVER { Duration::MAX } else { Duration::from_millis(after) };
    let options = Options { spool_after, wait: PATIENT, open_late: true, ..Options::default() };
    let store = Store::open_with(path, options).expect("a store");
    let mut saver = Saver::new(seed);
    saver.save(&store, Durability::Immediate);
    let times = measure(|| time(|| drop(saver.save(&store, Durability::Immediate))));
    store.close().expect("it is closed");
    tell(&times);
}

/// Runs `work` again and again once all are ready; it says how long it took.
fn measure(mut work: impl FnMut() -> Duration) -> Vec<Duration> {
    println!("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < DURING {
        times.push(work());
    }
    times
}

fn tell(times: &[Duration]) {
    for time in times {
        println!("{}", time.as_micros());
    }
}

/// Prints how many are saved, and how long that takes.
pub(crate) fn print() {
    println!("durable saves of 16 KB by {WRITERS} processes, holder at work and holder stopped");
    println!("| spooled after | saves/s | p50 | p99 | max |\n|---|---|---|---|---|");
    for after in [NEVER, 20, 5, 0] {
        let directory = place::temporary();
        let path = directory.path().join("store.redb");
        let writers = (0..WRITERS).map(|seed| start(&path, Role::Saver { after, seed })).collect();
        let name = if after == NEVER { "never".to_owned() } else { format!("{after} ms") };
        report(&name, &run(writers));
    }
    for after in [20, 5, 0] {
        let directory = place::temporary();
        let path = directory.path().join("store.redb");
        let holder = stopped(&path);
        let writers = (0..WRITERS).map(|seed| start(&path, Role::Saver { after, seed })).collect();
        report(&format!("{after} ms, stopped"), &run(writers));
        kill_process(Pid::from_child(&holder), Signal::CONT).expect("it goes on");
        drop(run(vec![holder]));
    }
}

fn command(path: &Path, role: Role) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.env(ROLE, format!("{} {}", role.words(), path.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn start(path: &Path, role: Role) -> Child {
    let mut child = command(path, role).spawn().expect("it starts");
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
        let mut holder = start(path, Role::Saver { after: NEVER, seed: 99 });
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
