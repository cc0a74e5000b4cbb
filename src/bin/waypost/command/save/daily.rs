//! The pruning that `cleanup: daily` of a config asks for.

use std::cell::Cell;

use anyhow::Result;
use waypost::{Policy, Store, Timestamp};

use crate::args::Global;
use crate::output::come_back;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// Prunes at most once a day.
#[derive(Default)]
pub(super) struct Daily {
    policy: Option<Policy>,
    /// The day of the last call, so that most saves need not read the store.
    last: Cell<Option<i64>>,
}

impl Daily {
    pub(super) fn by(policy: Option<Policy>) -> Self {
        Self { policy, last: Cell::default() }
    }

    /// Prunes if that was not done today. A failure is only a warning: everything is saved.
    pub(super) fn clean_up(&self, store: &Store, global: &Global) {
        let Some(policy) = &self.policy else { return };
        let today = Timestamp::now().as_micros().div_euclid(DAY_MICROS);
        if self.last.replace(Some(today)) == Some(today) {
            return;
        }
        if let Err(error) = prune(policy, store, global) {
            global.warn(format_args!("the daily clean-up failed: {error:#}"));
        }
    }
}

fn prune(policy: &Policy, store: &Store, global: &Global) -> Result<()> {
    if store.settings()?.policy.is_some() {
        return Ok(());
    }
    if let Some(deleted) = store.prune_daily(policy)?.filter(|it| it.checkpoints > 0) {
        let (count, name) = (deleted.checkpoints, &policy.name);
        global.note(format_args!("pruned {count} by policy {name}: {}", come_back(&deleted)));
    }
    Ok(())
}
