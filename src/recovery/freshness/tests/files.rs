//! Files that the work made.

use super::*;

// Of the empty file.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn named(path: &str, hash: Option<&str>, status: Option<&str>) -> NamedFile {
    let owned = |it: &str| it.to_owned();
    NamedFile { path: owned(path), hash: hash.map(owned), status: status.map(owned) }
}

fn look_at(files: Vec<NamedFile>) -> Freshness {
    let now = FileNow { sha256: EMPTY.to_owned(), modified_at: 0 };
    let world = Fake { files: [("there".to_owned(), now)].into(), ..Fake::default() };
    look(Layout::Aiwg, Snapshot { files, ..Snapshot::default() }, &world)
}

#[test]
fn a_file_must_be_as_the_checkpoint_says() {
    let upper = EMPTY.to_uppercase();
    let marked = format!("sha256:{EMPTY}");
    let marked_upper = format!(" SHA256:{upper}\n");
    let other = EMPTY.replace('e', "f");
    for (file, change) in [
        (named("there", None, None), None),
        (named("there", Some(EMPTY), Some("created")), None),
        (named("there", Some(&upper), Some("modified")), None),
        (named("there", Some(&marked), Some("unchanged")), None),
        (named("there", Some(&marked_upper), Some("renamed")), None),
        (named("there", Some(" "), None), None),
        (named("there", Some(&other), None), Some("file \"there\" changed")),
        (named("gone", Some(EMPTY), None), Some("file \"gone\" is gone")),
        (named("gone", None, Some("modified")), Some("file \"gone\" is gone")),
        (named("gone", Some(EMPTY), Some("deleted")), None),
        (named("gone", None, Some(" Deleted ")), None),
        (
            named("there", Some(EMPTY), Some("deleted")),
            Some("file \"there\" is there, though it was deleted"),
        ),
        (named("", Some(EMPTY), None), None),
    ] {
        let found = look_at(vec![file.clone()]);
        let finding = |message| (Check::Artifact, Advice::PromptUser, message);
        assert_eq!(only(&found), change.map(finding), "{file:?}");
    }
}

#[test]
fn a_hash_of_another_kind_is_told_and_the_file_must_still_be_there() {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e";
    let not_hex = "x".repeat(64);
    let wide = "\u{e9}".repeat(32);
    for hash in [md5, "sha512:00", "sha256:", "abc", &not_hex, &wide, "\u{20ac}\u{20ac}\u{20ac}"] {
        let found =
            look_at(vec![named("there", Some(hash), None), named("gone", Some(hash), None)]);
        assert_eq!(found.findings.len(), 1);
        assert_eq!(found.findings[0].message, "file \"gone\" is gone");
        let unchecked = "the hash is not of SHA-256, so this was not compared: \
                         the content of file \"there\", the content of file \"gone\"";
        assert_eq!(found.unchecked, [unchecked], "{hash}");
    }
}

#[test]
fn of_many_files_twenty_are_named_and_the_rest_counted() {
    for (count, findings) in [(1, 1), (20, 20), (21, 21), (30_000, 21)] {
        let files = (0..count).map(|it| named(&format!("gone-{it}"), None, None)).collect();
        let found = look_at(files);
        assert_eq!(found.findings.len(), findings);
        assert_eq!(found.findings[0].message, "file \"gone-0\" is gone");
        let rest = found.findings.get(20).map(|it| it.message.clone());
        assert_eq!(rest, (count > 20).then(|| format!("{} more files changed", count - 20)));
    }
}

#[test]
fn what_is_said_twice_is_found_once() {
    let found = look_at(vec![named("gone", None, None), named("gone", None, None)]);
    assert_eq!(found.findings.len(), 1);
}

/// Only existence was checked, so an edited file went unnoticed.
#[test]
fn a_file_of_crunch_without_a_hash_is_asked_about_by_date() {
    let now = FileNow { sha256: EMPTY.to_owned(), modified_at: 0 };
    let files = ["a", "b"].map(|path| (path.to_owned(), now.clone()));
    let world = Fake {
        files: files.into(),
        changed: texts(&["b", "gone"]),
        branches: texts(&[BRANCH]),
        checked_out: text(BRANCH),
        ..Fake::default()
    };
    let snapshot = |path: &str, hash, status| Snapshot {
        branch: text(BRANCH),
        files: vec![named(path, hash, status)],
        ..Snapshot::default()
    };
    for (path, hash, status, change) in [
        ("a", None, Some("modified"), None),
        ("b", None, Some("modified"), Some("changed since the checkpoint")),
        ("b", None, None, Some("changed since the checkpoint")),
        ("b", Some(EMPTY), None, None),
        ("gone", None, Some("modified"), Some("is gone")),
        ("gone", None, Some("deleted"), None),
    ] {
        let found = look(Layout::Crunch, snapshot(path, hash, status), &world);
        let message = change.map(|change| format!("file {path:?} {change}"));
        let finding = |it| (Check::Artifact, Advice::PromptUser, it);
        assert_eq!(only(&found), message.as_deref().map(finding));
    }
    for layout in Layout::ALL.into_iter().filter(|it| *it != Layout::Crunch) {
        assert_eq!(only(&look(layout, snapshot("b", None, None), &world)), None);
    }
}
