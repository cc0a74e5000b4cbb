//! What encryption costs: the same saves and reads with a key and without, in turns.

use criterion::Criterion;
use waypost::{Durability, Id, Options, SecretKey, Store};

use crate::place;
use crate::random::Random;
use crate::save::Saver;

const SIZES: [(&str, usize); 2] = [("16 KB", 16 << 10), ("64 KB", 64 << 10)];
const FILLED: u32 = 1_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("seal");
    group.sample_size(20);
    for (size, bytes) in SIZES {
        for (name, keys) in [
            ("plain", Vec::new()),
            ("sealed", vec![SecretKey::generate().expect("random numbers")]),
        ] {
            let directory = place::temporary();
            let options = Options { keys, cache_bytes: 1 << 20, ..Options::default() };
            let path = directory.path().join("store.redb");
            let store = Store::open_with(path, options).expect("the directory is new");
            let mut saver = Saver::of(1, bytes);
            group.bench_function(format!("save {size}, relaxed, {name}"), |bencher| {
                bencher.iter(|| saver.save(&store, Durability::Relaxed));
            });
            group.bench_function(format!("save {size}, durable, {name}"), |bencher| {
                bencher.iter(|| saver.save(&store, Durability::Immediate));
            });
            let ids: Vec<Id> =
                (0..FILLED).map(|_| saver.save(&store, Durability::Relaxed).id).collect();
            let mut random = Random::new(2);
            group.bench_function(format!("get {size}, {name}"), |bencher| {
                bencher.iter(|| store.get(random.choose(&ids)).expect("it was saved"));
            });
        }
    }
    group.finish();
}
