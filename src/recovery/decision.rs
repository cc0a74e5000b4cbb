//! Options of a resume, and its decision.

use serde::Serialize;

use super::overview::DEPTH;
use super::proposal::Strategy;

/// How [`Store::resume`](crate::Store::resume) chooses and decides.
///
/// ```
/// use waypost::recovery::{Blind, Choice, Decision, Resume, Strategy};
/// use waypost::{NewEntry, Store, Timestamp};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let how = Resume { strategy: Strategy::Smart, ..Resume::default() };
/// let found = store.resume("42", &how, &Blind, Timestamp::now())?;
/// assert_eq!(found.decision, Decision::Resume);
///
/// let anew = Resume { choice: Some(Choice::Fresh), ..Resume::default() };
/// let found = store.resume("42", &anew, &Blind, Timestamp::now())?;
/// assert_eq!(found.decision, Decision::StartFresh);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// How to choose among the checkpoints of a series.
    pub strategy: Strategy,
    /// How many of the newest checkpoints of a series are considered; [`DEPTH`] by default.
    pub depth: u32,
    /// A decision made beforehand.
    pub choice: Option<Choice>,
    /// Whether to resume despite the checkpoint's hurdles or changes in the world. A checkpoint
    /// whose file could not be read is refused even then.
    pub force: bool,
}

impl Default for Resume {
    fn default() -> Self {
        Self { strategy: Strategy::default(), depth: DEPTH, choice: None, force: false }
    }
}

/// A decision that can be made before the checkpoint is known.
///
/// See [`Resume`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Resume even if something changed. Hurdles still prevent it.
    Resume,
    /// Start over.
    Fresh,
    /// Delete the checkpoint, and do not start.
    Delete,
}

/// What to do about a checkpoint that was chosen.
///
/// See [`Resume`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on from it.
    Resume,
    /// Start over: [`Store::start_fresh`](crate::Store::start_fresh) archives its series. Only by
    /// [`Choice::Fresh`].
    StartFresh,
    /// Delete it with [`Store::delete`](crate::Store::delete), and do not start. Only by
    /// [`Choice::Delete`].
    Delete,
    /// The work is over: there is nothing to go on from.
    Ended,
    /// A person must decide; [`Resumption::questions`](super::Resumption::questions) says why.
    PromptUser,
    /// Work cannot go on from it; [`Resumption::refusals`](super::Resumption::refusals) says why.
    Refused,
}
