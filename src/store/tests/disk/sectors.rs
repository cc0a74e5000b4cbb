//! Each sector of a store is unreadable in turn: every read is right or an error, the damage is
//! reported, and a repair saves at least what it saves if the whole page is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};

use super::chance::Chance;
use super::keys;
use super::simulated::{Files, SimulatedDisk};
use super::workload::{STORE, later, open};
use crate::checkpoint::{
    ArtifactStatus, Checkpoint, Entry, Id, Issue, NewArtifact, NewEntry, Series, Trigger,
};
use crate::codec::KeyId;
use crate::error::{Error, Result};
use crate::extent::extent;
use crate::key::Span;
use crate::store::care::inspect::inspect_at;
use crate::store::care::repair::{Repair, Repaired, repair_at};
use crate::store::care::verify::{Defect, Verification, Verify, verify_at};
use crate::store::engine::disk::{Disk as _, StorePath};
use crate::store::watch::unwatched;
use crate::store::{Settings, Store};

const SECTOR: u64 = 512;
const PAGE_LENGTH: usize = 4096;
const PAGE: u64 = PAGE_LENGTH as u64;
const NOISE: [char; 16] =
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'];
// A default run tries each fifth sector, so that all places in a page come up.
const STRIDE: u64 = 5;
// Of the sectors tried, each seventh is repaired for good; again all places in a page come up.
const REPAIRED: u64 = 7;
const SPOOL: &str = "store.redb.spool";
const JOURNAL: &str = "/disk/store.redb.journal";

/// A store with something of everything, as its files are, and what is in it.
struct Specimen {
    files: Files,
    known: BTreeMap<Id, Checkpoint>,
    deleted: BTreeSet<Id>,
}

fn state(number: u64) -> Vec<String> {
    (0..20).map(|line| format!("line {line} of {}", if line == 7 { number } else { 0 })).collect()
}

fn save(store: &Store, number: u64) -> Result<()> {
    let about = NewEntry {
        issue: Some(Issue::new("42")?),
        trigger: Trigger::Iteration,
        iteration: Some(number),
        ..NewEntry::default()
    };
    let files = match number {
        3 | 6 => vec![file("shared", &[7; 300]), file("own", &[b'a'; 2000])],
        _ => Vec::new(),
    };
    let draft = store.draft(about, &state(number))?;
    store.save_draft(draft.with_artifacts(files)?).map(drop)
}

fn file(path: &str, content: &[u8]) -> NewArtifact {
    let (path, content) = (path.to_owned(), Some(content.to_vec()));
    NewArtifact { path, content, mode: Some(0o600), status: ArtifactStatus::Created }
}

impl Specimen {
    /// Closed, or left as a crash leaves it, with a journal.
    fn make(is_closed: bool) -> Self {
        Self::make_with(is_closed, &[])
    }

    fn make_with(is_closed: bool, keys: &[KeyId]) -> Self {
        let disk = SimulatedDisk::default();
        let store = open(&disk, &later(), keys).unwrap();
        (0..9).for_each(|number| save(&store, number).unwrap());
        let id = |number: u64| Id::new(format!("own-{number}")).unwrap();
        for number in 1..4 {
            let about = NewEntry {
                id: Some(id(number)),
                series: Some(Series::new("other").unwrap()),
                parent: Some(id(1)),
                ..NewEntry::default()
            };
            store.save(about, &format!("{number}").repeat(100)).unwrap();
        }
        // More than fit on one page.
        for number in 0..16 {
            let about = NewEntry {
                series: Some(Series::new(format!("alone {number}")).unwrap()),
                ..NewEntry::default()
            };
            let mut chance = Chance::new(&[number]);
            let noise: String = (0..1200).map(|_| NOISE[chance.below(NOISE.len())]).collect();
            store.save(about, &noise).unwrap();
        }
        store.tag(&id(1), &["keep".to_owned()]).unwrap();
        store.set_settings(&Settings::default()).unwrap();
        store.delete(&[id(3)]).unwrap();
        if !is_closed {
            // Only the journal has these.
            (20..26).for_each(|number| save(&store, number).unwrap());
        }
        let known: BTreeMap<Id, Checkpoint> = entries(&store)
            .unwrap()
            .into_iter()
            .map(|entry| (entry.id.clone(), store.get(&entry.id).unwrap()))
            .collect();
        if is_closed {
            store.close().unwrap();
        }
        let files = disk.files();
        disk.die();
        Self { files, known, deleted: [id(3)].into() }
    }

    /// Length of a file without the zeros at its end, except for one page of them.
    fn length(&self, path: &str) -> u64 {
        let content = self.files.content(Path::new(path)).unwrap();
        let used = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        content.len().min(used + PAGE_LENGTH) as u64
    }

