//! Describes a checkpoint of claude-crunch, by its document and its index.
//!
//! Only the index knows the trigger. No file has a status: a checkpoint that can be resumed is in
//! progress, one in the phase `done` is completed, and others are unknown. Phases are kept as
//! written: `e2e`, the later name of `validation`, stays `e2e`.

use super::{IndexEntry, IssueCheckpointId};
use crate::checkpoint::{Issue, Layout, NewEntry, Status, Timestamp};
use crate::codec::Datum;
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path, status, time};

/// Fields that only these documents have; one is enough in their own directory.
const OWN: [&str; 6] = [
    "workflow_state",
    "issue_snapshot",
    "execution_graph",
    "graph_state",
    "recovery_info",
    "issue_number",
];

pub(in crate::layouts) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let directory = directory(place);
    is_crunch(document, directory.is_some()).then(|| entry(document, place))
}

/// The directory of an issue.
fn directory<'a>(place: &Place<'a>) -> Option<&'a str> {
    // A file below the directory of another system belongs to that system.
    path::directory_between(place.path, "crunch", "checkpoints")
        .filter(|name| !path::ANCHORS.contains(name))
}

/// A file that cannot be read. The id in its name has only a day, so the time of the file says
/// more than that; the index says when it was saved.
pub(in crate::layouts) fn unreadable(place: &Place<'_>) -> NewEntry {
    let row = place.index.and_then(|index| index.get(path::stem(place.path)));
    let is_dated = row.is_some_and(|row| row.created_at.value().is_some());
    let named = entry(Datum::NULL, place);
    if is_dated { named } else { NewEntry { created_at: place.modified_at, ..named } }
}

pub(in crate::layouts) fn entry(document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let directory = directory(place);
    let mut reading = Reading::new(Layout::Crunch, document, place);
    reading.id("checkpoint_id");
    let id = document.text("checkpoint_id").unwrap_or_else(|| path::stem(place.path));
    let known = place.index.and_then(|index| index.get(id));
    set_issue(&mut reading, document, directory);
    reading.entry.session_id = reading.name("session_id");
    if let Some(trigger) = known.and_then(|known| known.trigger.value()) {
        reading.trigger("trigger of the index", trigger.as_str());
    }
    let parts = id.parse::<IssueCheckpointId>().ok();
    let phase = known.and_then(|known| known.phase.value());
    set_phase(&mut reading, document, phase.or(parts.as_ref().and_then(|id| id.phase.as_ref())));
    reading.entry.created_at = created_at(&mut reading, parts.as_ref(), known);
    reading.entry.can_resume = document
        .truth("recovery_info.can_resume")
        .or_else(|| known.and_then(|known| known.can_resume.value().copied()));
    reading.entry.resume_from = reading.name("recovery_info.resume_from");
    reading.entry.status = status_of(document, &reading.entry);
    reading.warnings("recovery_info.warnings");
    reading.finish()
}

fn is_crunch(document: Datum<'_>, is_placed: bool) -> bool {
    let has_id = document.text("checkpoint_id").is_some_and(|id| id.starts_with("CP-"));
    let has_state = document.word("workflow_state.current_phase").is_some();
    let by_content = has_id && (has_state || document.is_object("issue_snapshot"));
    by_content || is_placed && (has_id || OWN.iter().any(|key| document.get(key).is_some()))
}

fn set_issue(reading: &mut Reading<'_>, document: Datum<'_>, directory: Option<&str>) {
    reading.issue("issue_number");
    let from_path = directory.and_then(|name| Issue::new(name).ok());
    match (&reading.entry.issue, from_path) {
        (Some(issue), Some(directory)) if *issue != directory => {
            reading.warn("issue_number is not that of the directory");
        }
        (None, Some(directory)) => {
            let name = reading.legal("directory", directory.as_str());
            reading.entry.issue = name.and_then(|name| Issue::new(name).ok());
        }
        _ => {}
    }
    let name = match &reading.entry.issue {
        Some(issue) => format!("issue:{issue}"),
        None => document
            .word("issue_number")
            .map_or_else(|| "crunch".to_owned(), |issue| format!("issue:{issue}")),
    };
    reading.series(&[".claude"], &name);
}

/// `said` is the phase by the index or the id.
fn set_phase(reading: &mut Reading<'_>, document: Datum<'_>, said: Option<&String>) {
    reading.entry.phase = reading
        .name("workflow_state.current_phase")
        .or_else(|| said.and_then(|phase| reading.legal("phase of the index or id", phase)));
    reading.entry.iteration = reading.count("workflow_state.phase_attempt");
    let batch = document
        .whole("execution_graph.current_batch")
        .or_else(|| document.whole("graph_state.current_batch"));
    reading.entry.step = batch.map(|batch| format!("batch_{batch}"));
}

fn created_at(
    reading: &mut Reading<'_>,
    id: Option<&IssueCheckpointId>,
    known: Option<&IndexEntry>,
) -> Option<Timestamp> {
    if let Some(time) = reading.time("created_at") {
        return Some(time);
    }
    if let Some(text) = known.and_then(|known| known.created_at.value())
        && let Some(time) = reading.assumed("created_at of the index", time::of_text(text))
    {
        return Some(time);
    }
    reading.assumed("the time in checkpoint_id", time::of_compact(&id?.date))
}

fn status_of(document: Datum<'_>, entry: &NewEntry) -> Status {
    let said = document.text("status").or_else(|| document.text("workflow_state.status"));
    match said {
        Some(said) => status(said),
        None if entry.phase.as_deref() == Some("done") => Status::Completed,
        None if entry.can_resume == Some(true) => Status::InProgress,
        None => Status::Unknown,
    }
}
