//! Traps at every name that the command makes or opens: no file of the user is changed or
//! truncated, nothing hangs, and the command succeeds or says what is in the way.
//!
//! A store was made as `NAME.new`, so a symbolic link of that name in a cloned repository made a
//! save overwrite its target. A FIFO in the place of the journal, the lock file, the key file or
//! the store blocked the command for ever.

use std::fs;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{LATER, Test};
use crate::extent::is_long;

const PRECIOUS: &str = "precious, and not a waypost file\n";
// A hundred times what any run takes; a run that hangs never ends.
const WATCHDOG: Duration = Duration::from_mins(2);

/// Suffixes of the names beside a store. `every_name_beside_a_store_is_tried` keeps the list
/// complete.
const BESIDE: [&str; 5] = ["", ".journal", ".lock", ".spool", ".spool/aside"];
/// Names that earlier builds used; files with such a name must not matter any more.
const FORMER: [&str; 2] = [".new", ".repair.unfinished"];

const UUID: &str = "0190f2e0-0000-7000-8000-000000000001";

/// Commands that make, open, read and replace a store; a save comes first, and last.
const STORE: [&str; 9] = [
    "--store s.redb save --issue 1 --wait 0",
    "--store s.redb list",
    "--store s.redb resume 1",
    "--store s.redb verify --wait 0",
    "--store s.redb doctor",
    "--store s.redb repair --wait 0",
    "--store s.redb backup copy.redb",
    "--store s.redb compact",
    "--store s.redb save --issue 1 --wait 0",
];

