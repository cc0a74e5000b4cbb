//! A small store that has something of everything, and what reading it may give.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use waypost::artifact::ArtifactStatus;
use waypost::keep::Operation;
use waypost::{
    Checkpoint, Id, Issue, NewArtifact, NewEntry, Policy, Query, Series, Settings, Store, Trigger,
};

/// The content of the store, as it was written.
pub(super) struct Specimen {
    pub(super) checkpoints: Vec<Checkpoint>,
    deleted: Vec<Checkpoint>,
    files: BTreeMap<Id, Vec<(String, Vec<u8>)>>,
    operations: Vec<Operation>,
    settings: Settings,
}

/// What came of reading all of it.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// What failed, or was left out of a list.
    pub(super) failed: Vec<String>,
    pub(super) readable: BTreeSet<Id>,
    /// Captured files that were read.
    pub(super) files: BTreeSet<(Id, String)>,
}

fn file(path: &str, content: &[u8]) -> NewArtifact {
    NewArtifact {
        path: path.to_owned(),
        content: Some(content.to_vec()),
        mode: Some(0o600),
        status: ArtifactStatus::Created,
    }
}

/// A state of which little changes.
fn state(number: u64) -> Vec<String> {
    (0..20).map(|line| format!("line {line} of {}", if line == 7 { number } else { 0 })).collect()
}

impl Specimen {
    /// Makes the store at `path`, and closes it.
    pub(super) fn make(path: &Path) -> Self {
        let store = Store::open(path).unwrap();
        for number in 0..9_u64 {
            let about = NewEntry {
                issue: Some(Issue::new("42").unwrap()),
                trigger: Trigger::Iteration,
                iteration: Some(number),
                phase: Some(format!("phase {}", number % 2)),
                ..NewEntry::default()
            };
            let files = match number {
                3 | 6 => vec![file("shared", &[7; 300]), file("own", &[b'a'; 2000])],
                _ => Vec::new(),
            };
            let draft = store.draft(about, &state(number)).unwrap();
            store.save_draft(draft.with_artifacts(files).unwrap()).unwrap();
        }
        for number in 1..4 {
            let about = NewEntry {
                id: Some(Id::new(format!("own-{number}")).unwrap()),
                series: Some(Series::new("other").unwrap()),
                parent: Some(Id::new("own-1").unwrap()),
                ..NewEntry::default()
            };
            store.save(about, &format!("{number}").repeat(100)).unwrap();
        }
        let id = |text: &str| Id::new(text).unwrap();
        store.tag(&id("own-1"), &["keep".to_owned()]).unwrap();
        let policy = Some(Policy::preset("crunch").unwrap());
        store.set_settings(&Settings { policy, ..Settings::default() }).unwrap();
        let second = store.entries(Query::default()).nth(7).unwrap().unwrap().id;
        store.delete(&[id("own-3"), second]).unwrap();
        let this = Self::read(&store);
        store.close().unwrap();
        this
    }

