//! Pacing: processes that spool do not leave the holder of the store too much to take in.
//!
//! The holder takes in what is in the logs with each durable commit. A process that has spooled
//! some saves since the last commit waits for the next one, but not for long: the holder may be
//! stopped. So a read or a save of the holder finds little to take in.
//!
//! Must never fail a save.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::Spool;
use crate::store::engine::published::Published;
use crate::sync::lock;

// Saves of one process between two commits.
const SAVES: usize = 8;
// A stopped holder costs its savers this much for each save. With 10 ms they saved half as often.
const WAIT: Duration = Duration::from_millis(5);
const LOOK_EVERY: Duration = Duration::from_micros(300);

/// How many saves this process has spooled since a durable commit.
#[derive(Debug, Default)]
pub(in crate::store) struct Pace {
    commit: Option<Published>,
    saves: usize,
}

impl Spool {
    /// Waits before this many saves of a store are spooled, if there are too many since its last
    /// commit.
    pub(in crate::store) fn pace(&self, store: &Path, saves: usize) {
        let mut pace = lock(&self.pace);
        let Ok(file) = self.folder.disk().open(store) else { return };
        let start = Instant::now();
        loop {
            let is_still = |commit: &Published| commit.is_still(file.as_ref()).unwrap_or(true);
            if !pace.commit.as_ref().is_some_and(is_still) {
                let commit = Published::read(file.as_ref()).ok().flatten();
                *pace = Pace { commit, saves: 0 };
            }
            if pace.saves < SAVES || start.elapsed() >= WAIT {
                pace.saves += saves;
                return;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}
