//! Captured files, compared with a list of the contents of each checkpoint, through random steps.

use super::*;

#[derive(Debug, Clone)]
enum Change {
    Save {
        series: u8,
        contents: Vec<usize>,
    },
    Batch(Vec<Vec<usize>>),
    /// Saves under an id that may be taken.
    Named {
        id: u8,
        contents: Vec<usize>,
    },
    Delete {
        which: usize,
        now: bool,
    },
    Undelete(usize),
    Prune {
        keep_last: u32,
        now: bool,
    },
    /// Switches pruning on every save on or off.
    Ring(Option<u32>),
    /// Lets time pass, so that what was deleted expires.
    Week,
    Compact,
    Reopen,
}

fn changes() -> impl Strategy<Value = Change> {
    let contents = || prop::collection::vec(0..12_usize, 0..5);
    prop_oneof![
        6 => (0..3_u8, contents())
            .prop_map(|(series, contents)| Change::Save { series, contents }),
        2 => prop::collection::vec(contents(), 1..4).prop_map(Change::Batch),
        2 => (0..3_u8, contents()).prop_map(|(id, contents)| Change::Named { id, contents }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(which, now)| Change::Delete { which, now }),
        2 => any::<usize>().prop_map(Change::Undelete),
        1 => (1..3_u32, any::<bool>())
            .prop_map(|(keep_last, now)| Change::Prune { keep_last, now }),
        1 => prop::option::of(1..3_u32).prop_map(Change::Ring),
        1 => Just(Change::Week),
        1 => Just(Change::Compact),
        1 => Just(Change::Reopen),
    ]
}

fn policy(keep_last: u32) -> Policy {
    let rule = Rule { keep_last: Some(keep_last), ..Rule::default() };
    Policy { name: "ring".to_owned(), rules: vec![rule], ..Policy::default() }
}

/// What can be restored.
fn away(store: &Store) -> Vec<Entry> {
    let entries = |snapshot: &Snapshot<'_>| {
        Ok(snapshot.restorable()?.into_iter().map(|it| it.entry).collect())
    };
    store.read(entries).unwrap()
}

/// A store, and the captures of each checkpoint ever saved.
struct Kept {
    store: Store,
    contents: BTreeMap<u64, Vec<usize>>,
    clock: Arc<AtomicI64>,
}

impl Kept {
    fn make(&mut self, change: &Change) {
        let store = &self.store;
        match change {
            Change::Save { series, contents } => {
                let entry = store.save_draft(draft(store, about(*series), contents)).unwrap();
                self.contents.insert(entry.sequence, contents.clone());
            }
            Change::Batch(all) => {
                let drafts = all.iter().map(|contents| draft(store, about(0), contents)).collect();
                for (entry, contents) in store.batch(drafts).unwrap().into_iter().zip(all) {
                    self.contents.insert(entry.unwrap().sequence, contents.clone());
                }
            }
            Change::Named { id, contents } => {
                let about = named(&format!("id {id}").replace(' ', "-"));
                let known = store.entry(about.id.as_ref().unwrap()).ok();
                // Some numbers stand for the same content.
                let known = known.map(|entry| files(&self.contents[&entry.sequence]));
                let is_known = known.as_ref() == Some(&files(contents));
                match store.save_draft(draft(store, about, contents)) {
                    Ok(entry) => {
                        assert!(known.is_none() || is_known);
                        self.contents.insert(entry.sequence, contents.clone());
                    }
                    Err(Error::Exists { .. }) => assert!(!is_known),
                    Err(error) => panic!("{error}"),
                }
            }
            Change::Delete { which, now } => {
                let entries = store.inventory(None).unwrap();
                if let Some(at) = which.checked_rem(entries.len()) {
                    let ids = [entries[at].id.clone()];
                    if *now { store.delete_now(&ids) } else { store.delete(&ids) }.unwrap();
                }
            }
            Change::Undelete(which) => {
                let restorable = away(store);
                if let Some(at) = which.checked_rem(restorable.len()) {
                    // Its id may be taken by another checkpoint.
                    let _ = store.undelete(&[restorable[at].id.clone()]);
                }
            }
            Change::Prune { keep_last, now } => {
                let entries = store.inventory(None).unwrap();
                let policy = policy(*keep_last);
                let plan = plan(&entries, &policy, self.now());
                if *now { store.apply_now(&plan) } else { store.apply(&plan) }.unwrap();
            }
            Change::Ring(keep_last) => {
                let policy = keep_last.map(policy);
                let prune_on_save = policy.is_some();
                let settings = Settings { policy, prune_on_save, ..Settings::default() };
                store.set_settings(&settings).unwrap();
            }
            Change::Week => {
                self.clock.fetch_add(8 * 24 * 3600 * 1_000_000, Ordering::Relaxed);
            }
            Change::Compact => drop(store.compact().unwrap()),
            Change::Reopen => store.shared.let_go(),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::Relaxed))
    }

    fn check(&self) {
        let entries = self.store.inventory(None).unwrap();
        for entry in &entries {
            check_files(&self.store, &entry.id, &self.contents[&entry.sequence]);
        }
        let away = away(&self.store);
        let mut expected = Tables::default();
        for entry in entries.into_iter().chain(away) {
            let contents = &self.contents[&entry.sequence];
            let hashes = contents.iter().map(|number| Hash::of(&content(*number)));
            for hash in hashes.collect::<BTreeSet<_>>() {
                expected.blobs.insert(hash);
                let holders = expected.holders.entry(hash).or_default();
                *holders = holders.with(entry.sequence);
            }
            if !contents.is_empty() {
                expected.rows.insert(entry.sequence, contents.len());
            }
        }
        assert_eq!(tables(&self.store), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever happens to checkpoints, the contents that they have exist, and no others.
    #[test]
    fn a_content_stays_as_long_as_a_checkpoint_that_has_it(
        changes in prop::collection::vec(changes(), 1..24),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(1_769_353_200_000_000));
        let ticking = clock.clone();
        let options = Options {
            clock: Arc::new(move || {
                Timestamp::from_micros(ticking.fetch_add(1_000, Ordering::Relaxed))
            }),
            ..Options::default()
        };
        let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
        let mut kept = Kept { store, contents: BTreeMap::new(), clock };
        for change in &changes {
            kept.make(change);
            kept.check();
        }
    }
}