/// Other names, and the commands that make or open them. All work on a store that is there.
const OTHERS: [(&str, &[&str]); 12] = [
    ("copy.redb", &["backup copy.redb", "backup copy.redb --overwrite"]),
    ("copy.redb.lock", &["backup copy.redb"]),
    ("new.redb", &["repair --into new.redb"]),
    ("all.jsonl", &["export --jsonl all.jsonl"]),
    ("out/native/issue%3A42/a-1.json", &["export out --layout native"]),
    ("into/src/a", &["restore c-1 --into into --force"]),
    (
        "said.json",
        &[
            "restore c-1 --into into2 --state said.json",
            "restore c-1 --into into2 --state said.json --force",
        ],
    ),
    ("new.key", &["key new.key"]),
    ("old.key", &["list --key-file old.key", "save state.json --key-file old.key"]),
    (".waypost/config.yaml", &["save state.json", "prune --dry-run", "policy show"]),
    (".waypost/.gitignore", &["init --yes", "save state.json"]),
    ("man/waypost.1", &["man man"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trap {
    Link,
    Dangling,
    Directory,
    Fifo,
    Foreign,
}

impl Trap {
    const ALL: [Self; 5] = [Self::Link, Self::Dangling, Self::Directory, Self::Fifo, Self::Foreign];

    /// Puts the trap at a path; replaces what is there.
    fn set(self, elsewhere: &Path, at: &Path) {
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        match fs::symlink_metadata(at) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(at).unwrap(),
            Ok(_) => fs::remove_file(at).unwrap(),
            Err(_) => {}
        }
        match self {
            Self::Link => symlink(elsewhere.join("precious"), at).unwrap(),
            Self::Dangling => symlink(elsewhere.join("nothing"), at).unwrap(),
            Self::Directory => {
                fs::create_dir(at).unwrap();
                fs::write(at.join("inside"), PRECIOUS).unwrap();
            }
            Self::Fifo => {
                assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
            }
            Self::Foreign => fs::write(at, PRECIOUS).unwrap(),
        }
    }

    /// Checks that the files of the user are unchanged, though they may have been set aside.
    fn check(self, elsewhere: &Path, dir: &Path, context: &str) {
        let precious = fs::read_to_string(elsewhere.join("precious")).unwrap();
        assert_eq!(precious, PRECIOUS, "{context}: written through the link");
        let names = fs::read_dir(elsewhere).unwrap().count();
        assert_eq!(names, 1, "{context}: made through the link");
        if matches!(self, Self::Directory | Self::Foreign) {
            let mut found = below(dir).into_iter();
            let is_it = |path: PathBuf| fs::read(path).is_ok_and(|it| it == PRECIOUS.as_bytes());
            assert!(found.any(is_it), "{context}: the file of the user is gone");
        }
    }
}

/// All regular files below a directory, reached by no link.
fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        match kind {
            _ if kind.is_dir() => found.extend(below(&entry.path())),
            _ if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// Runs a command, which must come to an end, and returns its exit code and what it said.
fn run(test: &Test, args: &str, context: &str) -> (Option<i32>, String) {
    let input = test.path().join("state.json");
    let mut command = test.command(args);
    command.stdin(fs::File::open(input).unwrap()).stdout(Stdio::null());
    let said = tempfile::tempfile().unwrap();
    command.stderr(said.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > WATCHDOG {
            child.kill().unwrap();
            panic!("{context}: it hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut stderr = said;
    stderr.rewind().unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    (status.code(), said)
}

/// Checks that a command ended well, or with an error of the kinds that a user can act on.
fn check_ended(args: &str, (code, said): (Option<i32>, String), context: &str) {
    assert!(matches!(code, Some(0..=7)), "{context}: ended with {code:?}: {said}");
    assert!(!said.contains("panicked"), "{context}: {said}");
    let is_told =
        args.starts_with("doctor") || args.contains(" doctor") || said.contains("error: ");
    assert!(code == Some(0) || is_told, "{context}: {code:?} without a word: {said}");
}

/// How many checkpoints there are, if there is a store that can be read.
fn count(test: &Test) -> Option<u64> {
    let stats = test.run("--store s.redb stats --json --quiet");
    serde_json::from_str::<serde_json::Value>(&stats.stdout).ok()?["checkpoints"].as_u64()
}

fn with_state() -> (Test, tempfile::TempDir) {
    let (test, elsewhere) = (Test::new(), tempfile::tempdir().unwrap());
    fs::write(elsewhere.path().join("precious"), PRECIOUS).unwrap();
    test.write("state.json", r#"{"step": 1}"#);
    (test, elsewhere)
}

#[test]
fn traps_beside_a_store_do_no_harm_and_never_block() {
    let mut number = 0;
    for suffix in BESIDE.iter().chain(&FORMER) {
        for trap in Trap::ALL {
            number += 1;
            // Without a store, and beside one; in a default run one after the other.
            for is_there in [false, true] {
                if !is_long() && is_there != (number % 2 == 0) {
                    continue;
                }
                let (test, elsewhere) = with_state();
                let dir = test.path();
                if is_there {
                    test.run("--store s.redb save state.json --issue 1").stdout.clear();
                }
                trap.set(elsewhere.path(), &dir.join(format!("s.redb{suffix}")));
                if *suffix == ".spool/aside" {
                    // It has to be set aside, and cannot be.
                    test.write(&format!("s.redb.spool/{UUID}.save"), "damaged");
                }
                for args in STORE {
                    let context = format!("{trap:?} at s.redb{suffix}, {is_there}: {args}");
                    let is_save = args.contains(" save");
                    let before = is_save.then(|| count(&test)).flatten();
                    let ended = run(&test, args, &context);
                    let needs_none = FORMER.contains(suffix) || suffix.starts_with(".spool");
                    if is_save && needs_none {
                        assert_eq!(ended.0, Some(0), "{context}: {}", ended.1);
                    }
                    // A loop that tries again would save it twice.
                    if is_save && ended.0 != Some(0) {
                        assert_eq!(count(&test), before, "{context}: saved, and failed");
                    }
                    check_ended(args, ended, &context);
                    trap.check(elsewhere.path(), &dir, &context);
                }
            }
        }
    }
}

#[test]
fn traps_where_the_command_writes_or_reads_do_no_harm() {
    for (name, commands) in OTHERS {
        // Not traps: a FIFO that the user names for output, and a manual page that is replaced by a
        // newer one.
        let is_meant = |trap: &Trap| {
            [(Trap::Fifo, "all.jsonl"), (Trap::Foreign, "man/waypost.1")].contains(&(*trap, name))
        };
        for trap in Trap::ALL.into_iter().filter(|trap| !is_meant(trap)) {
            let (test, elsewhere) = with_state();
            let dir = test.path();
            fs::create_dir(dir.join("src")).unwrap();
            test.write("src/a", "captured");
            let about = format!("--created-at {LATER} --quiet");
            test.run(&format!("save state.json --id a-1 --issue 42 {about}")).stdout.clear();
            test.run(&format!("save state.json --id c-1 --capture src {about}")).stdout.clear();
            trap.set(elsewhere.path(), &dir.join(name));
            for args in commands {
                let context = format!("{trap:?} at {name}: {args}");
                check_ended(args, run(&test, args, &context), &context);
                trap.check(elsewhere.path(), &dir, &context);
            }
        }
    }
}

/// The names that the library gives to files beside a store, as its source has them.
#[test]
fn every_name_beside_a_store_is_tried() {
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    // The directory of the project may have any name.
    let is_test = |path: &Path| {
        let mut parts = path.strip_prefix(&root).unwrap().iter();
        parts.any(|part| part == "tests" || part == "tests.rs")
    };
    for path in below(&root).iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(path).unwrap();
        for (at, _) in text.match_indices("beside(") {
            let argument = text[at..].split(')').next().unwrap();
            let Some((_, suffix)) = argument.split_once("\".") else { continue };
            let suffix = format!(".{}", suffix.split('"').next().unwrap());
            found.push((path.display().to_string(), suffix));
        }
    }
    assert!(found.len() > 4, "{found:?}");
    for (path, suffix) in found {
        // These are made by a rename that replaces nothing; the tests of `care/repair/exchange.rs`
        // and `log/journal/foreign.rs` set traps there.
        let is_unique = suffix.contains('{');
        assert!(is_unique || BESIDE.contains(&&*suffix), "{path}: {suffix} is not in BESIDE");
    }
}
