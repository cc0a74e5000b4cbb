//! Stores that a reader may not write to: for lack of permission, or on a read-only mount.
//!
//! Saves that a killed process left in a journal are read there, too, though no process can take
//! them in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
#[cfg(target_os = "linux")]
use std::{thread, time::Duration};

use rustix::process::{Signal, geteuid};
use serde_json::Value;

use super::{Writer, command, document, ended, send};
#[cfg(target_os = "linux")]
use crate::mounted::Mounted;
use crate::tool::has;

/// How a store was left, and its key.
struct Kind {
    name: &'static str,
    key: Option<&'static str>,
    leave: fn(&Kind, &Path) -> Vec<String>,
}

const KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const READABLE: [Kind; 4] = [
    Kind { name: "closed", key: None, leave: closed },
    Kind { name: "killed", key: None, leave: killed },
    Kind { name: "encrypted", key: Some(KEY), leave: closed },
    Kind { name: "encrypted and killed", key: Some(KEY), leave: killed },
];
#[cfg(target_os = "linux")]
const COMPACTING: Kind = Kind { name: "killed in compact", key: None, leave: closed };
const SAVES: u64 = 40;
// In the header of the engine, whose byte 9 has the flags.
#[cfg(target_os = "linux")]
const IS_TWO_PHASE: u8 = 4;

impl Kind {
    fn command(&self, store: &Path, args: &str) -> Command {
        self.keyed(command(store, args))
    }

    fn keyed(&self, mut command: Command) -> Command {
        command.env_remove("WAYPOST_KEY_FILE").env_remove("WAYPOST_KEY");
        command.envs(self.key.map(|key| ("WAYPOST_KEY", key)));
        command
    }

    /// Saves checkpoints; returns their ids in order, and the process that is still running.
    fn save(&self, store: &Path) -> (Vec<String>, Writer) {
        let mut writer = Writer::of(self.command(store, "save --lines --series writers"));
        let ids = (0..SAVES).map(|number| writer.save(&document(0, number)).unwrap());
        (ids.collect(), writer)
    }

    /// Checks what reading commands print; `run` starts one where it cannot write.
    fn check(&self, ids: &[String], run: impl Fn(&str) -> Output) {
        let read = |args: &str| {
            let Output { status, stdout, stderr } = run(args);
            let said = String::from_utf8(stderr).unwrap();
            assert!(status.success(), "{}: {args}: {said}", self.name);
            String::from_utf8(stdout).unwrap()
        };
        let listed = read("list --all --oldest --json");
        let listed = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let listed: Vec<Value> = listed.map(|entry| entry["id"].clone()).collect();
        assert_eq!(listed, ids, "{}", self.name);
        let shown: Value = serde_json::from_str(&read("latest --document")).unwrap();
        assert_eq!(shown, document(0, SAVES - 1), "{}", self.name);
        for args in ["stats", "series", "log", "diff writers@3 writers@1", "show writers@7"] {
            assert!(!read(args).is_empty(), "{}: {args}", self.name);
        }
    }
}

fn closed(kind: &Kind, store: &Path) -> Vec<String> {
    let (ids, writer) = kind.save(store);
    let (status, said) = writer.end();
    assert!(status.success(), "{said}");
    ids
}

/// Kills the saver, which leaves a journal.
fn killed(kind: &Kind, store: &Path) -> Vec<String> {
    let (ids, writer) = kind.save(store);
    send(&writer.child, Signal::KILL);
    assert_eq!(ended(writer.child).0.signal(), Some(9));
    assert!(store.with_extension("redb.journal").exists());
    ids
}

/// Kills `compact` while the header says that the last commit had one sync.
#[cfg(target_os = "linux")]
fn killed_in_compact(kind: &Kind, store: &Path) -> Vec<String> {
    let ids = closed(kind, store);
    for tries in 0..2000 {
        let child = kind.command(store, "compact").spawn().unwrap();
        thread::sleep(Duration::from_micros(2000 + tries * 50));
        send(&child, Signal::KILL);
        ended(child);
        if fs::read(store).unwrap()[9] & IS_TWO_PHASE == 0 {
            return ids;
        }
    }
    panic!("it was never killed in time");
}

/// A reader who may not write to a directory, nor to what is in it.
struct Bystander {
    dir: tempfile::TempDir,
    /// `None` if this process is not root itself, so that permissions hold for it.
    user: Option<u32>,
}

