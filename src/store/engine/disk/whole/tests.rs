//! A whole file appears complete or not at all, and replaces another only if it may.

use super::*;

fn names(directory: &Path) -> Vec<OsString> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_file_is_there_as_a_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let mut file = WholeFile::new(&path, false).unwrap();
    file.write_all(b"first").unwrap();
    assert!(!path.exists());
    drop(file);
    assert!(names(dir.path()).is_empty(), "a draft that is dropped leaves nothing");
    let mut file = WholeFile::new(&path, false).unwrap();
    file.write_all(b"first").unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(names(dir.path()), ["a"]);
}

#[test]
fn a_file_that_came_meanwhile_is_replaced_only_if_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let write = |replaces| {
        let mut file = WholeFile::new(&path, replaces).unwrap();
        file.write_all(b"new").unwrap();
        fs::write(&path, "theirs").unwrap();
        file.finish()
    };
    assert_eq!(write(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    write(true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(dir.path()), ["a"]);
}

/// In a container each run may have the same process number, and every export after one that
/// was killed failed.
#[test]
fn a_draft_that_a_killed_process_left_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let left = WholeFile::draft_of(&path);
    fs::write(&left, "left behind").unwrap();
    let mut file = WholeFile::new(&path, false).unwrap();
    file.write_all(b"new").unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read(&left).unwrap(), b"left behind");
}

#[test]
fn no_draft_is_made_for_a_name_that_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, "theirs").unwrap();
    let taken = WholeFile::new(&path, false).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(names(dir.path()), ["a"]);
}
