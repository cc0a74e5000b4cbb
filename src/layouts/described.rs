//! Describes a document of another system and refuses one that breaks its rules.

use super::{Place, Problem, check, recognise_as};
use crate::checkpoint::{Document, Layout, NewEntry, Status, Trigger};
use crate::error::{Error, Result, Subject};

// More would fill the screen; `check` lists all.
const SHOWN_MAX: usize = 8;

/// Refuses a document that breaks the rules of a layout.
///
/// # Errors
/// [`Error::Invalid`] with the first 8 rules that it breaks; [`check()`] lists all of them.
///
/// ```
/// use waypost::layouts::refuse_broken;
/// use waypost::{Document, Layout};
///
/// let document = Document::from_json(b"{}").unwrap();
/// assert!(refuse_broken(Layout::Pipeline, &document).is_err());
/// ```
pub fn refuse_broken(layout: Layout, document: &Document) -> Result<()> {
    let problems = check(layout, document, "");
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.is_error()).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = errors.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    let more = errors.len() - shown.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!("{}{more}", shown.join("; "));
    Err(Error::Invalid { what: Subject::DocumentOf(layout.to_string()), reason })
}

/// Adds to `about` what a document of its layout says about itself, even if fields are missing.
///
/// A field that `about` has stays, except for the status: that of the document counts if it says
/// one. The id and the time of the document are not taken over.
///
/// ```
/// use waypost::layouts::described;
/// use waypost::{Document, NewEntry};
///
/// let document = Document::from_json(b"{}").unwrap();
/// assert_eq!(described(NewEntry::default(), &document), NewEntry::default());
/// ```
#[must_use]
pub fn described(about: NewEntry, document: &Document) -> NewEntry {
    let own = recognise_as(about.layout, document, &Place::default());
    let Some(own) = own else { return about };
    let is_unknown = about.trigger == Trigger::Unknown;
    NewEntry {
        series: about.series.or(own.series),
        issue: about.issue.or(own.issue),
        loop_id: about.loop_id.or(own.loop_id),
        workflow_id: about.workflow_id.or(own.workflow_id),
        workflow_type: about.workflow_type.or(own.workflow_type),
        session_id: about.session_id.or(own.session_id),
        agent: about.agent.or(own.agent),
        trigger: if is_unknown { own.trigger } else { about.trigger },
        phase: about.phase.or(own.phase),
        step: about.step.or(own.step),
        iteration: about.iteration.or(own.iteration),
        status: if own.status == Status::Unknown { about.status } else { own.status },
        tags: if about.tags.is_empty() { own.tags } else { about.tags },
        can_resume: about.can_resume.or(own.can_resume),
        resume_from: about.resume_from.or(own.resume_from),
        warnings: if about.warnings.is_empty() { own.warnings } else { about.warnings },
        retention_days: about.retention_days.or(own.retention_days),
        ..about
    }
}
