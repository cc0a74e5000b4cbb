//! The morning after: which checkpoint to continue from, and whether the world is still as it was.
//!
//! Looks at nothing but its arguments: what the world is like now comes in through [`World`]. With
//! the feature `world` there is `RealWorld`, which asks git, gh and the file system. Only
//! `restore` writes files, below the directory that it is given.
//!
//! The words used below: a *candidate* is a checkpoint that work might continue from, and a
//! *hurdle* what stands in the way. An *offer* is a candidate that was read and checked; a
//! *proposal* is the offer, the reason, and what was passed over for it. *Standing* is where the
//! work of a checkpoint stands, as its document says. *Freshness* is whether the world is still as
//! a checkpoint knew it; each difference is a *finding*.

mod blind;
mod candidate;
mod choose;
mod decision;
mod difference;
mod fresh;
mod freshness;
mod normal_path;
mod overview;
mod pipeline;
mod present;
mod prompt;
#[cfg(feature = "world")]
mod real_world;
#[cfg(feature = "transfer")]
pub mod restore;
mod resume;
mod resumption;
mod smart;
mod target;
mod unresolved;
mod worker;
mod workplace;
mod world;

pub use blind::Blind;
pub use candidate::{Candidate, Hurdle, hurdles};
pub use choose::{Chosen, Meant};
pub use decision::{Choice, Decision, Resume};
pub use difference::{Against, Differences, FileChange, FileDifference, differences};
pub use fresh::Archived;
pub use freshness::{Advice, Check, Finding, Freshness, freshness};
pub use overview::{DEPTH, Outlook, SeriesState};
pub use prompt::resume_block;
#[cfg(feature = "world")]
pub use real_world::{Ignored, IssueJson, RealWorld, Surroundings, ignored};
pub use resume::{Offer, PassedOver, Proposal, ResumePoint, Strategy};
pub use resumption::Resumption;
pub use target::Target;
pub use unresolved::Unresolved;
pub use worker::Worker;
pub use workplace::workplace;
pub use world::{Answer, FileNow, IssueNow, Moment, World};
