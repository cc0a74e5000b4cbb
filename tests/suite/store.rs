//! The store through its public interface.

use waypost::{Issue, NewEntry, Query, Store};

#[test]
fn what_is_saved_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let about = NewEntry { issue: Some(Issue::new("42").unwrap()), ..NewEntry::default() };
    let saved = store.save(about, &vec![1, 2, 3]).unwrap();
    let query = Query { issue: saved.issue.clone(), ..Query::default() };
    let found = store.latest(&query).unwrap().unwrap();
    assert_eq!(found.entry, saved);
    assert_eq!(found.state::<Vec<u32>>().unwrap(), [1, 2, 3]);
    store.close().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.get(&saved.id).unwrap(), found);
}
