//! What the works find: a store with checkpoints of eight loops, and files to import.
//!
//! Made without valgrind, and the same in every run but for the random parts of ids.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use waypost::options::Hold;
use waypost::{Draft, Durability, Issue, NewEntry, Options, Series, Store, Timestamp, Trigger};

use crate::document::{AgentLoop, LoopState, Shape};

pub(crate) const DOCUMENT_BYTES: usize = 16 << 10;
/// Checkpoints in the store that is read.
pub(crate) const FILLED: u32 = 960;
/// Files that are imported.
pub(crate) const FILES: u32 = 100;
pub(crate) const LOOPS: u32 = 8;
const BATCH: u32 = 96;

/// Makes the store and the files.
pub(crate) fn prepare(place: &Path) {
    let store = open(&filled(place));
    let mut savers: Vec<Saver> = (0..LOOPS).map(|seed| Saver::new(seed, DOCUMENT_BYTES)).collect();
    for _ in 0..FILLED / BATCH {
        let mut drafts = Vec::new();
        for number in 0..BATCH {
            drafts.push(savers[(number % LOOPS) as usize].draft(&store, Durability::Relaxed));
        }
        for outcome in store.batch(drafts).expect("the store takes a batch") {
            outcome.expect("the store takes a checkpoint");
        }
    }
    store.compact().expect("nobody else uses the store");
    store.close().expect("the disk takes what was saved");
    write_files(&project(place));
}

/// The store that is read.
pub(crate) fn filled(place: &Path) -> PathBuf {
    place.join("filled.redb")
}

/// The directory that is imported.
pub(crate) fn project(place: &Path) -> PathBuf {
    place.join("project")
}

/// Opens a store for work that is counted: a time that does not depend on when it runs, and no
/// wait that ends sooner or later on a busy machine.
pub(crate) fn open(path: &Path) -> Store {
    let options = Options { hold: Hold::Forever, ..options() };
    Store::open_with(path, options).expect("the store is ours alone")
}

/// As a program opens a store that others may use as well.
pub(crate) fn open_shared(path: &Path) -> Store {
    Store::open_with(path, options()).expect("the store can be opened")
}

fn options() -> Options {
    // Later than all times in documents. Each reading is a millisecond after the one before.
    let millis = AtomicI64::new(1_800_000_000_000);
    let clock = move || Timestamp::from_micros(millis.fetch_add(1, Ordering::Relaxed) * 1000);
    Options { clock: Arc::new(clock), ..Options::default() }
}

/// A loop whose states are known before they are saved.
#[derive(Debug)]
pub(crate) struct Saver {
    agent_loop: AgentLoop,
    number: u32,
}

impl Saver {
    pub(crate) fn new(seed: u32, json_bytes: usize) -> Self {
        Self { agent_loop: AgentLoop::new(seed, Shape::of(json_bytes)), number: seed }
    }

    /// What the loop saves next.
    pub(crate) fn step(&mut self) -> (NewEntry, LoopState) {
        self.agent_loop.advance();
        let about = NewEntry {
            issue: Some(issue(self.number)),
            trigger: trigger(self.number),
            ..self.agent_loop.about()
        };
        (about, self.agent_loop.state.clone())
    }

    pub(crate) fn draft(&mut self, store: &Store, durability: Durability) -> Draft {
        let (about, state) = self.step();
        store.draft(about, &state).expect("it is a document").with_durability(durability)
    }

    /// The series of the loop with this number.
    pub(crate) fn series(number: u32) -> Series {
        Series::of(&Self::new(number, 0).agent_loop.about())
    }
}

/// The issue of a loop; each has two loops.
pub(crate) fn issue(number: u32) -> Issue {
    Issue::new((number % (LOOPS / 2)).to_string()).expect("it is a number")
}

/// The trigger of a loop.
pub(crate) fn trigger(number: u32) -> Trigger {
    if number.is_multiple_of(2) { Trigger::Iteration } else { Trigger::Manual }
}

/// Files of one loop in the layout of `.claude/checkpoints`.
fn write_files(project: &Path) {
    let place = project.join(".claude/checkpoints");
    fs::create_dir_all(&place).expect("a directory can be made");
    let mut agent_loop = AgentLoop::new(0, Shape::of(DOCUMENT_BYTES));
    for number in 0..FILES {
        let id = format!("implement_loop_{number:06}");
        let path = place.join(format!("{id}.json"));
        fs::write(path, text(&id, number, &agent_loop.state)).expect("there is room");
        agent_loop.advance();
    }
}

fn text(id: &str, number: u32, state: &LoopState) -> String {
    let time = format!("2026-01-01T00:{:02}:{:02}Z", number / 60 % 60, number % 60);
    let document = serde_json::json!({
        "checkpoint_id": id,
        "workflow_type": "implement",
        "project_name": "loop",
        "workflow_description": "a benchmark",
        "created_at": time,
        "updated_at": time,
        "status": "in_progress",
        "current_phase": number % 7,
        "total_phases": 7,
        "completed_phases": [],
        "workflow_state": state,
        "last_error": null,
    });
    format!("{}\n", serde_json::to_string_pretty(&document).expect("it is JSON"))
}
