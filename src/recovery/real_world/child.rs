//! Runs git and gh without prompts, with limits on time and output.
//!
//! Each program has ten seconds and a mebibyte. Git gets branches by their full names, so that no
//! name is an option or a pattern.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::threads;

/// How long a program may take: gh waits for a server.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
// Ten times the longest possible issue with all its labels.
const BYTES_MAX: u64 = 1 << 20;
/// The variable that the command takes a key from.
pub(super) const KEY_VARIABLE: &str = "WAYPOST_KEY";
// Pause between polls for the end of a program that has closed its output.
const PAUSE: Duration = Duration::from_millis(1);
const COMPLAINT_CHARS_MAX: usize = 200;

/// Variables that git sets for hooks. With them, git would use the repository of the hook instead
/// of ours.
const OF_HOOKS: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// The output and exit status of a program.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Output {
    /// The output, if the program succeeded.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        if !self.status.success() {
            return Err(self.complaint(name));
        }
        String::from_utf8(self.stdout.clone())
            .map_err(|_| format!("the answer of {name} is not UTF-8"))
    }

    /// Why the program failed.
    pub(super) fn complaint(&self, name: &str) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.map_or("nothing", |line| line.trim_start_matches("fatal: "));
        let line: String = line.chars().take(COMPLAINT_CHARS_MAX).collect();
        format!("{name} failed and said: {}", line.escape_debug())
    }
}

/// A command without prompts, which uses the repository of its directory and inherits no key: a
/// repository may name programs for git to run.
pub(super) fn command(program: &OsStr, hidden: &[String]) -> Command {
    let mut command = Command::new(program);
    for name in OF_HOOKS.into_iter().chain(["GH_FORCE_TTY", "CLICOLOR_FORCE", KEY_VARIABLE]) {
        command.env_remove(name);
    }
    for name in hidden {
        command.env_remove(name);
    }
    // No prompts, locks, fetches or colours, and messages in English.
    for name in ["GH_PROMPT_DISABLED", "GH_NO_UPDATE_NOTIFIER", "GIT_NO_LAZY_FETCH", "NO_COLOR"] {
        command.env(name, "1");
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command
}

/// Runs a program, and kills it after `patience`.
///
/// # Errors
/// Why there is no answer.
pub(super) fn run(name: &str, command: &mut Command, patience: Duration) -> Result<Output, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_started(name, &error))?;
    let answer = listen(name, &mut child, Instant::now() + patience);
    // No effect on a program that has ended; any other would keep running.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

fn not_started(name: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("{name} is not installed"),
        _ => format!("{name} cannot be started: {error}"),
    }
}

fn listen(name: &str, child: &mut Child, deadline: Instant) -> Result<Output, String> {
    let unheard = |error| format!("{name} cannot be asked: {}", no_thread(&error));
    let stdout = child.stdout.take().map(collect).transpose().map_err(unheard)?;
    let stderr = child.stderr.take().map(collect).transpose().map_err(unheard)?;
    let [stdout, stderr] = [stdout, stderr].map(|said| wait_for_all(name, said, deadline));
    let (stdout, stderr) = (stdout?, stderr?);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Output { status, stdout, stderr }),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) => return Err(too_slow(name)),
            Err(error) => return Err(format!("cannot find out how {name} ended: {error}")),
        }
    }
}

fn no_thread(error: &io::Error) -> String {
    format!(
        "cannot start a thread: {error}; `ulimit -u`, `ulimit -v` or pids.max of a cgroup limits it"
    )
}

/// Reads in a thread of its own: a grandchild may keep the pipe open for ever.
fn collect(pipe: impl Read + Send + 'static) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    threads::start(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(BYTES_MAX + 1).read_to_end(&mut bytes);
        // The receiver may be gone.
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

fn wait_for_all(
    name: &str,
    said: Option<Receiver<Vec<u8>>>,
    deadline: Instant,
) -> Result<Vec<u8>, String> {
    let left = deadline.saturating_duration_since(Instant::now());
    let bytes = said.and_then(|said| said.recv_timeout(left).ok()).ok_or_else(|| too_slow(name))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("{name} said more than {BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

fn too_slow(name: &str) -> String {
    format!("{name} took too long")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Result<Output, String> {
        run("sh", command("sh".as_ref(), &[]).args(["-c", script]), patience)
    }

    #[test]
    fn what_is_said_and_how_it_ended_is_told() {
        let answer = sh("echo out; echo; echo fatal: err >&2; exit 3", PATIENCE).unwrap();
        assert_eq!((answer.stdout.as_slice(), answer.status.code()), (&b"out\n\n"[..], Some(3)));
        assert_eq!(answer.text("sh").unwrap_err(), "sh failed and said: err");
        assert_eq!(sh("exit 1", PATIENCE).unwrap().complaint("sh"), "sh failed and said: nothing");
    }

    #[test]
    fn a_complaint_is_one_short_line() {
        let answer = sh("printf '\\033[1m%0500d\\nx' 0 >&2; exit 1", PATIENCE).unwrap();
        let complaint = answer.complaint("sh");
        assert!(complaint.starts_with("sh failed and said: \\u{1b}[1m000"), "{complaint}");
        assert!(complaint.len() < 250 && !complaint.contains('x'));
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let began = Instant::now();
        for script in ["exec sleep 90", "exec >&- 2>&-; exec sleep 90", "sleep 90 & exit 0"] {
            let ended = sh(script, Duration::from_millis(50));
            assert_eq!(ended.unwrap_err(), "sh took too long", "{script}");
        }
        // None was waited for, even on a busy machine.
        assert!(began.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn a_program_that_never_stops_talking_is_ended() {
        for script in ["exec cat /dev/zero", "exec cat /dev/zero >&2"] {
            assert_eq!(sh(script, PATIENCE).unwrap_err(), "sh said more than 1048576 bytes");
        }
    }

    #[test]
    fn a_program_that_no_thread_can_listen_to_is_ended_and_told() {
        for threads in [0, 1] {
            let ended = threads::with_at_most(threads, || sh("exec sleep 90", PATIENCE));
            let told = ended.unwrap_err();
            assert!(told.starts_with("sh cannot be asked: cannot start a thread"), "{told}");
        }
    }

    #[test]
    fn a_program_reads_nothing_and_a_missing_one_is_told() {
        assert_eq!(sh("cat", PATIENCE).unwrap().text("sh").unwrap(), "");
        let missing = run("gh", &mut command("/nonexistent/gh".as_ref(), &[]), PATIENCE);
        assert_eq!(missing.unwrap_err(), "gh is not installed");
    }

    #[test]
    fn a_program_is_not_told_the_key() {
        let hidden = ["OWN_KEY", "", "a=b", "a\0b"].map(str::to_owned);
        let mut command = command(OsStr::new("true"), &hidden);
        for name in [KEY_VARIABLE, "OWN_KEY"] {
            assert!(command.get_envs().any(|it| it == (OsStr::new(name), None)), "{name}");
        }
        assert!(run("true", &mut command, PATIENCE).is_ok(), "odd names do no harm");
    }
}
