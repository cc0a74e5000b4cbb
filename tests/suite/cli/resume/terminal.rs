//! `resume` at a terminal: its questions, and what the answers do.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::super::Test;
use super::saved;

/// A terminal: what is typed and shown, and what a command has of it.
pub(in super::super) fn terminal() -> (File, File) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a terminal").into_string().expect("a name");
    let user = OpenOptions::new().read(true).write(true).open(name).expect("a terminal");
    (File::from(controller), user)
}

/// Runs the command with a terminal for input and errors; returns the exit code, what was printed
/// and what the terminal showed.
pub(in crate::cli) fn at_terminal(
    test: &Test,
    args: &str,
    answers: &str,
) -> (Option<i32>, String, String) {
    let (mut controller, user) = terminal();
    let mut command = test.command(args);
    command.stdin(user.try_clone().expect("a handle")).stderr(user).stdout(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    // Else this process would keep the terminal open for ever.
    drop(command);
    controller.write_all(answers.as_bytes()).expect("answers");
    let mut shown = Vec::new();
    // When the last user of a terminal is gone, reading from it is an error.
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = controller.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    let ended = child.wait_with_output().expect("the command ends");
    let shown = String::from_utf8_lossy(&shown).replace('\r', "");
    (ended.status.code(), String::from_utf8(ended.stdout).expect("UTF-8"), shown)
}

const STATE: &str = r#"{"description": "Implement authentication system"}"#;

#[test]
fn whoever_is_there_is_asked_what_to_do() {
    let test = saved(&[(STATE, "--phase build --iteration 2")]);
    let (code, stdout, shown) = at_terminal(&test, "resume work --color never", "r\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.starts_with("resume     n-0\n"), "{stdout}");
    let shown = shown.split_once("Found").expect("what was found").1;
    let (created, rest) = shown.split_once(" (").unwrap();
    let (_, rest) = rest.split_once(" ago)\n").unwrap();
    assert_eq!(
        created,
        " existing checkpoint for \"Implement authentication system\"\nCreated: 2026-01-05 10:00:00"
    );
    insta::assert_snapshot!(rest.trim_end(), @r"
    Progress: phase build, iteration 2

    Options:
      (r)esume - Continue from build
      (s)tart fresh - Archive the series and restart
      (v)iew details - Show checkpoint contents
      (d)elete - Remove checkpoint without starting
      (q)uit - Leave everything as it is

    Choice [r/s/v/d/q]: Document: waypost show n-0 --document
    Go on: waypost resume n-0 --choice resume --document
    ");
}

#[test]
fn details_can_be_seen_before_the_answer() {
    let test = saved(&[(STATE, "")]);
    let (code, stdout, shown) = at_terminal(&test, "resume work", "what\nv\ns\n");
    assert_eq!((code, stdout.as_str()), (Some(3), ""), "{shown}");
    assert!(shown.contains("Answer with one of r, s, v, d, q"), "{shown}");
    assert!(shown.contains("  \"description\": \"Implement authentication system\"\n"), "{shown}");
    assert!(shown.contains("archived 1 of work"), "{shown}");
}

#[test]
fn deleting_and_going_away_start_nothing() {
    let test = saved(&[(STATE, "")]);
    // Ctrl-D.
    let (code, stdout, shown) = at_terminal(&test, "resume work", "\u{4}");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{shown}");
    assert!(shown.ends_with("Left as it is.\n") && !shown.contains("error"), "{shown}");
    let (code, stdout, shown) = at_terminal(&test, "resume work", "q\n");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{shown}");
    assert!(shown.ends_with("Left as it is.\n") && !shown.contains("error"), "{shown}");
    assert_eq!(test.run("list --json").done().lines().count(), 1);
    let (code, stdout, shown) = at_terminal(&test, "resume work", "d\n");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{shown}");
    assert_eq!(test.run("list --json").code, Some(3));
}

#[test]
fn one_of_a_list_is_selected_by_its_number() {
    let test = saved(&[("1", ""), ("2", ""), ("3", "")]);
    let (code, stdout, shown) = at_terminal(&test, "resume work --strategy select", "2\nr\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.starts_with("resume   n-1\n"), "{stdout}");
}

#[test]
fn a_series_is_chosen_where_a_name_fits_several() {
    let test = saved(&[("1", "--series a --issue 42"), ("2", "--series b --issue 42")]);
    let (code, stdout, shown) = at_terminal(&test, "resume 42 --no-gh", "1\nr\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.starts_with("resume   n-0\n"), "{stdout}");
}

#[test]
fn a_program_at_a_terminal_is_not_asked() {
    let test = saved(&[("1", "")]);
    let (code, stdout, _) = at_terminal(&test, "resume work --document", "");
    assert_eq!((code, stdout.as_str()), (Some(0), "1\n"));
    let test = saved(&[("1", "--series a --issue 42"), ("2", "--series b --issue 42")]);
    for flags in ["--document", "--choice resume", "--strategy select --choice resume"] {
        let (code, stdout, _) = at_terminal(&test, &format!("resume 42 --no-gh {flags}"), "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{flags}");
    }
}

#[test]
fn what_is_no_text_is_asked_for_again() {
    let test = saved(&[("1", "")]);
    let (code, _, shown) = at_terminal(&test, "resume work", "\u{e9}\nr\n");
    assert_eq!(code, Some(0), "{shown}");
}

/// A file of the claude system on a schema without the rule, with tests that do not pass.
#[test]
fn only_the_rule_of_its_system_goes_on_without_asking() {
    let test = Test::new();
    std::fs::create_dir_all(test.path().join(".claude/checkpoints")).unwrap();
    let json = r#"{"checkpoint_id": "implement_auth_20260101_000000", "workflow_type": "implement",
        "project_name": "auth", "created_at": "2026-01-01T00:00:00Z", "status": "in_progress",
        "workflow_state": {"tests_passing": false}}"#;
    test.write(".claude/checkpoints/implement_auth_20260101_000000.json", json);
    test.run("import . --quiet").done();
    let (code, stdout, shown) = at_terminal(&test, "resume auth --no-gh", "\u{4}");
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{shown}");
    assert!(shown.contains("Choice [r/s/v/d/q]"), "{shown}");
}

#[test]
fn what_cannot_be_resumed_can_still_be_started_over() {
    let test = saved(&[(STATE, "--can-resume false --warning dirty")]);
    let (code, stdout, shown) = at_terminal(&test, "resume work", "r\ns\n");
    assert_eq!((code, stdout.as_str()), (Some(3), ""), "{shown}");
    assert!(shown.contains("Cannot resume: it says that it cannot be resumed: dirty\n"), "{shown}");
    assert!(shown.contains("Choice [s/v/d/q]: "), "{shown}");
    assert!(shown.contains("Answer with one of s, v, d, q."), "{shown}");
}

#[test]
fn a_part_of_a_description_and_a_type_of_workflow_are_proposed() {
    let about = "--series implement:auth --workflow-type implement";
    let test = saved(&[(STATE, about), ("2", "--series other")]);
    for name in ["authentication", "implement"] {
        let (code, stdout, shown) = at_terminal(&test, &format!("resume {name}"), "1\nr\n");
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("Is it one of these?\n  1  implement:auth\n"), "{shown}");
        assert!(
            stdout.starts_with("resume     n-0\n") || stdout.starts_with("resume  "),
            "{stdout}"
        );
        let said = test.run(&format!("resume {name}")).failed(3);
        assert!(said.contains("nearby: implement:auth"), "{said}");
    }
}
