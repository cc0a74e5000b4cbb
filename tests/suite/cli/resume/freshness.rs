//! Whether the world is still as a checkpoint knew it, with a real git and real files.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::super::{Ended, Test};

const BODY: &str = "Refresh tokens expire too early.";

/// A repository with a branch, and a checkpoint that was saved on it.
pub(super) fn repository() -> Test {
    let test = Test::new();
    git(&test.path(), "init -q -b main .");
    git(&test.path(), "commit -q --allow-empty -m start");
    git(&test.path(), "checkout -q -b feature/issue-42");
    let directory = test.path().join(".claude/crunch/42/checkpoints");
    fs::create_dir_all(&directory).unwrap();
    let yaml = format!(
        "checkpoint_id: CP-implementing-20250114-a3f2\nversion: \"1.0\"\n\
         created_at: \"2025-01-14T10:00:00Z\"\nissue_number: 42\nsession_id: s-1\n\
         workflow_state:\n  current_phase: implementing\n  phase_attempt: 1\n\
         issue_snapshot:\n  title: JWT refresh\n  body: {BODY}\n  labels: [bug, state:enrich]\n  \
         branch: feature/issue-42\n\
         execution_graph:\n  graph_id: G\n  completed_batches: [1, 2]\n  current_batch: 3\n  \
         node_states: {{}}\n\
         recovery_info:\n  can_resume: true\n  resume_from: batch_3_task_1\n  warnings: []\n"
    );
    fs::write(directory.join("CP-implementing-20250114-a3f2.yaml"), yaml).unwrap();
    test.run("import . --quiet").done();
    issue(&test, BODY, r#"[{"name": "state:enrich"}, {"name": "bug"}]"#);
    test
}

pub(super) fn git(directory: &Path, args: &str) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=test", "-c", "user.email=test@example.org"]);
    command.args(args.split_whitespace()).current_dir(directory);
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let output = command.output().expect("git is needed for this test");
    assert!(output.status.success(), "git {args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The issue as it is now.
pub(super) fn issue(test: &Test, body: &str, labels: &str) {
    let body = serde_json::to_string(body).unwrap();
    test.write("issue.json", &format!(r#"{{"number": 42, "body": {body}, "labels": {labels}}}"#));
}

const RESUME: &str = "resume 42 --json --no-gh --issue-json issue.json";

/// What was found: check and advice of each.
fn findings(ended: &Ended) -> Vec<String> {
    let answer = ended.object();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = answer["freshness"]["findings"].as_array().unwrap().iter();
    findings.map(|it| format!("{} {}", word(&it["check"]), word(&it["advice"]))).collect()
}

#[test]
fn a_world_that_did_not_change_is_gone_on_with() {
    needs!("git");
    let test = repository();
    let ended = test.run(RESUME);
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stderr);
    let answer = ended.object();
    assert_eq!(answer["freshness"]["unchecked"].as_array().unwrap().len(), 0, "{answer}");
    assert_eq!(answer["resume_point"]["resume_from"], "batch_3_task_1");
    assert_eq!(answer["resume_point"]["phase"], "implementing");
}

/// It was a note only, and an unattended loop went on with the work of one branch on another.
#[test]
fn another_branch_that_is_checked_out_is_not_gone_on_with_unasked() {
    needs!("git");
    let test = repository();
    git(&test.path(), "checkout -q main");
    let ended = test.run(RESUME);
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["branch prompt_user".to_owned()]));
    assert!(ended.stderr.contains("\\\"main\\\" is checked out"), "{}", ended.stderr);
    assert_eq!(test.run(&format!("{RESUME} --choice resume")).code, Some(0));
    assert_eq!(test.run(&format!("{RESUME} --force")).code, Some(0));
    // What is committed there is on no branch, and easily lost.
    git(&test.path(), "checkout -q --detach");
    let ended = test.run(RESUME);
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["branch prompt_user".to_owned()]));
    assert!(ended.stderr.contains("and no branch is checked out"), "{}", ended.stderr);
}

