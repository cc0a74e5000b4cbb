//! Full file systems without a free block: stores there can be read, and room can be made.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::mounted::Mounted;

const SAVED: usize = 2000;

#[test]
fn a_full_ext4_is_read_and_gets_room() {
    if let Some(mounted) = Mounted::ext4(32, "rw") {
        read_and_make_room(&mounted);
    }
}

#[test]
fn a_full_tmpfs_is_read_and_gets_room() {
    if let Some(mounted) = Mounted::tmpfs(16) {
        read_and_make_room(&mounted);
    }
}

#[test]
fn a_full_ext4_gets_room_if_its_store_was_closed() {
    if let Some(mounted) = Mounted::ext4(64, "rw") {
        make_room_if_closed(&mounted);
    }
}

#[test]
fn a_full_tmpfs_gets_room_if_its_store_was_closed() {
    if let Some(mounted) = Mounted::tmpfs(64) {
        make_room_if_closed(&mounted);
    }
}

#[test]
fn many_checkpoints_are_deleted_at_once_on_a_full_ext4() {
    if let Some(mounted) = Mounted::ext4(64, "rw") {
        delete_many(&mounted);
    }
}

#[test]
fn many_checkpoints_are_deleted_at_once_on_a_full_tmpfs() {
    if let Some(mounted) = Mounted::tmpfs(64) {
        delete_many(&mounted);
    }
}

#[test]
fn a_full_ext4_is_read_without_the_reserve_of_the_journal() {
    if let Some(mounted) = Mounted::ext4(32, "rw") {
        read_without_reserve(&mounted);
    }
}

#[test]
fn a_full_tmpfs_is_read_without_the_reserve_of_the_journal() {
    if let Some(mounted) = Mounted::tmpfs(16) {
        read_without_reserve(&mounted);
    }
}

/// A write that failed on the disk of the copy was reported as damage to the store.
#[test]
fn a_backup_to_a_full_disk_is_reported_as_such() {
    let Some(mounted) = Mounted::tmpfs(1) else { return };
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.redb");
    save_and_be_killed(&store);
    // Leaves less than the copy needs.
    fs::write(mounted.path().join("filler"), vec![1; 900 << 10]).unwrap();
    let copy = mounted.path().join("copy.redb");
    let told = fails(&store, &["backup", copy.to_str().unwrap()]);
    assert!(told.contains(&format!("cannot access {}: No space left", copy.display())), "{told}");
    assert_eq!(fs::read_dir(mounted.path()).unwrap().count(), 1, "only the filler");
}

/// After a kill that left a journal, reading failed on a full disk, and so did every command that
/// makes room.
fn read_and_make_room(mounted: &Mounted) {
    let store = mounted.path().join("store.redb");
    save_and_be_killed(&store);
    mounted.fill();
    read_all(&store, mounted, SAVED);
    succeeds(&store, &["delete", "loop@3"]);
    succeeds(&store, &["prune", "--policy", "last-5", "--now", "--yes"]);
    mounted.fill();
    succeeds(&store, &["compact"]);
    let bytes = fs::metadata(&store).unwrap().len();
    assert!(bytes < 256 << 10, "{bytes} bytes are left");
    let dir = tempfile::tempdir().unwrap();
    let document = dir.path().join("document.json");
    fs::write(&document, "{}").unwrap();
    succeeds(&store, &["save", document.to_str().unwrap(), "--series", "loop"]);
    assert_eq!(count(&store), 6);
}

/// A store that was closed has no journal, and so no reserve of one: everything could be read, and
/// nothing removed.
fn make_room_if_closed(mounted: &Mounted) {
    let store = mounted.path().join("store.redb");
    save_and_be_killed(&store);
    // The engine then has no free page, and neither has the disk.
    succeeds(&store, &["compact"]);
    let reserve = || {
        let found = fs::metadata(mounted.path().join("store.redb.lock")).unwrap();
        assert!(found.len() <= 512, "its text is as short as ever");
        found.blocks() * 512
    };
    let prune = &["prune", "--policy", "last-50", "--now", "--yes"];
    for (first, saved) in [(&["delete", "loop@3"][..], SAVED), (prune, SAVED - 1)] {
        let before = reserve();
        assert!(before > 256 << 10, "{before} bytes");
        mounted.fill();
        read_all(&store, mounted, saved);
        assert_eq!(reserve(), before, "reading leaves it alone");
        succeeds(&store, first);
        fs::remove_file(mounted.path().join("filler")).unwrap();
        // The next process that has the store makes it again.
        succeeds(&store, &["compact"]);
        assert!(reserve() > 256 << 10, "{first:?}");
    }
    mounted.fill();
    succeeds(&store, &["compact"]);
    let bytes = fs::metadata(&store).unwrap().len();
    assert!(bytes < 256 << 10, "{bytes} bytes are left");
    assert_eq!(count(&store), 50);
}

