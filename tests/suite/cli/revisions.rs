//! Files that are written over: each content that an import finds is a checkpoint, in the order in
//! which they came, and every command gives the present one.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::Test;
use super::import::fixture;

const STORY: &str = ".pipeline/checkpoint-PROJ-42.json";
const STATE: &str = ".pipeline/state.json";

fn imported(test: &Test, args: &str) -> u64 {
    let ended = test.run(&format!("import {args} --json"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str::<Value>(&ended.stdout).unwrap()["imported"].as_u64().unwrap()
}

/// Every command gives what is in the file, which is the newest of all and of its series.
#[track_caller]
fn all_give(test: &Test, path: &str, content: &str) {
    let listed = test.entries();
    let series = listed[0]["series"].as_str().unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let expected: Value = serde_json::from_str(content).unwrap();
    for args in [
        "latest --document".to_owned(),
        format!("show {id} --document"),
        format!("show {series}@0 --document"),
        format!("resume {series} --document --force"),
    ] {
        let ended = test.run(&args);
        assert_eq!(ended.code, Some(0), "{args}: {}", ended.stderr);
        assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap(), expected, "{args}");
    }
    test.run("export out --overwrite --quiet").done();
    assert_eq!(fs::read_to_string(test.path().join("out").join(path)).unwrap(), content);
}

fn story(stage: u32, timestamp: Option<&str>) -> String {
    let time = timestamp.map(|time| format!(r#", "timestamp": "{time}""#)).unwrap_or_default();
    format!(
        r#"{{"storyId": "PROJ-42", "stage": 2, "agentId": "a", "planScore": {stage},
            "tasksCompleted": [], "tasksRemaining": ["T"], "lastAction": "x"{time}}}"#
    )
}

/// Of 26 revisions 17 were imported: those with an earlier content counted as known, and `latest`,
/// `resume` and `export` then gave another one.
#[test]
fn a_file_that_returns_to_an_earlier_content_is_a_checkpoint_each_time() {
    let test = Test::new();
    let state = String::from_utf8(fixture("pipeline/state.json")).unwrap();
    let workers = [3, 2, 3, 2, 3, 1, 0, 1, 3, 3 + 1, 3, 2, 5];
    for (number, workers) in workers.iter().chain(&workers).enumerate() {
        let before = fs::read_to_string(test.path().join(STATE)).unwrap_or_default();
        let content = state.replace("_workers\": 3", &format!("_workers\": {workers}"));
        assert_ne!(content, before, "each is a change");
        test.put(STATE, &content);
        assert_eq!(imported(&test, ".pipeline"), 1, "{number}");
        assert_eq!(imported(&test, ".pipeline"), 0, "{number}");
        all_give(&test, STATE, &content);
        assert_eq!(test.entries().len(), number + 1);
    }
    test.run("verify").done();
    assert_eq!(test.entries().len(), 26);
}

#[test]
fn a_later_revision_is_the_newer_whatever_time_it_states() {
    let times = [
        Some("2026-02-14T14:30:00Z"),
        // Equal, earlier, none, long before all, and later again.
        Some("2026-02-14T14:30:00Z"),
        Some("2026-02-13T00:00:00Z"),
        None,
        Some("1999-01-01T00:00:00Z"),
        Some("2026-02-15T00:00:00Z"),
        None,
        Some("not a time"),
    ];
    let test = Test::new();
    for (stage, time) in (1..).zip(times) {
        let content = story(stage, time);
        test.put(STORY, &content);
        assert_eq!(imported(&test, ".pipeline"), 1);
        all_give(&test, STORY, &content);
    }
    let scores = test.run("export --jsonl - --quiet").done();
    let scores: Vec<Value> =
        scores.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scores: Vec<_> = scores.iter().map(|line| line["document"]["planScore"].as_u64()).collect();
    assert_eq!(scores, (1..=8).map(Some).collect::<Vec<_>>());
    // A copy has the same order, and knows the same files.
    test.run("export --jsonl all.jsonl --quiet").done();
    test.run("--store copy.redb import all.jsonl --quiet").done();
    let ids = |list: &str| {
        let lines = test.run(list).done();
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].clone();
        lines.lines().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("--store copy.redb list --json"), ids("list --json"));
    assert_eq!(imported(&test, ".pipeline --store copy.redb"), 0);
    test.run("verify").done();
}