    /// Tries every sector of a file, or some of them in a default run.
    fn try_all(&self, path: &str) {
        let (next, length) = (AtomicUsize::new(0), self.length(path));
        let step = SECTOR * extent(STRIDE, 1);
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    let dir = tempfile::tempdir().unwrap();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed) as u64;
                        let at = number * step;
                        if at >= length {
                            return;
                        }
                        let repaired_in = number.is_multiple_of(REPAIRED).then_some(dir.path());
                        self.try_one(path, at, repaired_in);
                    }
                });
            }
        });
    }

    /// Reads and verifies with one sector unreadable; repairs for good in a directory, if given.
    fn try_one(&self, path: &str, at: u64, repaired_in: Option<&Path>) {
        let case = format!("{path}, sector at {at}");
        let disk = SimulatedDisk::with(self.files.clone());
        disk.spoil(Path::new(path), at..at + SECTOR);
        let place = StorePath { path: PathBuf::from(STORE), disk: Arc::new(disk.clone()) };
        let verified = verify_at(&place, &Verify::default(), &mut unwatched).unwrap();
        let is_told = |it: &crate::store::Unreadable| {
            it.path == Path::new(path) && it.at <= at && at < it.at + it.bytes
        };
        assert!(verified.is_damaged() && verified.is_whole, "{case}: {verified:?}");
        assert!(verified.unreadable.iter().any(is_told), "{case}: {verified:?}");
        match inspect_at(&place, Duration::ZERO, &mut |_| {}) {
            Ok(found) => assert!(found.unreadable.iter().any(is_told), "{case}: {found:?}"),
            Err(error) => assert!(is_of_disk(&error), "{case}: {error:?}"),
        }
        assert_eq!(disk.changed(), 0, "{case}: something was written");
        let repaired = would_save(&place);
        if path == STORE {
            let without = would_save(&self.without(at / PAGE * PAGE));
            assert!(count(&repaired) >= count(&without), "{case}: {repaired:?}, but {without:?}");
            check_named(&case, &repaired, &verified);
        }
        if let Some(dir) = repaired_in {
            assert_eq!(self.repair(&case, &place, dir), count(&repaired), "{case}: {repaired:?}");
        }
        self.read(&case, &disk);
        disk.die();
    }

    /// The same store, and zeros in place of a page.
    fn without(&self, at: u64) -> StorePath {
        let disk = SimulatedDisk::with(self.files.clone());
        let file = disk.open_to_write(Path::new(STORE)).unwrap();
        file.write_at(&[0; PAGE_LENGTH], at).unwrap();
        StorePath { path: PathBuf::from(STORE), disk: Arc::new(disk) }
    }

    /// Number of checkpoints that a repair saves. All are unchanged, and all others are reported as
    /// lost.
    fn repair(&self, case: &str, place: &StorePath, dir: &Path) -> u64 {
        let into = dir.join("saved.redb");
        let repair = Repair { into: Some(into.clone()), ..Repair::default() };
        let repaired = repair_at(place, &repair, &mut unwatched).unwrap();
        let store = Store::open(&into).unwrap();
        let mut saved = BTreeSet::new();
        for entry in entries(&store).unwrap() {
            let found = store.get(&entry.id).unwrap();
            let Some(known) = self.known.get(&found.entry.id) else {
                let is_known = self.deleted.contains(&found.entry.id);
                assert!(is_known || found.entry.series.as_str() == "salvaged", "{case}: {found:?}");
                continue;
            };
            assert_eq!(found.stored_form(), known.stored_form(), "{case}");
            saved.insert(found.entry.id);
        }
        store.close().unwrap();
        std::fs::remove_file(&into).unwrap();
        for id in self.known.keys().filter(|id| !saved.contains(*id)) {
            assert!(is_lost(&repaired, id), "{case}: {id} is lost silently: {repaired:?}");
        }
        count(&repaired)
    }

    /// Everything readable is right.
    fn read(&self, case: &str, disk: &SimulatedDisk) {
        let store = match open(disk, &later(), &[]) {
            Ok(store) => store,
            Err(error) => return assert!(is_of_disk(&error), "{case}: {error:?}"),
        };
        for (id, known) in &self.known {
            match store.get(id) {
                Ok(found) => assert_eq!(found, *known, "{case}"),
                Err(error) => assert!(is_of_disk(&error), "{case}: {error:?}"),
            }
        }
        match entries(&store) {
            Ok(found) => {
                let known: BTreeSet<&Id> = self.known.keys().collect();
                assert_eq!(found.iter().map(|it| &it.id).collect::<BTreeSet<_>>(), known, "{case}");
                assert!(found.iter().all(|it| *it == self.known[&it.id].entry), "{case}");
            }
            Err(error) => assert!(is_of_disk(&error), "{case}: {error:?}"),
        }
    }
}