/// A single transaction with all checkpoints used up the reserve and failed, without saying how
/// many were deleted.
fn delete_many(mounted: &Mounted) {
    let store = mounted.path().join("store.redb");
    save_and_be_killed(&store);
    save_and_be_killed(&store);
    succeeds(&store, &["compact"]);
    let listed = succeeds(&store, &["list", "--json", "--limit", "100000"]);
    let id = |line: &'_ str| {
        let (_, rest) = line.split_once("\"id\":\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let ids: Vec<String> = listed.lines().map(id).collect();
    mounted.fill();
    // Scattered, so that most pages of the store have some of them.
    let chosen = ids.iter().enumerate().filter(|(at, _)| at % 5 < 3).map(|(_, id)| id.as_str());
    let delete: Vec<&str> = ["delete"].into_iter().chain(chosen).collect();
    // A delete that can be restored frees no space, so it may fail before it is complete.
    let output = run(&store, &delete);
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("of 2400 checkpoints were deleted"), "{told}");
    }
    let deleted = ids.len() - count(&store);
    assert!(deleted == delete.len() - 1 || !output.status.success());
    let operations = succeeds(&store, &["log", "--operations"]);
    assert_eq!(operations.matches("delete").count(), 1, "{operations}");
    fs::remove_file(mounted.path().join("filler")).unwrap();
    succeeds(&store, &["undelete", "--operation", "1"]);
    assert_eq!(count(&store), ids.len());
    succeeds(&store, &["compact"]);
}

/// As with the journal of an earlier build, or if another program took the reserve.
fn read_without_reserve(mounted: &Mounted) {
    let store = mounted.path().join("store.redb");
    save_and_be_killed(&store);
    let journal = mounted.path().join("store.redb.journal");
    let content = fs::read(&journal).unwrap();
    let used = content.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    fs::OpenOptions::new().write(true).open(&journal).unwrap().set_len(used as u64).unwrap();
    mounted.fill();
    read_all(&store, mounted, SAVED);
    assert_eq!(fs::read(&journal).unwrap(), content[..used], "the journal is as it was");
    let told = fails(&store, &["tag", "loop@0", "kept"]);
    assert!(told.contains("the disk is full"), "{told}");
    // The free pages of the file may have enough room for this one.
    let compacted = run(&store, &["compact"]);
    let told = String::from_utf8_lossy(&compacted.stderr);
    assert!(compacted.status.success() || told.contains("the disk is full"), "{told}");
    fs::remove_file(mounted.path().join("filler")).unwrap();
    succeeds(&store, &["tag", "loop@0", "kept"]);
    assert_eq!(count(&store), SAVED);
    assert!(!journal.exists());
}

fn read_all(store: &Path, mounted: &Mounted, saved: usize) {
    let dir = tempfile::tempdir().unwrap();
    for read in [&["latest"][..], &["show", "loop@7"], &["resume", "loop"], &["stats"], &["verify"]]
    {
        succeeds(store, read);
        mounted.fill();
    }
    assert_eq!(count(store), saved);
    mounted.fill();
    let copy = dir.path().join("copy.redb");
    succeeds(store, &["backup", copy.to_str().unwrap()]);
    assert_eq!(count(&copy), saved);
    mounted.fill();
}

/// Kills a saver once all its saves are acknowledged, so that its journal stays.
fn save_and_be_killed(store: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.arg("--store").arg(store).args(["save", "--lines", "--series", "loop"]);
    let mut saver = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = saver.stdin.take().unwrap();
    let answers = BufReader::new(saver.stdout.take().unwrap()).lines();
    let lines = std::thread::spawn(move || {
        for number in 0..SAVED as u64 {
            let words = number..number + 20;
            let words: Vec<u64> = words.map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            writeln!(input, "{words:?}").unwrap();
        }
        // It ends, and closes the store, when its input does.
        input
    });
    assert!(answers.take(SAVED).all(|it| !it.unwrap().starts_with("error")));
    saver.kill().unwrap();
    saver.wait().unwrap();
    drop(lines.join().unwrap());
}

fn count(store: &Path) -> usize {
    succeeds(store, &["export", "--jsonl", "-"]).lines().count()
}

fn succeeds(store: &Path, args: &[&str]) -> String {
    let output = run(store, args);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", args[0]);
    String::from_utf8(output.stdout).unwrap()
}

fn fails(store: &Path, args: &[&str]) -> String {
    let output = run(store, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn run(store: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.arg("--store").arg(store).args(args).output().unwrap()
}
