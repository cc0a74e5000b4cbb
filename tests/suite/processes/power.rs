//! Processes on a real ext4 that loses its power while they save.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{Writer, check, command, document, ended, send};
use crate::extent::extent_of;
use crate::mounted::Mounted;

const WRITERS: usize = 3;
const CUTS: u64 = 4;
const CUTS_LONG: u64 = 12;

/// The saves that were acknowledged before the power was cut.
///
/// An answer at the very moment of the cut does not count: the kernel may report success for a sync
/// that was under way when it dropped its log. A bare write and `fdatasync` shows the same: 3 of
/// 163 such answers were lost.
#[derive(Default)]
struct Answered {
    saves: Mutex<HashMap<String, (usize, u64)>>,
    is_cut: AtomicBool,
}

impl Answered {
    fn note(&self, id: String, sent: (usize, u64)) {
        let mut saves = self.saves.lock().unwrap();
        if !self.is_cut.load(Ordering::Relaxed) {
            saves.insert(id, sent);
        }
    }

    fn count(&self) -> usize {
        self.saves.lock().unwrap().len()
    }
}

/// `WAYPOST_POWER_CUTS` sets another number.
pub(super) fn cuts() -> usize {
    usize::try_from(extent_of("WAYPOST_POWER_CUTS", CUTS, CUTS_LONG)).unwrap()
}

/// Saves until the disk is gone.
fn write(mut writer: Writer, at: usize, from: u64, answered: &Answered) {
    for number in from.. {
        let Some(answer) = writer.answer(&document(at, number)) else { break };
        if answer.starts_with("error: ") {
            break;
        }
        answered.note(answer, (at, number));
    }
    send(&writer.child, Signal::KILL);
    ended(writer.child);
}

/// Starts writers, cuts the power once `count` more saves were answered, and waits for all.
fn lose_power(disk: &Mounted, store: &Path, count: usize, answered: &Answered) {
    let before = answered.count();
    answered.is_cut.store(false, Ordering::Relaxed);
    let switch = disk.power_switch();
    // Numbers that no earlier round has used.
    let from = u64::try_from(before).unwrap() * 1000;
    thread::scope(|scope| {
        let start = |at| {
            let writer = Writer::start(store);
            scope.spawn(move || write(writer, at, from, answered))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        // A reader looks at the store meanwhile.
        let mut reader = command(store, "list --json").spawn().unwrap();
        while answered.count() < before + count {
            assert!(
                !writers.iter().any(thread::ScopedJoinHandle::is_finished),
                "one ended before the cut"
            );
            thread::sleep(Duration::from_millis(1));
        }
        answered.is_cut.store(true, Ordering::Relaxed);
        switch.cut();
        let _ = reader.kill();
        ended(reader);
    });
}

#[test]
fn no_acknowledged_save_is_lost_in_a_power_cut_of_a_real_disk() {
    for options in ["data=ordered", "data=writeback"] {
        let Some(disk) = Mounted::ext4(64, options) else { return };
        let store = disk.path().join("store.redb");
        let answered = Answered::default();
        for cut in 0..cuts() {
            lose_power(&disk, &store, 1 + 13 * cut % 97, &answered);
            disk.restart();
            check(&store, &answered.saves.lock().unwrap());
            let verified = command(&store, "verify").output().unwrap();
            assert!(verified.status.success(), "cut {cut}, {options}: {verified:?}");
        }
        println!("{options}: {} saves answered", answered.count());
    }
}
