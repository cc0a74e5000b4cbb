//! Anything but a regular file is refused at once: never followed, truncated or waited for.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{exchange, make, read, read_and_write, read_and_write_or_make, read_named, rename_new};
use tempfile::TempDir;

/// A directory with a file of the user, and one of each trap that may be at a name.
fn traps() -> (TempDir, PathBuf, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("precious"), "precious").unwrap();
    symlink(at("precious"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let traps = ["link", "dangling", "directory", "fifo"].map(at).to_vec();
    let precious = at("precious");
    (dir, precious, traps)
}

fn kind(outcome: std::io::Result<fs::File>) -> Option<ErrorKind> {
    outcome.err().map(|error| error.kind())
}

#[test]
fn only_a_regular_file_is_opened() {
    let (dir, precious, traps) = traps();
    for path in &traps {
        for open in [read, read_and_write, read_and_write_or_make] {
            assert_eq!(kind(open(path)), Some(ErrorKind::InvalidInput), "{}", path.display());
        }
        assert_eq!(kind(make(path)), Some(ErrorKind::AlreadyExists), "{}", path.display());
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(!dir.path().join("nowhere").exists());
    assert!(read(&precious).is_ok() && read_and_write(&precious).is_ok());
}

#[test]
fn a_link_that_the_user_names_is_followed_to_a_regular_file_only() {
    let (dir, _, _) = traps();
    let at = |name: &str| dir.path().join(name);
    assert!(read_named(&at("link")).is_ok());
    assert_eq!(kind(read_named(&at("dangling"))), Some(ErrorKind::NotFound));
    for name in ["directory", "fifo"] {
        assert_eq!(kind(read_named(&at(name))), Some(ErrorKind::InvalidInput), "{name}");
    }
}

#[test]
fn a_file_with_two_names_is_read_and_not_written() {
    let (dir, precious, _) = traps();
    fs::hard_link(&precious, dir.path().join("other")).unwrap();
    assert!(read(&precious).is_ok());
    assert_eq!(kind(read_and_write(&precious)), Some(ErrorKind::InvalidInput));
}

#[test]
fn a_file_that_is_made_is_private_and_new() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new");
    let mut file = read_and_write_or_make(&path).unwrap();
    file.write_all(b"1").unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0);
    drop(read_and_write_or_make(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"1");
}

#[test]
fn a_rename_replaces_nothing_and_an_exchange_loses_nothing() {
    let (dir, precious, traps) = traps();
    let new = dir.path().join("new");
    fs::write(&new, "new").unwrap();
    for path in traps.iter().chain([&precious]) {
        let renamed = rename_new(&new, path).unwrap_err();
        assert_eq!(renamed.kind(), ErrorKind::AlreadyExists, "{}", path.display());
    }
    let content = |path: &Path| fs::read_to_string(path).unwrap();
    if exchange(&new, &precious).unwrap() {
        assert_eq!((content(&new), content(&precious)), ("precious".into(), "new".into()));
    }
}
