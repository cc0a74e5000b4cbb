//! The morning after: which checkpoint to go on from, and whether the world is still as it was.
//!
//! Looks at nothing but its arguments: what the world is like now comes in through [`World`]. Only
//! `restore` reads and writes files, below the directory that it is given.

mod blind;
mod candidate;
mod difference;
mod freshness;
mod overview;
mod pipeline;
mod prompt;
#[cfg(feature = "transfer")]
pub mod restore;
mod resume;
mod smart;
mod target;
mod worker;
mod workplace;
mod world;

pub use candidate::{Candidate, Hurdle, hurdles};
pub use difference::{Against, Differences, FileChange, FileDifference, differences};
pub use freshness::{Advice, Check, Finding, Freshness, freshness};
pub use overview::{DEPTH, Outlook, SeriesState};
pub use prompt::resume_block;
pub use resume::{Offer, PassedOver, Proposal, ResumePoint, Strategy};
pub use target::Target;
pub use worker::Worker;
pub use workplace::workplace;
pub use world::{FileNow, IssueNow, Moment, Seen, World};
