//! A full journal and settling savers: pruning at that moment removes bases.

use super::{about, state};
use crate::checkpoint::{NewEntry, Series};
use crate::retention::{Policy, Rule};
use crate::store::turn::enter::Patience;
use crate::store::{Draft, Hold, Options, Settings, Store};

/// A store that keeps the last few of each series and is never released.
fn ring(dir: &tempfile::TempDir, keep_last: u32) -> Store {
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    let rule = Rule { keep_last: Some(keep_last), ..Rule::default() };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
    // The first save of an opening goes past the journal.
    store.save(about(9), &0).unwrap();
    store
}

/// Drafts, each in a series of its own, with this many incompressible words each.
fn noise(store: &Store, seed: u64, (count, words): (u64, u64)) -> Vec<Draft> {
    let word = |number: u64| {
        let mixed = (seed ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let draft = |number: u64| {
        let series = Some(Series::new(format!("noise {seed} {number}")).unwrap());
        let about = NewEntry { series, ..NewEntry::default() };
        let words: Vec<u64> = (0..words).map(|at| word(number * words + at)).collect();
        store.draft(about, &words).unwrap()
    };
    (0..count).map(draft).collect()
}

/// Starting the journal over prunes. It did so between checking a base and saving a delta to it,
/// which could not be read after the store was closed.
#[test]
fn a_full_journal_takes_no_base_from_whoever_finds_it_full() {
    for keep_last in 1..=3 {
        let dir = tempfile::tempdir().unwrap();
        let store = ring(&dir, keep_last);
        for group in 0..3 {
            let mut drafts = noise(&store, group, (20, 9000));
            if group == 2 {
                drafts.extend((0..8).map(|it| store.draft(about(0), &state(0, it)).unwrap()));
            }
            store.batch(drafts).unwrap();
            if group < 2 {
                store.shared.turn.with(|open| store.shared.settle(open)).unwrap();
            }
        }
        let last = store.save(about(0), &state(0, 8)).unwrap();
        drop(store);
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        assert_eq!(store.get(&last.id).unwrap().state::<Vec<String>>().unwrap(), state(0, 8));
    }
}

/// A saver with much to settle pruned its own save before it noted that save as the next base.
#[test]
fn what_a_saver_prunes_it_does_not_take_for_a_base() {
    let dir = tempfile::tempdir().unwrap();
    let store = ring(&dir, 1);
    let mut groups: Vec<Vec<Draft>> =
        (0..3).map(|group| noise(&store, group, (26, 7500))).collect();
    groups[2].extend((0..8).map(|it| store.draft(about(0), &state(0, it)).unwrap()));
    for drafts in &mut groups {
        store.shared.pack(drafts).unwrap();
    }
    for drafts in &mut groups {
        store.shared.write_group(Patience::Usual, drafts).unwrap();
    }
    let last = store.save(about(0), &state(0, 8)).unwrap();
    drop(store);
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    assert_eq!(store.get(&last.id).unwrap().state::<Vec<String>>().unwrap(), state(0, 8));
}
