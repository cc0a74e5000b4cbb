//! The examples of every help text, each run as it stands in a project that has what it names.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;

use super::super::Test;
use super::{commands, path};
use crate::tool::has;

/// What is run instead of a part of an example, and why.
const CHANGED: [(&str, &str, &str); 7] = [
    ("tail -f", "tail -n 9", "would go on until it is interrupted"),
    ("import --watch", "import", "would go on until it is interrupted"),
    ("--count 1 ", "", "would go on until something is saved"),
    ("waypost watch", "waypost watch --count 0", "would go on until it is interrupted"),
    (" --threads 64 --saves 10000", " --threads 4", "would take minutes"),
    (" --size 64k", "", "would take half a minute"),
    ("waypost bench", "waypost bench --size 1k --saves 4", "would take half a minute"),
];

/// What is to be done first for the examples of a command.
const BEFORE: [(&str, &str); 1] = [("undelete", "waypost delete 019a8b2c-d3e4")];

/// Where one of these is missing, examples are run up to it.
const TOOLS: [&str; 4] = ["jq", "gzip", "zcat", "xargs"];

/// A project, made in `work`, with all that examples name.
const PROJECT: &str = r#"
set -e
git init -q --template= .
mkdir -p src .tmp .claude/crunch/42 .pipeline
mkdir -p ~/projects/.pipeline ~/.zfunc ~/.config/fish/completions
mkdir -p ~/.local/share/bash-completion/completions
echo 'fn main() {}' > src/main.rs
echo '[package]' > Cargo.toml
sed 's/ISO-8601/2025-01-14T10:00:00Z/' "$LAYOUTS/crunch/CP-template.yaml" \
    > .claude/crunch/42/CP-001.yaml
cp "$LAYOUTS/pipeline/checkpoint-PROJ-42.json" .pipeline/
cp "$LAYOUTS/pipeline/checkpoint-PROJ-42.json" checkpoint.json
cp "$LAYOUTS/pipeline/state.json" .pipeline/state.json
cp "$LAYOUTS/pipeline/state.json" ~/projects/.pipeline/state.json
echo '{"number": 42, "body": "", "labels": []}' > issue.json

document() {
    printf '{"description": "%s", "last_score": %s, "state": {"last_score": %s}, ' "$1" "$2" "$2"
    printf '"phase": "build", "tests": {"passing": true}, "tasks": ["parser"], '
    printf '"tasks_remaining": ["parser"], "open files": ["src/lib.rs"], "files": []}\n'
}
document State 3 > state.json
cp state.json state.yaml
cp state.json states.jsonl

loop='--loop-id ralph-fix-tests-a1b2c3d4'
document 'Fix tests' 7 | waypost save $loop --iteration 7 --trigger iteration
document 'Fix tests' 8 | waypost save $loop --iteration 8 --trigger manual
document 'Implement authentication system' 1 | waypost save --workflow-id authentication
document Nightly 1 | waypost save --series nightly
document Scratch 1 | waypost save --issue PROJ-42 --tag scratch
document Old 1 | waypost --store old.redb save
mkdir -p .pipeline
echo '{"storyId": "API-427", "stage": 2, "agentId": "a", "tasksCompleted": [], "lastAction": "l",
    "tasksRemaining": ["T-1"], "timestamp": "2026-02-13T14:30:00Z"}' \
    > .pipeline/checkpoint-API-427.json
echo '{"complete": false, "last_check": "2026-02-13T14:30:00Z", "team_name": "pipeline-2026-02-13",
    "story_state": {"API-427": "STAGE_2"}, "worktree_map": {"API-427": "."},
    "business_answers": {}}' > .pipeline/state.json
waypost import .pipeline/checkpoint-API-427.json .pipeline/state.json
for operation in 1 2 3 4 5 6 7; do
    echo $operation | waypost save --series gone --id gone-$operation
    waypost delete gone-$operation
done

of_42="--issue 42 --phase implementing --can-resume true --resume-from tests --capture src"
for score in 30 40 50 60 70 80; do
    document 'Fix the parser' $score | waypost save --trigger iteration $of_42
done
document 'Fix the parser' 85 | waypost save --id 019a8b2c-d3e4 $of_42
document 'Fix the parser' 90 | waypost save $of_42

if command -v gzip > /dev/null; then
    waypost export --jsonl - | gzip > week.jsonl.gz
