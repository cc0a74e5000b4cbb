//! The reader of pages, held to what the engine itself reads.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::{Commit, Pages, Seen};

const FIXED: TableDefinition<'_, [u8; 14], &[u8]> = TableDefinition::new("fixed");
const TEXTS: TableDefinition<'_, &str, u64> = TableDefinition::new("texts");
const BARE: TableDefinition<'_, [u8; 22], ()> = TableDefinition::new("bare");

type Rows = BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// Rows of all lengths, some of them longer than a page, and room of those that were removed.
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

fn by_pages(path: &Path, seen: &mut Seen) -> Rows {
    let pages = Pages::open(File::open(path).unwrap()).unwrap();
    assert_eq!(pages.header_faults(), Vec::<&str>::new());
    let mut rows = Rows::new();
    for table in pages.tables(Commit::Last, seen) {
        let mut last: Option<Vec<u8>> = None;
        pages.walk(&table, seen, &mut |row| {
            assert!(row.is_checked);
            // The engine's own tables are read, too, and compared with nothing.
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
    let mut seen = Seen::default();
    assert!(by_pages(&path, &mut seen) == expected);
    assert_eq!(seen.bad, []);
    assert!(seen.pages() > 100);
}

#[test]
fn what_is_not_a_file_of_the_engine_has_no_tables() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("empty", vec![]), ("short", vec![7; 100]), ("zero", vec![0; 9000])] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let pages = Pages::open(File::open(&path).unwrap()).unwrap();
        let mut seen = Seen::default();
        assert!(pages.tables(Commit::Last, &mut seen).is_empty(), "{name}");
        assert!(!pages.header_faults().is_empty(), "{name}");
    }
}
