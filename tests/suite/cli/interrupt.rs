//! Interrupts: long work ends between two steps, says what was done, and goes on the next time.
//!
//! Signals are sent when something shows that they will be looked for, never after some time.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use waypost::care::StoreState;
use waypost::options::Hold;
use waypost::{Options, Store};

use super::import::fixture;
use super::resume::terminal::terminal;
use super::{Ended, Test};

// Each may be too late on a machine that is busy, but not all.
const TRIES: usize = 200;

fn send(child: &Child, signal: Signal) {
    // It may have ended meanwhile, which shows in how it did.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// Waits until something is so, or the command has ended.
fn wait(child: &mut Child, mut is_so: impl FnMut() -> bool) {
    while !is_so() && child.try_wait().expect("a process").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a first signal does not end the command any more.
fn wait_until_it_listens(child: &mut Child) {
    let status = format!("/proc/{}/status", child.id());
    wait(child, || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // The last that it begins to listen for.
        let bit = 1 << (Signal::TERM.as_raw() - 1);
        caught.is_some_and(|mask| mask & bit != 0)
    });
}

/// Tries until a signal came in time: a command may be done before, and then it is set back.
fn until_interrupted(
    mut attempt: impl FnMut() -> Ended,
    mut set_back: impl FnMut(&Ended),
) -> Ended {
    for _ in 0..TRIES {
        let ended = attempt();
        if ended.code != Some(0) {
            return ended;
        }
        set_back(&ended);
    }
    panic!("it was never interrupted");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one object")
}

impl Test {
    /// With this many checkpoints.
    fn numbered(count: usize) -> Self {
        let test = Self::new();
        let lines: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        test.feed("save --lines --trigger iteration", &lines.join("\n")).done();
        test
    }

    fn count(&self) -> u64 {
        let ended = self.run("stats --json");
        if ended.code == Some(3) { 0 } else { json(&ended.done())["checkpoints"].as_u64().unwrap() }
    }

    fn files(&self, below: &str) -> Vec<PathBuf> {
        let (mut left, mut found) = (vec![self.path().join(below)], Vec::new());
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.exists() {
                found.push(path);
            }
        }
        found
    }
}

/// Checks that it was interrupted, and returns what it said about that.
#[track_caller]
fn interrupted(ended: &Ended) -> String {
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let error = &json(ended.stderr.lines().last().expect("an error"))["error"];
    assert_eq!(error["code"], "interrupted");
    error["message"].as_str().expect("a message").to_owned()
}

/// Differs when anything was written to the store.
fn written(test: &Test) -> Vec<Option<(u64, SystemTime)>> {
    let state = |name: &str| {
        let found = fs::metadata(test.path().join(".waypost").join(name)).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    ["store.redb", "store.redb.journal"].map(state).to_vec()
}

#[test]
fn an_import_keeps_what_it_said_and_goes_on() {
    const FILES: u64 = 1000;
    let test = Test::new();
    let document = fixture("claude/schema-2.1.json");
    let (mut known, mut files) = (0, 0);
    let ended = until_interrupted(
        || {
            for number in files..files + FILES {
                let name = format!("task-{number}_20251003_120000.json");
                test.put(&format!(".claude/checkpoints/{name}"), &document);
            }
            files += FILES;
            let mut child = test.spawn("import . --json");
            wait_until_it_listens(&mut child);
            // Some are written first.
            let before = written(&test);
            wait(&mut child, || written(&test) != before);
            send(&child, Signal::INT);
            let ended = test.ended(child);
            known += json(&ended.stdout)["imported"].as_u64().unwrap();
            assert_eq!(test.count(), known);
            ended
        },
        |_| {},
    );
    let told = interrupted(&ended);
    assert!(told.starts_with("interrupted: "), "{told}");
    assert!(told.ends_with(" imported; run it again to go on"), "{told}");
    test.run("import . --quiet").done();
    assert_eq!(test.count(), files);
}

#[test]
fn an_export_leaves_no_drafts_and_goes_on() {
    const FILES: usize = 1500;
    let test = Test::numbered(FILES);
    let out = test.path().join("out");
    let ended = until_interrupted(
        || {
            let mut child = test.spawn("export out --layout native --json");
            wait(&mut child, || !test.files("out").is_empty());
            send(&child, Signal::INT);
            test.ended(child)
        },
        |_| fs::remove_dir_all(&out).unwrap(),
    );
    // What was written by then is there, under its own name.
    let files = test.files("out");
    assert!(!files.iter().any(|path| path.extension().is_some_and(|it| it == "tmp")));
    let exported = files.len();
    assert_eq!(json(&ended.stdout)["exported"], exported);
    let told = interrupted(&ended).replace(',', "");
    assert_eq!(told, format!("interrupted: {exported} exported; run it again to go on"));
    test.run("export out --layout native --quiet").done();
    assert_eq!(test.files("out").len(), FILES);
}

#[test]
fn an_export_of_lines_is_whole_or_not_there() {
    let test = Test::numbered(1500);
    let ended = until_interrupted(
        || {
            let mut child = test.spawn("export --jsonl all.jsonl --json");
            let draft = test.path().join(format!("all.jsonl.{}.tmp", child.id()));
            wait_until_it_listens(&mut child);
            let is_begun = draft.exists();
            send(&child, Signal::TERM);
            let ended = test.ended(child);
            assert!(is_begun || ended.code == Some(0));
            ended
        },
        |_| fs::remove_file(test.path().join("all.jsonl")).unwrap(),
    );
    assert_eq!(ended.code, Some(143), "{}", ended.stderr);
    assert_eq!(json(&ended.stdout)["exported"], 0);
    let names = fs::read_dir(test.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_str().unwrap().contains("jsonl")));
}

