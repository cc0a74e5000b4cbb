//! What programs are promised of `--json`: `src/docs/JSON.md`, held to what is printed.
//!
//! Covers the fields, types and versions of each command's output.

mod contract;

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};

use super::import::gzip;
use super::{LATER, Test};
use contract::{Checked, Contract};

/// Members that take damage, links, or others at work at the same moment: other tests have these.
const UNSEEN: [(&str, &str); 5] = [
    ("compared file", "reason"),
    ("exported file", "damaged"),
    ("import", "incomplete"),
    ("log", "gone"),
    ("log --path", "gone"),
];

/// A config that switches a trigger off.
const OFF: &str = "checkpoint:\n  checkpoint_triggers:\n    manual: false\n";

struct Session {
    test: Test,
    contract: Contract,
    checked: Checked,
}

impl Session {
    fn new() -> Self {
        Self { test: Test::new(), contract: Contract::read(), checked: Checked::default() }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.test.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs a command; all that it prints must be as the section says, and nothing else be said.
    fn run(&mut self, section: &str, args: &str) -> Vec<Value> {
        self.feed(section, args, "", 0)
    }

    fn feed(&mut self, section: &str, args: &str, input: &str, code: i32) -> Vec<Value> {
        let ended = self.test.feed(&format!("{args} --json"), input);
        assert_eq!(ended.code, Some(code), "{args}: {}{}", ended.stdout, ended.stderr);
        for line in ended.stderr.lines() {
            let said = object(args, line);
            let title = said.keys().find(|key| *key != "version").unwrap().clone();
            self.contract.check(&title, &without_version(said), &mut self.checked);
        }
        let lines = ended.stdout.lines().map(|line| {
            let object = object(args, line);
            let object = without_version(object);
            let title = if object.contains_key("error") && object.len() == 1 {
                "error"
            } else if object.contains_key("saved") {
                "not saved"
            } else {
                section
            };
            self.contract.check(title, &object, &mut self.checked);
            Value::Object(object)
        });
        lines.collect()
    }
}

fn object(args: &str, line: &str) -> Map<String, Value> {
    assert!(line.starts_with("{\"version\":1,"), "{args}: {line}");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{args}: {error}: {line}"))
}

fn without_version(mut object: Map<String, Value>) -> Map<String, Value> {
    object.remove("version");
    object
}

fn fixture(name: &str) -> Vec<u8> {
    let layouts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/layouts");
    fs::read(format!("{layouts}/{name}")).unwrap()
}

#[test]
fn every_command_prints_what_the_contract_says() {
    let mut session = Session::new();
    saving(&mut session);
    reading(&mut session);
    resuming(&mut session);
    changing(&mut session);
    moving(&mut session);
    keeping(&mut session);
    damaged(&mut session);
    let Checked { faults, seen } = session.checked;
    let faults: BTreeSet<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let unseen: Vec<_> = session.contract.members().difference(&seen).copied().collect();
    assert_eq!(unseen, UNSEEN, "what the page names must be printed by some command");
}

/// With tasks, a score and captured files.
fn saving(session: &mut Session) {
    session.put("src/a.txt", "a");
    session.put("src/b.bin", [0xff]);
    let work = r#"{"score": 40, "tasks_done": ["a"], "tasks_remaining": ["b"], "branch": "main",
        "last_action": "wrote it", "description": "the work", "failures": 1, "failing": 0,
        "error": "e", "tests_passing": true, "worktree": "/none", "plan_file": "plan.md",
        "labels": ["x"], "artifacts": [{"path": "src/c.txt", "sha256": "00"}]}"#;
    let all = "--issue 42 --loop-id l --workflow-id w --workflow-type t --session-id s --agent a \
        --phase p --step s --iteration 1 --updated-at 2026-01-25T15:00:00Z --parent x --tag keep \
        --can-resume true --resume-from here --warning careful --retention-days 9";
    session.feed("save", &format!("save --id a-1 --series work {all}"), work, 0);
    session.feed("save", "save --id a-2 --series work --capture src", work, 0);
    session.put("src/a.txt", "b");
    let changed = work.replace("40", "41.5");
    session.feed("save", "save --id a-3 --series work --issue 42 --capture src", &changed, 0);
    session.feed("save", "save --lines --series lines", "1\n2\nx\n", 7);
    session.put(".waypost/config.yaml", "waypost:\n  nonsense: 1\n");
    session.feed("save", "save --series lines", "3", 0);
    session.put(".waypost/config.yaml", OFF);
    session.feed("save", "save --trigger manual", "4", 0);
    session.feed("save", "save --lines --trigger manual", "4\n", 0);
    fs::remove_file(session.test.path().join(".waypost/config.yaml")).unwrap();
}

