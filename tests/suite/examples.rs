//! The loops in `tests/examples`: each is killed, started again, and must go on.

#![cfg(all(feature = "cli", unix))]

#[path = "../examples/resume_loop.rs"]
#[expect(dead_code, reason = "it has a `main` of its own, too")]
mod resume_loop;

use std::env;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::tool::skipped;

const ITERATIONS: u64 = 40;
/// Tells this binary what to do when a test starts it as a child process.
const STORE: &str = "WAYPOST_EXAMPLE_STORE";

/// A directory to run loops in, with `waypost` on the path.
struct Here {
    here: TempDir,
    path: TempDir,
}

impl Here {
    fn new() -> Self {
        let (here, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(env!("CARGO_BIN_EXE_waypost"), path.path().join("waypost")).unwrap();
        Self { here, path }
    }

    fn command(&self, program: &str) -> Command {
        let others = env::var_os("PATH").unwrap_or_default();
        let own = self.path.path().to_owned();
        let paths: OsString = env::join_paths([own].into_iter().chain(env::split_paths(&others)))
            .expect("a path without a colon in it");
        let mut command = Command::new(program);
        command.current_dir(self.here.path()).env("PATH", paths).env_remove("WAYPOST_STORE");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(name)
}

/// What a run of a loop printed.
struct Run {
    /// The iteration that it went on after.
    after: u64,
    saved: Vec<u64>,
}

/// Runs a loop to its end, or until it has saved so many times, and kills it then.
fn run(mut command: Command, kill_after: usize) -> Run {
    let mut child = command.spawn().expect("the loop starts");
    let mut run = Run { after: 0, saved: Vec::new() };
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            Some(("after", number)) => run.after = number.parse().unwrap(),
            Some(("saved", number)) => run.saved.push(number.parse().unwrap()),
            // What the test harness prints.
            _ => continue,
        }
        // Output from before the kill counts, too.
        if run.saved.len() == kill_after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    run
}

/// Kills a loop three times, then lets it end: nothing that it saved is done again.
fn goes_on(command: impl Fn() -> Command) {
    let mut saved = 0;
    for kill_after in [3, 1, 7, usize::MAX] {
        let run = run(command(), kill_after);
        // What was on disk when it was killed may not have been told any more.
        assert!((saved..=saved + 1).contains(&run.after), "after {} of {saved}", run.after);
        let expected: Vec<u64> = (run.after + 1..).take(run.saved.len()).collect();
        assert_eq!(run.saved, expected);
        saved = run.saved.last().copied().unwrap();
    }
    assert_eq!(saved, ITERATIONS);
    // There is nothing left to do, and it knows.
    let run = run(command(), usize::MAX);
    assert_eq!((run.after, run.saved.len()), (ITERATIONS, 0));
}

#[test]
fn a_loop_in_rust_goes_on_where_it_was_killed() {
    let here = Here::new();
    let itself = env::current_exe().unwrap();
    goes_on(|| {
        let mut command = here.command(itself.to_str().unwrap());
        command.args(["--exact", "examples::the_loop_in_rust_itself", "--nocapture"]);
        command.env(STORE, here.here.path().join("agents.redb"));
        command
    });
}

/// Not a test, but what the one above starts and kills.
#[test]
fn the_loop_in_rust_itself() {
    if let Some(store) = env::var_os(STORE) {
        resume_loop::run(Path::new(&store), ITERATIONS).unwrap();
    }
}

#[test]
fn a_loop_in_the_shell_goes_on_where_it_was_killed() {
    let here = Here::new();
    goes_on(|| {
        let mut command = here.command("sh");
        command.arg(example("resume_loop.sh")).arg(ITERATIONS.to_string());
        command
    });
}

#[test]
fn a_loop_in_python_goes_on_where_it_was_killed() {
    let here = Here::new();
    if !here.command("python3").arg("--version").output().is_ok_and(|it| it.status.success()) {
        skipped("python3 is not installed");
        return;
    }
    goes_on(|| {
        let mut command = here.command("python3");
        command.arg(example("resume_loop.py")).arg(ITERATIONS.to_string());
        command
    });
}
