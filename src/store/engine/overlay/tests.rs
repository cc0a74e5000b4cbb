//! Overlays over files that another process writes to, and how the header of such a file is read.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use redb::{Database, Durability, ReadableDatabase as _, StorageBackend as _, TableDefinition};

use super::{BLOCK, Overlay};
use crate::store::engine::disk::{DiskFile, FileId, Lock};
use crate::store::engine::pages::header;
use crate::store::engine::published::Published;
use crate::store::engine::table::begin;
use crate::sync::lock;

const TABLE: TableDefinition<'_, u64, u64> = TableDefinition::new("numbers");

/// A file that changes its content between reads, and counts them.
#[derive(Debug, Clone, Default)]
struct Moving {
    /// What the reads see, in turn; the last content stays.
    contents: Arc<Mutex<VecDeque<Vec<u8>>>>,
    reads: Arc<AtomicUsize>,
}

impl Moving {
    fn new(contents: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let moving = Self::default();
        lock(&moving.contents).extend(contents);
        moving
    }

    fn show(&self, content: Vec<u8>) {
        *lock(&self.contents) = [content].into();
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    fn view(&self) -> Overlay {
        Overlay::view(Box::new(self.clone())).unwrap().unwrap()
    }
}

impl DiskFile for Moving {
    fn length(&self) -> io::Result<u64> {
        Ok(lock(&self.contents)[0].len() as u64)
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let mut contents = lock(&self.contents);
        let at = usize::try_from(at).unwrap();
        let part = contents[0].get(at..at + bytes.len()).map(|part| bytes.copy_from_slice(part));
        if contents.len() > 1 {
            contents.pop_front();
        }
        part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        panic!("a view writes")
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        panic!("a view changes the length")
    }

    fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
        panic!("a view allocates")
    }

    fn try_lock(&self, _: Lock) -> io::Result<bool> {
        Ok(true)
    }

    fn sync(&self) -> io::Result<()> {
        panic!("a view syncs")
    }
}

/// The content of an engine file after each of three commits: two durable ones, and one in a single
/// phase.
fn commits() -> [Vec<u8>; 3] {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("numbers.redb");
    let database = Database::create(&path).unwrap();
    let read = |path: &Path| fs::read(path).unwrap();
    let put = |number: u64, is_sure: bool| {
        let mut transaction = begin(&database, Durability::Immediate).unwrap();
        transaction.set_quick_repair(is_sure);
        transaction.set_two_phase_commit(is_sure);
        transaction.open_table(TABLE).unwrap().insert(number, number).unwrap();
        transaction.commit().unwrap();
        read(&path)
    };
    [put(1, true), put(2, true), put(3, false)]
}

#[test]
fn a_header_is_taken_once_two_reads_agree() {
    let [first, second, _] = commits();
    let mut torn = first.clone();
    torn[9] = second[9];
    torn[64..300].fill(0);
    let file = Moving::new([first, torn, second.clone()]);
    let published = Published::read(&file).unwrap().unwrap();
    assert_eq!(published.header(), &second[..header::BYTES]);
    assert_eq!(published.file_bytes, second.len() as u64);
    assert!(published.is_still(&file).unwrap());
}

#[test]
fn a_header_that_never_stays_is_not_taken() {
    let [first, second, _] = commits();
    let contents = [first, second].into_iter().cycle().take(1000);
    assert!(Published::read(&Moving::new(contents)).unwrap().is_none());
}

#[test]
fn only_a_commit_in_two_phases_is_published() {
    let [first, second, in_one_phase] = commits();
    let is_published = |content| Published::read(&Moving::new([content])).unwrap().is_some();
    assert!(is_published(first));
    assert!(is_published(second.clone()));
    assert!(!is_published(in_one_phase));
    // A flipped byte in either slot: only one in the slot of the last commit matters.
    for at in [64, 176, 192, 304] {
        let mut damaged = second.clone();
        damaged[at] ^= 1;
        let other = &second;
        let is_last = header::commit_bytes(damaged[..320].try_into().unwrap())
            != header::commit_bytes(other[..320].try_into().unwrap());
        assert_eq!(is_published(damaged), !is_last, "byte {at}");
    }
    assert!(!is_published(vec![0; 4096]));
}

#[test]
fn every_later_commit_is_noticed_and_nothing_else() {
    let [first, second, in_one_phase] = commits();
    let file = Moving::new([first.clone()]);
    let published = Published::read(&file).unwrap().unwrap();
    let mut other = first.clone();
    // Fields that change without a commit: the mark of an unclosed store, and its number of pages.
    other[9] ^= 2;
    other[28] ^= 1;
    for (content, is_still) in
        [(first, true), (other, true), (second, false), (in_one_phase, false)]
    {
        file.show(content);
        assert_eq!(published.is_still(&file).unwrap(), is_still);
    }
    file.show(vec![0; 100]);
    assert!(published.is_still(&file).is_err());
}

