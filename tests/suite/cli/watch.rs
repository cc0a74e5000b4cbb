//! `waypost watch`, beside processes that save.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout};

use super::Test;

/// A watch that runs, and what it prints.
struct Watch {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn start(test: &Test, args: &str) -> Self {
        let mut child = test.spawn(&format!("watch --every 0.01 --wait 600 {args}"));
        let stdout = child.stdout.take().unwrap();
        Self { child, lines: BufReader::new(stdout).lines() }
    }

    /// The next line, however long it takes.
    fn line(&mut self) -> String {
        self.lines.next().expect("a line").unwrap()
    }

    /// The ids of this many lines of JSON.
    fn ids(&mut self, count: usize) -> Vec<String> {
        let id = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["id"].as_str().unwrap().to_owned()
        };
        (0..count).map(|_| id(&self.line())).collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn checkpoints_are_shown_as_they_come_with_what_changed() {
    let test = Test::new();
    test.feed("save --id a --issue 42 --iteration 1 --trigger iteration", r#"{"score": 7}"#).done();
    // It has read the store once it has shown the existing checkpoints.
    let mut watch = Watch::start(&test, "42 --last 3");
    let first = watch.line();
    assert!(first.ends_with("  a  issue:42  iteration  1  first"), "{first}");
    test.feed("save --id other --issue 7", "1").done();
    test.feed("save --id b --issue 42 --iteration 2 --trigger iteration", r#"{"score": 9}"#).done();
    let second = watch.line();
    assert!(second.ends_with("  b  issue:42  iteration  2  /score 7 -> 9"), "{second}");
}

#[test]
fn what_is_dated_long_ago_comes_in_the_order_of_saving() {
    let test = Test::filled();
    let mut watch = Watch::start(&test, "--json --last 1");
    assert_eq!(watch.ids(1), ["b-1"]);
    for (id, time) in [("new", "2030-01-01"), ("old", "1999-01-01"), ("between", "2010-01-01")] {
        test.feed(&format!("save --id {id} --created-at {time}T00:00:00Z"), "1").done();
    }
    assert_eq!(watch.ids(3), ["new", "old", "between"]);
}

#[test]
fn it_waits_for_a_store_and_ends_after_so_many() {
    let test = Test::new();
    let mut watch = Watch::start(&test, "--json --count 2 --trigger manual");
    let mut stderr = BufReader::new(watch.child.stderr.take().unwrap()).lines();
    let waiting = stderr.next().unwrap().unwrap();
    assert!(waiting.contains("there is no store at"), "{waiting}");
    for (id, trigger) in [("a", "manual"), ("b", "error"), ("c", "manual"), ("d", "manual")] {
        test.feed(&format!("save --id {id} --trigger {trigger}"), "1").done();
    }
    assert_eq!(watch.ids(2), ["a", "c"]);
    assert!(watch.lines.next().is_none());
    assert!(watch.child.wait().unwrap().success());
}

#[test]
fn nothing_is_missed_of_what_several_processes_save() {
    let test = Test::new();
    test.feed("save --id start", "0").done();
    let mut watch = Watch::start(&test, "--json --last 1");
    assert_eq!(watch.ids(1), ["start"]);
    let savers: Vec<Child> = (0..3)
        .map(|saver| {
            let lines = "{}\n".repeat(100);
            let mut child = test.spawn(&format!("save --lines --wait 600 --series s{saver}"));
            child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
            child
        })
        .collect();
    let mut seen = watch.ids(300);
    let mut saved: Vec<String> = Vec::new();
    for saver in savers {
        saved.extend(test.ended(saver).done().lines().map(str::to_owned));
    }
    seen.sort();
    saved.sort();
    assert_eq!(seen, saved);
}

#[test]
fn what_cannot_be_a_store_ends_it() {
    let test = Test::new();
    test.write("store", "something else");
    let said = test.run("watch --store store").failed(1);
    assert!(said.contains("is not a waypost store"), "{said}");
}

#[test]
fn it_waits_for_a_name_that_nothing_has_yet() {
    let test = Test::filled();
    let mut watch = Watch::start(&test, "issue:99 --json --count 1");
    let mut stderr = BufReader::new(watch.child.stderr.take().unwrap()).lines();
    let waiting = stderr.next().unwrap().unwrap();
    assert!(waiting.contains("nothing is called"), "{waiting}");
    test.feed("save --id other --issue 7", "1").done();
    test.feed("save --id awaited --issue 99", "1").done();
    assert_eq!(watch.ids(1), ["awaited"]);
}
