//! Nothing is left of an old key once a store was rekeyed and compacted.

use std::collections::BTreeMap;

use super::chance::Chance;
use super::check::stored;
use super::power::Durable;
use super::{keys, run};

const SEEDS: u64 = 12;

/// Bytes stored under the old key, or in plain, are in no file any more, even after a power loss.
/// Freed blocks that the disk itself keeps are not checked here.
#[test]
fn nothing_is_left_of_an_old_key_once_the_store_is_compacted() {
    if keys::all().is_empty() {
        return;
    }
    for seed in (0..SEEDS).map(|seed| 3 * seed + 1) {
        let mut workload = run(seed);
        workload.reopen().unwrap();
        let old = workload.store.read(stored).unwrap();
        let to = keys::all().into_iter().find(|id| old.iter().all(|(key, _)| *key != Some(*id)));
        workload.store.close().unwrap();
        workload.store = super::open(&workload.disk, &super::later(), &keys::all()).unwrap();
        workload.store.rekey(to).unwrap();
        workload.store.compact().unwrap();
        let disk = workload.disk.clone();
        drop(workload);
        let mut durable = Durable::default();
        let mut chance = Chance::new(&[seed]);
        disk.changes().iter().for_each(|change| durable.pass(change, &mut chance));
        let old = Parts::of(old.into_iter().filter(|(key, _)| *key != to).map(|(_, bytes)| bytes));
        for _ in 0..2 {
            let files = durable.cut(&mut chance);
            for path in files.names.keys() {
                let content = files.content(path).unwrap();
                assert!(!old.are_in(&content), "seed {seed}: in {}", path.display());
            }
        }
    }
}

const PART_BYTES: usize = 32;

/// Samples of stored bytes: checking all would take too long. The start of each may be a header
/// that many frames share.
struct Parts(BTreeMap<[u8; 2], Vec<Vec<u8>>>);

impl Parts {
    fn of(stored: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut parts: BTreeMap<_, Vec<Vec<u8>>> = BTreeMap::new();
        for bytes in stored {
            for part in bytes.chunks_exact(PART_BYTES).skip(1) {
                parts.entry([part[0], part[1]]).or_default().push(part.to_vec());
            }
        }
        assert!(!parts.is_empty());
        Self(parts)
    }

    fn are_in(&self, content: &[u8]) -> bool {
        let is_known = |it: &[u8]| it.iter().any(|byte| *byte != 0);
        content.chunks(4096).zip(0..).filter(|(page, _)| is_known(page)).any(|(page, number)| {
            let start = number * 4096;
            let end = (start + page.len() + PART_BYTES - 1).min(content.len());
            content[start..end].windows(PART_BYTES).any(|it| {
                let found = self.0.get(&[it[0], it[1]]);
                found.is_some_and(|parts| parts.iter().any(|part| part == it))
            })
        })
    }
}