fn iteration(test: &Test, number: u32, created_at: Option<&str>, written_ago: Duration) {
    let path =
        format!(".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-00{number}.json");
    let content = String::from_utf8(fixture("aiwg/multi-loop.json")).unwrap();
    let content = content.replace("cp-001", &format!("cp-00{number}"));
    let stated = created_at.map(|time| format!("\"created_at\": \"{time}\",")).unwrap_or_default();
    test.put(&path, content.replace("\"created_at\": \"2026-02-02T21:05:00Z\",", &stated));
    let file = File::options().write(true).open(test.path().join(path)).unwrap();
    file.set_modified(SystemTime::now() - written_ago).unwrap();
}

fn order(test: &Test) -> Vec<String> {
    test.entries().iter().map(|entry| entry["id"].as_str().unwrap()[..6].to_owned()).collect()
}

/// After a checkout all files are written now: one without a time was the newest of its loop.
#[test]
fn the_time_of_a_copied_file_does_not_count_beside_a_stated_one() {
    let test = Test::new();
    iteration(&test, 3, Some("2026-02-02T21:03:00Z"), Duration::ZERO);
    iteration(&test, 2, Some("2026-02-02T21:02:00Z"), Duration::ZERO);
    iteration(&test, 1, None, Duration::ZERO);
    assert_eq!(imported(&test, "."), 3);
    assert_eq!(order(&test), ["cp-003", "cp-001", "cp-002"]);
    let warnings = test.run("show cp-001-multi-loop --json").done();
    assert!(warnings.contains("its file is a copy"), "{warnings}");
    iteration(&test, 4, Some("2026-02-02T21:04:00Z"), Duration::ZERO);
    assert_eq!(imported(&test, "."), 1);
    assert_eq!(order(&test)[..2], ["cp-004", "cp-003"]);
}

/// A loop that is at work writes its files when it says so, and one without a time is the newest.
#[test]
fn the_time_of_a_file_counts_where_files_are_written_at_the_time_they_state() {
    let test = Test::new();
    let stated = |ago| {
        let time = waypost::Timestamp::now().as_micros() - i64::from(ago) * 1_000_000;
        waypost::Timestamp::from_micros(time).to_string()
    };
    iteration(&test, 1, Some(&stated(900_u32)), Duration::from_mins(15));
    iteration(&test, 2, Some(&stated(600)), Duration::from_mins(10));
    iteration(&test, 3, None, Duration::from_mins(5));
    assert_eq!(imported(&test, "."), 3);
    assert_eq!(order(&test), ["cp-003", "cp-002", "cp-001"]);
}

/// An import that was killed has taken in some files and not the others.
#[test]
fn an_import_that_is_repeated_after_a_part_of_it_adds_each_once() {
    let test = Test::new();
    let path = |number: u32| format!(".pipeline/checkpoint-P-{number}.json");
    let put = |stage| (0..5).for_each(|number| test.put(&path(number), story(stage, None)));
    for (round, stage) in [(1, 1), (2, 2), (3, 1), (4, 2)] {
        put(stage);
        assert_eq!(imported(&test, &format!("{} {}", path(0), path(3))), 2);
        assert_eq!(imported(&test, "."), 3);
        assert_eq!(imported(&test, "."), 0);
        assert_eq!(test.entries().len(), 5 * round);
    }
}

#[test]
fn tags_marks_and_forks_are_no_change_of_a_file() {
    let test = Test::new();
    let (a, b) = (story(1, None), story(2, None));
    for content in [&a, &b, &a] {
        test.put(STORY, content);
        assert_eq!(imported(&test, "."), 1);
    }
    test.run("tag latest kept --quiet").done();
    test.run("fail latest --quiet").done();
    test.run("fork latest --series other --quiet").done();
    assert_eq!(imported(&test, "."), 0);
}

