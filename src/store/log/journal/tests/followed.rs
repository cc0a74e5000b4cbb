//! Following a journal that another process writes to.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use super::{HEADER_BYTES, IDENTITY, Specimen};
use crate::codec::Placed;
use crate::error::Error;
use crate::store::engine::disk::RealDisk;
use crate::store::log::journal::{FILE_BYTES_MAX, Followed};

impl Specimen {
    /// Follows the journal, and returns what it has already.
    fn follow(&self, next_sequence: u64) -> (Followed, Vec<u64>) {
        let started = Followed::start(
            Arc::new(RealDisk),
            (self.path(), FILE_BYTES_MAX),
            IDENTITY,
            next_sequence,
        );
        let (followed, left) = started.unwrap();
        (followed, self.sequences(&left))
    }

    fn news(&self, followed: &mut Followed) -> Vec<u64> {
        self.sequences(&followed.news().unwrap())
    }

    fn sequences(&self, left: &[Placed]) -> Vec<u64> {
        assert!(left.iter().all(|it| *it == self.placed(it.entry.sequence)));
        left.iter().map(|it| it.entry.sequence).collect()
    }

    /// Writes bytes into the file in place.
    fn put(&self, at: usize, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().write(true).open(self.path()).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(bytes).unwrap();
    }
}

#[test]
fn what_is_added_is_read_once() {
    let mut specimen = Specimen::new();
    let (mut followed, left) = specimen.follow(1);
    assert_eq!((left, specimen.news(&mut followed)), (vec![], vec![]), "there is no journal");
    specimen.save(1..3);
    assert_eq!(specimen.news(&mut followed), [1, 2]);
    assert_eq!(specimen.news(&mut followed), [0; 0]);
    specimen.append(3..4);
    specimen.save(4..6);
    assert_eq!(specimen.news(&mut followed), [3, 4, 5]);
    assert_eq!(followed.next_sequence(), 6);
    // More than is read at once.
    for first in (6..90).step_by(6) {
        specimen.save(first..first + 6);
    }
    assert_eq!(specimen.news(&mut followed), (6..90).collect::<Vec<_>>());
    let (followed, left) = specimen.follow(80);
    assert_eq!(left, (80..90).collect::<Vec<_>>(), "the tables have the others");
    assert_eq!(followed.next_sequence(), 90);
}

#[test]
fn a_journal_without_items_is_followed_from_its_front() {
    let mut specimen = Specimen::new();
    assert!(specimen.journal.prepare(1));
    let (mut followed, left) = specimen.follow(4);
    assert_eq!((left, followed.next_sequence()), (vec![], 4));
    specimen.save(4..6);
    assert_eq!(specimen.news(&mut followed), [4, 5]);
}

#[test]
fn a_journal_that_starts_over_in_place_is_read_from_its_front() {
    // As long as the first round, shorter, or longer; read in the round before the last or not.
    for (round, is_read) in [(6..10, false), (6..7, false), (6..20, false), (6..7, true)] {
        let mut specimen = Specimen::new();
        specimen.save(1..3);
        specimen.save(3..6);
        let (mut followed, left) = specimen.follow(1);
        assert_eq!(left, [1, 2, 3, 4, 5]);
        if is_read {
            specimen.journal.reset();
            specimen.save(100..101);
            assert_eq!(specimen.news(&mut followed), [100]);
        }
        let past = if is_read { 100 } else { 0 };
        specimen.journal.reset();
        specimen.save(round.start + past..round.end + past);
        let wanted: Vec<u64> = (round.start + past..round.end + past).collect();
        let wanted: Vec<u64> = wanted.into_iter().filter(|it| *it > past).collect();
        assert_eq!(specimen.news(&mut followed), wanted, "{round:?}");
        let next = round.end + past;
        specimen.save(next..next + 2);
        assert_eq!(specimen.news(&mut followed), [next, next + 1]);
    }
}

#[test]
fn another_file_in_its_place_is_read_from_its_front() {
    let mut specimen = Specimen::new();
    specimen.save(1..4);
    let (mut followed, _) = specimen.follow(1);
    specimen.journal.remove();
    assert_eq!(specimen.news(&mut followed), [0; 0], "a commit has all of it");
    specimen.save(4..5);
    assert_eq!(specimen.news(&mut followed), [4]);
    // As long as the one before, and with the same first item but another end.
    let same = specimen.dir.path().join("same");
    fs::copy(specimen.path(), &same).unwrap();
    specimen.save(5..7);
    assert_eq!(specimen.news(&mut followed), [5, 6]);
    fs::rename(&same, specimen.path()).unwrap();
    assert_eq!(specimen.news(&mut followed), [0; 0]);
}

#[test]
fn an_item_that_is_being_written_is_read_once_it_is_whole() {
    let mut specimen = Specimen::new();
    let start = specimen.save(1..3);
    let end = specimen.save(3..5);
    let whole = fs::read(specimen.path()).unwrap();
    let written = end + 28;
    for at in (start..=written).step_by(13).chain([written]) {
        let mut torn = whole.clone();
        torn[at..].fill(0);
        specimen.put(0, &torn);
        let (mut followed, mut left) = specimen.follow(1);
        assert!(left == [1, 2] || left == [1, 2, 3] || left == [1, 2, 3, 4], "{at}: {left:?}");
        specimen.put(at, &whole[at..written]);
        left.extend(specimen.news(&mut followed));
        assert_eq!(left, [1, 2, 3, 4], "{at}");
        // The same while it is followed.
        specimen.put(start, &torn[start..]);
        let (mut followed, mut left) = specimen.follow(1);
        left.extend(specimen.news(&mut followed));
        specimen.put(at, &whole[at..]);
        left.extend(specimen.news(&mut followed));
        assert_eq!(left, [1, 2, 3, 4], "{at}");
    }
}

#[test]
fn damage_behind_what_was_read_is_an_error_until_it_is_gone() {
    let mut specimen = Specimen::new();
    let start = specimen.save(1..3);
    let (mut followed, _) = specimen.follow(1);
    specimen.save(3..4);
    // Behind it, damage looks like a torn write.
    let end = specimen.save(4..5);
    specimen.save(5..6);
    let whole = fs::read(specimen.path()).unwrap();
    for at in (start + 4..end).step_by(97) {
        specimen.put(at, &[!whole[at]]);
        let news = followed.news();
        let Err(Error::Corrupt { place, .. }) = news else { panic!("{at}: {news:?}") };
        assert!(place.contains(&*specimen.path().to_string_lossy()), "{place}");
        specimen.put(at, &whole[at..=at]);
    }
    let (_, left) = specimen.follow(3);
    assert_eq!(left, [3, 4, 5]);
    assert_eq!(specimen.news(&mut followed), [3, 4, 5]);
    specimen.put(HEADER_BYTES + 30, &[!whole[HEADER_BYTES + 30]]);
    assert_eq!(specimen.news(&mut followed), [0; 0], "it was read before");
}
