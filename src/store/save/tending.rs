//! The keeper thread: it lets the file go in time and makes relaxed saves durable.
//!
//! It sleeps while the file is closed and nothing is due. If no thread can be started for it, every
//! call does its work at the end and closes the file.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;
use crate::threads;

/// Starts the keeper thread.
pub(in crate::store) fn start(shared: &Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let kept = shared.clone();
    threads::start(move || run(&kept)).inspect_err(|_| shared.keeper.note_absent())
}

fn run(shared: &Shared) {
    let mut looked = Instant::now();
    while shared.keeper.wait(&shared.options, (looked, shared.spool.is_busy())) {
        looked = Instant::now();
        if shared.keeper.is_flush_due(shared.options.flush_within) {
            shared.keeper.note_failure(shared.flush());
        }
        if shared.keeper.is_settling_due() {
            shared.keeper.note_failure(shared.turn.if_open(|open| shared.settle(open)));
        }
        if shared.keeper.is_log_due() && shared.spool.let_go_if_idle() {
            shared.keeper.note_log();
        }
        let is_vain = shared.turn.is_unwritten() && shared.keeper.has_failed_lately();
        if shared.turn.is_over() && !is_vain {
            shared.let_go();
        } else if !shared.keeper.has_failed_lately() {
            let look = |open: &Open| shared.watch_journal(open).and_then(|()| shared.take_in(open));
            shared.keeper.note_failure(shared.turn.if_open(look));
            if shared.spool.is_busy() {
                // A view reads about as much, and a commit before it is done overtakes it.
                looked = Instant::now() + looked.elapsed();
            }
        }
    }
}