/// What was deleted stays so; but a file that changes after that has changed.
#[test]
fn a_deleted_revision_is_compared_only_while_it_is_the_newest() {
    let test = Test::new();
    let (a, b) = (story(1, Some("2026-02-14T14:30:00Z")), story(2, Some("2026-02-14T14:31:00Z")));
    for content in [&a, &b] {
        test.put(STORY, content);
        assert_eq!(imported(&test, ".pipeline"), 1);
    }
    let id = |test: &Test| test.entries()[0]["id"].as_str().unwrap().to_owned();
    let second = id(&test);
    test.run(&format!("delete {second} --quiet")).done();
    assert_eq!(imported(&test, ".pipeline"), 0, "b was deleted");
    test.put(STORY, &a);
    assert_eq!(imported(&test, ".pipeline"), 1, "a came after b");
    all_give(&test, STORY, &a);
    test.put(STORY, &b);
    assert_eq!(imported(&test, ".pipeline"), 1, "b came after a");
    all_give(&test, STORY, &b);
    test.put(STORY, &a);
    assert_eq!(imported(&test, ".pipeline"), 1);
    all_give(&test, STORY, &a);
    test.run(&format!("undelete {second} --quiet")).done();
    all_give(&test, STORY, &a);
    test.run("verify").done();
}

/// Both would be revisions of one file, and each import would find a change.
#[test]
fn a_file_elsewhere_with_the_path_of_one_in_the_project_is_refused() {
    let test = Test::new();
    let elsewhere = test.path().join("elsewhere");
    let within = format!("project{}", elsewhere.display());
    for directory in ["elsewhere".to_owned(), within] {
        test.put(&format!("{directory}/{STORY}"), story(u32::from(directory == "elsewhere"), None));
    }
    fs::create_dir(test.path().join("project/.waypost")).unwrap();
    let ended = test.run("--store project/.waypost/store.redb import project elsewhere");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    assert!(ended.stderr.contains("is known by the same path"), "{}", ended.stderr);
    let ended = test.run("--store other.redb import elsewhere --quiet");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn any_revision_of_a_file_is_exported_by_its_id() {
    let test = Test::new();
    let texts: Vec<String> = [1, 2, 1, 3].map(|stage| story(stage, None)).into();
    for content in &texts {
        test.put(STORY, content);
        assert_eq!(imported(&test, ".pipeline"), 1);
    }
    let entries = test.entries();
    for (entry, content) in entries.iter().rev().zip(&texts) {
        let id = entry["id"].as_str().unwrap();
        let outcome = test.run(&format!("export out --id {id} --overwrite --json")).done();
        let outcome: Value = serde_json::from_str(&outcome).unwrap();
        assert_eq!((&outcome["exported"], &outcome["older"]), (&1.into(), &0.into()));
        assert_eq!(fs::read_to_string(test.path().join("out").join(STORY)).unwrap(), *content);
    }
    test.run("export named --id story:PROJ-42@2 --quiet").done();
    assert_eq!(fs::read_to_string(test.path().join("named").join(STORY)).unwrap(), texts[1]);
    let lines = test.run("export --jsonl - --id latest --id story:PROJ-42@3 --quiet").done();
    let ids: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, [entries[3]["id"].clone(), entries[0]["id"].clone()]);
    assert!(test.run("export out --id nothing").failed(3).contains("nothing"));
    assert!(test.run("export out --id latest --issue 4").failed(2).contains("--issue"));
}

/// A file of lines is not one line, and an index not one row.
#[test]
fn a_line_comes_with_its_file_and_a_checkpoint_without_its_index() {
    let test = Test::new();
    let history =
        ".hex-skills/pipeline/runtime/runs/ln-1000-P-42-1763259513000-0a1b2c3d/history.jsonl";
    let lines = String::from_utf8(fixture("pipeline/successor/history.jsonl")).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert!(lines.len() > 1);
    for count in 1..=lines.len() {
        test.put(history, lines[..count].join("\n") + "\n");
        test.run("import .hex-skills --quiet").done();
    }
    let of_line = |number: usize| {
        let entries = test.entries();
        let found = entries.iter().find(|entry| entry["source"]["line"] == number);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    for count in 1..=lines.len() {
        test.run(&format!("export out --id {} --overwrite --quiet", of_line(count))).done();
        let found = fs::read_to_string(test.path().join("out").join(history)).unwrap();
        assert_eq!(found, lines[..count].join("\n") + "\n");
    }
    let directory = ".claude/crunch/42/checkpoints";
    test.put(&format!("{directory}/CP-enrich-20250114-a3f2.yaml"), super::import::crunch());
    test.run("import .claude --quiet").done();
    let id = test.entries().into_iter().find(|entry| entry["layout"] == "crunch").unwrap();
    test.run(&format!("export out --id {} --quiet", id["id"].as_str().unwrap())).done();
    let names = fs::read_dir(test.path().join("out").join(directory)).unwrap();
    assert_eq!(names.count(), 1);
}