fn reading(session: &mut Session) {
    session.run("show", "show a-2");
    session.run("show", "latest --series work");
    assert_eq!(session.run("list", "list --limit 1").len(), 1);
    session.run("list", "list --all");
    session.run("series", "series --all");
    assert_eq!(session.run("log", "log work --limit 2")[0]["score"], 41.5);
    assert_eq!(session.run("log", "log work --limit 3")[2]["score"].to_string(), "40");
    session.run("watch", "watch work --last 3 --count 0");
    session.run("log --path", "log work --path /score");
    session.feed("log --path", "log lines --path /score", "", 3);
    session.run("find", "find --all /score>1");
    session.feed("find", "find --all /score>100", "", 3);
    session.run("stats", "stats");
    session.feed("list", "list --issue 43", "", 3);
    session.feed("list", "list --status don", "", 2);
}

fn resuming(session: &mut Session) {
    session.feed("resume", "resume work --no-gh", "", 4);
    session.run("resume", "resume work --no-gh --force --prompt");
    session.put("src/a.txt", "c");
    session.feed("resume", "resume work --no-gh --diff", "", 4);
    session.put("src/a.txt", "b");
    session.feed("resume", "resume lines --no-gh --prompt", "", 4);
    session.put(
        ".pipeline/checkpoint-S-1.json",
        r#"{"storyId": "S-1", "stage": 2, "agentId": "a",
        "tasksCompleted": [], "tasksRemaining": ["T"], "lastAction": "l"}"#,
    );
    session.put(
        ".pipeline/state.json",
        r#"{"complete": false, "last_check": "2026-02-14T14:31:00Z",
        "story_state": {"S-1": "STAGE_2"}, "worktree_map": {"S-1": "."}, "team_name": "t",
        "business_answers": {"q": "a"}, "crash_count": {"S-1": 2}}"#,
    );
    session.run("import", "import .pipeline");
    session.run("resume", "resume S-1 --no-gh --force --prompt --worker");
    session.feed("resume --strategy select", "resume work --strategy select", "", 4);
    session.feed("resume", "resume nothing", "", 3);
    let cannot = "--series stuck --can-resume false --warning broken";
    session.feed("save", &format!("save {cannot} --id s-1"), "1", 0);
    session.feed("resume", "resume stuck --no-gh", "", 4);
    session.feed("save", "save --series stuck --id s-0 --created-at 2020-01-01T00:00:00Z", "1", 0);
    let answer = session.run("resume", "resume stuck --no-gh");
    assert_eq!(answer[0]["passed_over"].as_array().map(Vec::len), Some(1));
    session.feed("save", "save --series over --status completed --id o-1", "1", 0);
    session.feed("resume", "resume o-1 --no-gh", "", 4);
    session.feed("resume", "resume over --no-gh", "", 3);
    session.feed("resume", "resume s-0 --no-gh --choice delete", "", 4);
    session.feed("resume", "resume lines --no-gh --choice fresh", "", 3);
    let ahead = "save --series ahead --id h-0 --created-at 9999-12-31T23:59:59.999999Z";
    session.feed("save", ahead, "1", 0);
    let answer = session.run("resume", "resume ahead --no-gh");
    assert_eq!(answer[0]["freshness"]["findings"][0]["check"], "date");
    session.feed("save", "save --series ahead --id h-1", "1", 0);
    assert_eq!(session.run("show", "show ahead@0")[0]["id"], "h-1");
    session.run("delete", "delete h-0 h-1 --now");
    overwriting(session);
    crunching(session);
}

