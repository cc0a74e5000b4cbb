//! The point at which work continues: its phase, step and iteration.

use serde::Serialize;

use super::Freshness;
use crate::checkpoint::Entry;
use crate::layouts::Standing;

/// The point at which work continues.
///
/// ```
/// use waypost::recovery::ResumePoint;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?.phase("review").iteration(7), &"state")?;
/// let (offer, _hurdles) = store.offer(saved)?;
/// let point = ResumePoint::of(&offer.checkpoint.entry, &offer.standing);
/// assert_eq!((point.phase.as_deref(), point.iteration), (Some("review"), Some(7)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResumePoint {
    /// The phase of the work.
    pub phase: Option<String>,
    /// The phase of the checkpoint, if the work has since moved to another.
    pub saved_phase: Option<String>,
    /// The step within the phase.
    pub step: Option<String>,
    /// The iteration of the loop.
    pub iteration: Option<u64>,
    /// The place that the checkpoint itself names.
    pub resume_from: Option<String>,
    /// What its system does first, in a sentence.
    pub next: Option<String>,
}

impl ResumePoint {
    /// Returns where work continues after a checkpoint.
    #[must_use]
    pub fn of(entry: &Entry, standing: &Standing) -> Self {
        Self {
            phase: entry.phase.clone(),
            saved_phase: None,
            step: entry.step.clone(),
            iteration: entry.iteration,
            resume_from: entry.resume_from.clone(),
            next: standing.next.clone(),
        }
    }

    /// Returns the same point in the phase that the labels of the issue name, if they name one.
    #[must_use]
    pub fn following(mut self, freshness: &Freshness) -> Self {
        if let Some(phase) = &freshness.phase {
            self.saved_phase = self.phase.replace(phase.clone());
        }
        self
    }

    /// Returns a clause that says that the phase is not that of the checkpoint, and why.
    #[must_use]
    pub fn phase_note(&self) -> Option<String> {
        let [phase, saved] = [self.phase.as_ref()?, self.saved_phase.as_ref()?];
        Some(format!("{phase}, by the current labels of the issue; it was saved in {saved}"))
    }
}
