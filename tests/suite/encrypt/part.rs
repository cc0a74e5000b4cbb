//! A store whose key was changed half way, for who has some of its keys only.

use waypost::Policy;
use waypost::retention::Age;

use super::*;

/// Three of each series are kept, and what is deleted expires at once.
fn settings() -> Settings {
    let policy = Some(Policy::preset("last-3").unwrap());
    Settings { policy, prune_on_save: true, keep_deleted: Age::seconds(0) }
}

/// A store under the first key, as one who was killed leaves it that was to put it under another.
fn ended_at_once(first: &SecretKey, to: Option<&SecretKey>) -> Place {
    let place = Place::new();
    let store = place.open(&[first]);
    store.set_settings(&settings()).unwrap();
    fill(&store, 0..12);
    store.close().unwrap();
    let keys: Vec<&SecretKey> = [first].into_iter().chain(to).collect();
    let store = place.open(&keys);
    store.rekey_with(to.map(SecretKey::id), &mut |_| ControlFlow::Break(())).unwrap();
    store.close().unwrap();
    place
}

/// Of each series that is filled.
fn counts(store: &Store) -> [usize; 2] {
    ["s0", "s1"].map(|name| {
        let entries = store.entries(Query::default()).map(Result::unwrap);
        entries.filter(|entry| entry.series.as_str() == name).count()
    })
}

fn oldest(store: &Store) -> Id {
    store.entries(Query::default()).map(|it| it.unwrap().id).min().unwrap()
}

/// Pruning on save and expiry wanted to store anew what stands on what goes: saves were refused,
/// then lists, and after a crash the store could not be opened.
#[test]
fn what_takes_another_key_stays_and_is_in_nobodys_way() {
    let [first, second] = keys();
    for to in [None, Some(&second)] {
        let place = ended_at_once(&first, to);
        let given: Vec<&SecretKey> = to.into_iter().collect();
        let store = place.open(&given);
        let saved = fill(&store, 101..104);
        let copy = Place::new();
        let beside = |path: &Path| path.with_file_name("store.redb.journal");
        fs::copy(&place.path, &copy.path).unwrap();
        fs::copy(beside(&place.path), beside(&copy.path)).unwrap();
        assert!(store.count().unwrap() >= 6);
        fill(&store, 104..112);
        for _ in 0..3 {
            store.delete(&[oldest(&store)]).unwrap();
        }
        store.close().unwrap();
        let after_crash = copy.open(&given);
        check(&after_crash, &saved);
        after_crash.close().unwrap();
        for path in [&place, &copy] {
            let all: Vec<&SecretKey> = [&first].into_iter().chain(to).collect();
            let store = path.open(&all);
            for entry in store.entries(Query::default()) {
                store.get(&entry.unwrap().id).unwrap();
            }
            assert!(store.rekey(to.map(SecretKey::id)).unwrap().is_done);
            store.close().unwrap();
            // Then it goes at last. What was deleted before is of either series.
            let store = path.open(&given);
            let left = counts(&store).map(|count| (count + 1).min(3));
            fill(&store, 201..203);
            assert_eq!(counts(&store), left);
        }
    }
}

/// The first went on, sealed with the key of the second, and said that all was done.
#[test]
fn of_two_rekeys_at_once_the_first_gives_up_and_says_so() {
    let [first, second, third] = keys();
    let place = Place::new();
    let saved = fill(&place.open(&[&first]), 0..8);
    let store = place.open(&[&first, &second, &third]);
    let mut other = Some(third.id());
    let outcome = store.rekey_with(Some(second.id()), &mut |_| {
        if let Some(id) = other.take() {
            assert!(store.rekey(Some(id)).unwrap().is_done);
        }
        ControlFlow::Continue(())
    });
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("another rekey"), "{error}");
    store.close().unwrap();
    let store = place.open(&[&third]);
    assert!(!store.stats().unwrap().is_rekeying);
    check(&store, &saved);
}

/// It stopped for good at the first checkpoint under a lost key.
#[test]
fn what_takes_a_lost_key_keeps_nothing_else_from_a_new_one() {
    let [first, second, third] = keys();
    let place = Place::new();
    let mut saved = fill(&place.open(&[&first]), 0..8);
    let store = place.open(&[&first, &second]);
    store.rekey_with(Some(second.id()), &mut |_| ControlFlow::Break(())).unwrap();
    saved.append(&mut fill(&store, 9..12));
    store.close().unwrap();
    let store = place.open(&[&second, &third]);
    let some = store.rekey(Some(third.id())).unwrap();
    assert_eq!((some.documents, some.contents, some.sealed, some.is_done), (3, 0, 10, false));
    assert!(store.stats().unwrap().is_rekeying);
    store.close().unwrap();
    let rest = place.open(&[&first, &third]).rekey(Some(third.id())).unwrap();
    assert_eq!((rest.documents, rest.contents, rest.sealed, rest.is_done), (8, 2, 0, true));
    check(&place.open(&[&third]), &saved);
}

#[test]
fn who_has_the_key_saves_into_a_store_until_it_is_decrypted() {
    let [first] = keys();
    let place = Place::new();
    let mut saved = fill(&place.open(&[&first]), 0..4);
    let store = place.open(&[&first]);
    store.rekey_with(None, &mut |_| ControlFlow::Break(())).unwrap();
    saved.append(&mut fill(&store, 4..8));
    store.close().unwrap();
    saved.append(&mut fill(&place.open(&[]), 8..10));
    let store = place.open(&[&first]);
    saved.append(&mut fill(&store, 10..12));
    assert!(store.rekey(None).unwrap().is_done);
    let error = store.save(NewEntry::default(), SECRET).unwrap_err();
    assert!(matches!(&error, Error::Invalid { what, .. } if what == "key"), "{error}");
    store.close().unwrap();
    check(&place.open(&[]), &saved);
}

/// What was rewound still had its bytes.
#[test]
fn a_journal_in_plain_goes_when_the_store_is_encrypted() {
    let [first] = keys();
    let place = Place::new();
    let store = place.open(&[&first]);
    store.rekey_with(None, &mut |_| ControlFlow::Break(())).unwrap();
    let draft = store.draft(NewEntry::default(), SECRET).unwrap();
    store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    let journal = place.path.with_file_name("store.redb.journal");
    assert!(has(&fs::read(&journal).unwrap(), SECRET));
    store.rekey(Some(first.id())).unwrap();
    assert!(!fs::read(&journal).is_ok_and(|bytes| has(&bytes, SECRET)));
    store.save(NewEntry::default(), SECRET).unwrap();
    assert!(!fs::read(&journal).is_ok_and(|bytes| has(&bytes, SECRET)));
}
