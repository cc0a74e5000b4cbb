//! The manual pages of `waypost man`.

use std::fs;
use std::process::Command;

use super::super::Test;
use super::{commands, words};

/// The text of a page, without commands of the formatter.
fn text(page: &str) -> String {
    page.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "").replace("\\\\", "\\")
}

#[test]
fn every_command_has_a_page_with_its_examples() {
    let test = Test::new();
    let written = test.run("man share/man1").done();
    let commands = commands();
    assert_eq!(written.lines().count(), commands.len());
    assert_eq!(fs::read_dir(test.path().join("share/man1")).unwrap().count(), commands.len());
    for command in commands {
        let name = [&["waypost"], &*words(&command["path"])].concat().join("-");
        let page = fs::read_to_string(test.path().join(format!("share/man1/{name}.1"))).unwrap();
        let page = text(&page);
        assert!(page.contains(".SH EXAMPLES\n"), "{page}");
        assert!(page.contains(".SH \"EXIT STATUS\"\n"), "{page}");
        for example in command["examples"].as_array().unwrap() {
            assert!(page.contains(example["command"].as_str().unwrap()), "{example}: {page}");
        }
    }
}

#[test]
fn the_formatter_has_nothing_to_say_about_the_pages() {
    needs!("groff");
    let test = Test::new();
    for path in test.run("man pages").done().lines() {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", path]).current_dir(test.path());
        let formatted = groff.output().unwrap();
        assert!(formatted.status.success());
        assert_eq!(String::from_utf8_lossy(&formatted.stderr), "", "{path}");
        assert!(String::from_utf8_lossy(&formatted.stdout).contains("0      done\n"), "{path}");
    }
}

#[test]
fn pages_replace_their_own_files_and_no_others() {
    let test = Test::new();
    fs::create_dir(test.path().join("pages")).unwrap();
    test.write("pages/other.1", "other");
    test.write("pages/waypost.1", "old");
    test.run("man pages").done();
    let read = |name: &str| fs::read_to_string(test.path().join("pages").join(name)).unwrap();
    assert_eq!(read("other.1"), "other");
    assert_eq!(read("waypost.1"), test.run("man").done());
    assert!(test.run("man pages/other.1").failed(1).contains("cannot make pages/other.1"));
}