fi
waypost key new.key
waypost key newer.key
waypost policy example > .claude/checkpoint-config.yaml
cp .claude/checkpoint-config.yaml .waypost/config.yaml
"#;

/// A directory with `bin` on the path, and with `work` and `home` as examples expect them.
fn project() -> Test {
    let test = Test::new();
    for name in ["bin", "as-new/work", "as-new/home"] {
        fs::create_dir_all(test.path().join(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_waypost"), test.path().join("bin/waypost")).unwrap();
    test.write("bin/build-state", "#!/bin/sh\ncat state.json\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(test.path().join("bin/build-state"), executable).unwrap();
    let made = sh(&test, "as-new", PROJECT);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    test
}

/// Runs a script in a copy of the project.
fn sh(test: &Test, copy: &str, script: &str) -> Output {
    let own = format!("{}/bin", test.path().display());
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(test.path().join(copy).join("work"));
    command.env("PATH", format!("{own}:{path}")).env("HOME", test.path().join(copy).join("home"));
    command.env("LAYOUTS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/layouts"));
    command.env_remove("WAYPOST_STORE").env_remove("NO_COLOR");
    command.stdin(Stdio::null()).output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// The part of an example that can be run with the tools that are there.
fn runnable<'a>(example: &'a str, missing: &[&str]) -> &'a str {
    let starts = |tool: &&str| example.starts_with(&format!("{tool} "));
    if missing.iter().any(starts) {
        return "";
    }
    let ends = missing.iter().filter_map(|tool| example.find(&format!(" | {tool} ")));
    &example[..ends.min().unwrap_or(example.len())]
}

fn changed(example: &str) -> String {
    let text = example.to_owned();
    CHANGED.iter().fold(text, |text, (part, instead, _)| text.replace(part, instead))
}

fn examples(command: &Value) -> Vec<(&str, i32)> {
    let examples = command["examples"].as_array().unwrap().iter();
    let exit = |example: &Value| i32::try_from(example["exit"].as_i64().unwrap()).unwrap();
    examples.map(|example| (example["command"].as_str().unwrap(), exit(example))).collect()
}

/// Runs the examples of a command one after another, and tells of those that end otherwise.
fn offences(test: &Test, command: &Value, missing: &[&str]) -> Vec<String> {
    let path = path(command);
    let name = format!("of-{}", path.replace(' ', "-"));
    copy(&test.path().join("as-new"), &test.path().join(&name));
    for (_, first) in BEFORE.iter().filter(|(name, _)| *name == path) {
        assert!(sh(test, &name, first).status.success(), "{first}");
    }
    let offence = |(example, exit)| {
        let ended = sh(test, &name, &changed(runnable(example, missing)));
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let told = || format!("{example}\n  {}, not {exit}: {stderr}", ended.status);
        (ended.status.code() != Some(exit)).then(told)
    };
    examples(command).into_iter().filter_map(offence).collect()
}

#[test]
fn every_example_does_what_it_says() {
    needs!("git");
    let test = project();
    let missing: Vec<_> = TOOLS.into_iter().filter(|tool| !has(tool)).collect();
    let commands = commands();
    // Side by side, because they wait for the disk most of the time.
    let found: Vec<String> = thread::scope(|scope| {
        let (test, missing) = (&test, &missing);
        let run = |command| scope.spawn(move || offences(test, command, missing));
        let running: Vec<_> = commands.iter().map(run).collect();
        running.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_change_to_an_example_is_needed() {
    let commands = commands();
    let examples: Vec<_> = commands.iter().flat_map(examples).collect();
    for (part, _, why) in CHANGED {
        assert!(
            examples.iter().any(|(it, _)| it.contains(part)),
            "none has {part:?} any more, which {why}"
        );
    }
}

#[test]
fn every_command_has_examples_of_its_own() {
    for command in commands() {
        let own = format!("waypost {}", path(&command));
        let has_own = examples(&command).iter().any(|(example, _)| example.contains(own.trim()));
        assert!(has_own, "`{own} --help` has no example of it below `Examples:`");
    }
}

/// Where a shell cuts a pipe off, the rest must not be taken for the example.
#[test]
fn examples_are_run_up_to_what_is_missing() {
    let line = "waypost list --json | jq -r .id | xargs waypost delete";
    assert_eq!(runnable(line, &["jq", "xargs"]), "waypost list --json");
    assert_eq!(runnable(line, &["zcat"]), line);
    assert_eq!(runnable("zcat a | waypost import -", &["zcat"]), "");
}