#[test]
fn what_a_prune_removed_is_one_operation_and_the_rest_is_pruned_next() {
    const CHECKPOINTS: u64 = 4500;
    let test = Test::numbered(4500);
    test.write("p.yaml", "checkpoint:\n  retention: {iteration: 1}\n");
    let ended = until_interrupted(
        || {
            let mut child = test.spawn("prune --policy p.yaml --yes --json");
            wait_until_it_listens(&mut child);
            send(&child, Signal::INT);
            test.ended(child)
        },
        |ended| {
            let operation = &json(&ended.stdout)["operation"];
            test.run(&format!("undelete --operation {operation} --quiet")).done();
        },
    );
    let told = interrupted(&ended);
    let outcome = json(&ended.stdout);
    let removed = outcome["removed"].as_array().unwrap().len() as u64;
    assert!(removed < CHECKPOINTS - 1);
    assert_eq!(test.count(), CHECKPOINTS - removed, "{told}");
    let deleted = test.run("list --deleted --all --json").stdout;
    let deleted: Vec<Value> = deleted.lines().map(json).collect();
    assert_eq!(deleted.len() as u64, removed);
    assert!(deleted.iter().all(|it| it["operation"] == outcome["operation"]));
    assert_eq!(test.run("prune --policy p.yaml --yes --quiet --json").code, Some(0));
    assert_eq!(test.count(), 1);
}

#[test]
fn every_line_that_was_answered_is_saved_and_no_other() {
    let test = Test::new();
    let mut child = test.spawn("save --lines --json");
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // What follows the third is a line that might have been longer.
    stdin.write_all(b"1\n2\n3\n4").unwrap();
    for _ in 0..3 {
        assert!(json(&answers.next().unwrap().unwrap())["id"].is_string());
    }
    send(&child, Signal::INT);
    assert!(answers.next().is_none());
    let told = interrupted(&test.ended(child));
    assert_eq!(told, "interrupted: 3 lines answered, no other was saved");
    assert_eq!(test.count(), 3);
}

#[test]
fn watching_ends_cleanly_also_while_it_waits_for_the_store() {
    let test = Test::new();
    let story = ".pipeline/checkpoint-PROJ-42.json";
    test.put(story, fixture("pipeline/checkpoint-PROJ-42.json"));
    let mut child = test.spawn("import --watch . --json --wait 600");
    let mut passes = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(json(&passes.next().unwrap().unwrap())["imported"], 1);
    send(&child, Signal::TERM);
    let ended = test.ended(child);
    assert_eq!(ended.code, Some(143), "{}", ended.stderr);
    let error = json(ended.stderr.lines().last().unwrap());
    assert_eq!(error["error"]["message"], "interrupted: 1 imported; run it again to go on");
    assert_eq!(test.count(), 1);

    let mut child = test.spawn("import --watch . --json --wait 600");
    let mut passes = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(json(&passes.next().unwrap().unwrap())["known"], 1);
    let _held = hold(&test);
    fs::rename(test.path().join(story), test.path().join(".pipeline/checkpoint-PROJ-43.json"))
        .unwrap();
    wait(&mut child, || is_awaited(&test));
    send(&child, Signal::INT);
    assert_eq!(interrupted(&test.ended(child)), "interrupted: 0 imported; run it again to go on");
}