/// It was not read at all, and the work went on.
#[test]
fn prerequisites_that_are_not_met_are_listed_and_not_gone_on_with() {
    needs!("git");
    for (said, told) in [
        ("prerequisites_met: false", "prerequisites are not met"),
        ("prerequisites_met: \"no\"", "prerequisites are not met"),
        ("prerequisites_met: false\n  unmet_prerequisites: [database, api key]", "api key"),
        ("unmet_prerequisites: [database]", "database"),
        ("prerequisites_met:\n    tests: true\n    database: false", "database"),
        ("prerequisites: [{name: database, met: false}, {name: x, met: true}]", "database"),
    ] {
        let test = repository();
        let path = ".claude/crunch/42/checkpoints/CP-implementing-20250114-a3f2.yaml";
        let yaml = fs::read_to_string(test.path().join(path)).unwrap();
        let yaml = yaml.replace("can_resume: true", &format!("can_resume: true\n  {said}"));
        let yaml = yaml.replace("2025-01-14T10", "2025-01-14T11").replace("a3f2", "a3f3");
        test.write(&path.replace("a3f2", "a3f3"), &yaml);
        test.run("import . --quiet").done();
        let ended = test.run(RESUME);
        assert_eq!(ended.code, Some(4), "{said}: {}", ended.stderr);
        assert_eq!(findings(&ended), ["prerequisites prompt_user"], "{said}");
        assert!(ended.stderr.contains(told), "{said}: {}", ended.stderr);
        assert_eq!(test.run(&format!("{RESUME} --choice resume")).code, Some(0));
    }
}

#[test]
fn other_labels_are_a_warning() {
    needs!("git");
    let test = repository();
    issue(&test, BODY, r#"["bug", "state:ready"]"#);
    let ended = test.run(RESUME);
    assert_eq!(ended.code, Some(0));
    assert_eq!(findings(&ended), ["labels proceed_with_warning"]);
    let ended = test.run("resume 42 --document --no-gh --issue-json issue.json");
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.starts_with("warning: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("state:ready"), "{}", ended.stderr);
}

#[test]
fn a_file_that_has_no_issue_is_refused() {
    needs!("git");
    let test = repository();
    test.write("issue.json", "{}");
    let told = test.run("resume 42 --no-gh --issue-json issue.json").failed(4);
    assert!(told.starts_with("error: issue.json has neither body nor labels\n"), "{told}");
    let told = test.run("resume 42 --no-gh --issue-json missing.json").failed(1);
    assert!(told.starts_with("error: cannot read missing.json: "), "{told}");
    assert!(!told.contains("store"), "{told}");
}

/// The phase of the checkpoint was shown, even if the labels had changed.
#[test]
fn the_phase_follows_the_current_labels_and_that_is_said() {
    needs!("git");
    let test = repository();
    issue(&test, BODY, r#"["bug", "state:docs"]"#);
    let point = &test.run(RESUME).object()["resume_point"];
    assert_eq!((&point["phase"], &point["saved_phase"]), (&"docs".into(), &"implementing".into()));
    let said = "docs, by the current labels of the issue; it was saved in implementing";
    for (flags, line) in [("", "phase        "), ("--prompt", "Phase: ")] {
        let args = format!("resume 42 --no-gh --issue-json issue.json {flags}");
        let told = test.run(&args).stdout;
        assert!(told.contains(&format!("{line}{said}\n")), "{told}");
    }
}

#[test]
fn another_text_of_the_issue_is_for_somebody_to_decide() {
    needs!("git");
    let test = repository();
    issue(&test, "Something else.", r#"["bug", "state:enrich"]"#);
    let ended = test.run(RESUME);
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["body prompt_user".to_owned()]));
    assert_eq!(ended.object()["decision"], "prompt_user");
    assert!(ended.stderr.contains(r#""code":"prompt_user""#), "{}", ended.stderr);
    let quiet = test.run("resume 42 --document --quiet --no-gh --issue-json issue.json").failed(4);
    assert!(quiet.contains("the text of issue 42 changed"), "{quiet}");
    assert_eq!(test.run(&format!("{RESUME} --choice resume")).code, Some(0));
}

#[test]
fn without_its_branch_the_work_starts_over() {
    needs!("git");
    let test = repository();
    issue(&test, "Something else.", r#"["other"]"#);
    git(&test.path(), "checkout -q main");
    git(&test.path(), "branch -D feature/issue-42");
    let ended = test.run(RESUME);
    assert_eq!(ended.code, Some(4));
    let all = ["branch start_fresh", "body prompt_user", "labels proceed_with_warning"];
    assert_eq!(findings(&ended), all);
    assert_eq!(ended.object()["freshness"]["advice"], "start_fresh");
    assert_eq!(test.run(&format!("{RESUME} --choice resume")).code, Some(4));
    assert_eq!(test.run(&format!("{RESUME} --force")).code, Some(0));
}

#[test]
fn what_cannot_be_asked_is_said_and_decides_nothing() {
    needs!("git");
    let test = repository();
    fs::remove_dir_all(test.path().join(".git")).unwrap();
    let ended = test.run("resume 42 --json --no-gh");
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stderr);
    let unchecked = ended.object()["freshness"]["unchecked"].to_string();
    assert!(unchecked.contains("branch") && unchecked.contains("issue"), "{unchecked}");
}

/// A checkpoint of the aiwg system that names a file with this hash.
fn with_artifact(test: &Test, hash: &str) {
    let directory = test.path().join(".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints");
    fs::create_dir_all(&directory).unwrap();
    let json = format!(
        r#"{{"checkpoint_id": "cp-1", "workflow_id": "w", "loop_id": "ralph-fix-tests-a1b2c3d4",
        "workflow_type": "ralph_loop", "created_at": "2026-02-02T21:05:00Z", "trigger": "iteration",
        "state": {{"phase": "construction", "progress": {{"total_steps": 9, "completed_steps": 5}},
        "artifacts": [{{"path": "src/login.ts", "hash": "{hash}", "status": "modified"}}]}}}}"#
    );
    let gzip = flate2::Compression::default();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), gzip);
    std::io::Write::write_all(&mut encoder, json.as_bytes()).unwrap();
    fs::write(directory.join("iteration-005.json.gz"), encoder.finish().unwrap()).unwrap();
    fs::create_dir_all(test.path().join("src")).unwrap();
    test.write("src/login.ts", "hello");
    test.run("import . --quiet").done();
}

