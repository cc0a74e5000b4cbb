//! Torn ends and damage: torn ends are skipped, damage is reported.
//!
//! Covers what an opening finds (here), and readers that follow a journal (`followed`).

mod followed;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::{FILE_BYTES_MAX, HEADER_BYTES, Journal, Mark, look, scan};
use crate::checkpoint::{Entry, NewEntry};
use crate::codec::{Placed, check};
use crate::error::Error;
use crate::store::Store;
use crate::store::engine::disk::RealDisk;
use crate::store::save::draft::Draft;

const IDENTITY: u64 = 0x0102_0304_0506_0708;
const SECTOR_BYTES: usize = 512;

/// A journal in a directory of its own.
struct Specimen {
    dir: tempfile::TempDir,
    draft: Draft,
    journal: Journal,
}

impl Specimen {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let draft = store.draft(NewEntry::default(), &0).unwrap();
        let path = dir.path().join("journal");
        Self { dir, draft, journal: Journal::new(Arc::new(RealDisk), path, IDENTITY) }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("journal")
    }

    fn placed(&self, sequence: u64) -> Placed {
        let byte = sequence.to_le_bytes()[0];
        let entry = Entry { sequence, ..self.draft.entry.clone() };
        Placed { entry, frame: vec![byte; 600 + usize::from(byte) * 70] }
    }

    /// Adds some in one write; returns where they end.
    fn append(&mut self, sequences: std::ops::Range<u64>) -> usize {
        let placed: Vec<Placed> = sequences.map(|it| self.placed(it)).collect();
        assert!(self.journal.prepare(1 << 14));
        self.journal.append(&placed).unwrap();
        usize::try_from(self.journal.end).unwrap()
    }

    /// As [`Specimen::append`], and syncs them.
    fn save(&mut self, sequences: std::ops::Range<u64>) -> usize {
        let end = self.append(sequences);
        self.journal.sync().unwrap();
        end
    }

    /// The written bytes, without most of the room after them.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = fs::read(self.path()).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        bytes.truncate(end + 100);
        bytes
    }

    /// The sequences read from these bytes.
    fn read(&self, bytes: &[u8], next_sequence: u64) -> Result<Vec<u64>, Error> {
        fs::write(self.path(), bytes).unwrap();
        let placed =
            look(&RealDisk, (&self.path(), FILE_BYTES_MAX), IDENTITY, next_sequence)?.placed;
        assert!(placed.iter().all(|it| *it == self.placed(it.entry.sequence)));
        Ok(placed.iter().map(|it| it.entry.sequence).collect())
    }

    /// The sequences that are found past damage, and whether there is any.
    fn scan(&self, bytes: &[u8], next_sequence: u64) -> (Vec<u64>, bool) {
        fs::write(self.path(), bytes).unwrap();
        let scanned =
            scan(&RealDisk, (&self.path(), FILE_BYTES_MAX), Some(IDENTITY), next_sequence).unwrap();
        let Some(scanned) = scanned else { return (Vec::new(), false) };
        for item in &scanned.items {
            let saved = self.placed(item.placed.entry.sequence);
            assert_eq!(item.placed.entry, saved.entry);
            assert!(!item.is_checked || item.placed.frame == saved.frame);
        }
        let found = scanned.items.iter().map(|it| it.placed.entry.sequence).collect();
        (found, scanned.gaps.iter().any(|gap| gap.is_damage))
    }
}

#[test]
fn a_mark_is_laid_out_as_the_format_says() {
    let mut bytes = vec![1; 40];
    Mark { synced: 30, last: 7 }.encode(40, IDENTITY, &mut bytes);
    let numbers = [40_u64, 30, 7].map(u64::to_le_bytes).concat();
    let sum = check(IDENTITY, &numbers).to_le_bytes();
    assert_eq!(bytes[40..], [&[0; 4], &numbers[8..], &sum[..]].concat());
    assert_eq!(Mark::at(&bytes, 40, IDENTITY), Some(Mark { synced: 30, last: 7 }));
    assert_eq!(Mark::at(&bytes, 40, !IDENTITY), None, "of another store");
    assert_eq!(Mark::at(&bytes[1..], 39, IDENTITY), None, "in another place");
}

