//! Real processes on one store: killed, stopped, and racing to make it.
//!
//! Writers are the command itself, which answers a line once it is saved. What was answered must be
//! there, once and as it was sent, even if the sender was killed.
//!
//! Covers readers beside all of these, kills of savers, readers, backups and repairs, stopped
//! holders, stores that two processes make at once, files that are moved away, places where nothing
//! can be written, and power cuts of a real disk.

#![cfg(all(unix, feature = "cli"))]

mod care;
mod create;
mod kill;
mod moved;
#[cfg(target_os = "linux")]
mod power;
#[cfg(target_os = "linux")]
mod power_care;
mod read_only;
mod readers;
mod stop;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use waypost::options::Hold;
use waypost::{Options, Query, Store};

// No process should give up: one that cannot get the store for this long hangs.
const PATIENT: &str = "60";

fn patient() -> Options {
    Options { wait: Duration::from_mins(1), ..Options::default() }
}

fn command(store: &Path, args: &str) -> Command {
    command_with(store, args, PATIENT)
}

fn command_with(store: &Path, args: &str, wait: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args.split_whitespace()).args(["--wait", wait, "--store"]).arg(store);
    command.env_remove("WAYPOST_STORE").current_dir(store.parent().unwrap());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn send(child: &Child, signal: Signal) {
    // It may have ended meanwhile, which shows in how it did.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// A process that saves lines.
struct Writer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Writer {
    fn start(store: &Path) -> Self {
        Self::of(command(store, "save --lines --series writers"))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// Saves a document; the id, or `None` if the process is gone.
    fn save(&mut self, document: &Value) -> Option<String> {
        let id = self.answer(document)?;
        assert!(!id.starts_with("error: "), "{id}");
        Some(id)
    }

    /// Sends a document; the id or the error that comes back, or `None` if the process is gone.
    fn answer(&mut self, document: &Value) -> Option<String> {
        let input = self.input.as_mut().expect("it was not ended");
        writeln!(input, "{document}").ok()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).ok()?;
        Some(answer.strip_suffix('\n')?.to_owned())
    }

    /// Ends its input, and waits until it is gone; says how, and what it complained about.
    fn end(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        ended(self.child)
    }
}

fn ended(child: Child) -> (ExitStatus, String) {
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

/// A document of which most is the same for all.
fn document(writer: usize, number: u64) -> Value {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line} of some length")).collect();
    json!({"writer": writer, "number": number, "lines": lines})
}

/// Checks that every answered save is in the store exactly once, as it was sent.
fn check(path: &Path, answered: &HashMap<String, (usize, u64)>) {
    check_seen_by(&Store::open_with(path, patient()).unwrap(), answered);
    // This handle takes in the saves that wait beside the store.
    let store = Store::open_with(path, Options { hold: Hold::Forever, ..patient() }).unwrap();
    check_seen_by(&store, answered);
    let spool = store.stats().unwrap().spool;
    assert_eq!((spool.checkpoints, spool.set_aside, spool.strange), (0, 0, 0));
}

fn check_seen_by(store: &Store, answered: &HashMap<String, (usize, u64)>) {
    let mut found: HashMap<(usize, u64), String> = HashMap::new();
    for entry in store.entries(Query::default()) {
        let id = entry.unwrap().id;
        let value: Value = store.get(&id).unwrap().state().unwrap();
        let writer = usize::try_from(value["writer"].as_u64().unwrap()).unwrap();
        let number = value["number"].as_u64().unwrap();
        assert_eq!(value, document(writer, number));
        let twice = found.insert((writer, number), id.to_string());
        assert_eq!(twice, None, "{writer} {number} is there twice");
    }
    for (id, place) in answered {
        assert_eq!(found.get(place), Some(id), "{place:?} was answered");
    }
}

/// How long saves took.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn note(&mut self, since: Instant) {
        self.0.push(since.elapsed());
    }

    fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The middle one, those that 1 in 100 and in 1,000 exceed, and the longest.
    fn told(mut self) -> String {
        self.0.sort_unstable();
        let at = |part: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "a place in a list"
            )]
            let place = (self.0.len() as f64 * part) as usize;
            self.0.get(place.min(self.0.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        let [middle, p99, p999, most] = [0.5, 0.99, 0.999, 1.0].map(at);
        format!("p50 {middle:.1?}, p99 {p99:.1?}, p99.9 {p999:.1?}, max {most:.1?}")
    }
}

fn store_in(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().canonicalize().unwrap().join("store.redb")
}