#[test]
fn files_that_changed_are_named() {
    let test = Test::new();
    // Of `hello`.
    with_artifact(&test, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    let resume = "resume ralph-fix-tests-a1b2c3d4 --json --no-gh";
    let ended = test.run(resume);
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stderr);
    test.write("src/login.ts", "changed");
    let ended = test.run(resume);
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["artifact prompt_user".to_owned()]));
    let message = ended.object()["freshness"]["findings"][0]["message"].to_string();
    assert!(message.contains("src/login.ts"), "{message}");
    fs::remove_file(test.path().join("src/login.ts")).unwrap();
    assert_eq!(findings(&test.run(resume)), ["artifact prompt_user"]);
}

/// A run of agentize in its worktree, with a stage that is next.
fn implementing(stage: &str) -> Test {
    let test = Test::new();
    git(&test.path(), "init -q -b main .");
    git(&test.path(), "commit -q --allow-empty -m start");
    save_state(&test, stage);
    test
}

fn save_state(test: &Test, stage: &str) {
    fs::create_dir_all(test.path().join(".tmp")).unwrap();
    let worktree = test.path().display().to_string();
    let json = format!(
        r#"{{"version": 1, "timestamp": "2025-01-15T10:30:00", "state": {{"issue_no": 42,
        "current_stage": "{stage}", "iteration": 3, "worktree": "{worktree}", "plan_file": null,
        "last_feedback": "more tests", "last_score": 75, "history": []}}}}"#
    );
    test.write(".tmp/impl-checkpoint.json", &json);
    test.run("import . --quiet").done();
}

#[test]
fn stages_of_agentize_say_what_comes_first() {
    needs!("git");
    for (stage, says) in [("impl", "again"), ("review", "feedback"), ("pr", "pull request")] {
        let test = implementing(stage);
        let answer = test.run("resume 42 --json --no-gh").object();
        let next = answer["resume_point"]["next"].as_str().unwrap_or_default().to_owned();
        assert!(next.contains(says), "{stage}: {next}");
    }
}

#[test]
fn the_worktree_must_be_the_one_that_was_worked_in() {
    needs!("git");
    let test = implementing("impl");
    assert_eq!(test.run("resume 42 --json --no-gh").code, Some(0));
    // The same store, seen from another worktree of the repository.
    git(&test.path(), "worktree add -q other -b other");
    let stderr = test.run("resume 42 --no-gh --worktree other").failed(4);
    assert!(stderr.contains("hint: --worktree [HERE] goes on there"), "{stderr}");
    let ended = test.run("resume 42 --json --no-gh --worktree other");
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["worktree start_fresh".to_owned()]));
}

#[test]
fn a_directory_within_a_larger_repository_is_a_place_to_work_in() {
    needs!("git");
    let test = Test::new();
    git(&test.path(), "init -q -b main .");
    let sub = test.path().join("sub");
    fs::create_dir_all(sub.join(".tmp")).unwrap();
    let json = format!(
        r#"{{"version": 1, "timestamp": "2025-01-15T10:30:00", "state": {{"issue_no": 42,
        "current_stage": "impl", "iteration": 1, "worktree": "{}", "history": []}}}}"#,
        sub.display()
    );
    test.write("sub/.tmp/impl-checkpoint.json", &json);
    test.run("import . --quiet").done();
    assert_eq!(test.run("resume 42 --json --no-gh").code, Some(0));
    assert_eq!(test.run("resume 42 --json --no-gh --worktree sub").code, Some(0));
    assert_eq!(test.run("resume 42 --json --no-gh --worktree .").code, Some(4));
}

