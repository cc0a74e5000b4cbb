//! Retention: which checkpoints a policy keeps, which it removes, and why.
//!
//! Pure: it gets entries and the time, and touches neither store nor clock. `Store::apply` acts.

mod age;
mod excess;
mod forks;
mod lines;
mod plan;
mod policy;
mod preset;
mod size;
#[cfg(test)]
mod tests;
mod verdict;

pub use age::Age;
pub use excess::Excess;
pub use plan::{Plan, Planned, plan, plan_completed};
pub use policy::{OnSuccess, Per, Policy, Rule};
pub use verdict::{Kept, Removed, Verdict};
