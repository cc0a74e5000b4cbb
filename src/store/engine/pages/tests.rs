//! The page reader, compared with what the engine itself reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::{Commit, Header, Pages, Shape, Visited};

const FIXED: TableDefinition<'_, [u8; 14], &[u8]> = TableDefinition::new("fixed");
const TEXTS: TableDefinition<'_, &str, u64> = TableDefinition::new("texts");
const BARE: TableDefinition<'_, [u8; 22], ()> = TableDefinition::new("bare");

type Rows = BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// Rows of all lengths, some longer than a page, and gaps of removed rows.
fn fill(path: &Path) {
    let database = Database::create(path).unwrap();
    for round in 0..3_u32 {
        let transaction = database.begin_write().unwrap();
        {
            let mut fixed = transaction.open_table(FIXED).unwrap();
            let mut texts = transaction.open_table(TEXTS).unwrap();
            let mut bare = transaction.open_table(BARE).unwrap();
            for number in 0..2000_u32 {
                let mut key = [0; 14];
                key[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
                let length = if number % 97 == 0 { 9000 } else { number % 50 };
                let value = vec![7; length as usize];
                fixed.insert(key, value.as_slice()).unwrap();
                texts.insert(format!("text {number}").as_str(), u64::from(number + round)).unwrap();
                let mut key = [1; 22];
                key[..4].copy_from_slice(&number.to_le_bytes());
                bare.insert(key, ()).unwrap();
            }
            fixed.retain(|key, _| key[1] % 7 != 0).unwrap();
        }
        transaction.commit().unwrap();
    }
}

fn by_engine(path: &Path) -> Rows {
    let transaction = Database::open(path).unwrap().begin_read().unwrap();
    let mut rows = Rows::new();
    for row in transaction.open_table(FIXED).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        rows.insert(("fixed".to_owned(), key.value().to_vec()), value.value().to_vec());
    }
    for row in transaction.open_table(TEXTS).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        let key = ("texts".to_owned(), key.value().as_bytes().to_vec());
        rows.insert(key, value.value().to_le_bytes().to_vec());
    }
    for row in transaction.open_table(BARE).unwrap().iter().unwrap() {
        rows.insert(("bare".to_owned(), row.unwrap().0.value().to_vec()), Vec::new());
    }
    rows
}

fn by_pages(path: &Path, seen: &mut Visited) -> Rows {
    let pages = Pages::open(Box::new(File::open(path).unwrap())).unwrap();
    assert_eq!(pages.header_faults(), Vec::<&str>::new());
    let mut rows = Rows::new();
    for table in pages.tables(Commit::Last, seen) {
        let mut last: Option<Vec<u8>> = None;
        pages.walk(&table, seen, &mut |row| {
            assert!(row.is_checked);
            // The engine's own tables are read, but compared with nothing.
            if ["fixed", "texts", "bare"].contains(&table.name.as_str()) {
                assert!(last.as_deref().is_none_or(|last| last < row.key), "in order");
                last = Some(row.key.to_vec());
                let mut value = vec![0; row.value.len()];
                pages.read(row.at, &mut value).unwrap();
                assert_eq!(value, row.value, "it is where it says");
                rows.insert((table.name.clone(), row.key.to_vec()), value);
            }
        });
    }
    rows
}

#[test]
fn pages_have_the_rows_that_the_engine_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.redb");
    fill(&path);
    let expected = by_engine(&path);
    assert!(expected.len() > 5000, "{}", expected.len());
    let mut seen = Visited::default();
    assert!(by_pages(&path, &mut seen) == expected);
    assert_eq!(seen.bad, []);
    assert!(seen.pages() > 100);
}

