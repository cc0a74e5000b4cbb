//! `waypost save --layout`: a document of another system, held to the rules of that system.

use waypost::layouts::{Place, Problem, check, recognise_as};
use waypost::{Document, Error, Layout, NewEntry, Result, Source, Status, Trigger};

use super::Args;

// More would fill the screen; `waypost check` lists all.
const TOLD_MAX: usize = 8;

/// What is known about a document: by flags, else by what it says about itself.
///
/// Refused if it breaks the rules of its layout, unless that is wished for.
pub(super) fn described(mut about: NewEntry, args: &Args, json: &[u8]) -> Result<NewEntry> {
    if let Some(layout) = args.layout.filter(|_| about.layout == Layout::Native) {
        about.layout = layout;
    }
    if about.layout == Layout::Native {
        return Ok(about);
    }
    let document = Document::from_json(json)?;
    if !args.force {
        refuse_broken(about.layout, &document)?;
    }
    // By force, a document is its system's whatever it lacks, and is found by what it names.
    let own = recognise_as(about.layout, &document, &Place::default());
    Ok(match own.filter(|_| !args.has_about) {
        Some(own) => joined(about, own, args),
        None => about,
    })
}

/// The document as JSON: claude-crunch writes YAML.
pub(super) fn in_json(text: Vec<u8>, layout: Option<Layout>) -> Result<Vec<u8>> {
    if layout != Some(Layout::Crunch) || Document::from_json(&text).is_ok() {
        return Ok(text);
    }
    let document = Source::from_yaml(&text)?.document()?;
    serde_json::to_vec(&document)
        .map_err(|error| Error::Invalid { what: "document".to_owned(), reason: error.to_string() })
}

fn refuse_broken(layout: Layout, document: &Document) -> Result<()> {
    let problems = check(layout, document, "");
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.is_error()).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = errors.iter().take(TOLD_MAX).map(ToString::to_string).collect();
    let more = errors.len() - told.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!("{}{more}", told.join("; "));
    Err(Error::Invalid { what: format!("document of {layout}"), reason })
}

/// What flags say comes first. Its id and time are not taken over: it is saved anew, and now.
fn joined(about: NewEntry, own: NewEntry, args: &Args) -> NewEntry {
    let says_status = args.about.has_status() || own.status == Status::Unknown;
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
        status: if says_status { about.status } else { own.status },
        tags: if about.tags.is_empty() { own.tags } else { about.tags },
        can_resume: about.can_resume.or(own.can_resume),
        resume_from: about.resume_from.or(own.resume_from),
        warnings: if about.warnings.is_empty() { own.warnings } else { about.warnings },
        retention_days: about.retention_days.or(own.retention_days),
        ..about
    }
}
