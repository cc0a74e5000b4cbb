//! A caller's description of a checkpoint: a struct of fields, and methods for the common ones.
//!
//! Must never read a clock or draw an id: the store fills in what is absent.

use std::collections::BTreeSet;

use super::{Id, Issue, Layout, LoopId, Series, Status, Timestamp, Trigger};
use crate::error::Result;

/// A caller's description of a checkpoint to save; every field has a default.
///
/// The common case is a chain of calls, and everything else a field:
///
/// ```
/// use waypost::{NewEntry, Trigger};
///
/// # fn main() -> waypost::Result<()> {
/// let about = NewEntry::issue("42")?.trigger(Trigger::Iteration).iteration(7);
/// let about = NewEntry { agent: Some("reviewer".to_owned()), ..about };
/// # assert_eq!((about.iteration, about.issue.unwrap().as_str()), (Some(7), "42"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewEntry {
    /// A new UUIDv7 if absent. Saving the same content under the same id again is a no-op.
    pub id: Option<Id>,
    /// Derived by [`Series::of`] if absent.
    pub series: Option<Series>,
    /// See [`Entry::issue`](crate::Entry::issue).
    pub issue: Option<Issue>,
    /// See [`Entry::loop_id`](crate::Entry::loop_id). Must look like `ralph-SLUG-0123abcd` for a
    /// `ralph_loop`.
    pub loop_id: Option<LoopId>,
    /// See [`Entry::workflow_id`](crate::Entry::workflow_id).
    pub workflow_id: Option<String>,
    /// See [`Entry::workflow_type`](crate::Entry::workflow_type).
    pub workflow_type: Option<String>,
    /// See [`Entry::session_id`](crate::Entry::session_id).
    pub session_id: Option<String>,
    /// See [`Entry::agent`](crate::Entry::agent).
    pub agent: Option<String>,
    /// [`Trigger::Unknown`] by default: a trigger is never guessed.
    pub trigger: Trigger,
    /// See [`Entry::phase`](crate::Entry::phase).
    pub phase: Option<String>,
    /// See [`Entry::step`](crate::Entry::step).
    pub step: Option<String>,
    /// See [`Entry::iteration`](crate::Entry::iteration).
    pub iteration: Option<u64>,
    /// [`Status::InProgress`] by default.
    pub status: Status,
    /// The store's clock if absent.
    pub created_at: Option<Timestamp>,
    /// See [`Entry::ordered_at`](crate::Entry::ordered_at). Only for checkpoints from another
    /// store, together with the `created_at` that they had there, and never before it.
    pub ordered_at: Option<Timestamp>,
    /// See [`Entry::updated_at`](crate::Entry::updated_at).
    pub updated_at: Option<Timestamp>,
    /// See [`Entry::parent`](crate::Entry::parent).
    pub parent: Option<Id>,
    /// See [`Entry::tags`](crate::Entry::tags).
    pub tags: BTreeSet<String>,
    /// See [`Entry::can_resume`](crate::Entry::can_resume).
    pub can_resume: Option<bool>,
    /// See [`Entry::resume_from`](crate::Entry::resume_from).
    pub resume_from: Option<String>,
    /// See [`Entry::warnings`](crate::Entry::warnings).
    pub warnings: Vec<String>,
    /// See [`Entry::retention_days`](crate::Entry::retention_days).
    pub retention_days: Option<u32>,
    /// See [`Entry::layout`](crate::Entry::layout).
    pub layout: Layout,
    /// See [`Entry::source_path`](crate::Entry::source_path).
    pub source_path: Option<String>,
}

impl NewEntry {
    /// About a checkpoint of the work on an issue.
    ///
    /// # Errors
    /// As [`Issue::new`].
    pub fn issue(name: impl Into<String>) -> Result<Self> {
        Ok(Self { issue: Some(Issue::new(name)?), ..Self::default() })
    }

    /// About a checkpoint of a loop.
    ///
    /// # Errors
    /// As [`LoopId::new`].
    pub fn loop_id(name: impl Into<String>) -> Result<Self> {
        Ok(Self { loop_id: Some(LoopId::new(name)?), ..Self::default() })
    }

    /// About a checkpoint of a series.
    ///
    /// # Errors
    /// As [`Series::new`].
    pub fn series(name: impl Into<String>) -> Result<Self> {
        Ok(Self { series: Some(Series::new(name)?), ..Self::default() })
    }

    /// With this id, under which saving the same content again is a no-op.
    ///
    /// # Errors
    /// As [`Id::new`].
    pub fn id(self, text: impl Into<String>) -> Result<Self> {
        Ok(Self { id: Some(Id::new(text)?), ..self })
    }

    /// Saved for this reason.
    #[must_use]
    pub fn trigger(self, trigger: Trigger) -> Self {
        Self { trigger, ..self }
    }

    /// Saved in this iteration.
    #[must_use]
    pub fn iteration(self, number: u64) -> Self {
        Self { iteration: Some(number), ..self }
    }

    /// Saved in this phase.
    #[must_use]
    pub fn phase(self, name: impl Into<String>) -> Self {
        Self { phase: Some(name.into()), ..self }
    }

    /// Saved in this step of a phase.
    #[must_use]
    pub fn step(self, name: impl Into<String>) -> Self {
        Self { step: Some(name.into()), ..self }
    }

    /// With this status.
    #[must_use]
    pub fn status(self, status: Status) -> Self {
        Self { status, ..self }
    }

    /// With one more tag.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>) -> Self {
        self.tags.insert(name.into());
        self
    }

    /// With the checkpoint that it continues.
    #[must_use]
    pub fn parent(self, id: Id) -> Self {
        Self { parent: Some(id), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_set_the_fields_that_they_are_named_after() {
        let about = NewEntry::issue("#42")
            .and_then(|about| about.id("a-1"))
            .unwrap()
            .trigger(Trigger::Manual)
            .iteration(7)
            .phase("build")
            .step("link")
            .status(Status::Paused)
            .tag("keep")
            .tag("best")
            .parent(Id::new("a-0").unwrap());
        let fields = NewEntry {
            id: Some(Id::new("a-1").unwrap()),
            issue: Some(Issue::new("42").unwrap()),
            trigger: Trigger::Manual,
            phase: Some("build".to_owned()),
            step: Some("link".to_owned()),
            iteration: Some(7),
            status: Status::Paused,
            parent: Some(Id::new("a-0").unwrap()),
            tags: ["best".to_owned(), "keep".to_owned()].into(),
            ..NewEntry::default()
        };
        assert_eq!(about, fields);
        let of_loop = NewEntry::loop_id("l").unwrap();
        assert_eq!(of_loop.loop_id, Some(LoopId::new("l").unwrap()));
        let of_series = NewEntry::series("s").unwrap();
        assert_eq!(of_series.series, Some(Series::new("s").unwrap()));
        assert!(NewEntry::issue("").is_err() && NewEntry::series("").is_err());
    }
}
