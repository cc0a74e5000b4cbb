//! `import` of the files of other systems: imported, reported and ignored files.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::{Ended, Test};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/layouts");

pub(super) fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(FIXTURES).join(name)).expect("a fixture")
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).expect("a vector takes any bytes");
    out.finish().expect("a vector takes any bytes")
}

impl Test {
    /// Puts a file into a directory that is made for it.
    pub(super) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }

    pub(super) fn entries(&self) -> Vec<Value> {
        let lines = self.run("list --json --limit 10000").done();
        lines.lines().map(|line| serde_json::from_str(line).expect("an entry")).collect()
    }

    /// The entry of the file at `path`.
    #[track_caller]
    fn of(&self, path: &str) -> Value {
        let mut found: Vec<_> =
            self.entries().into_iter().filter(|entry| entry["source_path"] == path).collect();
        assert_eq!(found.len(), 1, "{path}");
        found.remove(0)
    }
}

fn outcome(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).expect("an object")
}

const STATE: &str = ".pipeline/state.json";
const STORY: &str = ".pipeline/checkpoint-PROJ-42.json";
const IMPL: &str = ".tmp/impl-checkpoint.json";
const CRUNCH: &str = ".claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml";
const INDEX: &str = ".claude/crunch/42/checkpoints/index.yaml";
const CLAUDE: &str = ".claude/checkpoints/implement_auth_20251003_120000.json";
const AIWG: &str = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz";

const INDEXED: &str = "\
issue_number: 42
checkpoints:
  - checkpoint_id: CP-enrich-20250114-a3f2
    created_at: \"2025-01-14T10:00:00Z\"
    trigger: phase_transition
    phase: enrich
    can_resume: true
latest: CP-enrich-20250114-a3f2
total_checkpoints: 1
";

/// The template of the system, filled in.
pub(super) fn crunch() -> String {
    let template = String::from_utf8(fixture("crunch/CP-template.yaml")).expect("UTF-8");
    template.replace("CP-{phase}-{timestamp}-{hash}", "CP-enrich-20250114-a3f2")
}

/// A project in which all five systems have worked.
pub(super) fn project() -> Test {
    let test = Test::new();
    test.put(IMPL, fixture("agentize/v1-02-nonascii-review.json"));
    test.put(CRUNCH, crunch());
    test.put(INDEX, INDEXED);
    test.put(CLAUDE, fixture("claude/schema-2.1.json"));
    test.put(STORY, fixture("pipeline/checkpoint-PROJ-42.json"));
    test.put(STATE, fixture("pipeline/state.json"));
    test.put(AIWG, gzip(&fixture("aiwg/multi-loop.json")));
    test
}

