//! Commands under a real limit on processes and threads, as `ulimit -u` sets it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::{Ended, Test};
use crate::tool::skipped;

/// More than any of the commands starts: a keeper, readers, workers and more.
const THREADS_MAX: u32 = 6;

/// A directory where limits hold for commands.
struct Limited {
    test: Test,
    /// A user who runs nothing else, so that each thread counts; `None` without root.
    user: Option<u32>,
}

/// A directory where limits hold, and how many threads beside the first can be allowed there.
///
/// A limit counts all that a user runs. Only root can be a user who runs nothing else; for others
/// the limit is always reached, so that no thread starts.
/// `number` keeps the tests of one run apart.
fn limited(number: u32) -> Option<(Limited, Vec<u32>)> {
    let user = geteuid().is_root().then(|| 1_000_000 + 2 * std::process::id() + number);
    let limited = Limited { test: Test::new(), user };
    let directory = limited.test.path();
    chown(&directory, user, user).unwrap();
    let binary = directory.join("waypost");
    fs::copy(env!("CARGO_BIN_EXE_waypost"), &binary).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    if let Err(reason) = limited.check() {
        skipped(format_args!("prlimit and setpriv of util-linux set no limit: {reason}"));
        return None;
    }
    if user.is_none() {
        skipped("without root, only a limit of no thread at all can be set");
    }
    Some((limited, user.map_or(vec![0], |_| (0..=THREADS_MAX).collect())))
}

impl Limited {
    /// The command, which may start `threads` threads beside its first.
    fn command(&self, threads: u32, args: &str) -> Command {
        let prefix = self.user.map_or(String::new(), |user| {
            format!("setpriv --reuid={user} --regid={user} --clear-groups ")
        });
        let tasks = threads + 1;
        let words = format!("{prefix}prlimit --nproc={tasks}:{tasks} ./waypost {args}");
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.test.path()).env_remove("WAYPOST_STORE");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether a command starts.
    fn check(&self) -> Result<(), String> {
        loop {
            let output = self.command(0, "--version").output().map_err(|it| it.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                return Ok(());
            }
            // A process that another test starts has the copy open to write for a moment.
            if !said.contains("Text file busy") {
                return Err(said.trim().to_owned());
            }
        }
    }

    fn feed(&self, threads: u32, args: &str, input: &[u8]) -> Ended {
        let mut child = self.command(threads, args).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        self.test.ended(child)
    }
}

/// Most of these commands panicked.
#[test]
fn commands_work_with_any_number_of_threads() {
    let Some((limited, allowed)) = limited(0) else { return };
    for threads in allowed {
        let lines = b"{\"a\": 1}\n[2]\n\n3\n";
        let saved = limited.feed(threads, "save --lines --series a", lines).done();
        assert_eq!(saved.lines().count(), 3, "{threads} threads");
        for args in [
            "list",
            "log",
            "diff a@1 a@0",
            "resume a",
            "show latest",
            "verify",
            "doctor",
            "backup backup.redb",
            "export files",
            "export --jsonl all.jsonl",
            "import all.jsonl --store of-lines.redb",
            "import files --store of-files.redb",
            "compact",
            "repair --into repaired.redb",
            "bench --saves 8 --size 1k",
        ] {
            let ended = limited.feed(threads, args, b"");
            let told = format!("{args}, {threads} threads: {}", ended.stderr);
            if args.starts_with("bench") && ended.code == Some(1) {
                assert!(ended.stderr.contains("cannot start a thread: "), "{told}");
            } else {
                assert_eq!(ended.code, Some(0), "{told}");
            }
            assert!(!ended.stderr.contains("panicked"), "{told}");
        }
        for made in ["files", "all.jsonl", "backup.redb", "of-lines.redb", "of-files.redb"] {
            let path = limited.test.path().join(made);
            assert!(path.exists(), "{made}, {threads} threads");
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        fs::remove_file(limited.test.path().join("repaired.redb")).unwrap();
        fs::remove_dir_all(limited.test.path().join(".waypost")).unwrap();
    }
}

/// The command waited for lines that no thread would ever read, and ignored SIGTERM.
#[test]
fn save_lines_answers_and_ends_with_any_number_of_threads() {
    let Some((limited, allowed)) = limited(1) else { return };
    for threads in allowed {
        let mut child = limited.command(threads, "save --lines --series a").spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in ["1\n", "\n2\n", "{}\n"] {
            stdin.write_all(line.as_bytes()).unwrap();
            assert!(!answers.next().unwrap().unwrap().is_empty(), "{threads} threads");
        }
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let status = child.wait().unwrap();
        let is_terminated = status.code() == Some(143) || status.signal() == Some(15);
        assert!(is_terminated, "{threads} threads: {status}");
    }
}
