//! The works that are counted.
//!
//! The export of files is not among them: its threads pass each other their memory, and its count
//! varies by 3 %.
//!
//! A work prepares itself and returns the call that is counted. States are made before, and stores
//! are held for ever where they are saved to, so that no work waits for a clock.

use std::hint::black_box;
use std::io;
use std::path::Path;

use waypost::retention::Rule;
use waypost::source::JsonStyle;
use waypost::transfer::export::Selection;
use waypost::transfer::import::ImportOptions;
use waypost::{Checkpoint, Draft, Durability, Id, NewEntry, Policy, Query, Settings, Store};

use crate::document::LoopState;
use crate::random::Random;
use crate::stores::{self, DOCUMENT_BYTES, FILES, FILLED, LOOPS, Saver};

const LARGE_BYTES: usize = 64 << 10;
/// A whole row of deltas, so that each distance between them counts as often as it comes.
const SAVES: u32 = 64;
const READS: u32 = 128;
const LISTED: usize = 20;
const BATCH: u32 = 32;

/// Which threads count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Only the one that calls. What the keeper of the store does, and when, depends on the time.
    Caller,
    /// All, where the work has threads of its own, or it does not matter which of them does it.
    All,
}

impl Threads {
    pub(crate) const ALL: [Self; 2] = [Self::Caller, Self::All];

    /// The word on the command line of the driver.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::All => "all",
        }
    }

    pub(crate) fn works(self) -> impl Iterator<Item = &'static Work> {
        WORKS.iter().filter(move |work| work.threads == self)
    }
}

type Call = Box<dyn FnMut()>;

/// Something that is done `calls` times after `warm_up` times that do not count.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) threads: Threads,
    pub(crate) warm_up: u32,
    pub(crate) calls: u32,
    /// How many checkpoints or files a call works on.
    pub(crate) each: u32,
    pub(crate) prepare: fn(&Path) -> Call,
}

const SAVE: Work = Work {
    name: "",
    threads: Threads::Caller,
    warm_up: 8,
    calls: SAVES,
    each: 1,
    prepare: |_| Box::new(|| ()),
};
const READ: Work = Work { warm_up: 32, calls: READS, ..SAVE };
const ALL: Work = Work { threads: Threads::All, warm_up: 1, calls: 1, ..SAVE };

pub(crate) const WORKS: &[Work] = &[
    Work {
        name: "save, relaxed, 16 KB",
        prepare: |place| save(place, "relaxed", DOCUMENT_BYTES, Durability::Relaxed),
        ..SAVE
    },
    Work {
        name: "save, relaxed, 64 KB",
        prepare: |place| save(place, "relaxed-large", LARGE_BYTES, Durability::Relaxed),
        ..SAVE
    },
    Work {
        name: "save, durable, 16 KB",
        prepare: |place| save(place, "durable", DOCUMENT_BYTES, Durability::Immediate),
        ..SAVE
    },
    Work {
        name: "save, batch of 32, into the tables",
        calls: 4,
        each: BATCH,
        prepare: batch,
        ..ALL
    },
    Work { name: "save, pruned to five, counted", calls: SAVES, warm_up: 8, prepare: ring, ..ALL },
    Work { name: "get by id", prepare: |place| get(place, |_| ()), ..READ },
    Work { name: "get by id, as a typed state", prepare: |place| get(place, to_state), ..READ },
    Work { name: "latest of a series", prepare: |place| latest(place, |_| ()), ..READ },
    Work { name: "latest, as JSON text", prepare: |place| latest(place, to_text), ..READ },
    Work { name: "list 20 of an issue", prepare: list, ..READ },
    Work { name: "filter without a match", prepare: filter, ..READ },
    Work { name: "export as lines of JSON", each: FILLED, prepare: export_lines, ..ALL },
    Work { name: "import files", each: FILES, prepare: import, ..ALL },
    Work { name: "open, latest, close", calls: 16, warm_up: 2, prepare: open, ..READ },
    Work {
        name: "open, latest, close, beside a holder",
        calls: 16,
        warm_up: 2,
        prepare: beside,
        ..READ
    },
    Work { name: "open, save durably, close", calls: 8, warm_up: 2, prepare: open_to_save, ..READ },
];

/// A store, and the states that are saved to it.
struct Saving {
    store: Store,
    states: Vec<(NewEntry, LoopState)>,
    next: usize,
}

impl Saving {
    fn new(path: &Path, json_bytes: usize, count: u32) -> Self {
        let mut saver = Saver::new(0, json_bytes);
        let states = (0..count).map(|_| saver.step()).collect();
        Self { store: stores::open(path), states, next: 0 }
    }

    fn draft(&mut self, durability: Durability) -> Draft {
        let (about, state) = &self.states[self.next];
        self.next += 1;
        let draft = self.store.draft(about.clone(), state).expect("it is a document");
        draft.with_durability(durability)
    }

    fn save(&mut self, durability: Durability) {
        let draft = self.draft(durability);
        black_box(self.store.save_draft(draft).expect("it can be saved"));
    }

    /// Reads, which puts what was saved into the tables, unless the keeper has done so.
    fn count(&self) {
        black_box(self.store.count().expect("the store can be read"));
    }
}