fn entries(store: &Store) -> Result<Vec<Entry>> {
    store.read(|snapshot| snapshot.entries(Span::ALL)?.collect())
}

/// What a repair would save.
fn would_save(place: &StorePath) -> Repaired {
    let repair = Repair { dry_run: true, ..Repair::default() };
    repair_at(place, &repair, &mut unwatched).unwrap()
}

/// How many checkpoints were saved, with their entries.
fn count(repaired: &Repaired) -> u64 {
    repaired.checkpoints + repaired.deleted - repaired.salvaged
}

/// Every checkpoint that a repair loses is named by a verification.
fn check_named(case: &str, repaired: &Repaired, verified: &Verification) {
    for id in repaired.lost.iter().filter_map(|it| it.checkpoint.as_ref()) {
        let is_named = verified.findings.iter().any(|it| it.checkpoint.as_ref() == Some(id));
        assert!(is_named, "{case}: {id} is not in {:?}", verified.findings);
    }
}

/// Whether a repair reported a checkpoint as lost, or an entry that it cannot name.
fn is_lost(repaired: &Repaired, id: &Id) -> bool {
    let is_of = |it: &crate::store::Lost| match &it.checkpoint {
        Some(named) => named == id,
        None => true,
    };
    repaired.lost.iter().chain(&repaired.unsure).any(is_of)
}

/// Whether an error says only that the disk cannot read.
fn is_of_disk(error: &Error) -> bool {
    match error {
        Error::Io { source, .. } => {
            source.raw_os_error().is_some() || source.kind() == io::ErrorKind::Other
        }
        Error::Corrupt { reason, .. } => reason.contains("the disk cannot read"),
        _ => false,
    }
}

#[test]
fn a_bad_sector_of_a_closed_store_damages_only_what_is_on_it() {
    Specimen::make(true).try_all(STORE);
}

#[test]
fn a_bad_sector_after_a_crash_damages_only_what_is_on_it() {
    let specimen = Specimen::make(false);
    specimen.try_all(STORE);
    specimen.try_all(JOURNAL);
}

/// Without the key, only what is really lost is reported.
#[test]
fn without_the_key_nothing_is_reported_lost_that_the_key_can_read() {
    let Some(key) = keys::all().first().copied() else { return };
    let specimen = Specimen::make_with(true, &[key]);
    for at in (0..specimen.length(STORE)).step_by(5 * 512) {
        let disk = SimulatedDisk::with(specimen.files.clone());
        disk.spoil(Path::new(STORE), at..at + SECTOR);
        let place = StorePath { path: PathBuf::from(STORE), disk: Arc::new(disk) };
        let [without, with] = [Verify::default(), keys::verify()].map(|how| {
            let found = verify_at(&place, &how, &mut unwatched).unwrap();
            assert!(found.unreadable.iter().any(|it| it.at <= at && at < it.at + it.bytes));
            found
        });
        let hurt = |it: &Verification| -> BTreeSet<Id> {
            it.findings.iter().filter_map(|it| it.checkpoint.clone()).collect()
        };
        assert!(hurt(&without).is_subset(&hurt(&with)), "sector at {at}: {without:?}");
        assert!(without.sealed > 0 && with.sealed == 0, "sector at {at}: {without:?}");
    }
}

/// All of these calls ignored the damage silently.
#[test]
fn a_spooled_save_that_cannot_be_read_is_reported_and_stays() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    save(&store, 0).unwrap();
    let draft = store.draft(NewEntry::default(), &"spooled").unwrap();
    store.shared.let_go();
    assert!(store.shared.spool(&mut [draft]).iter().all(Option::is_some));
    let files = disk.files();
    disk.die();
    let spooled = files.names.keys().find(|it| it.parent().is_some_and(|it| it.ends_with(SPOOL)));
    let spooled = spooled.unwrap().clone();
    let disk = SimulatedDisk::with(files);
    disk.spoil(&spooled, 0..1);
    let place = StorePath { path: PathBuf::from(STORE), disk: Arc::new(disk.clone()) };
    let verified = verify_at(&place, &Verify::default(), &mut unwatched).unwrap();
    let is_told = |it: &Defect| it.place.contains(&*spooled.to_string_lossy());
    assert!(verified.findings.iter().any(is_told), "{verified:?}");
    assert!(!verified.needs_repair(), "{verified:?}");
    let found = inspect_at(&place, Duration::ZERO, &mut |_| {}).unwrap();
    assert_eq!((found.spool.damaged, found.spool.checkpoints), (1, 0));
    let store = open(&disk, &later(), &[]).unwrap();
    assert_eq!(entries(&store).unwrap().len(), 1);
    assert!(disk.files().names.contains_key(&spooled), "it may be read some other time");
}
