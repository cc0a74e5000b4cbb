//! Proposals: the chosen checkpoint, and those passed over with the reasons.
//!
//! Has only the types; [`Store::propose`](crate::Store::propose) makes the values.

use serde::Serialize;

use super::candidate::{Candidate, Hurdle};
use super::overview::Outlook;
use crate::checkpoint::{Checkpoint, Entry, Id};
use crate::layouts::{Problem, Standing};

/// How the checkpoint is chosen.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The newest that can be resumed.
    #[default]
    Last,
    /// The last one before the work went wrong.
    Smart,
    /// A person selects one of [`Store::candidates`](crate::Store::candidates); nothing is
    /// proposed.
    Select,
}

/// The checkpoint to resume, if any, and those passed over.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// The chosen checkpoint, read and checked.
    pub offer: Option<Offer>,
    /// Why this checkpoint was chosen, in sentences.
    pub reasons: Vec<String>,
    /// Checkpoints newer than the offer, newest first; all of them if there is no offer.
    pub passed_over: Vec<PassedOver>,
    /// The newest checkpoint that could be resumed, if a person must decide: the newest readable
    /// one is invalid, or its file is now unreadable or of no known system.
    pub older: Option<Id>,
    /// Damage to checkpoints that are too broken to be named.
    pub damage: Vec<String>,
    /// Whether the series has more checkpoints than were considered.
    pub has_more: bool,
}

/// A checkpoint that was read and checked.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The checkpoint itself.
    pub checkpoint: Checkpoint,
    /// What its document says; for a story, with the state of its pipeline.
    pub standing: Standing,
    /// The rules of its system that its document breaks.
    pub problems: Vec<Problem>,
}

/// A checkpoint that was passed over.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::Strategy;
/// use waypost::{NewEntry, Series, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let good = store.save(NewEntry::issue("42")?, &"state")?;
/// store.save(NewEntry { can_resume: Some(false), ..NewEntry::issue("42")? }, &"broken")?;
/// let proposal = store.propose(&Series::new("issue:42")?, Strategy::Last)?;
/// for passed_over in &proposal.passed_over {
///     show(format!("not {}: {}", passed_over.entry.id, passed_over.why.join(" ")));
/// }
/// assert_eq!(proposal.passed_over.len(), 1);
/// assert_eq!(proposal.offer.unwrap().checkpoint.entry.id, good.id);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PassedOver {
    /// The checkpoint.
    #[serde(flatten)]
    pub entry: Entry,
    /// Whether the checkpoint can be read.
    pub is_readable: bool,
    /// Why it was passed over, in words that follow its name.
    pub why: Vec<String>,
    #[serde(skip)]
    is_over: bool,
    #[serde(skip)]
    is_set_aside: bool,
}

impl Proposal {
    pub(super) fn new(
        offer: Option<Offer>,
        reasons: Vec<String>,
        passed_over: Vec<PassedOver>,
    ) -> Self {
        let damage = Vec::new();
        Self { offer, reasons, passed_over, older: None, damage, has_more: false }
    }

    /// Returns the checkpoint that ended the work, if that is why nothing is offered.
    #[must_use]
    pub fn ended(&self) -> Option<&PassedOver> {
        let known = || self.passed_over.iter().filter(|it| it.is_readable || it.is_over);
        let newest = known().find(|it| !it.is_set_aside).or_else(|| known().next());
        newest.filter(|it| self.offer.is_none() && it.is_over)
    }

    /// Returns the decision by the store alone, before the world is compared.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        match (&self.offer, self.ended()) {
            (Some(_), _) => Outlook::Resume,
            (None, Some(_)) => Outlook::Ended,
            (None, None) => Outlook::Refused,
        }
    }
}

impl Offer {
    pub(super) fn of(candidate: &Candidate, checkpoint: Checkpoint) -> Self {
        let (standing, problems) = (candidate.standing.clone(), candidate.problems.clone());
        Self { checkpoint, standing, problems }
    }
}

impl PassedOver {
    /// A candidate that was passed over for its hurdles.
    pub(super) fn of(candidate: &Candidate) -> Self {
        Self::because(candidate, candidate.hurdles.iter().map(Hurdle::to_string).collect())
    }

    /// As [`PassedOver::of`], for these reasons.
    pub(super) fn because(candidate: &Candidate, why: Vec<String>) -> Self {
        Self {
            entry: candidate.entry.clone(),
            is_readable: candidate.is_readable(),
            why,
            is_over: candidate.has_ended(),
            is_set_aside: candidate.is_set_aside,
        }
    }
}