#[test]
fn all_layouts_of_a_project_are_taken_in_once() {
    let test = project();
    let first = outcome(&test.run("import . --json"));
    let layouts = r#"{"agentize":1,"aiwg":1,"claude":1,"crunch":1,"pipeline":2}"#;
    assert_eq!((first["imported"].as_u64(), first["known"].as_u64()), (Some(6), Some(0)));
    assert_eq!(first["layouts"].to_string(), layouts);
    let before = test.entries();
    // From within, through another way, and after something was learnt about them.
    test.run("tag latest keep").done();
    test.run(&format!("fail {} --quiet", before[0]["id"].as_str().unwrap())).done();
    for paths in [".", ".claude/crunch .claude/checkpoints .tmp .pipeline .aiwg", CRUNCH, STATE] {
        let again = outcome(&test.run(&format!("import {paths} --json")));
        assert_eq!(again["imported"], 0, "{paths}");
        assert!(again["known"].as_u64() > Some(0), "{paths}");
    }
    assert_eq!(test.entries().len(), 6);
    assert_eq!(test.of(AIWG)["loop_id"], "ralph-fix-tests-a1b2c3d4");
    assert_eq!(test.of(CRUNCH)["trigger"], "phase_transition");
    let log = test.run("log --operations --json").done();
    assert_eq!(log.matches(r#""action":"import""#).count(), 1, "{log}");
}

#[test]
fn a_dry_run_lists_and_changes_nothing() {
    let test = project();
    let ended = test.run("import --dry-run .");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 6);
    assert!(ended.stdout.contains(&format!("{CRUNCH}\tcrunch\tissue:42\tphase_transition\t")));
    assert!(ended.stderr.contains("\nwould import 6 ("), "{}", ended.stderr);
    assert!(!test.path().join(".waypost").exists());
    test.run("import .claude --quiet").done();
    let ended = test.run("import --dry-run .");
    assert!(ended.stderr.starts_with("would import 4 ("), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 were there already"), "{}", ended.stderr);
    assert_eq!(test.entries().len(), 2);
}

#[test]
fn what_cannot_be_read_is_told_and_kept_if_wished() {
    let test = project();
    let half = &fixture("pipeline/state.json")[..100];
    test.put(".pipeline/checkpoint-HALF.json", half);
    test.put(".claude/crunch/7/checkpoints/CP-a.yaml", "a: 1\n---\nb: [2\n");
    test.put(".aiwg/checkpoints/w-2026-01-25T15-00-00Z-manual.json.gz", &gzip(b"{\"a\":")[..9]);
    let ended = test.run("import .");
    assert_eq!(ended.code, Some(7));
    for part in [
        ".pipeline/checkpoint-HALF.json: invalid document at /last_check: the text ends inside a \
         string at line 5 column 29",
        ".claude/crunch/7/checkpoints/CP-a.yaml: line ",
        "manual.json.gz: not a whole file of gzip",
        "imported 6 (",
        "3 of 9 could not be imported",
        " and the others, then import again",
    ] {
        assert!(ended.stderr.contains(part), "{part} in {}", ended.stderr);
    }
    let ended = test.run("import . --quiet");
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(7), 4), "{}", ended.stderr);
    let ended = test.run("import . --keep-unreadable");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("kept unread .pipeline/checkpoint-HALF.json: "));
    let entry = test.of(".pipeline/checkpoint-HALF.json");
    assert_eq!((&entry["can_resume"], &entry["trigger"]), (&false.into(), &"unknown".into()));
    assert_eq!(entry["source"]["format"], "unreadable");
    let again = outcome(&test.run("import . --keep-unreadable --json"));
    assert_eq!(again["imported"], 0);
    assert_eq!(test.entries().len(), 9);
}

