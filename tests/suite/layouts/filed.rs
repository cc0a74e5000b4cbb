//! Where a change of its status moves the file of a claude checkpoint.

use std::fs;

use waypost::layouts::claude::{Filed, counterpart, is_moved_file};
use waypost::layouts::{Place, file_as, recognise};
use waypost::{Document, Entry, Layout, NewEntry, Status, Store};

use super::fixtures;

const ACTIVE: &str = "shop/.claude/data/checkpoints/a_b_20251003_120000.json";
const FAILED: &str = "shop/.claude/data/checkpoints/failed/a_b_20251003_120000.json";

/// The entry of a fixture that was imported from a path, and its document.
fn imported(name: &str, path: &str, change: impl Fn(String) -> String) -> (Entry, Document) {
    let text = fs::read_to_string(&fixtures("claude", name, ".json")[0]).unwrap();
    let source = waypost::source::Source::from_json(change(text).as_bytes()).unwrap();
    let document = source.outline().unwrap();
    let about = recognise(&document, &Place { path, ..Place::default() }).unwrap();
    let about = NewEntry { source_path: Some(path.to_owned()), ..about };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let draft = store.draft_source(about, source).unwrap();
    let entry = store.batch(vec![draft]).unwrap().remove(0).unwrap();
    (entry, document)
}

fn filed(entry: &Entry, document: &Document) -> (String, Option<String>, bool) {
    let filed = Filed::of(entry, document).unwrap();
    assert_eq!(file_as(Layout::Claude, entry, document).unwrap().path, filed.path);
    (filed.path, filed.left, filed.is_moved)
}

fn moved(from: &str, to: &str) -> (String, Option<String>, bool) {
    (to.to_owned(), Some(from.to_owned()), true)
}

fn kept(at: &str, other: &str) -> (String, Option<String>, bool) {
    (at.to_owned(), Some(other.to_owned()), false)
}

/// As after an import: no other file is removed for it.
fn unmarked(at: &str) -> (String, Option<String>, bool) {
    (at.to_owned(), None, false)
}

fn mark(entry: &mut Entry, status: Status) {
    entry.status = status;
    entry.updated_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
}

#[test]
fn what_is_marked_as_failed_or_archived_is_put_aside_and_comes_back() {
    let (mut entry, document) = imported("schema-2.1", ACTIVE, |text| text);
    assert_eq!(filed(&entry, &document), unmarked(ACTIVE));
    for (status, is_over) in [
        (Status::Failed, true),
        (Status::Archived, true),
        (Status::Completed, false),
        (Status::Paused, false),
        (Status::InProgress, false),
    ] {
        mark(&mut entry, status);
        let expected = if is_over { moved(ACTIVE, FAILED) } else { kept(ACTIVE, FAILED) };
        assert_eq!(filed(&entry, &document), expected, "{status}");
        assert_eq!(is_moved_file(&entry, FAILED), is_over, "{status}");
    }
}

#[test]
fn what_lay_in_failed_goes_back_to_work_when_it_is_reopened() {
    let (mut entry, document) = imported("schema-2.1", FAILED, |text| text);
    assert_eq!(entry.status, Status::Archived);
    assert_eq!(filed(&entry, &document), unmarked(FAILED));
    mark(&mut entry, Status::InProgress);
    assert_eq!(filed(&entry, &document), moved(FAILED, ACTIVE));
    assert!(is_moved_file(&entry, ACTIVE));
    entry.status = Status::Failed;
    assert_eq!(filed(&entry, &document), kept(FAILED, ACTIVE));
}

/// It was not marked, so an export to another directory must give the same tree.
#[test]
fn a_file_that_says_itself_that_it_failed_stays_where_it_is() {
    let change = |text: String| text.replace("in_progress", "failed");
    let (mut entry, document) = imported("schema-2.1", ACTIVE, change);
    assert_eq!(entry.status, Status::Failed);
    assert_eq!(filed(&entry, &document), (ACTIVE.to_owned(), None, false));
    entry.status = Status::Archived;
    assert_eq!(filed(&entry, &document), moved(ACTIVE, FAILED));
    let (halted, document) = imported("build-iteration", ACTIVE, |text| text);
    assert!(!Filed::of(&halted, &document).unwrap().is_moved);
}

#[test]
fn only_files_beside_failed_have_a_counterpart() {
    for (path, other) in [
        (".claude/checkpoints/a.json", Some(".claude/checkpoints/failed/a.json")),
        (ACTIVE, Some(FAILED)),
        (".claude/checkpoints/parallel_ops/a.json", None),
        (".claude/checkpoints/deeper/failed/a.json", None),
        (".claude/crunch/failed/a.json", None),
        ("failed/a.json", None),
        ("a.json", None),
    ] {
        assert_eq!(counterpart(path).as_deref(), other, "{path}");
        if let Some(other) = other {
            assert_eq!(counterpart(other).as_deref(), Some(path));
        }
    }
}
