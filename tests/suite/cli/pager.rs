//! Long results at a terminal go through a pager, and short ones do not.

use std::fs::{File, OpenOptions};
use std::io::Read as _;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::Test;

// Tells that it was there, and shows what it gets.
const PAGER: &str = "echo paged; exec cat";

/// Runs the command with a terminal of ten lines for output; returns the exit code and what it
/// showed.
fn at_terminal(test: &Test, args: &str, pager: &str) -> (Option<i32>, String) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("a terminal").into_string().expect("a name");
    let user = OpenOptions::new().read(true).write(true).open(name).expect("a terminal");
    let size = Winsize { ws_row: 10, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&user, size).expect("a size");
    let mut command = test.command(args);
    command.stdout(user).env("WAYPOST_PAGER", pager);
    let mut child = command.spawn().expect("the command starts");
    // Else this process would keep the terminal open for ever.
    drop(command);
    let mut shown = Vec::new();
    let mut controller = File::from(controller);
    let mut buffer = [0; 4096];
    // When the last user of a terminal is gone, reading from it is an error.
    while let Ok(count @ 1..) = controller.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    let ended = child.wait().expect("the command ends");
    (ended.code(), String::from_utf8_lossy(&shown).replace('\r', ""))
}

/// A store of two documents, which take more than ten lines and differ in as many.
fn long() -> Test {
    let test = Test::new();
    for first in [0, 100] {
        let fields = (0..30).map(|it| format!("\"key-{it}\":{}", first + it));
        let fields: Vec<String> = fields.collect();
        test.feed(&format!("save --id n-{first}"), &format!("{{{}}}", fields.join(","))).done();
    }
    test
}

#[test]
fn what_is_longer_than_the_screen_is_paged() {
    let test = long();
    for args in ["show latest", "latest", "diff latest", "diff latest --exit-code"] {
        let (code, shown) = at_terminal(&test, args, PAGER);
        assert!(shown.starts_with("paged\n"), "{args}: {shown}");
        assert!(shown.contains("129"), "{args}: {shown}");
        assert_eq!(code, Some(i32::from(args.contains("exit"))), "{args}");
    }
    let (code, shown) = at_terminal(&test, "log", PAGER);
    assert!(code == Some(0) && !shown.contains("paged"), "{shown}");
}

#[test]
fn a_pager_can_be_refused() {
    let test = long();
    for (args, pager) in [
        ("show latest --no-pager", PAGER),
        ("show latest --json", PAGER),
        ("show latest", ""),
        ("show latest", "cat"),
        ("show latest", "  "),
        ("show latest", "no-such-pager --really"),
        ("show latest", "no-such-pager '$HOME'"),
        ("list", PAGER),
    ] {
        let (code, shown) = at_terminal(&test, args, pager);
        assert!(code == Some(0) && !shown.contains("paged"), "{args}: {shown}");
        assert!(shown.contains("n-100"), "{args}: {shown}");
    }
}

#[test]
fn leaving_the_pager_early_is_no_error() {
    let test = Test::new();
    // More than a pipe holds.
    let numbers: Vec<String> = (0..50_000).map(|it| it.to_string()).collect();
    test.feed("save", &format!("[{}]", numbers.join(","))).done();
    let (code, shown) = at_terminal(&test, "show latest", "head -n 1");
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(shown.lines().count(), 1, "{shown}");
}