/// Overwrites the page at a place with zeros.
fn zero(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = usize::try_from(at).unwrap();
    bytes[at..at + super::PAGE_STEP].fill(0);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn rows_below_a_lost_root_are_found_in_their_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.redb");
    fill(&path);
    let expected = by_engine(&path);
    let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
    let tables = pages.tables(Commit::Last, &mut Visited::default());
    let fixed = tables.iter().find(|table| table.name == "fixed").unwrap();
    let root = fixed.root.unwrap().page;
    assert_eq!(root >> 59, 0, "a branch is one page long");
    zero(&path, Header::offset(root, 0));
    let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
    let mut seen = Visited::default();
    for table in pages.tables(Commit::Last, &mut seen) {
        pages.walk(&table, &mut seen, &mut |_| assert_ne!(table.name, "fixed"));
    }
    let mut rows = Rows::new();
    let shape = Shape { key: Some(14), value: None };
    pages.strays(&seen, &[shape], &mut |leaf| {
        for row in leaf.rows {
            let mut value = vec![0; row.value.len()];
            pages.read(row.at, &mut value).unwrap();
            assert_eq!(value, row.value, "it is where it says");
            rows.insert(("fixed".to_owned(), row.key.to_vec()), value);
        }
    });
    // Removed rows are found, too.
    for (key, value) in expected.iter().filter(|((table, _), _)| table == "fixed") {
        assert_eq!(rows.get(key), Some(value));
    }
}

/// A branch that named one long page many times had it read as often.
#[test]
fn a_page_that_is_named_often_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.redb");
    fill(&path);
    let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
    let tables = pages.tables(Commit::Last, &mut Visited::default());
    let fixed = tables.iter().find(|table| table.name == "fixed").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let root = usize::try_from(Header::offset(fixed.root.unwrap().page, 0)).unwrap();
    let children = usize::from(u16::from_le_bytes([bytes[root + 2], bytes[root + 3]])) + 1;
    assert!(bytes[root] == 2 && children > 2, "a branch");
    // After a sum of 16 bytes for each, there is a number of 8.
    let numbers = root + 8 + 16 * children;
    for number in 1..children {
        bytes.copy_within(numbers..numbers + 8, numbers + 8 * number);
    }
    std::fs::write(&path, bytes).unwrap();
    let (mut keys, mut seen) = (BTreeSet::new(), Visited::default());
    pages.walk(fixed, &mut seen, &mut |row| assert!(keys.insert(row.key.to_vec())));
    assert!(!keys.is_empty());
    let again = seen.bad.iter().filter(|bad| bad.reason == "it is named twice").count();
    assert_eq!(again, children - 1);
}

#[test]
fn tables_are_found_without_the_start_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.redb");
    fill(&path);
    let expected = by_engine(&path);
    zero(&path, 0);
    let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
    assert!(pages.tables(Commit::Last, &mut Visited::default()).is_empty());
    assert!(!pages.is_sure());
    let found = pages.masters().into_iter().any(|tables| {
        let mut seen = Visited::default();
        let mut rows = 0;
        for table in &tables {
            let is_ours = ["fixed", "texts", "bare"].contains(&table.name.as_str());
            pages.walk(table, &mut seen, &mut |_| rows += usize::from(is_ours));
        }
        seen.bad.is_empty() && rows == expected.len()
    });
    assert!(found);
}

#[test]
fn what_only_looks_like_a_leaf_is_no_page() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut state = 1_u64;
    let mut bytes: Vec<u8> = Vec::new();
    while bytes.len() < 40 * super::PAGE_STEP {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        bytes.extend((state >> 16).to_le_bytes().iter().take(4));
    }
    for page in bytes.chunks_mut(super::PAGE_STEP) {
        // A single row, longer than any page.
        page[..8].copy_from_slice(&[1, 0, 1, 0, 0xff, 0xff, 0xff, 0xff]);
    }
    std::fs::write(&path, bytes).unwrap();
    let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
    let shapes = [None, Some(8), Some(14)].map(|key| Shape { key, value: None });
    pages.strays(&Visited::default(), &shapes, &mut |leaf| {
        panic!("{} rows of shape {}", leaf.rows.len(), leaf.shape);
    });
    assert!(pages.masters().is_empty());
}

#[test]
fn what_is_not_a_file_of_the_engine_has_no_tables() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("empty", vec![]), ("short", vec![7; 100]), ("zero", vec![0; 9000])] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let pages = Pages::open(Box::new(File::open(&path).unwrap())).unwrap();
        let mut seen = Visited::default();
        assert!(pages.tables(Commit::Last, &mut seen).is_empty(), "{name}");
        assert!(!pages.header_faults().is_empty(), "{name}");
    }
}