/// A journal ended at the first damaged item. The saves after it were lost silently once the store
/// was opened.
#[test]
fn damage_to_what_was_on_disk_is_told_and_all_else_is_found() {
    let mut specimen = Specimen::new();
    let ends = [1..2, 2..4, 4..5, 5..6].map(|it| specimen.save(it));
    let whole = specimen.bytes();
    assert_eq!(specimen.read(&whole, 1).unwrap(), [1, 2, 3, 4, 5]);
    let kinds: [fn(&mut [u8]); 2] = [|bytes| bytes[0] ^= 0x21, |bytes| bytes.fill(0)];
    for (at, hurt) in (0..whole.len() - 1).step_by(7).flat_map(|at| kinds.map(|it| (at, it))) {
        let mut bytes = whole.clone();
        hurt(&mut bytes[at..whole.len().min(at + 40)]);
        let read = specimen.read(&bytes, 1);
        let (found, is_damaged) = specimen.scan(&bytes, 1);
        if at >= HEADER_BYTES && at < ends[2] && bytes != whole {
            let Err(Error::Corrupt { place, reason, .. }) = read else { panic!("{at}: {read:?}") };
            let named = place.strip_prefix("byte ").and_then(|it| it.split_once(" of "));
            let (named, path) = named.unwrap();
            assert!((1..at + 1).contains(&named.parse().unwrap()), "{at}: {place}");
            assert!(path.ends_with("journal") && reason.contains("waypost repair"));
            // Damage at the border of two items hurts both.
            assert!(is_damaged && found.len() >= 3, "{at}: {found:?}");
            assert_eq!(fs::read(specimen.path()).unwrap(), bytes, "it is as it was");
            // Items that the tables have are not missed.
            assert_eq!(specimen.read(&bytes, 6).unwrap(), [0; 0]);
        } else if at < HEADER_BYTES {
            assert!(found.len() >= 4, "{at}: {found:?}");
        } else {
            assert!(!is_damaged && read.unwrap().starts_with(&[1, 2, 3, 4]), "{at}");
        }
    }
}

/// Any sector of an unsynced write may be on disk or not, independent of its position.
#[test]
fn whatever_a_loss_of_power_leaves_of_a_write_is_no_damage() {
    let mut specimen = Specimen::new();
    // An earlier round, all of it in the tables, with a mark in the way of the second.
    specimen.save(1..3);
    specimen.save(3..6);
    specimen.journal.reset();
    let synced = specimen.save(6..7);
    let before = fs::read(specimen.path()).unwrap();
    specimen.append(7..9);
    let end = specimen.append(9..10);
    let after = fs::read(specimen.path()).unwrap();
    let sectors: Vec<usize> = (synced / SECTOR_BYTES..=(end + 28) / SECTOR_BYTES).collect();
    assert!((6..12).contains(&sectors.len()), "{}", sectors.len());
    let mut is_torn = 0;
    for kept in 0..1_u32 << sectors.len() {
        let mut bytes = before.clone();
        for (_, sector) in sectors.iter().enumerate().filter(|(bit, _)| kept >> bit & 1 == 1) {
            let part = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            bytes[part.clone()].copy_from_slice(&after[part]);
        }
        let read = specimen.read(&bytes, 6).unwrap();
        assert!([6, 7, 8, 9].starts_with(&read) && !read.is_empty(), "{kept:b}: {read:?}");
        let (found, is_damaged) = specimen.scan(&bytes, 6);
        assert!(!is_damaged && found.len() >= read.len(), "{kept:b}: {found:?}");
        is_torn += u32::from(found.len() > read.len());
    }
    assert!(is_torn > 10, "some had a whole item behind a torn one: {is_torn}");
}

#[test]
fn a_journal_without_marks_ends_where_it_breaks_off() {
    let mut specimen = Specimen::new();
    specimen.save(1..2);
    let end = specimen.save(2..4);
    let mut bytes = specimen.bytes();
    bytes[end..].fill(0);
    assert_eq!(specimen.read(&bytes, 1).unwrap(), [1, 2, 3]);
    bytes[100] ^= 1;
    assert_eq!(specimen.read(&bytes, 1).unwrap(), [0; 0]);
}
