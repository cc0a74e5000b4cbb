//! Verifying beside a process that writes: nothing is found in any state of the disk, nor while the
//! writer works, and no call locks, writes or syncs anything.
//!
//! A workload is recorded once, as for views.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::beside::{Pace, ReaderDisk};
use super::chance::Chance;
use super::keys;
use super::run;
use super::simulated::{Change, Files};
use super::workload::{STORE, Workload};
use crate::error::Result;
use crate::extent::extent;
use crate::store::care::verify::{Verification, Verify, verify_at};
use crate::store::engine::disk::StorePath;
use crate::store::watch::unwatched;

/// Changes of the disk from one verified state to the next.
const APART: usize = 37;
/// Seeds, enough for workloads with and without keys and threads.
const SEEDS: u64 = 8;
const SEEDS_LONG: u64 = 48;

#[test]
fn nothing_is_found_in_any_state_and_no_call_is_noticed() {
    let mut count = 0;
    for seed in 0..extent(SEEDS, SEEDS_LONG) {
        let workload = run(seed);
        let mut files = Files::default();
        for (cut, change) in workload.disk.changes().iter().enumerate() {
            if cut.is_multiple_of(APART) && files.names.contains_key(Path::new(STORE)) {
                let disk = ReaderDisk::still(files.clone());
                let verified = verify(&disk);
                // A compaction commits in one phase, which takes a hold.
                if workload.under_way(cut) != "compact" {
                    judge((seed, &workload), [cut; 2], (verified.unwrap(), &disk));
                    count += 1;
                }
            }
            files.replay(change);
        }
    }
    assert!(count > 20, "{count} states were verified");
}

#[test]
fn commits_that_overtake_a_verification_are_no_damage() {
    let (mut done, mut overtaken, mut without) = (0, 0, 0);
    for seed in 0..extent(SEEDS, SEEDS_LONG) {
        let workload = run(seed);
        let changes: Arc<[Change]> = workload.disk.changes().into();
        let (mut files, mut start) = (Files::default(), 0);
        while !files.names.contains_key(Path::new(STORE)) {
            files.replay(&changes[start]);
            start += 1;
        }
        let mut chance = Chance::new(&[seed, 2]);
        let disk = ReaderDisk::new(files, (changes, start), chance.clone());
        while !disk.is_over() {
            let calls = [20, 100, 500][chance.below(3)];
            disk.set_pace(Some(Pace { calls, changes: [1, 20][chance.below(2)] }));
            let begin = disk.done();
            let verified = verify(&disk);
            let end = disk.done();
            disk.set_pace(None);
            match verified {
                // Too many commits in a row, or a compaction.
                Err(_) if !disk.take_refused().is_empty() => without += 1,
                verified => {
                    judge((seed, &workload), [begin, end], (verified.unwrap(), &disk));
                    done += 1;
                    overtaken += u64::from(begin < end);
                }
            }
            disk.go_on(chance.below(60));
        }
    }
    eprintln!("{done} verified, {overtaken} beside changes; {without} took a hold");
    assert!(overtaken > done / 8 && without < done, "{done}, {overtaken}, {without}");
}

fn verify(disk: &ReaderDisk) -> Result<Verification> {
    let place = StorePath { path: STORE.into(), disk: Arc::new(disk.clone()) };
    verify_at(&place, &Verify { wait: Duration::ZERO, ..keys::verify() }, &mut unwatched)
}

fn judge(
    (seed, workload): (u64, &Workload),
    [begin, end]: [usize; 2],
    (found, disk): (Verification, &ReaderDisk),
) {
    let step = workload.under_way(end);
    let place = format!("WAYPOST_CRASH_SEED={seed}: changes {begin} to {end}, in {step}");
    let refused = disk.take_refused();
    assert!(refused.is_empty(), "{place}: a verification called {refused:?}");
    assert!(found.is_whole && found.sealed == 0, "{place}: {found:?}");
    // A rekey may begin or end between two parts.
    let is_damage = |place: &str| begin == end || place != "documents and captured files";
    assert!(!found.findings.iter().any(|it| is_damage(&it.place)), "{place}: {found:#?}");
}