#[test]
fn a_worktree_that_is_gone_cannot_be_worked_in() {
    needs!("git");
    let test = implementing("impl");
    let store = test.path().join(".waypost/store.redb");
    let other = Test::new();
    fs::create_dir(other.path().join(".waypost")).unwrap();
    fs::copy(store, other.path().join(".waypost/store.redb")).unwrap();
    drop(test);
    let ended = other.run("resume 42 --json --no-gh");
    assert_eq!(ended.code, Some(4));
    assert!(findings(&ended).contains(&"worktree start_fresh".to_owned()), "{}", ended.stdout);
}

/// A checkpoint of a plan that was followed, of a late schema.
fn following_a_plan(passing: bool, error: &str) -> Test {
    let test = Test::new();
    test.write("plan.md", "# Plan\n");
    let modified = fs::metadata(test.path().join("plan.md")).unwrap().modified().unwrap();
    let seconds = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let now = waypost::Timestamp::now().to_string();
    let now = now.split('.').next().unwrap();
    let directory = test.path().join(".claude/checkpoints");
    fs::create_dir_all(&directory).unwrap();
    let json = format!(
        r#"{{"schema_version": "1.2", "checkpoint_id": "implement_auth_20260101_000000",
        "workflow_type": "implement", "project_name": "auth", "workflow_description": "Add login",
        "created_at": "{now}Z", "updated_at": "{now}Z", "status": "in_progress",
        "current_phase": 2, "total_phases": 5, "completed_phases": [1, 2],
        "workflow_state": {{"plan_path": "plan.md", "tests_passing": {passing}}},
        "last_error": {error}, "tests_passing": true, "plan_modification_time": {seconds}}}"#
    );
    fs::write(directory.join("implement_auth_20260101_000000.json"), json).unwrap();
    test.run("import . --quiet").done();
    test
}

#[test]
fn late_schemas_of_claude_go_on_by_themselves_if_all_is_well() {
    let test = following_a_plan(true, "null");
    let ended = test.run("resume auth --json --no-gh");
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stdout);
    for test in [following_a_plan(false, "null"), following_a_plan(true, r#""broken""#)] {
        let ended = test.run("resume auth --json --no-gh");
        assert!(findings(&ended).contains(&"auto_resume prompt_user".to_owned()));
        assert_eq!(ended.code, Some(4));
    }
}

#[test]
fn a_plan_that_changed_or_is_gone_is_for_somebody_to_decide() {
    let test = following_a_plan(true, "null");
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(2);
    fs::File::options()
        .write(true)
        .open(test.path().join("plan.md"))
        .unwrap()
        .set_modified(later)
        .unwrap();
    let ended = test.run("resume auth --json --no-gh");
    assert!(findings(&ended).contains(&"plan prompt_user".to_owned()), "{}", ended.stdout);
    fs::remove_file(test.path().join("plan.md")).unwrap();
    let ended = test.run("resume auth --json --no-gh");
    assert!(findings(&ended).contains(&"plan prompt_user".to_owned()), "{}", ended.stdout);
}

#[test]
fn captured_files_are_compared_whatever_the_document_says() {
    let test = Test::new();
    test.write("a.txt", "as it was");
    test.feed("save --series work - --capture a.txt", r#"{"step": 1}"#).done();
    let ended = test.run("resume work --json");
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stderr);
    test.write("a.txt", "changed");
    let ended = test.run("resume work --json");
    assert_eq!((ended.code, findings(&ended)), (Some(4), vec!["artifact prompt_user".to_owned()]));
    assert!(ended.stderr.contains("--into [HERE]` brings captured files back"), "{}", ended.stderr);
    test.run("restore latest --into . --quiet").done();
    assert_eq!(test.run("resume work --json").code, Some(0));
}