#[test]
fn written_blocks_of_a_view_are_read_from_memory() {
    let [content, ..] = commits();
    let file = Moving::new([content.clone()]);
    let view = file.view();
    view.write(BLOCK as u64, &[7; 2 * BLOCK]).unwrap();
    let reads = file.reads();
    let mut read = vec![0; 2 * BLOCK - 10];
    view.read(BLOCK as u64 + 5, &mut read).unwrap();
    assert_eq!((file.reads(), read.as_slice()), (reads, &[7; 2 * BLOCK - 10][..]));
    // A write of a part of a block reads the rest from the file.
    view.write(3 * BLOCK as u64 + 8, &[9; 4]).unwrap();
    assert!(file.reads() > reads);
    let reads = file.reads();
    let mut read = vec![0; 20];
    view.read(3 * BLOCK as u64, &mut read).unwrap();
    let start = 3 * BLOCK;
    assert_eq!(
        read,
        [&content[start..start + 8], &[9; 4], &content[start + 12..start + 20]].concat()
    );
    assert_eq!(file.reads(), reads);
    // A block that was not written is read from the file.
    let mut read = vec![0; BLOCK];
    view.read(4 * BLOCK as u64, &mut read).unwrap();
    assert_eq!(read, content[4 * BLOCK..5 * BLOCK]);
    assert!(file.reads() > reads);
}

#[test]
fn a_view_that_a_commit_overtook_gives_errors_and_no_bytes() {
    let [first, second, _] = commits();
    let file = Moving::new([first]);
    let view = file.view();
    view.write(0, &[7; BLOCK]).unwrap();
    let mut read = vec![0; BLOCK];
    view.read(BLOCK as u64, &mut read).unwrap();
    assert!(view.is_current().unwrap() && !view.is_stale());
    file.show(second);
    assert!(!view.is_current().unwrap());
    assert!(view.read(BLOCK as u64, &mut read).is_err());
    assert!(view.is_stale());
    assert!(view.write(2 * BLOCK as u64 + 1, &[1]).is_err(), "it takes the rest of its block");
    view.read(0, &mut read).unwrap();
    assert_eq!(read, [7; BLOCK], "of memory");
}

/// A read checks the header after it has read the bytes.
#[test]
fn a_commit_in_the_middle_of_a_read_is_noticed() {
    let [first, second, _] = commits();
    let file = Moving::new([first.clone()]);
    let view = file.view();
    *lock(&file.contents) = [first, second].into();
    assert!(view.read(BLOCK as u64, &mut [0; BLOCK]).is_err());
    assert!(view.is_stale() && !view.is_current().unwrap());
}

#[test]
fn a_file_that_gets_shorter_gives_errors() {
    let [content, ..] = commits();
    let file = Moving::new([content.clone()]);
    let view = file.view();
    file.show(content[..BLOCK].to_vec());
    assert!(view.read(BLOCK as u64, &mut [0; BLOCK]).is_err());
    assert!(!view.is_stale(), "it still names its commit");
    file.show(Vec::new());
    assert!(view.read(BLOCK as u64, &mut [0; BLOCK]).is_err());
    assert!(view.is_stale());
}

#[test]
fn an_ended_view_gives_errors_and_a_locked_file_has_no_end() {
    let [content, second, _] = commits();
    let file = Moving::new([content.clone()]);
    let (view, locked) = (file.view(), Overlay::new(Box::new(file.clone())).unwrap().unwrap());
    for overlay in [&view, &locked] {
        overlay.write(0, &[7; BLOCK]).unwrap();
        overlay.end();
    }
    assert!(view.read(0, &mut [0; BLOCK]).is_err());
    assert!(view.write(0, &[1; BLOCK]).is_err());
    assert!(view.set_len(0).is_err());
    assert!(!view.is_stale());
    file.show(second);
    locked.read(BLOCK as u64, &mut [0; BLOCK]).unwrap();
    assert!(locked.is_current().unwrap() && !locked.is_stale());
}

/// The engine over a view sees one commit, whatever follows.
#[test]
fn the_engine_reads_the_commit_of_its_view() {
    let [first, second, _] = commits();
    for (content, count) in [(first, 1), (second.clone(), 2)] {
        let file = Moving::new([content]);
        let view = file.view();
        let database = redb::Builder::new().create_with_backend(view.clone()).unwrap();
        let transaction = database.begin_read().unwrap();
        let table = transaction.open_table(TABLE).unwrap();
        assert_eq!(redb::ReadableTableMetadata::len(&table).unwrap(), count);
        view.end();
    }
}