    fn read(store: &Store) -> Self {
        let entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
        let deleted = store.deleted(&Query::default()).unwrap();
        let mut files = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.artifact_count > 0) {
            let found = store.artifacts(&entry.id).unwrap().into_iter().map(|it| {
                let content = store.artifact(&entry.id, &it.path).unwrap();
                (it.path, content)
            });
            files.insert(entry.id.clone(), found.collect());
        }
        Self {
            checkpoints: entries.iter().map(|entry| store.get(&entry.id).unwrap()).collect(),
            deleted: deleted.iter().map(|it| store.get_deleted(it).unwrap()).collect(),
            files,
            operations: store.operations(100).unwrap(),
            settings: store.settings().unwrap(),
        }
    }

    /// Reads a copy of the store that may be damaged. Whatever it returns must be right.
    pub(super) fn check(&self, path: &Path) -> Reads {
        let mut reads = Reads::default();
        let store = match Store::open(path) {
            Ok(store) => store,
            Err(error) => {
                reads.failed.push(format!("open: {error}"));
                return reads;
            }
        };
        for checkpoint in &self.checkpoints {
            self.check_one(&store, checkpoint, &mut reads);
        }
        self.check_lists(&store, &mut reads);
        self.check_deleted(&store, &mut reads);
        match store.operations(100) {
            Ok(found) if found == self.operations => {}
            Ok(found) => {
                assert!(found.iter().all(|it| self.operations.contains(it)), "{found:?}");
                reads.failed.push("operations are lost".to_owned());
            }
            Err(error) => reads.failed.push(format!("operations: {error}")),
        }
        match store.settings() {
            Ok(found) if found == self.settings => {}
            Ok(found) => {
                assert_eq!(found, Settings::default(), "lost, or as they were");
                reads.failed.push("settings are lost".to_owned());
            }
            Err(error) => reads.failed.push(format!("settings: {error}")),
        }
        if let Err(error) = store.stats() {
            reads.failed.push(format!("stats: {error}"));
        }
        reads
    }

    fn check_one(&self, store: &Store, checkpoint: &Checkpoint, reads: &mut Reads) {
        let id = &checkpoint.entry.id;
        match store.get(id) {
            Ok(found) => {
                assert_eq!(found, *checkpoint);
                assert!(found.document().is_ok());
                reads.readable.insert(id.clone());
            }
            Err(error) => reads.failed.push(format!("get {id}: {error}")),
        }
        for (path, content) in self.files.get(id).into_iter().flatten() {
            match store.artifact(id, path) {
                Ok(found) => {
                    assert_eq!(found, *content);
                    reads.files.insert((id.clone(), path.clone()));
                }
                Err(error) => reads.failed.push(format!("{path} of {id}: {error}")),
            }
        }
    }

    fn check_lists(&self, store: &Store, reads: &mut Reads) {
        let queries = [
            Query::default(),
            Query { issue: Some(Issue::new("42").unwrap()), ..Query::default() },
            Query { series: Some(Series::new("other").unwrap()), ..Query::default() },
            Query { triggers: vec![Trigger::Iteration], ..Query::default() },
            Query { phase: Some("phase 1".to_owned()), ..Query::default() },
            Query { tag: Some("keep".to_owned()), ..Query::default() },
        ];
        for query in queries {
            let expected = self.checkpoints.iter().filter(|it| query.admits(&it.entry)).count();
            let mut found = 0;
            for entry in store.entries(query.clone()) {
                match entry {
                    Ok(entry) => {
                        assert!(query.admits(&entry), "{entry:?} is not of {query:?}");
                        let is_known = self.checkpoints.iter().any(|it| it.entry == entry);
                        assert!(is_known, "{entry:?}");
                        found += 1;
                    }
                    Err(error) => reads.failed.push(format!("list: {error}")),
                }
            }
            if found != expected {
                reads.failed.push(format!("{found} of {expected} in a list of {query:?}"));
            }
            match store.latest(&query) {
                Ok(Some(found)) => assert!(self.checkpoints.contains(&found), "{found:?}"),
                Ok(None) => reads.failed.push("latest finds none".to_owned()),
                Err(error) => reads.failed.push(format!("latest: {error}")),
            }
        }
    }

    fn check_deleted(&self, store: &Store, reads: &mut Reads) {
        let found = match store.deleted(&Query::default()) {
            Ok(found) => found,
            Err(error) => return reads.failed.push(format!("deleted: {error}")),
        };
        if found.len() != self.deleted.len() {
            reads.failed.push("deleted ones are lost".to_owned());
        }
        for restorable in found {
            match store.get_deleted(&restorable) {
                Ok(found) => {
                    assert!(self.deleted.contains(&found), "{found:?}");
                    reads.readable.insert(found.entry.id);
                }
                Err(error) => reads.failed.push(format!("get_deleted: {error}")),
            }
        }
    }

    /// Whether a repaired store has all that could be read before.
    pub(super) fn check_repaired(&self, store: &Store, reads: &Reads) {
        let restorable = store.deleted(&Query::default()).unwrap();
        for checkpoint in self.checkpoints.iter().chain(&self.deleted) {
            let id = &checkpoint.entry.id;
            if !reads.readable.contains(id) {
                continue;
            }
            let found = match restorable.iter().find(|it| it.entry.id == *id) {
                Some(it) => store.get_deleted(it),
                None => store.get(id),
            };
            let found = found.unwrap_or_else(|error| panic!("{id} was readable: {error}"));
            assert_eq!(found.stored_form(), checkpoint.stored_form());
            assert_eq!(found.entry.series, checkpoint.entry.series);
            assert_eq!(found.entry.tags, checkpoint.entry.tags);
            assert_eq!(found.entry.created_at, checkpoint.entry.created_at);
            for (path, content) in self.files.get(id).into_iter().flatten() {
                if reads.files.contains(&(id.clone(), path.clone())) {
                    assert_eq!(store.artifact(id, path).unwrap(), *content);
                }
            }
        }
    }
}
