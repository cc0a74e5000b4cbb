//! The morning after: which checkpoint to go on from, and whether the world is still as it was.
//!
//! Looks at nothing but its arguments: what the world is like now comes in through [`World`].

mod freshness;
mod world;

pub use freshness::{Advice, Check, Finding, Freshness, freshness};
pub use world::{FileNow, IssueNow, Seen, World};