/// An edited file that crunch lists without a hash caused no question.
#[test]
fn a_modified_file_of_crunch_that_changed_since_is_for_somebody_to_decide() {
    needs!("git");
    let test = repository();
    fs::create_dir(test.path().join("src")).unwrap();
    test.write("src/tokens.py", "tokens = 1\n");
    git(&test.path(), "add src");
    git(&test.path(), "commit -q -m tokens");
    let path = ".claude/crunch/42/checkpoints/CP-implementing-20250114-a3f2.yaml";
    let yaml = fs::read_to_string(test.path().join(path)).unwrap();
    let modified = "files_modified:\n  - {path: src/tokens.py, status: modified, staged: true}\n";
    // After the commit, and on any machine before now.
    let yaml = yaml.replace("2025-01-14T10:00:00Z", &waypost::Timestamp::now().to_string());
    test.write(&path.replace("a3f2", "a3f4"), &(yaml.replace("a3f2", "a3f4") + modified));
    test.run("import . --quiet").done();
    let ended = test.run(RESUME);
    assert_eq!((ended.code, findings(&ended)), (Some(0), vec![]), "{}", ended.stderr);
    fs::remove_file(test.path().join("src/tokens.py")).unwrap();
    assert_eq!(findings(&test.run(RESUME)), ["artifact prompt_user"]);
    test.write("src/tokens.py", "tokens = 22\n");
    for staged in [false, true] {
        if staged {
            git(&test.path(), "add src");
        }
        let ended = test.run(RESUME);
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        assert_eq!(findings(&ended), ["artifact prompt_user"]);
        let said = "tokens.py\\\" changed since the checkpoint";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert_eq!(test.run(&format!("{RESUME} --choice resume")).code, Some(0));
}

/// A directory without git cannot tell, and that is said.
#[test]
fn without_git_a_modified_file_is_not_checked() {
    needs!("git");
    let test = repository();
    fs::remove_dir_all(test.path().join(".git")).unwrap();
    test.write(".git", "gitdir: nowhere");
    test.write("a.py", "x");
    let path = ".claude/crunch/42/checkpoints/CP-implementing-20250114-a3f2.yaml";
    let yaml = fs::read_to_string(test.path().join(path)).unwrap().replace("a3f2", "a3f5");
    let yaml = yaml.replace("T10:00", "T11:00") + "files_modified: [a.py]\n";
    test.write(&path.replace("a3f2", "a3f5"), &yaml);
    test.run("import . --quiet").done();
    let ended = test.run(RESUME);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let unchecked = ended.object()["freshness"]["unchecked"].to_string();
    assert!(unchecked.contains("the content of file \\\"a.py\\\""), "{unchecked}");
}

/// Which lines changed could not be seen, only that some did.
#[test]
fn the_difference_of_changed_files_is_shown_by_line() {
    let test = Test::new();
    fs::create_dir(test.path().join("src")).unwrap();
    test.write("src/a.py", "import jwt\nTTL = 60\n");
    test.feed("save --series work --id n-1 --capture src", "1").done();
    let same = test.run("resume work --diff");
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    assert!(same.stdout.starts_with("no file is known to differ\nresume "), "{}", same.stdout);
    test.write("src/a.py", "import jwt\nTTL = \u{1b}[31m3600\n");
    let ended = test.run("resume work --diff");
    assert_eq!(ended.code, Some(4));
    insta::assert_snapshot!(ended.stdout, @r"
    file src/a.py  modified, compared with the captured content
      @@ -1,2 +1,2 @@
       import jwt
      -TTL = 60
      +TTL = \u001b[31m3600
    ");
    let answer = test.run("resume work --diff --json --choice resume").object();
    let lines = &answer["differences"]["files"][0]["lines"];
    assert_eq!(lines[2], "-TTL = 60", "{lines}");
    assert!(test.run("resume work --json").object().get("differences").is_none());
    assert_eq!(test.run("resume work --diff --document").code, Some(2));
    let (_, stdout, shown) = super::terminal::at_terminal(&test, "resume work", "v\nq\n");
    assert!(stdout.is_empty() && shown.contains("  -TTL = 60\n"), "{shown}");
}

#[test]
fn the_difference_of_a_file_of_crunch_is_to_the_commit() {
    needs!("git");
    let test = repository();
    test.write("a.py", "one\n");
    git(&test.path(), "add a.py");
    git(&test.path(), "commit -q -m a");
    let path = ".claude/crunch/42/checkpoints/CP-implementing-20250114-a3f2.yaml";
    let yaml = fs::read_to_string(test.path().join(path)).unwrap().replace("a3f2", "a3f6");
    let yaml = yaml.replace("2025-01-14T10:00:00Z", &waypost::Timestamp::now().to_string());
    test.write(&path.replace("a3f2", "a3f6"), &(yaml + "files_modified: [a.py, b.py]\n"));
    test.run("import . --quiet").done();
    test.write("a.py", "one\ntwo\n");
    let ended = test.run("resume 42 --no-gh --issue-json issue.json --diff");
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    insta::assert_snapshot!(ended.stdout, @r"
    file a.py  modified, compared with the commit before the checkpoint
      @@ -1,1 +1,2 @@
       one
      +two
    not compared: b.py: git knows no earlier content
    ");
}