#[test]
fn leftovers_are_listed_and_other_files_passed_over() {
    let test = project();
    for name in [
        ".tmp/tmpab12cd34.json",
        ".claude/checkpoints/a.json.backup",
        ".claude/checkpoints/a.json.tmp",
        ".pipeline/worker-1-done.flag",
        ".aiwg/ralph/registry.json.lock",
    ] {
        test.put(name, "{}");
    }
    test.put(".pipeline/team.json", "");
    test.put(".pipeline/run.json", [0; 4096]);
    test.put("package.json", r#"{"name": "a"}"#);
    test.put("tsconfig.json", "{ // not JSON");
    test.put("node_modules/a/.pipeline/state.json", fixture("pipeline/state.json"));
    test.put("cache/CACHEDIR.TAG", "");
    test.put("cache/.pipeline/state.json", fixture("pipeline/state.json"));
    let ended = test.run("import . --json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let outcome = outcome(&ended);
    let skipped: Vec<&str> = outcome["skips"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| told["path"].as_str().unwrap())
        .collect();
    assert_eq!(skipped.len(), 7, "{skipped:?}");
    assert_eq!((&outcome["imported"], &outcome["ignored"]), (&6.into(), &2.into()));
    assert_eq!(ended.stderr, "", "a program finds it in the outcome");
    let told = test.run("import .").stderr;
    assert!(told.contains("skipped .pipeline/team.json: empty"), "{told}");
}

/// A crash left the only checkpoint file of a project empty, and the import ended with 3, as if
/// work had never started.
#[test]
fn an_empty_checkpoint_file_cannot_be_imported() {
    for (bytes, reason) in
        [(vec![], "empty"), (vec![0; 4096], "nothing but NUL bytes, as after a crash")]
    {
        let test = Test::new();
        test.put(".pipeline/checkpoint-A.json", bytes);
        let ended = test.run("import .");
        assert_eq!(ended.code, Some(7), "{}", ended.stderr);
        let told = format!(".pipeline/checkpoint-A.json: {reason}\n");
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    }
}

/// A journal and notes beside checkpoints were not mentioned at all, so nobody knew that nothing of
/// them is in the store.
#[test]
fn what_lies_beside_checkpoints_and_is_none_is_named_with_why() {
    let test = project();
    test.put(".pipeline/events.jsonl", "{\"event\": 1}\n{\"event\": 2}\n");
    test.put(".pipeline/team.json", r#"{"name": "a"}"#);
    test.put(".pipeline/lead-session.id", "1");
    test.put(".claude/checkpoints/README.md", "# Checkpoints");
    test.put(".claude/checkpoints/old/half.json", "{");
    test.put(".claude/checkpoints/.gitkeep", "");
    test.put("README.md", "# Project");
    let outcome = outcome(&test.run("import . --json"));
    let skips: Vec<String> = outcome["skips"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| {
            format!("{}: {}", told["path"].as_str().unwrap(), told["reason"].as_str().unwrap())
        })
        .collect();
    let expected = [
        ".claude/checkpoints/README.md: text for people, not a checkpoint",
        ".claude/checkpoints/old/half.json: no checkpoint by its content",
        ".pipeline/events.jsonl: journal, not a checkpoint",
        ".pipeline/lead-session.id: a kind of file that holds no checkpoint",
        ".pipeline/team.json: no checkpoint by its content",
    ];
    assert_eq!(skips, expected);
    assert_eq!((&outcome["skipped"], &outcome["ignored"]), (&5.into(), &0.into()));
    let told = test.run("import .").stderr;
    for line in expected {
        assert!(told.contains(&format!("skipped {line}\n")), "{told}");
    }
}

#[test]
fn a_document_of_no_known_layout_where_checkpoints_lie_is_kept_as_it_is() {
    let test = Test::new();
    test.put(STATE, r#"{"feature": "x", "current_phase": 2}"#);
    let outcome = outcome(&test.run("import . --json"));
    assert_eq!(outcome["layouts"].to_string(), r#"{"other":1}"#);
    let entry = test.of(STATE);
    assert_eq!((&entry["layout"], &entry["trigger"]), (&"native".into(), &"unknown".into()));
}

#[test]
fn an_index_explains_what_was_imported_before_it() {
    let test = project();
    fs::remove_file(test.path().join(INDEX)).unwrap();
    test.run("import . --quiet").done();
    assert_eq!(test.of(CRUNCH)["trigger"], "unknown");
    let mut index = INDEXED.to_owned();
    index += "\n";
    test.put(INDEX, &index);
    test.run("import . --quiet").done();
    assert_eq!(test.of(CRUNCH)["trigger"], "phase_transition");
    assert_eq!(test.run("list --trigger phase_transition --json").done().lines().count(), 1);
}

#[test]
fn rows_without_a_file_and_pointers_that_lead_nowhere_are_told() {
    let test = project();
    let index = INDEXED.to_owned();
    test.put(INDEX, index.replace("CP-enrich-20250114-a3f2", "CP-gone-20250114-ffff"));
    std::os::unix::fs::symlink("CP-gone.yaml", test.path().join(INDEX).with_file_name("latest"))
        .unwrap();
    let ended = test.run("import .");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for part in
        ["index.yaml: names \"CP-gone-20250114-ffff\"", "latest: leads to a file that is not"]
    {
        assert!(ended.stderr.contains(part), "{part} in {}", ended.stderr);
    }
}

/// Upstream, a file that is written again is lost; an id that is taken twice, too.
#[test]
fn every_content_of_a_file_and_every_file_of_an_id_is_a_checkpoint() {
    let test = project();
    test.run("import . --quiet").done();
    let state = String::from_utf8(fixture("pipeline/state.json")).unwrap();
    test.put(STATE, state.replace("false", "true"));
    let claude = String::from_utf8(fixture("claude/schema-2.1.json")).unwrap();
    test.put(CLAUDE, claude.replace("in_progress", "completed"));
    test.put(".claude/checkpoints/failed/copy.json", &claude);
    for imported in [3, 0] {
        assert_eq!(outcome(&test.run("import . --json"))["imported"], imported);
    }
    let ids: Vec<String> = test.entries().iter().map(|entry| entry["id"].to_string()).collect();
    assert_eq!(ids.iter().filter(|id| id.contains('~')).count(), 2, "{ids:?}");
    assert_eq!(ids.len(), 9);
}

#[test]
fn two_projects_with_the_same_issue_are_two_series() {
    let test = Test::new();
    for project in ["one", "two"] {
        test.put(&format!("{project}/{CRUNCH}"), crunch());
    }
    test.run("import . --quiet").done();
    let mut series: Vec<String> =
        test.entries().iter().map(|entry| entry["series"].to_string()).collect();
    series.sort();
    assert_eq!(series, [r#""one/issue:42""#, r#""two/issue:42""#]);
}

#[test]
fn links_pipes_and_bombs_are_told_and_followed_nowhere() {
    let test = project();
    let outside = Test::new();
    outside.put("secret.json", fixture("pipeline/state.json"));
    outside.put("tree/.pipeline/state.json", fixture("pipeline/state.json"));
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(outside.path().join(from), test.path().join(to)).unwrap();
    };
    link("secret.json", ".pipeline/checkpoint-LINK.json");
    link("tree", "linked");
    link("nowhere", ".pipeline/checkpoint-DANGLING.json");
    std::os::unix::fs::symlink(test.path(), test.path().join("loop")).unwrap();
    let fifo = test.path().join(".pipeline/checkpoint-FIFO.json");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let deep = "[".repeat(200_000);
    test.put(".pipeline/checkpoint-DEEP.json", &deep);
    test.put(".claude/crunch/1/checkpoints/CP-deep.yaml", &deep);
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(aliases, "a{level}: &a{level} [{list}]").unwrap();
    }
    test.put(".claude/crunch/1/checkpoints/CP-bomb.yaml", aliases);
    test.put(&AIWG.replace("005", "006"), gzip(&vec![b' '; 80 << 20]));
    let ended = test.run("import .");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    for part in [
        "skipped .pipeline/checkpoint-LINK.json: a link",
        "skipped .pipeline/checkpoint-DANGLING.json: a link",
        "skipped linked: a link to a directory",
        "skipped loop: a link to a directory",
        "skipped .pipeline/checkpoint-FIFO.json: neither a file nor a directory",
        ".pipeline/checkpoint-DEEP.json: ",
        "CP-deep.yaml: ",
        "CP-bomb.yaml: ",
        "iteration-006.json.gz: longer than 67108864 bytes once decompressed",
        "imported 6 (",
        "4 of 10 could",
    ] {
        assert!(ended.stderr.contains(part), "{part} in {}", ended.stderr);
    }
}

#[test]
fn where_nothing_is_found_no_store_is_made() {
    let test = Test::new();
    test.put("a/readme.md", "{}");
    assert!(test.run("import a").failed(3).contains("no checkpoint files in a"));
    assert!(test.run("import missing").failed(1).contains("cannot read missing"));
    assert!(test.run("import --watch -").failed(2).contains("--watch"));
    assert!(!test.path().join(".waypost").exists());
}

#[test]
fn watching_takes_in_what_appears_and_every_change() {
    let test = project();
    let mut child = test.spawn("import --watch . --quiet");
    let wait_for = |count: usize| {
        let start = Instant::now();
        loop {
            let found = test.run("list --json --limit 100");
            if found.stdout.lines().count() == count {
                return;
            }
            assert!(start.elapsed() < Duration::from_mins(1), "{count}: {}", found.stdout);
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for(6);
    let state = String::from_utf8(fixture("pipeline/state.json")).unwrap();
    for (number, count) in [(1, 7), (2, 8), (1, 9)] {
        test.put(STATE, state.replace("false", &format!("false, \"n\": {number}")));
        wait_for(count);
    }
    test.put(".pipeline/checkpoint-NEW.json", fixture("pipeline/checkpoint-PROJ-42.json"));
    wait_for(10);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(test.entries().len(), 10);
}

/// What `export` writes of a native checkpoint is a file like any other.
#[test]
fn native_files_come_back_and_other_content_under_their_id_is_refused() {
    let test = Test::filled();
    test.run("export out --quiet").done();
    let first = outcome(&test.run("--store other.redb import out --json"));
    assert_eq!((&first["imported"], &first["known"]), (&3.into(), &0.into()));
    let again = outcome(&test.run("--store other.redb import out --json"));
    assert_eq!((&again["imported"], &again["known"]), (&0.into(), &3.into()));
    let shown = |store: &str| test.run(&format!("--store {store} show b-1 --document")).done();
    assert_eq!(shown("other.redb"), shown(".waypost/store.redb"));
    let path = fs::read_dir(test.path().join("out/native/default")).unwrap().next().unwrap();
    let path = path.unwrap().path();
    let written = fs::read_to_string(&path).unwrap();
    fs::write(&path, written.replace("1.50", "1.51")).unwrap();
    let ended = test.run("--store other.redb import out");
    assert_eq!(ended.code, Some(7));
    assert!(ended.stderr.contains("checkpoint b-1 exists with other content"), "{}", ended.stderr);
}

/// Else an import beside a policy would undo what the policy does.
#[test]
fn what_was_deleted_stays_so_as_long_as_it_can_be_restored() {
    let test = project();
    test.run("import . --quiet").done();
    let ids = [CLAUDE, STATE].map(|path| test.of(path)["id"].as_str().unwrap().to_owned());
    for id in &ids {
        test.run(&format!("delete {id} --quiet")).done();
    }
    // Whenever it was written, it is the same text.
    test.put(CLAUDE, fixture("claude/schema-2.1.json"));
    let again = outcome(&test.run("import . --json"));
    assert_eq!((&again["imported"], &again["deleted"]), (&0.into(), &2.into()));
    // Another content is another checkpoint.
    let claude = String::from_utf8(fixture("claude/schema-2.1.json")).unwrap();
    test.put(CLAUDE, claude.replace("in_progress", "completed"));
    assert_eq!(outcome(&test.run("import . --json"))["imported"], 1);
    assert!(test.of(CLAUDE)["id"].as_str().unwrap().starts_with(&format!("{}~", ids[0])));
    test.run(&format!("undelete {} --quiet", ids[0])).done();
    test.run("compact --quiet").done();
    assert_eq!(outcome(&test.run("import . --json"))["imported"], 1, "gone for good, and back");
}

#[test]
fn lines_of_one_id_are_told_apart_in_one_go() {
    let test = Test::new();
    let line = |number: u64| {
        format!(
            "{{\"checkpoint_id\":\"cp\",\"workflow_id\":\"w\",\"created_at\":\
             \"2026-01-01T00:00:00Z\",\"state\":{{\"phase\":\"p\",\"progress\":{{}},\
             \"artifacts\":[],\"n\":{number}}}}}\n"
        )
    };
    let path = ".hex-skills/pipeline/runtime/runs/r-1/history.jsonl";
    let mut lines: String = (0..300).map(line).collect();
    lines += "\n\nno json\n";
    test.put(path, &lines);
    let first = outcome(&test.run("import . --json"));
    assert_eq!((&first["imported"], &first["refused"]), (&300.into(), &1.into()));
    let again = outcome(&test.run("import . --json"));
    assert_eq!((&again["imported"], &again["known"]), (&0.into(), &300.into()));
    // Some are deleted, and the file grows: they stay so, and what is new arrives.
    test.run("delete cp --quiet").done();
    test.put(path, lines + &line(300) + &line(301).replace('\n', ""));
    let grown = test.run("import . --json");
    assert!(grown.stdout.contains("line 305: has no end yet"), "{}", grown.stdout);
    let grown = outcome(&grown);
    assert_eq!((&grown["imported"], &grown["deleted"]), (&1.into(), &1.into()));
}

#[test]
fn one_odd_row_does_not_void_an_index() {
    let test = project();
    let odd = "checkpoints:\n  - 5\n  - checkpoint_id: x\n    trigger: [a]\n    phase: {}\n";
    test.put(INDEX, INDEXED.replace("checkpoints:\n", odd).replace("true", "\"true\""));
    test.run("import . --quiet").done();
    assert_eq!(test.of(CRUNCH)["trigger"], "phase_transition");
}

#[test]
fn a_word_that_stands_for_the_newest_is_no_id() {
    let test = project();
    let claude = String::from_utf8(fixture("claude/schema-none.json")).unwrap();
    let id = serde_json::from_str::<Value>(&claude).unwrap()["checkpoint_id"].to_string();
    test.put(".claude/checkpoints/x.json", claude.replace(&id, "\"latest\""));
    test.run("import . --quiet").done();
    assert!(test.of(".claude/checkpoints/x.json")["id"].as_str().unwrap().starts_with("claude-"));
}

/// What is the same file must be known however one comes to it.
#[test]
fn paths_are_those_from_the_directory_of_the_store() {
    let test = project();
    let story = fixture("pipeline/checkpoint-PROJ-42.json");
    test.put(".worktrees/a/.pipeline/checkpoint-PROJ-42.json", &story);
    test.put("shop/.pipeline/checkpoint-PROJ-42.json", &story);
    test.run("import . --quiet").done();
    let imported = |args: &str, directory: &str| {
        let mut command = test.command(args);
        command.current_dir(test.path().join(directory));
        let ended = test.ended(command.spawn().unwrap());
        assert_eq!(ended.code, Some(0), "{args}: {}", ended.stderr);
        outcome(&ended)["imported"].as_u64()
    };
    for (args, directory) in [
        ("import . --json", ".worktrees/a"),
        ("import . --json", ".worktrees"),
        ("import .. --json", "shop"),
        ("import . --json", "shop/.pipeline"),
        ("import shop .worktrees .tmp --json", "."),
    ] {
        assert_eq!(imported(args, directory), Some(0), "{args} in {directory}");
    }
    assert_eq!(test.of("shop/.pipeline/checkpoint-PROJ-42.json")["series"], "shop/story:PROJ-42");
}

/// They would be mixed into one series, and an export would have only one of them.
#[test]
fn projects_that_are_named_together_are_told_apart() {
    let (test, elsewhere) = (Test::new(), Test::new());
    for project in ["a", "b"] {
        elsewhere.put(&format!("{project}/{CRUNCH}"), crunch());
    }
    let path = |name: &str| elsewhere.path().join(name).display().to_string();
    test.run(&format!("import {} {} --quiet", path("a"), path("b/.claude"))).done();
    // One after the other as well: a path does not depend on what else is imported.
    let again = outcome(&test.run(&format!("import {} --json", path(""))));
    assert_eq!((&again["imported"], &again["known"]), (&0.into(), &2.into()));
    let mut paths: Vec<String> =
        test.entries().iter().map(|entry| entry["source_path"].as_str().unwrap().into()).collect();
    paths.sort();
    let expected = ["a", "b"].map(|project| format!("{}/{CRUNCH}", path(project)));
    assert_eq!(paths, expected.map(|path| path.trim_start_matches('/').to_owned()));
}

#[test]
fn a_file_that_is_named_is_known_by_what_is_in_it() {
    let test = project();
    test.put("old.json.backup", fixture("claude/schema-1.2.json"));
    test.run("import old.json.backup --quiet").done();
    assert_eq!(test.of("old.json.backup")["layout"], "claude");
    let told = test.run(&format!("import {INDEX}"));
    assert_eq!(told.code, Some(7));
    assert!(told.stderr.contains("an index; import the directory that it lies in"));
    test.run("export --jsonl all.jsonl --quiet").done();
    let lines = fs::read(test.path().join("all.jsonl")).unwrap();
    test.put("all", &lines);
    test.put("all.jsonl.gz", gzip(&lines));
    for name in ["all", "all.jsonl.gz", "all.jsonl"] {
        let outcome = outcome(&test.run(&format!("import {name} --json")));
        assert_eq!((&outcome["known"], &outcome["lines"]), (&1.into(), &1.into()), "{name}");
    }
}

#[test]
fn an_index_that_is_put_right_is_followed() {
    let test = project();
    test.run("import . --quiet").done();
    test.put(INDEX, INDEXED.replace("trigger: phase_transition", "trigger: agent_complete"));
    test.run("import . --quiet").done();
    assert_eq!(test.of(CRUNCH)["trigger"], "agent_complete");
}

/// It left an empty store of 60 KB behind.
#[test]
fn an_import_of_refused_lines_alone_makes_no_store() {
    let deep = format!("{{\"document\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let refused = ["no JSON", "{\"trigger\": \"\"}", "{\"version\": 99, \"document\": 1}", &deep];
    let test = Test::new();
    test.write("one.jsonl", &format!("{{\"document\": 1, \"id\": \"\"}}\n\n{}\n", refused[0]));
    let ended = test.feed("import one.jsonl -", &refused.join("\n"));
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    for place in ["one.jsonl: line 1: ", "one.jsonl: line 3: ", "-: line 1: ", "-: line 4: "] {
        assert!(ended.stderr.contains(place), "{place}{}", ended.stderr);
    }
    assert!(ended.stderr.contains("6 of 6 could not be imported"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(test.path()).unwrap().count(), 1);
    // The first good line makes one, and the lines keep their numbers.
    test.write("two.jsonl", "x\n\n{\"document\": 2}\ny\n");
    let ended = test.feed("import one.jsonl two.jsonl -", "{\"document\": 3}\nz\n");
    assert_eq!(ended.code, Some(7), "{}", ended.stderr);
    let told = ["one.jsonl: line 3: ", "two.jsonl: line 1: ", "two.jsonl: line 4: ", "-: line 2: "];
    for place in told {
        assert!(ended.stderr.contains(place), "{place}{}", ended.stderr);
    }
    assert!(ended.stderr.contains("5 of 7 could not be imported"), "{}", ended.stderr);
    assert_eq!(test.run("list --json").done().lines().count(), 2);
}

/// An import of nothing left a store of a megabyte.
#[test]
fn an_import_that_finds_nothing_makes_no_store() {
    let test = Test::new();
    test.write("blank.jsonl", "\n \n\t\n");
    test.write("empty.jsonl", "");
    test.put("tree/.hex-skills/pipeline/runtime/runs/r/history.jsonl", "{\n");
    test.feed("import -", "\n\n").failed(3);
    test.run("import blank.jsonl empty.jsonl").failed(3);
    let told = test.run("import tree").failed(7);
    assert_eq!(told.matches("history.jsonl: line 1: ").count(), 1, "{told}");
    assert!(!test.path().join(".waypost").exists());
    // Blank lines before others are counted all the same.
    let told = test.feed("import -", "\n\n{\"document\": 1}\n{}\n").failed(7);
    assert!(told.contains("line 4: "), "{told}");
    assert!(test.path().join(".waypost/store.redb").exists());
}
