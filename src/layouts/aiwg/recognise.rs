//! Describes a checkpoint that follows AIWG's schema.
//!
//! It has no status: remaining steps mean work in progress, and nothing marks completed work.

use super::location::loop_of;
use super::{LoopFileName, shape};
use crate::checkpoint::{Layout, LoopId, NewEntry, Status};
use crate::codec::Datum;
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path, status};

pub(super) const ANCHORS: [&str; 1] = [".aiwg"];
/// Where an export keeps a trigger that AIWG has no word for.
pub(super) const KEPT_TRIGGER: &str = "metadata.trigger";

pub(in crate::layouts) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    checkpoint(document, place)
        .or_else(|| super::external::recognise(document, place))
        .or_else(|| super::loop_state::recognise(document, place))
}

/// A file at a path and of the shape of the system that lacks required fields.
pub(in crate::layouts) fn broken(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let is_broken = shape::is_placed(place.path) && shape::is_like(document);
    is_broken.then(|| entry(document, place))
}

/// A checkpoint that cannot be read; `None` for another file.
pub(in crate::layouts) fn unreadable(place: &Place<'_>) -> Option<NewEntry> {
    shape::is_placed(place.path).then(|| entry(Datum::NULL, place))
}

fn checkpoint(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    // The schema also requires `created_at`, but the file name may have it instead.
    let required = ["checkpoint_id", "workflow_id", "state.phase"];
    let parts = ["state.progress", "state.artifacts"];
    let is_checkpoint = required.iter().all(|field| document.has(field))
        && parts.iter().any(|field| document.has(field));
    if !is_checkpoint {
        return None;
    }
    Some(entry(document, place))
}

pub(in crate::layouts) fn entry(document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let name = path::name(place.path).parse::<LoopFileName>().ok();
    let mut reading = Reading::new(Layout::Aiwg, document, place);
    reading.id("checkpoint_id");
    set_loop(&mut reading, place);
    reading.entry.workflow_id = reading.name("workflow_id").or(match &name {
        Some(LoopFileName::Legacy { workflow_id, .. }) => Some(workflow_id.clone()),
        Some(LoopFileName::Iteration(_)) | None => None,
    });
    reading.entry.workflow_type = reading.name("workflow_type");
    set_trigger(&mut reading, document, name.as_ref());
    set_state(&mut reading, document, name.as_ref());
    reading.entry.created_at =
        reading.time("created_at").or_else(|| name.as_ref().and_then(LoopFileName::created_at));
    reading.entry.agent =
        reading.name_of(&["execution_config.agent", "state.agent_state.current_agent"]);
    reading.tags("metadata.tags");
    // Too many days for the type: practically for ever.
    let days = reading.count("metadata.retention_days");
    reading.entry.retention_days = days.map(|days| u32::try_from(days).unwrap_or(u32::MAX));
    let has_name = reading.entry.loop_id.is_some() || reading.entry.workflow_id.is_some();
    if has_name || reading.entry.issue.is_some() {
        reading.series_of_names(&ANCHORS);
    }
    reading.finish()
}

fn set_loop(reading: &mut Reading<'_>, place: &Place<'_>) {
    reading.loop_id("loop_id");
    match (loop_of(place.path), reading.entry.loop_id.as_ref().map(LoopId::as_str)) {
        (Some(directory), None) => {
            reading.warn("loop_id is missing: it is taken from the directory of the loop");
            let name = reading.legal("the directory of the loop", directory);
            reading.entry.loop_id = name.and_then(|name| LoopId::new(name).ok());
        }
        (Some(directory), Some(loop_id)) if directory != loop_id => {
            reading.warn("loop_id is not the name of the loop's directory");
        }
        _ => {}
    }
}

fn set_trigger(reading: &mut Reading<'_>, document: Datum<'_>, name: Option<&LoopFileName>) {
    let from_name = match name {
        Some(LoopFileName::Legacy { trigger, .. }) => Some(trigger.as_str()),
        Some(LoopFileName::Iteration(_)) | None => None,
    };
    let said = document.text(KEPT_TRIGGER).map(|word| (KEPT_TRIGGER, word));
    let said = said.or_else(|| Some(("trigger", document.text("trigger").or(from_name)?)));
    if let Some((field, word)) = said {
        reading.trigger(field, word);
    }
}

fn set_state(reading: &mut Reading<'_>, document: Datum<'_>, name: Option<&LoopFileName>) {
    reading.entry.phase = reading.name("state.phase");
    reading.entry.step = reading.name("state.step");
    let is_plain = !document.is_object("state.iteration");
    let field = if is_plain { "state.iteration" } else { "state.iteration.current" };
    reading.entry.iteration = reading.count(field).or(match name {
        Some(LoopFileName::Iteration(number)) => Some(*number),
        Some(LoopFileName::Legacy { .. }) | None => None,
    });
    let is_number = |issue: &str| issue.starts_with('#') && issue[1..].parse::<u64>().is_ok();
    if document.text("state.variables.current_issue").is_some_and(is_number) {
        reading.issue("state.variables.current_issue");
    }
    let said = document.text("status").or_else(|| document.text("state.status"));
    let steps = document
        .whole("state.progress.completed_steps")
        .zip(document.whole("state.progress.total_steps"));
    reading.entry.status = match (said, steps) {
        (Some(said), _) => status(said),
        (None, Some((completed, total))) if completed < total => Status::InProgress,
        (None, _) => Status::Unknown,
    };
}
