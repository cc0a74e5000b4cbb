//! A terminal gets no character that can control it or mislead its reader.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;

use serde_json::json;

use super::Test;
use super::resume::terminal::terminal;

/// The hostile characters that a name may have: control characters and white space are refused.
const NAME: &str = "x\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}y";
/// Clears the screen in two ways, rings, turns the text round, and ends a line without a newline.
const HOSTILE: &str =
    "x\u{1b}[2J\u{9b}2J\u{7}\u{7f}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{feff}y";

/// Runs the command with a terminal for all three streams, and returns what the terminal got.
fn shown(test: &Test, args: &[&str], answers: &str) -> String {
    let (mut controller, user) = terminal();
    let mut command = test.command("--color never");
    command.args(args).env("NO_COLOR", "1");
    let handle = || user.try_clone().expect("a handle");
    command.stdin(handle()).stdout(handle()).stderr(handle());
    let mut child = command.spawn().expect("the command starts");
    // Else this process would keep the terminal open for ever.
    drop((command, user));
    controller.write_all(answers.as_bytes()).expect("answers");
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    // When the last user of a terminal is gone, reading from it is an error.
    while let Ok(count @ 1..) = controller.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    child.wait().expect("the command ends");
    String::from_utf8(shown).expect("UTF-8")
}

/// A store whose checkpoints have hostile characters in every text.
fn filled() -> Test {
    let test = Test::new();
    let line = |id: String, value: u32| {
        let about = json!({
            "version": 1, "id": id, "series": NAME, "issue": NAME, "loop_id": NAME,
            "workflow_id": NAME, "session_id": NAME, "agent": NAME, "phase": NAME,
            "step": NAME, "trigger": "manual", "tags": [NAME], "warnings": [HOSTILE],
            "resume_from": NAME, "created_at": "2026-01-05T10:00:00Z", "iteration": value,
            "document": {
                HOSTILE: HOSTILE, "value": value, "description": HOSTILE,
                "last_action": HOSTILE, "tasks": [{"name": HOSTILE, "status": "done"}],
                "completed": [HOSTILE], "remaining": [HOSTILE],
            },
        });
        about.to_string() + "\n"
    };
    let lines = line(format!("a{NAME}"), 1) + &line(format!("b{NAME}"), 2);
    test.write("in.jsonl", &lines);
    test.run("import in.jsonl --quiet").done();
    fs::create_dir(test.path().join(HOSTILE)).unwrap();
    test.write(&format!("{HOSTILE}/{HOSTILE}.json"), "{");
    symlink(HOSTILE, test.path().join("link")).unwrap();
    test
}

/// `show`, `latest` and `export --jsonl -` printed U+009B and marks of direction raw.
#[test]
fn no_command_sends_hostile_characters_to_a_terminal() {
    let test = filled();
    let (a, b) = (&*format!("a{NAME}"), &*format!("b{NAME}"));
    let (at, pointer) = (&*format!("{NAME}@1"), &*format!("/{HOSTILE}"));
    let unknown = &*format!("--{HOSTILE}");
    for args in [
        &["show", a][..],
        &["show", a, "--no-pager"],
        &["show", at, "--document", "--no-pager"],
        &["show", a, "--json"],
        &["latest"],
        &["latest", "--json"],
        &["latest", "--document"],
        &["list"],
        &["list", NAME],
        &["list", "--json"],
        &["log", "--no-pager"],
        &["log", NAME, "--json"],
        &["log", NAME, "--path", pointer, "--no-pager"],
        &["find", "--all", "/value > 0"],
        &["find", "--all", "/value > 0", "--json"],
        &["diff", a, b, "--no-pager"],
        &["diff", a, b, "--json"],
        &["resume", NAME],
        &["resume", a, "--document"],
        &["resume", a, "--prompt"],
        &["resume", a, "--json"],
        &["resume", a, "--choice", "resume", "--strategy", "smart"],
        &["export", "--jsonl", "-"],
        &["export", HOSTILE, "--layout", "native"],
        &["export", HOSTILE, "--layout", "native", "--json"],
        &["import", HOSTILE],
        &["import", HOSTILE, "--dry-run"],
        &["import", HOSTILE, "--json"],
        &["save", "in.jsonl", "--series", NAME, "--json"],
        &["save", HOSTILE],
        &["fork", a, "--series", NAME],
        &["fork", a, "--series", unknown],
        &["rollback", a],
        &["tag", a, NAME],
        &["stats"],
        &["stats", "--json"],
        &["verify"],
        &["doctor"],
        &["doctor", "--json"],
        &["policy", "show"],
        &["policy", "set", HOSTILE],
        &["prune", "--policy", HOSTILE],
        &["prune", "--policy", "last-1", "--dry-run"],
        &["restore", a, "--into", HOSTILE],
        &["complete", "--series", NAME],
        &["delete", a],
        &["delete", HOSTILE],
        &["list", HOSTILE],
        &["list", "--deleted"],
        &["undelete", NAME],
        &["log", "--operations", "--no-pager"],
        &["log", "--operations", "--json"],
        &["show", HOSTILE, "--json"],
        &["show", unknown],
        &["list", unknown, "--json"],
        &["list", "--store", HOSTILE],
        &["backup", HOSTILE],
        &["key", HOSTILE],
    ] {
        let shown = shown(&test, args, "v\nr\n");
        let raw: Vec<char> = HOSTILE.chars().filter(|it| !it.is_ascii_graphic()).collect();
        let found: Vec<char> = shown.chars().filter(|it| raw.contains(it)).collect();
        assert!(found.is_empty(), "{args:?}: {found:?} in {shown:?}");
    }
}

#[test]
fn what_a_terminal_is_shown_is_the_same_json() {
    let test = filled();
    let [shown, printed] =
        [shown(&test, &["latest", "--json"], ""), test.run("latest --json").done()];
    assert!(printed.contains('\u{9b}') && printed.contains('\u{202e}'), "a program gets all");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&shown), value(&printed));
}
