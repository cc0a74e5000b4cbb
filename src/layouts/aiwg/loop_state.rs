//! What the state of a loop says about itself: `current-loop.json`, `loops/ID/state.json`,
//! `session-state.json`, and the checkpoints that AIWG's own recovery reads, which are the same.
//!
//! Code writes it in one spelling and language models in another: `currentIteration` and
//! `current_iteration`. The start time of a loop is not the time of its state.

use super::recognise::{ANCHORS, KEPT_TRIGGER};
use crate::checkpoint::{Layout, LoopId, NewEntry, Status, Timestamp, Trigger};
use crate::codec::Datum;
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path, status, time};

const ITERATION: [&str; 2] = ["currentIteration", "current_iteration"];
const LOOP: [&str; 3] = ["loopId", "loop_id", "id"];
const PHASE: [&str; 3] = ["currentPhase", "current_phase", "phase"];
const SESSION: [&str; 2] = ["sessionId", "session_id"];
const UPDATED: [&str; 6] =
    ["lastUpdate", "lastUpdated", "updatedAt", "last_update", "last_updated", "updated_at"];
const ENDED: [&str; 4] = ["completedAt", "completed_at", "endTime", "ended_at"];

pub(super) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let has = |fields: &[&str]| fields.iter().any(|field| document.has(field));
    let is_state = has(&["task", "loopId"]) && has(&ITERATION)
        || document.text("loopId").is_some() && has(&["objective"]);
    let file = name_of_reader(place.path);
    // Any program may write a task and an iteration; only the path or the file name shows that it
    // is a loop.
    let name = path::name(place.path);
    let is_placed = path::parts(place.path).contains(&ANCHORS[0])
        || name.contains("loop")
        || name.starts_with("session-state")
        || file.is_some();
    if !is_state || !is_placed {
        return None;
    }
    let mut reading = Reading::new(Layout::Aiwg, document, place);
    set_loop(&mut reading, document, place);
    reading.entry.session_id = reading.name_of(&SESSION);
    reading.entry.phase = reading.name_of(&PHASE);
    let iteration = ITERATION.iter().find_map(|field| reading.count(field));
    reading.entry.iteration = iteration.or(file.map(|(iteration, _)| iteration));
    reading.entry.updated_at = reading.time_of(&UPDATED);
    let written_at = reading.entry.updated_at.or_else(|| reading.time_of(&ENDED));
    reading.entry.created_at = file.map(|(_, time)| time).or(written_at);
    reading.entry.status = status_of(document);
    if let Some(word) = document.text(KEPT_TRIGGER) {
        reading.trigger(KEPT_TRIGGER, word);
    } else if file.is_some() {
        reading.entry.trigger = Trigger::Iteration;
    }
    if file.is_some() {
        reading.entry.phase = reading.entry.phase.take().or_else(|| reading.name("status"));
    }
    let has_number = |issue: &str| issue.contains(|letter: char| letter.is_ascii_digit());
    // Models write `#TBD`, too.
    if document.text("issue").is_none_or(has_number) {
        reading.issue("issue");
    }
    Some(reading.finish())
}

/// Sets the loop from the document, else from the directory; the file of a single loop needs none.
fn set_loop(reading: &mut Reading<'_>, document: Datum<'_>, place: &Place<'_>) {
    if let Some(field) = LOOP.iter().find(|field| document.has(field)) {
        reading.loop_id(field);
    }
    let directory = path::directory_below(place.path, "loops");
    match (directory, reading.entry.loop_id.as_ref().map(LoopId::as_str)) {
        (Some(directory), Some(loop_id)) if directory != loop_id => {
            reading.warn("loop_id is not the name of the loop's directory");
        }
        (Some(directory), None) => {
            let name = reading.legal("the directory of the loop", directory);
            reading.entry.loop_id = name.and_then(|name| LoopId::new(name).ok());
        }
        _ => {}
    }
    if reading.entry.loop_id.is_some() {
        reading.series_of_names(&ANCHORS);
    } else {
        reading.series(&ANCHORS, "current-loop");
    }
}

fn status_of(document: Datum<'_>) -> Status {
    match (document.text("status"), document.truth("active")) {
        (Some(said), _) => status(said),
        (None, Some(true)) => Status::InProgress,
        (None, _) => Status::Unknown,
    }
}

/// Iteration and time of `checkpoint-ITERATION-MILLISECONDS.json.gz`.
fn name_of_reader(path: &str) -> Option<(u64, Timestamp)> {
    let stem = path::name(path).strip_suffix(".json.gz")?.strip_prefix("checkpoint-")?;
    let (iteration, millis) = stem.split_once('-')?;
    Some((iteration.parse().ok()?, time::of_epoch(millis.parse().ok()?)?))
}
