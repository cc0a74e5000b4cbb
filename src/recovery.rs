//! Chooses the checkpoint to continue from, and compares branch, issue and files with it.
//!
//! Reads only its arguments: the present state of branch, issue and files comes in through
//! [`World`]. With the feature `world` there is `RealWorld`, which asks git, gh and the file
//! system. Only `restore` writes files, below the directory that it is given.
//!
//! The words used below: a *candidate* is a checkpoint that work might continue from, and a
//! *hurdle* a reason why it cannot. An *offer* is a candidate that was read and checked; a
//! *proposal* is the offer, the reason, and the checkpoints passed over. *Standing* is the progress
//! of the work, as the document states it. *Freshness* is the comparison of a checkpoint with the
//! present; each difference is a *finding*.

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
mod proposal;
#[cfg(feature = "world")]
mod real_world;
#[cfg(feature = "transfer")]
pub mod restore;
mod resume;
mod resume_point;
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
pub use proposal::{Offer, PassedOver, Proposal, Strategy};
#[cfg(feature = "world")]
pub use real_world::{Ignored, IssueJson, RealWorld, Surroundings, ignored};
pub use resume_point::ResumePoint;
pub use resumption::Resumption;
pub use target::Target;
pub use unresolved::Unresolved;
pub use worker::Worker;
pub use workplace::workplace;
pub use world::{Answer, FileNow, IssueNow, Moment, World};
