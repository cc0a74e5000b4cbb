//! The order of checkpoints in the output of commands, after a clock was wrong.
//!
//! The command uses the system clock, so the library makes the saves with a wrong one.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::Value;
use waypost::{NewEntry, Options, Series, Store, Timestamp};

use super::Test;

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// Saves a step of series `work` at each of these times, relative to now.
fn saved(test: &Test, clock_at: &[i64]) {
    let now = Timestamp::now().as_micros();
    let clock = Arc::new(AtomicI64::new(0));
    let shown = clock.clone();
    let shown = move || Timestamp::from_micros(shown.load(Ordering::Relaxed));
    let options = Options { clock: Arc::new(shown), ..Options::default() };
    let store = Store::open_with(test.path().join("s.redb"), options).unwrap();
    for (step, from_now) in clock_at.iter().enumerate() {
        clock.store(now + from_now, Ordering::Relaxed);
        let series = Some(Series::new("work").unwrap());
        store.save(NewEntry { series, ..NewEntry::default() }, &step).unwrap();
    }
    store.close().unwrap();
}

fn run(test: &Test, args: &str) -> String {
    let ended = test.run(&format!("--store s.redb {args}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The documents of the checkpoints that these lines list.
fn documents(test: &Test, lines: &str) -> Vec<String> {
    let ids = objects(lines).into_iter().map(|it| it["id"].as_str().unwrap().to_owned());
    ids.map(|id| run(test, &format!("show {id} --document")).trim().to_owned()).collect()
}

/// A loop whose clock stepped back ten minutes after step 5 was resumed with step 5.
#[test]
fn every_command_follows_arrival_after_the_clock_was_set_back() {
    let test = Test::new();
    saved(&test, &[-30, -29, -28, -27, -26, -25, -34, -33, -32].map(|it| it * MINUTE));
    for strategy in ["last", "smart"] {
        assert_eq!(run(&test, &format!("resume work --document --strategy {strategy}")), "8\n");
    }
    assert_eq!(run(&test, "latest --document"), "8\n");
    assert_eq!(run(&test, "show work@0 --document"), "8\n");
    assert_eq!(run(&test, "show work@3 --document"), "5\n");
    let listed = documents(&test, &run(&test, "list --json"));
    assert_eq!(listed, ["8", "7", "6", "5", "4", "3", "2", "1", "0"]);
    let logged = documents(&test, &run(&test, "log work --json"));
    assert_eq!(logged, listed);
    // `--since` goes by date.
    assert_eq!(objects(&run(&test, "list --since 31m --json")).len(), 6);
    // The next save follows all of them, and a policy leaves the last.
    run(&test, "policy set last-5 --prune-on-save");
    test.feed("--store s.redb save --series work --quiet", "9").done();
    let kept = documents(&test, &run(&test, "list --json"));
    assert_eq!(kept, ["9", "8", "7", "6", "5"]);
    run(&test, "verify");
}

/// A checkpoint that was dated a day ahead stayed the newest after later saves, without a warning.
#[test]
fn a_date_ahead_is_reported_and_the_next_save_is_newer() {
    let test = Test::new();
    let ahead = Timestamp::from_micros(Timestamp::now().as_micros() + DAY);
    let save = format!("--store s.redb save --series work --created-at {ahead} --quiet");
    test.feed(&save, "0").done();
    let ended = test.run("--store s.redb resume work --document");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "0\n"));
    assert_eq!(ended.stderr, format!("warning: it is dated {ahead}, ahead of the clock\n"));
    let answer = objects(&run(&test, "resume work --json")).remove(0);
    assert_eq!(answer["decision"], "resume");
    assert_eq!(answer["freshness"]["advice"], "proceed_with_warning");
    assert_eq!(answer["freshness"]["findings"][0]["check"], "date");
    assert!(answer.get("ordered_at").is_none(), "it stands where it says");
    for step in ["1", "2", "3", "4", "5"] {
        test.feed("--store s.redb save --series work --quiet", step).done();
        let ended = test.run("--store s.redb resume work --document");
        assert_eq!((ended.code, ended.stdout.trim(), &*ended.stderr), (Some(0), step, ""));
    }
    let answer = objects(&run(&test, "resume work --json")).remove(0);
    assert_eq!(answer["freshness"]["findings"], Value::Array(Vec::new()));
    assert_eq!(answer["ordered_at"], ahead.to_string());
    assert!(answer["created_at"].as_str() < answer["ordered_at"].as_str());
}

#[test]
fn an_export_that_is_imported_has_the_order_it_had() {
    let test = Test::new();
    saved(&test, &[-5 * MINUTE, DAY, -4 * MINUTE, -3 * MINUTE, 2 * DAY, -2 * MINUTE]);
    let lines = run(&test, "export --jsonl - --quiet");
    assert_eq!(objects(&lines).len(), 6);
    let import = test.feed("--store other.redb import - --quiet", &lines);
    assert_eq!((import.code, &*import.stderr), (Some(0), ""));
    let told = |store: &str| {
        let listed = objects(&test.run(&format!("--store {store} list --json")).done());
        let of = |it: &Value| [&it["id"], &it["created_at"], &it["ordered_at"]].map(Value::clone);
        listed.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(told("other.redb"), told("s.redb"));
    // Once more changes nothing, and what comes next is the newest.
    test.feed("--store other.redb import - --quiet", &lines).done();
    assert_eq!(told("other.redb"), told("s.redb"));
    test.feed("--store other.redb save --series work --quiet", "6").done();
    assert_eq!(test.run("--store other.redb resume work --document").done(), "6\n");
}

#[test]
fn an_order_that_contradicts_the_date_is_refused() {
    let test = Test::new();
    saved(&test, &[0]);
    let line = |times: &str| format!(r#"{{"id":"x","series":"work",{times},"document":1}}"#);
    for (times, reason) in [
        (
            r#""created_at":"2026-01-02T00:00:00Z","ordered_at":"2026-01-01T00:00:00Z""#,
            "is before created_at",
        ),
        (r#""ordered_at":"2026-01-01T00:00:00Z""#, "needs created_at"),
    ] {
        let ended = test.feed("--store s.redb import -", &line(times));
        assert!(
            ended.stderr.contains(&format!("invalid ordered_at: {reason}")),
            "{}",
            ended.stderr
        );
        assert_ne!(ended.code, Some(0));
    }
    assert_eq!(objects(&run(&test, "list --json")).len(), 1);
}