/// With a file whose present content cannot be resumed.
fn overwriting(session: &mut Session) {
    let before = String::from_utf8(fixture("agentize/v2-01-after-impl1.json")).unwrap();
    let after = before.replacen(r#""current_stage": "impl""#, r#""current_stage": "fatal""#, 1);
    for text in [before, after] {
        session.put("over/.tmp/impl-checkpoint.json", text);
        session.run("import", "import over");
    }
    session.feed("resume --strategy select", "resume 848 --strategy select", "", 4);
}

/// With a graph of tasks, messages and knowledge.
fn crunching(session: &mut Session) {
    let yaml = "version: '1.0'\ncheckpoint_id: CP-docs-20250114-a3f2\nissue_number: 7\n\
        created_at: 2025-01-14T10:00:00Z\nissue_snapshot: {title: Docs}\n\
        workflow_state: {current_phase: docs}\n\
        execution_graph: {graph_id: G, completed_batches: [1], current_batch: 2, node_states: \
        {a: {status: pending, dependencies: [b]}, b: pending, c: {dependencies: [x]}}}\n\
        acp_state: {pending_messages: [M-1]}\nknowledge_context: {captured_entries: [K-1]}\n\
        recovery_info: {can_resume: true, resume_from: b}\n";
    session.put("seven/.claude/crunch/7/checkpoints/CP-docs-20250114-a3f2.yaml", yaml);
    session.run("import", "import seven");
    session.run("resume", "resume CP-docs-20250114-a3f2 --no-gh --prompt");
    session.run("delete", "delete CP-docs-20250114-a3f2 --now");
    fs::remove_dir_all(session.test.path().join("seven")).unwrap();
}

fn changing(session: &mut Session) {
    session.run("fork", "fork a-1 --series other");
    session.run("fork", "rollback work@1");
    session.run("tag", "tag a-1 more");
    session.run("delete", "delete o-1");
    session.run("list --deleted", "list --deleted --limit 1");
    session.feed("undelete", "undelete nothing", "", 3);
    session.run("undelete", "undelete o-1");
    for command in ["fail", "archive", "reopen"] {
        session.run("complete", &format!("{command} --series other"));
    }
    for number in 0..3 {
        let save = format!("save --series done --id d-{number}");
        session.feed("save", &save, "1", 0);
    }
    let done = session.run("complete", "complete --series done --policy claude");
    assert!(!done[0]["removed"].as_array().unwrap().is_empty());
    session.run("log --operations", "log --operations --limit 2");
}

fn moving(session: &mut Session) {
    // What the document names is not there.
    session.feed("restore", "restore a-2 --into . --dry-run", "", 7);
    session.put("state.json", "1");
    session.feed("restore", "restore a-2 --into . --state state.json --force", "", 7);
    session.put("in/.tmp/impl-checkpoint.json", fixture("agentize/v2-01-after-impl1.json"));
    session
        .put("in/.pipeline/checkpoint-PROJ-42.json", fixture("pipeline/checkpoint-PROJ-42.json"));
    session.put("in/.pipeline/state.json", "{\"complete\": ");
    let run = "in/.hex-skills/pipeline/runtime/runs/r-1/history.jsonl";
    session.put(run, fixture("pipeline/successor/history.jsonl"));
    let loops = "in/.aiwg/checkpoints/flow-1-2026-01-25T15-00-00Z-manual.json.gz";
    session.put(loops, gzip(&fixture("aiwg/single-loop.json")));
    session.put("in/.pipeline/checkpoint-PROJ-43.json", b"{\xff");
    session.put("in/.claude/checkpoints/x.json.backup", "{}");
    session.feed("import", "import --dry-run in", "", 7);
    session.feed("import", "import in --keep-unreadable", "", 0);
    for entry in session.run("list", "list --all") {
        session.run("show", &format!("show {}", entry["id"].as_str().unwrap()));
    }
    broken(session);
    session.run("export", "export out --layout native");
    session.feed("save", "save --id f-1 --workflow-id flow --phase p --trigger heartbeat", "1", 0);
    session.run("export", "export out --layout aiwg --id f-1");
    session.put("in/w/.claude/checkpoints/x.json", fixture("claude/schema-none.json"));
    session.run("import", "import in/w");
    session.run(
        "export",
        "export out --layout claude --schema 2.1 --series in/w/orchestrate:auth_system",
    );
    session.run("complete", "fail --series in/w/orchestrate:auth_system");
    session.run("export", "export . --series in/w/orchestrate:auth_system");
    session.run("export --jsonl FILE", "export --jsonl all.jsonl");
    session.run("export --jsonl -", "export --jsonl -");
    session.run("import", "import all.jsonl");
}

/// A file that breaks the rules of its system.
fn broken(session: &mut Session) {
    let path = "in/.pipeline/checkpoint-PROJ-44.json";
    session.put(path, r#"{"storyId": "PROJ-44", "stage": 7}"#);
    session.feed("check", &format!("check {path}"), "", 4);
    session.run("import", &format!("import {path}"));
    session.run("show", "show PROJ-44");
    session.feed("resume", "resume PROJ-44 --no-gh", "", 4);
    session.feed("check", "check PROJ-44", "", 4);
}

fn keeping(session: &mut Session) {
    session.run("policy example", "policy example");
    session.run("policy show", "policy show crunch");
    session.run("policy show", "policy set aiwg --prune-on-save");
    session.run("policy show", "policy unset");
    session.put("config.yaml", format!("{OFF}  prune_on_save: true\n  keep_deleted: 9d\n"));
    session.run("policy show", "policy check config.yaml");
    session.run("prune", "prune --policy crunch --dry-run --kept");
    session.run("prune", "prune --policy aiwg --yes");
    session.run("verify", "verify");
    session.run("backup", "backup copy.redb");
    session.run("repair", "repair --dry-run");
    session.run("compact", "compact");
    session.run("help", "help");
    session.run("help", "help policy");
    session.run("init", "init");
    // Two of the files cannot be read.
    session.feed("init", "init in --import --policy aiwg", "", 7);
    session.run("doctor", "doctor");
    session.run("bench", "bench --saves 2 --size 1k");
    session.run("key", "key new.key");
    session.run("rekey", "rekey --new-key-file new.key");
    session.run("stats", "stats");
}

fn damaged(session: &mut Session) {
    session.test = Test::new();
    let pangram = "Jackdaws love my big sphinx of quartz";
    session.feed("save", "save --id x --series a", &format!("{pangram:?}"), 0);
    session.test.damage(pangram);
    session.feed("log", "log a", "", 5);
    session.feed("log --path", "log a --path /x", "", 5);
    session.feed("resume", "resume a --no-gh", "", 5);
    session.feed("resume --choice fresh", "resume a --no-gh --choice fresh", "", 3);
    session.feed("save", &format!("save --id y --series a --created-at {LATER}"), "1", 0);
    session.feed("resume --strategy select", "resume a --strategy select", "", 4);
    session.feed("verify", "verify", "", 5);
    session.feed("repair", "repair", "", 7);
}

#[test]
fn lines_of_an_export_are_taken_with_and_without_a_version_but_for_a_newer_one() {
    let test = Test::filled();
    let lines = test.run("export --jsonl - --quiet").done();
    for (store, version, code) in [
        ("same.redb", "1", Some(0)),
        ("later.redb", "2", Some(7)),
        ("wrong.redb", "\"1\"", Some(7)),
    ] {
        let lines = lines.replace("\"version\":1,", &format!("\"version\":{version},"));
        let ended = test.feed(&format!("import - --store {store}"), &lines);
        assert_eq!(ended.code, code, "{version}: {}", ended.stderr);
    }
    let before = lines.replace("\"version\":1,", "");
    test.feed("import - --store before.redb --quiet", &before).done();
    assert_eq!(test.run("export --jsonl - --quiet --store before.redb").done(), lines);
}
