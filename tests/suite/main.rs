//! One binary for all tests that go through the public interface.

mod format;
mod model;
mod store;
mod tidy;
mod turn;