fn save(place: &Path, name: &str, json_bytes: usize, durability: Durability) -> Call {
    let mut saving = Saving::new(&place.join(name), json_bytes, SAVE.warm_up + SAVE.calls);
    Box::new(move || saving.save(durability))
}

fn batch(place: &Path) -> Call {
    let mut saving = Saving::new(&place.join("batch"), DOCUMENT_BYTES, 5 * BATCH);
    Box::new(move || {
        let drafts = (0..BATCH).map(|_| saving.draft(Durability::Relaxed)).collect();
        let outcomes = saving.store.batch(drafts).expect("it can be saved");
        assert!(outcomes.iter().all(Result::is_ok), "a save of a batch failed");
        saving.count();
    })
}

fn ring(place: &Path) -> Call {
    let mut saving = Saving::new(&place.join("ring"), DOCUMENT_BYTES, SAVE.warm_up + SAVE.calls);
    let rule = Rule { keep_last: Some(5), ..Rule::default() };
    let policy = Policy { name: "ring".to_owned(), rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    saving.store.set_settings(&settings).expect("the store can be written");
    Box::new(move || {
        saving.save(Durability::Relaxed);
        saving.count();
    })
}

fn to_state(checkpoint: &Checkpoint) {
    black_box(checkpoint.state::<LoopState>().expect("it is the state of a loop"));
}

fn to_text(checkpoint: &Checkpoint) {
    black_box(checkpoint.to_json(JsonStyle::Compact).expect("it is a document"));
}

/// Reads any checkpoints, the same ones in every run, each of them rarely twice.
fn get(place: &Path, then: fn(&Checkpoint)) -> Call {
    let store = stores::open_shared(&stores::filled(place));
    let entries = store.entries(Query::default());
    let ids: Vec<Id> = entries.map(|entry| entry.expect("the store can be read").id).collect();
    let mut random = Random::new(1);
    Box::new(move || {
        let checkpoint = store.get(random.choose(&ids)).expect("the id was listed");
        then(black_box(&checkpoint));
    })
}

/// Reads the newest checkpoint of each series in turn.
fn latest(place: &Path, then: fn(&Checkpoint)) -> Call {
    let store = stores::open_shared(&stores::filled(place));
    let queries: Vec<Query> = (0..LOOPS).map(of_series).collect();
    let mut turns = queries.into_iter().cycle();
    Box::new(move || {
        let query = turns.next().expect("a cycle has no end");
        then(black_box(&newest(&store, &query)));
    })
}

fn of_series(number: u32) -> Query {
    Query { series: Some(Saver::series(number)), ..Query::default() }
}

fn newest(store: &Store, query: &Query) -> Checkpoint {
    store.latest(query).expect("the store can be read").expect("the series has checkpoints")
}

fn list(place: &Path) -> Call {
    let query = Query { issue: Some(stores::issue(0)), ..Query::default() };
    listed(place, query, LISTED)
}

fn filter(place: &Path) -> Call {
    // Loops have one trigger each, so that of the next loop never occurs in this series.
    listed(place, Query { triggers: vec![stores::trigger(1)], ..of_series(0) }, 0)
}

fn listed(place: &Path, query: Query, expected: usize) -> Call {
    let store = stores::open_shared(&stores::filled(place));
    let query = query.limit(LISTED);
    Box::new(move || {
        let page = store.list(&query).expect("the store can be read");
        assert_eq!(black_box(page).entries.len(), expected);
    })
}

fn export_lines(place: &Path) -> Call {
    let store = stores::open_shared(&stores::filled(place));
    Box::new(move || {
        let report = store.export_lines(&Selection::default(), &mut io::sink());
        assert_eq!(report.expect("the store can be read").exported, u64::from(FILLED));
    })
}

/// Imports into a new store each time.
fn import(place: &Path) -> Call {
    let place = place.to_owned();
    let mut number = 0;
    Box::new(move || {
        number += 1;
        let store = stores::open(&place.join(format!("imported-{number}")));
        let report = store.import(&stores::project(&place), &ImportOptions::default());
        assert_eq!(report.expect("the files can be read").imported, u64::from(FILES));
    })
}

/// Opens a store that no process has.
fn open(place: &Path) -> Call {
    let (path, query) = (stores::filled(place), of_series(0));
    Box::new(move || {
        let store = stores::open_shared(&path);
        black_box(newest(&store, &query));
        store.close().expect("nothing was written");
    })
}

/// Opens a store that another handle has, which is as good as another process: locks are of
/// handles. So each read is one of a new view.
fn beside(place: &Path) -> Call {
    let holder = stores::open(&stores::filled(place));
    let mut open = open(place);
    Box::new(move || {
        open();
        black_box(&holder);
    })
}

fn open_to_save(place: &Path) -> Call {
    let path = place.join("opened");
    let states = Saving::new(&path, DOCUMENT_BYTES, 16).states;
    let mut next = states.into_iter();
    Box::new(move || {
        let (about, state) = next.next().expect("there are enough states");
        let store = stores::open_shared(&path);
        black_box(store.save(about, &state).expect("it can be saved"));
        store.close().expect("the disk takes it");
    })
}