#[test]
fn waiting_for_the_store_to_be_opened_ends_at_once() {
    let test = Test::numbered(1);
    test.put(".pipeline/checkpoint-PROJ-42.json", fixture("pipeline/checkpoint-PROJ-42.json"));
    let _held = hold(&test);
    for command in ["prune --policy crunch", "compact", "import ."] {
        let mut child = test.spawn(&format!("{command} --wait 600"));
        wait(&mut child, || is_awaited(&test));
        // A shell that runs the tests in the background may have them ignore the other signal.
        send(&child, Signal::TERM);
        // Commands that read before they change the store catch the signal; shells see no
        // difference.
        let status = child.wait().unwrap();
        let is_ended = status.signal() == Some(Signal::TERM.as_raw()) || status.code() == Some(143);
        assert!(is_ended, "{command}: {status}");
    }
}

fn hold(test: &Test) -> Store {
    let options =
        Options { hold: Hold::Forever, wait: Duration::from_mins(10), ..Options::default() };
    Store::open_with(test.path().join(".waypost/store.redb"), options).unwrap()
}

fn is_awaited(test: &Test) -> bool {
    let lock = File::options().write(true).open(test.path().join(".waypost/store.redb.lock"));
    matches!(lock.unwrap().try_lock(), Err(TryLockError::WouldBlock))
}

#[test]
fn progress_is_seen_at_a_terminal_and_gone_in_the_end() {
    let test = Test::new();
    let (mut controller, user) = terminal();
    let mut command =
        test.command("bench --saves 1000000 --size 1k --durability relaxed --color never");
    command.stderr(user).stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.spawn().unwrap();
    // Else this process would keep the terminal open for ever.
    drop(command);
    let (mut shown, mut buffer, mut is_sent) = (String::new(), [0; 4096], false);
    while let Ok(count @ 1..) = controller.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if shown.contains("saving") && !is_sent {
            send(&child, Signal::INT);
            is_sent = true;
        }
    }
    let ended = test.ended(child);
    assert_eq!(ended.code, Some(130), "{shown}");
    assert!(shown.contains("\rsaving"), "{shown:?}");
    let (before, told) = shown.rsplit_once("error: interrupted").expect("what was done");
    assert!(before.ends_with('\r'), "{before:?}");
    assert!(told.starts_with(": ") && told.trim_end().ends_with("saves measured"), "{told:?}");
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 0, "nothing is left behind");
}

/// It was killed in the middle of a look, and left the store as after a crash.
#[test]
fn a_watch_ends_between_two_looks() {
    let test = Test::numbered(1);
    let mut child = test.spawn("watch --every 0.01 --json");
    wait_until_it_listens(&mut child);
    // So that it has something to look at all the time.
    for number in 0..3 {
        test.feed("save", &number.to_string()).done();
    }
    send(&child, Signal::INT);
    interrupted(&test.ended(child));
    let found =
        Store::inspect(test.path().join(".waypost/store.redb"), Duration::ZERO, &mut |_| {});
    assert!(matches!(found.expect("a store").state, StoreState::Closed(_)));
}

#[test]
fn an_init_that_imports_keeps_what_it_said_and_goes_on() {
    let test = Test::new();
    let document = fixture("claude/schema-2.1.json");
    for number in 0..400 {
        test.put(&format!(".claude/checkpoints/task-{number}_20251003_120000.json"), &document);
    }
    let mut child = test.spawn("init --import --json");
    wait_until_it_listens(&mut child);
    send(&child, Signal::INT);
    let ended = test.ended(child);
    // It may have been done before it could look.
    if ended.code != Some(0) {
        interrupted(&ended);
    }
    let found =
        Store::inspect(test.path().join(".waypost/store.redb"), Duration::ZERO, &mut |_| {});
    assert!(matches!(found.expect("a store").state, StoreState::Closed(_)));
    test.run("init --import").done();
    assert_eq!(test.count(), 400);
}
