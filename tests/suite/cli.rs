//! The command: only what it adds to the library, which is flags, exit codes and output.
//!
//! Covers each command with its flags, its output for people and programs, terminals, interrupts,
//! limits of the system, and what commands do to files of the user.

#![cfg(feature = "cli")]

mod bench;
mod capture;
mod care;
mod check;
mod conformance;
mod diff;
mod doctor;
mod encrypt;
mod errors;
mod export;
mod find;
mod fork;
mod help;
mod import;
mod init;
#[cfg(target_os = "linux")]
mod interrupt;
mod json;
#[cfg(target_os = "linux")]
mod limits;
mod lines;
mod log;
#[cfg(unix)]
mod modes;
mod name;
mod order;
mod pager;
mod prune;
mod query;
mod restore;
mod resume;
mod revisions;
mod save;
mod secrets;
mod sectors;
mod series;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod traps;
mod unreadable;
mod watch;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// Later than any clock that runs the tests, so that ages are always zero.
const LATER: &str = "2999-01-01T00:00:00Z";

/// A directory to run the command in.
struct Test {
    dir: TempDir,
}

/// How a run ended.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Test {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    /// With a store of three checkpoints, `a-1` and `a-2` of issue 42, and `b-1`.
    fn filled() -> Self {
        let test = Self::new();
        let of_issue = "--issue 42 --phase build --trigger iteration";
        for (input, args) in [
            ("1", format!("--id a-1 --iteration 1 --tag keep {of_issue}")),
            ("[1, 2]", format!("--id a-2 --iteration 2 {of_issue}")),
            (r#"{"b": 1.50}"#, "--id b-1 --trigger manual --status paused".to_owned()),
        ] {
            test.feed(&format!("save {args} --created-at {LATER}"), input).done();
        }
        test
    }

    fn path(&self) -> PathBuf {
        // What the command calls its current directory, where a temporary one is a link.
        self.dir.path().canonicalize().expect("the temporary directory")
    }

    /// Runs the command with arguments separated by spaces, and with no input.
    fn run(&self, args: &str) -> Ended {
        self.feed(args, "")
    }

    fn feed(&self, args: &str, input: &str) -> Ended {
        self.fed(self.spawn(args), input)
    }

    /// As [`Test::feed`], in a directory below that of the test.
    fn run_in(&self, directory: &str, args: &str, input: &str) -> Ended {
        let mut command = self.command(args);
        command.current_dir(self.path().join(directory));
        self.fed(command.spawn().expect("the command starts"), input)
    }

    fn fed(&self, mut child: Child, input: &str) -> Ended {
        let mut stdin = child.stdin.take().expect("a pipe");
        // A command that does not want its input may be gone already.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        self.ended(child)
    }

    fn spawn(&self, args: &str) -> Child {
        self.command(args).spawn().expect("the command starts")
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        command.args(args.split_whitespace()).current_dir(self.path());
        for name in ["STORE", "KEY", "KEY_FILE", "PAGER"] {
            command.env_remove(format!("WAYPOST_{name}"));
        }
        for name in ["PAGER", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn ended(&self, child: Child) -> Ended {
        let Output { status, stdout, stderr } = child.wait_with_output().expect("the command ends");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let here = self.path().display().to_string();
        Ended {
            code: status.code(),
            stdout: text(stdout),
            stderr: text(stderr).replace(&here, "[HERE]"),
        }
    }

    /// Changes a byte wherever the file of the store has this text.
    fn damage(&self, text: &str) {
        let path = self.path().join(".waypost/store.redb");
        let mut bytes = fs::read(&path).expect("a store");
        let is_text = |at: &usize| bytes[*at..].starts_with(text.as_bytes());
        let places: Vec<usize> = (0..bytes.len() - text.len()).filter(is_text).collect();
        assert!(!places.is_empty(), "the store has no {text:?} in it");
        for at in places {
            bytes[at] ^= 1;
        }
        fs::write(&path, bytes).expect("a store");
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).expect("a file");
    }
}

/// JSON with a line for every member, so that a snapshot of it can be read.
fn by_member(json: &str) -> String {
    json.replace(",\"", ",\n\"")
}

/// A table without the seconds that passed while the test ran.
fn at_once(table: &str) -> String {
    let lines = table.split('\n').map(|line| {
        let at_once = |word: &str| match word.strip_suffix(['s', 'm']) {
            Some(number) if number.parse::<u64>().is_ok() => format!("{:>1$}", "0s", word.len()),
            _ => word.to_owned(),
        };
        line.split(' ').map(at_once).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl Ended {
    /// Checks that all went well, and returns the output.
    #[track_caller]
    fn done(self) -> String {
        assert_eq!((self.code, &*self.stderr), (Some(0), ""));
        self.stdout
    }

    /// Checks the exit code and that there is no output, and returns what was said instead.
    #[track_caller]
    fn failed(self, code: i32) -> String {
        assert_eq!((self.code, &*self.stdout), (Some(code), ""), "{}", self.stderr);
        self.stderr
    }
}

#[test]
fn the_help_explains_the_exit_codes() {
    let help = Test::new().run("--help").done();
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    insta::assert_snapshot!(codes, @"
    0    done
    1    failed, or with `diff --exit-code` there are changes
    2    wrong usage, or a name that is too short or fits several
    3    nothing matched, or there is no store yet
    4    refused: what cannot be taken, resumed or decided without you
    5    damaged data found
    6    the store is held by another process
    7    done, but some of it was skipped
    130  interrupted (Ctrl-C); what was done until then stays
    143  the same, but asked to end (SIGTERM)
    ");
}

#[test]
fn the_version_is_that_of_the_package() {
    let expected = concat!("waypost ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(Test::new().run("--version").done(), expected);
}

#[test]
fn global_flags_may_stand_before_and_after_the_command() {
    let test = Test::filled();
    assert_eq!(test.run("--json list").done(), test.run("list --json").done());
}

#[test]
fn colours_are_used_only_where_they_are_wanted() {
    let test = Test::filled();
    assert!(test.run("show b-1 --color always").done().contains('\u{1b}'));
    assert!(!test.run("show b-1").done().contains('\u{1b}'));
    assert!(test.run("show x --color always").failed(3).contains('\u{1b}'));
}

#[test]
fn colours_can_be_forced_and_refused_for_every_command() {
    let test = Test::filled();
    let run = |args: &str, name: &str| {
        let child = test.command(args).env(name, "1").spawn().expect("the command starts");
        test.ended(child).done()
    };
    for args in ["list", "log", "show b-1", "stats"] {
        assert!(test.run(&format!("{args} --color always")).done().contains('\u{1b}'), "{args}");
        assert!(run(args, "CLICOLOR_FORCE").contains('\u{1b}'), "{args}");
        assert!(!run(args, "NO_COLOR").contains('\u{1b}'), "{args}");
        let json = test.run(&format!("{args} --color always --json")).done();
        assert!(!json.contains('\u{1b}'), "{args}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let test = Test::new();
    let mut child = test.spawn("save");
    // The command answers only after its input ends; by then the reader is gone.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"1").unwrap();
    drop(stdin);
    test.ended(child).done();
}