impl Bystander {
    fn new() -> Self {
        let user = geteuid().is_root().then(|| 1_500_000 + std::process::id());
        Self { dir: tempfile::tempdir().unwrap(), user }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("store.redb")
    }

    fn set_modes(&self, of_dir: u32, of_files: u32) {
        for file in fs::read_dir(self.dir.path()).unwrap() {
            let path = file.unwrap().path();
            fs::set_permissions(path, fs::Permissions::from_mode(of_files)).unwrap();
        }
        fs::set_permissions(self.dir.path(), fs::Permissions::from_mode(of_dir)).unwrap();
    }

    fn run(&self, kind: &Kind, args: &str) -> Output {
        // The binary is copied, since another user may not enter the directory it was built in.
        let binary = self.dir.path().join("waypost");
        let binary = binary.to_str().unwrap();
        let prefix = self.user.map_or(String::new(), |user| {
            format!("setpriv --reuid={user} --regid={user} --clear-groups ")
        });
        let words = format!("{prefix}{binary} {args} --wait 0 --store store.redb");
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.dir.path()).env_remove("WAYPOST_STORE");
        kind.keyed(command).output().unwrap()
    }
}

#[test]
fn who_may_not_write_reads_everything() {
    for kind in READABLE {
        let place = Bystander::new();
        if place.user.is_some() && !has("setpriv") {
            return;
        }
        let ids = (kind.leave)(&kind, &place.store());
        fs::copy(env!("CARGO_BIN_EXE_waypost"), place.dir.path().join("waypost")).unwrap();
        place.set_modes(0o555, 0o555);
        let before = fs::read(place.store()).unwrap();
        kind.check(&ids, |args| place.run(&kind, args));
        let refused = place.run(&kind, "delete latest --yes");
        assert!(!refused.status.success(), "it may not write");
        assert!(fs::read(place.store()).unwrap() == before);
        place.set_modes(0o755, 0o755);
    }
}

/// The folder counted as empty, so that acknowledged saves were missing from a list without a word.
#[test]
fn saves_in_a_spool_that_a_user_may_not_look_at_are_not_left_out() {
    let place = Bystander::new();
    if place.user.is_none() || !has("setpriv") {
        return;
    }
    let kind = &READABLE[0];
    let ids = closed(kind, &place.store());
    // As a process that hangs.
    let held = redb::Database::open(place.store()).unwrap();
    let mut writer = Writer::of(kind.command(&place.store(), "save --lines --series writers"));
    writer.save(&document(0, SAVES)).unwrap();
    let (status, said) = writer.end();
    assert!(status.success(), "{said}");
    drop(held);
    fs::copy(env!("CARGO_BIN_EXE_waypost"), place.dir.path().join("waypost")).unwrap();
    place.set_modes(0o755, 0o755);
    let spool = place.store().with_extension("redb.spool");
    for (mode, is_listed) in [(0o700, false), (0o744, false), (0o755, true)] {
        fs::set_permissions(&spool, fs::Permissions::from_mode(mode)).unwrap();
        for file in fs::read_dir(&spool).unwrap() {
            let readable = fs::Permissions::from_mode(0o644);
            fs::set_permissions(file.unwrap().path(), readable).unwrap();
        }
        let Output { status, stdout, stderr } = place.run(kind, "list --all --json");
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!(status.success(), is_listed, "{mode:o}: {said}");
        let listed = String::from_utf8(stdout).unwrap().lines().count();
        if is_listed {
            assert_eq!(listed, ids.len() + 1);
        } else {
            assert!(said.contains("redb.spool"), "{mode:o}: {said}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_mount_is_read_like_any_other() {
    for kind in READABLE {
        let Some(disk) = Mounted::ext4(64, "data=ordered") else { return };
        let store = disk.path().join("store.redb");
        let ids = (kind.leave)(&kind, &store);
        disk.make_read_only();
        kind.check(&ids, |args| kind.command(&store, args).output().unwrap());
    }
}

/// A commit with one sync may be incomplete. Only a repair finds out, and a repair writes.
#[test]
#[cfg(target_os = "linux")]
fn a_store_that_was_killed_in_compact_is_read_once_it_can_be_written() {
    let Some(disk) = Mounted::ext4(64, "data=ordered") else { return };
    let store = disk.path().join("store.redb");
    let ids = killed_in_compact(&COMPACTING, &store);
    disk.make_read_only();
    let output = COMPACTING.command(&store, "list").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Read-only file system"), "{said}");
    disk.restart();
    COMPACTING.check(&ids, |args| COMPACTING.command(&store, args).output().unwrap());
}
