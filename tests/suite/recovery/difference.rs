//! What became of files, line by line.

use std::collections::BTreeMap;

use waypost::artifact::ArtifactStatus;
use waypost::recovery::{Answer, Differences, FileNow, IssueNow, Moment, World, differences};
use waypost::{Layout, NewArtifact, NewEntry, Store};

/// Files as they are now, and as they were committed.
#[derive(Default)]
struct Files {
    now: BTreeMap<String, Vec<u8>>,
    then: BTreeMap<String, Vec<u8>>,
}

/// A hash that is the same for the same content only.
fn hash(content: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let draft = store.draft(NewEntry::default(), &1).unwrap();
    let draft = draft.with_artifacts(vec![file("x", Some(content))]).unwrap();
    let saved = store.save_draft(draft).unwrap();
    store.artifacts(&saved.id).unwrap()[0].sha256.unwrap().to_string()
}

impl World for Files {
    fn has_branch(&self, _: &str) -> Answer<bool> {
        Answer::Known(true)
    }

    fn issue(&self, _: &str) -> Answer<IssueNow> {
        Answer::Unknown("no issue".to_owned())
    }

    fn has_directory(&self, _: &str) -> Answer<bool> {
        Answer::Known(true)
    }

    fn worktree(&self) -> Answer<String> {
        Answer::Known("/".to_owned())
    }

    fn file(&self, path: &str) -> Answer<Option<FileNow>> {
        if path == "secret" {
            return Answer::Unknown("it lies outside".to_owned());
        }
        let now = self.now.get(path);
        Answer::Known(now.map(|content| FileNow { sha256: hash(content), ..FileNow::default() }))
    }

    fn pull_request(&self, _: &str) -> Answer<Option<String>> {
        Answer::Known(None)
    }

    fn has_changed(&self, path: &str, since: &Moment<'_>) -> Answer<bool> {
        assert_eq!(since.branch, Some("feature/x"));
        if path == "new" {
            return Answer::Unknown("git knows no earlier content".to_owned());
        }
        Answer::Known(self.now.get(path) != self.then.get(path))
    }

    fn content(&self, path: &str, bytes_max: u64) -> Answer<Option<Vec<u8>>> {
        let content = self.now.get(path).cloned();
        match content.as_ref().filter(|it| it.len() as u64 > bytes_max) {
            Some(_) => Answer::Unknown("it is too long".to_owned()),
            None => Answer::Known(content),
        }
    }

    fn content_at(&self, path: &str, _: &Moment<'_>) -> Answer<Option<Vec<u8>>> {
        Answer::Known(self.then.get(path).cloned())
    }
}

fn file(path: &str, content: Option<&[u8]>) -> NewArtifact {
    let status = if content.is_some() { ArtifactStatus::Modified } else { ArtifactStatus::Deleted };
    NewArtifact { path: path.to_owned(), content: content.map(<[u8]>::to_vec), mode: None, status }
}

fn named(files: &[(&str, &[u8])]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect()
}

fn of(layout: Layout, json: &str, captured: Vec<NewArtifact>, world: &Files) -> Differences {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    let about = NewEntry { layout, ..NewEntry::default() };
    let draft = store.draft(about, &value).unwrap().with_artifacts(captured).unwrap();
    let entry = store.save_draft(draft).unwrap();
    differences(&store, &store.offer(entry).unwrap().0, world).unwrap()
}

/// One line for each file, and the lines that differ.
fn shown(differences: &Differences) -> String {
    let mut all = Vec::new();
    for file in &differences.files {
        all.push(format!("{} {:?} {:?} {:?}", file.path, file.change, file.against, file.note));
        all.extend(file.lines.clone());
    }
    all.extend(differences.unchecked.clone());
    all.join("\n")
}

#[test]
fn captured_files_are_compared_line_by_line() {
    let captured = vec![
        file("a", Some(b"one\ntwo\nthree\n")),
        file("back", None),
        file("binary", Some(&[0xff, 0])),
        file("gone", Some(b"x")),
        file("same", Some(b"same")),
        file("secret", Some(b"x")),
        file("still gone", None),
    ];
    let now: &[(&str, &[u8])] = &[
        ("a", b"one\n2\nthree\n"),
        ("back", b"here\n"),
        ("binary", b"text"),
        ("same", b"same"),
        ("beside", b"not captured"),
    ];
    let world = Files { now: named(now), ..Files::default() };
    insta::assert_snapshot!(shown(&of(Layout::Native, "1", captured, &world)), @r#"
    a Modified Captured None
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    back Created Captured None
    @@ -0,0 +1,1 @@
    +here
    binary Modified Captured Some("not text: 4 bytes were 2")
    gone Deleted Captured None
    @@ -1,1 +0,0 @@
    -x
    \ no line end
    secret: it lies outside
    "#);
}

#[test]
fn modified_files_of_crunch_are_compared_with_the_commit() {
    let json = r#"{"issue_snapshot": {"branch": "feature/x"}, "files_modified": [
        {"path": "a", "status": "modified"}, "a", "same", "new", {"path": "gone"},
        {"path": "deleted", "status": "Deleted"}, {"path": "hashed", "sha256": "00"}]}"#;
    let then: &[(&str, &[u8])] =
        &[("a", b"old\n"), ("same", b"x"), ("gone", b"1\n"), ("deleted", b"1"), ("hashed", b"1")];
    let now: &[(&str, &[u8])] = &[("a", b"old\nnew\n"), ("same", b"x"), ("new", b"x")];
    let world = Files { now: named(now), then: named(then) };
    insta::assert_snapshot!(shown(&of(Layout::Crunch, json, Vec::new(), &world)), @r#"
    a Modified Commit None
    @@ -1,1 +1,2 @@
     old
    +new
    gone Deleted Commit None
    @@ -1,1 +0,0 @@
    -1
    new: git knows no earlier content
    "#);
}

#[test]
fn what_is_shown_has_an_end() {
    let long = "x\n".repeat(3000) + &"y".repeat(2000);
    let mut captured = vec![file("a", Some(b"")), file("large", Some(&vec![b'x'; (1 << 20) + 1]))];
    captured.extend((0..30).map(|it| file(&format!("more-{it}"), Some(b"1"))));
    let world =
        Files { now: named(&[("a", long.as_bytes()), ("large", b"short")]), ..Files::default() };
    let told = of(Layout::Native, "1", captured, &world);
    assert_eq!((told.files.len(), told.more), (20, 12));
    assert_eq!(told.files[0].lines.len(), 2000);
    // The header, 3,000 lines, the last one, and that it has no end.
    assert_eq!(told.files[0].note.as_deref(), Some("1003 more lines"));
    let large = "not compared by line: it has more than 1048576 bytes";
    assert_eq!(told.files[1].note.as_deref(), Some(large));
    assert!(told.files[2].lines.is_empty(), "no room is left");
    let wide = file("a", Some("\u{e9}".repeat(600).as_bytes()));
    let told = of(Layout::Native, "1", vec![wide], &Files::default());
    assert_eq!(told.files[0].lines[1], format!("-{}...", "\u{e9}".repeat(500)));
}
