//! One binary for all tests that go through the public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod arrivals;
mod backup;
mod cli;
mod compact;
mod crash;
mod damage;
mod examples;
mod fork;
mod format;
mod inspect;
mod layouts;
mod model;
mod names;
mod query;
mod recovery;
mod repair;
mod retention;
mod shims;
mod store;
mod tidy;
mod turn;
mod verify;
