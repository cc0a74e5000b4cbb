//! One binary for all tests that go through the public interface.
//!
//! `tests/run` decides how much a run tries and reports what is skipped, `tests/fuzz` makes hostile
//! input, and `tests/fixtures` has files of other systems and a store of each format.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../run/extent.rs"]
mod extent;
#[path = "../fuzz/state.rs"]
mod state;
#[macro_use]
#[path = "../fuzz/tape.rs"]
mod tape;
#[macro_use]
#[path = "../run/tool.rs"]
mod tool;

mod arrivals;
mod backup;
mod cli;
mod compact;
mod crash;
mod damage;
mod disk_full;
mod encrypt;
mod engine;
mod examples;
mod fork;
mod format;
mod fronts;
mod fuzz;
mod inspect;
mod layouts;
mod meters;
mod model;
mod mounted;
mod names;
mod processes;
mod query;
mod recovery;
mod repair;
mod retention;
mod secrets;
mod shims;
#[cfg(unix)]
mod spool;
mod store;
mod tidy;
mod time;
mod turn;
mod verify;
