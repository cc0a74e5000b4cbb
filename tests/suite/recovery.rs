//! Recovery through the library: targets, strategies, and what is passed over.
//!
//! Covers what is chosen and why, differences, restores, prompts for the next worker, and the smart
//! choice.

mod difference;
mod last;
mod prompt;
#[cfg(feature = "transfer")]
mod restore;
mod resumption;
mod smart;
mod target;
mod worker;

use tempfile::TempDir;
use waypost::recovery::{PassedOver, Proposal, Strategy};
use waypost::{Id, NewEntry, Series, Status, Store, Timestamp, Trigger};

/// A store with checkpoints `1`, `2`, ... of series `work`, the oldest first.
struct Work {
    _dir: TempDir,
    store: Store,
    count: i64,
}

impl Work {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        Self { _dir: dir, store, count: 0 }
    }

    /// Saves a document, with whatever else is said about it.
    fn save(&mut self, json: &str, about: NewEntry) -> &mut Self {
        self.count += 1;
        let about = NewEntry {
            id: Some(Id::new(format!("n{}", self.count)).unwrap()),
            series: Some(about.series.unwrap_or_else(series)),
            created_at: Some(Timestamp::from_micros(self.count)),
            ..about
        };
        self.store.save_json(about, json.as_bytes()).unwrap();
        self
    }

    /// Saves a document of work that goes on.
    fn step(&mut self, json: &str) -> &mut Self {
        self.save(json, NewEntry::default())
    }

    fn triggered(&mut self, trigger: Trigger, phase: &str) -> &mut Self {
        let phase = Some(phase.to_owned());
        self.save("{}", NewEntry { trigger, phase, ..NewEntry::default() })
    }

    fn ended(&mut self, status: Status) -> &mut Self {
        self.save("{}", NewEntry { status, ..NewEntry::default() })
    }

    fn propose(&self, strategy: Strategy) -> Proposal {
        self.store.propose(&series(), strategy).unwrap()
    }
}

fn series() -> Series {
    Series::new("work").unwrap()
}

/// The id of what is offered.
fn offered(proposal: &Proposal) -> Option<String> {
    proposal.offer.as_ref().map(|offer| offer.checkpoint.entry.id.to_string())
}

/// What was passed over, a line each.
fn passed(proposal: &Proposal) -> Vec<String> {
    let line = |it: &PassedOver| format!("{} {}", it.entry.id, it.why.join("; "));
    proposal.passed_over.iter().map(line).collect()
}
