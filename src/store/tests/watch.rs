//! Long calls that are ended half way: what was done is complete, and the same call continues.

use std::ops::ControlFlow;

use super::{about, state};
use crate::checkpoint::Timestamp;
use crate::retention::{Policy, Rule, plan};
use crate::store::keep::apply::REMOVED_AT_ONCE;
use crate::store::{Action, Stage, Store};

// One more than a transaction removes; one checkpoint stays.
const CHECKPOINTS: usize = REMOVED_AT_ONCE + 2;

fn open(dir: &tempfile::TempDir) -> Store {
    Store::open(dir.path().join("store.redb")).unwrap()
}

fn fill(store: &Store, count: usize) {
    let draft = |number| store.draft(about(0), &number).unwrap();
    store.batch((0..count).map(draft).collect()).unwrap();
}

#[test]
fn a_prune_that_is_ended_is_one_operation_that_can_be_undone_or_finished() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    fill(&store, CHECKPOINTS);
    let rule = Rule { keep_last: Some(1), ..Rule::default() };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let entries = store.inventory(None).unwrap();
    let plan_all = plan(&entries, &policy, Timestamp::now());

    let none = store.apply_with(&plan_all, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!((none.checkpoints, none.operation), (0, None));
    assert!(store.operations(9).unwrap().is_empty());

    let mut steps = Vec::new();
    let ended = store.apply_with(&plan_all, &mut |step| {
        steps.push((step.stage, step.done, step.total));
        if step.done > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let ended = ended.unwrap();
    let (first, total) = (REMOVED_AT_ONCE as u64, Some(CHECKPOINTS as u64 - 1));
    assert_eq!(steps, [(Stage::Prune, 0, total), (Stage::Prune, first, total)]);
    assert_eq!((ended.checkpoints, store.count().unwrap()), (first, 2));
    let operations = store.operations(9).unwrap();
    assert_eq!((operations.len(), operations[0].action), (1, Action::Prune));
    assert_eq!(operations[0].checkpoints, first);
    let restored = store.undelete_operation(ended.operation.unwrap()).unwrap();
    assert_eq!(restored.len(), REMOVED_AT_ONCE);

    let entries = store.inventory(None).unwrap();
    let rest = store.apply(&plan(&entries, &policy, Timestamp::now())).unwrap();
    assert_eq!((rest.checkpoints, store.count().unwrap()), (first + 1, 1));
}

#[test]
fn a_compaction_may_be_ended_at_every_step() {
    let dir = tempfile::tempdir().unwrap();
    let mut stages = Vec::new();
    for steps in 0.. {
        let store = open(&dir);
        let saved: Vec<_> =
            (0..40).map(|number| store.save(about(1), &state(1, number)).unwrap()).collect();
        let gone: Vec<_> = saved[..20].iter().map(|entry| entry.id.clone()).collect();
        store.delete(&gone).unwrap();
        let mut left = steps;
        stages.clear();
        let compacted = store.compact_with(&mut |step| {
            stages.push(step.stage);
            left -= 1;
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_there = !store.read(|snapshot| Ok(snapshot.restorable()?.is_empty())).unwrap();
        assert_eq!(is_there, compacted.unwrap().purged == 0, "{stages:?}");
        for (entry, number) in saved[20..].iter().zip(20..) {
            let found = store.get(&entry.id).unwrap();
            assert_eq!(found.state::<Vec<String>>().unwrap(), state(1, number), "{stages:?}");
        }
        if left >= 0 {
            break;
        }
    }
    for stage in [Stage::Purge, Stage::Sweep, Stage::Tighten, Stage::Shrink, Stage::Repack] {
        assert!(stages.contains(&stage), "{stages:?}");
    }
}
