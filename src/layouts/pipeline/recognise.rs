//! Describes the files of `.pipeline`.
//!
//! Many repositories have an unrelated `.pipeline/state.json`, so names prove nothing. A checkpoint
//! does not say why it was saved; no trigger is guessed from its stage.

use super::{StoryStage, shape};
use crate::checkpoint::{Issue, Layout, NewEntry, Status, Trigger};
use crate::codec::{Datum, Kind};
use crate::layouts::reading::Reading;
use crate::layouts::{Place, status};

const ANCHORS: [&str; 2] = [".pipeline", ".hex-skills"];

pub(in crate::layouts) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    checkpoint(document, place)
        .or_else(|| state(document, place))
        .or_else(|| super::successor::recognise(document, place))
}

/// A file at a path and of the shape of the system that lacks required fields.
pub(in crate::layouts) fn broken(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    if let Some(story) = shape::story_of(place.path).filter(|_| shape::is_of_checkpoint(document)) {
        return Some(entry_of_story(document.text("storyId").unwrap_or(story), document, place));
    }
    let is_state = shape::is_state(place.path) && shape::is_of_state(document);
    is_state.then(|| entry_of_state(document, place))
}

/// The checkpoint of a story that cannot be read; `None` for another file.
pub(in crate::layouts) fn unreadable(place: &Place<'_>) -> Option<NewEntry> {
    Some(entry_of_story(shape::story_of(place.path)?, Datum::NULL, place))
}

/// Describes a story's checkpoint or the state of a pipeline, even with missing fields; `None`
/// without a story.
pub(in crate::layouts) fn entry(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    if shape::is_of_state(document) && !shape::is_of_checkpoint(document) {
        return Some(entry_of_state(document, place));
    }
    Some(entry_of_story(document.text("storyId")?, document, place))
}

fn checkpoint(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let story = document.text("storyId")?;
    document.whole("stage")?;
    document.list("tasksCompleted").map(drop)?;
    Some(entry_of_story(story, document, place))
}

fn entry_of_story(story: &str, document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    let name = reading.legal("storyId", story);
    reading.entry.issue = name.and_then(|name| Issue::new(name).ok());
    reading.entry.agent = reading.name("agentId");
    match stage(document, "stage") {
        Some(stage) => reading.entry.phase = Some(phase(stage).to_owned()),
        None if document.at("stage").is_none() => {}
        None => reading.warn("stage is none of 0 to 3"),
    }
    reading.entry.created_at = reading.time("timestamp");
    reading.entry.status = match document.text("status") {
        Some(said) => status(said),
        None => remaining(document, "tasksRemaining"),
    };
    reading.series(&ANCHORS, &format!("story:{story}"));
    reading.finish()
}

fn state(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.truth("complete")?;
    let marks = ["last_check", "pipeline_start_time", "selected_story_id"];
    let has_mark = marks.iter().any(|mark| document.get(mark).is_some());
    if !document.is_object("story_state") || !has_mark {
        return None;
    }
    Some(entry_of_state(document, place))
}

fn entry_of_state(document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    reading.issue("selected_story_id");
    reading.entry.trigger = Trigger::Heartbeat;
    reading.entry.phase =
        phase_of_story(document).and_then(|phase| reading.legal("story_state of the story", phase));
    reading.entry.status = match document.truth("complete") {
        Some(true) => Status::Completed,
        Some(false) => Status::InProgress,
        None => Status::Unknown,
    };
    reading.entry.created_at = reading.time("last_check");
    let line = ["team_name", "pipeline_start_time", "selected_story_id"];
    let line = line.iter().find_map(|field| document.word(field));
    let name = line.map_or_else(|| "pipeline".to_owned(), |line| format!("pipeline:{line}"));
    reading.series(&ANCHORS, &name);
    reading.finish()
}

/// The phase of the only story; of many there is none.
fn phase_of_story(document: Datum<'_>) -> Option<&str> {
    let stories = document.at("story_state").filter(|it| matches!(it.kind(), Kind::Object))?;
    let state = if let Some(story) = document.word("selected_story_id") {
        stories.get(&story)?
    } else {
        let mut states = stories.children();
        states.next().filter(|_| states.next().is_none())?
    };
    match state.kind() {
        Kind::Text(state) => Some(state),
        _ => None,
    }
}

/// A stage by its number.
pub(crate) fn stage<'a>(document: impl Into<Datum<'a>>, field: &str) -> Option<StoryStage> {
    let number = document.into().whole(field)?;
    StoryStage::ALL.into_iter().find(|stage| stage.number() == number)
}

/// The names of stages; files have numbers.
pub(crate) fn phase(stage: StoryStage) -> &'static str {
    match stage {
        StoryStage::Planning => "planning",
        StoryStage::Validation => "validation",
        StoryStage::Execution => "execution",
        StoryStage::QualityGate => "quality_gate",
    }
}

/// In progress if tasks remain; else unknown.
pub(super) fn remaining(document: Datum<'_>, field: &str) -> Status {
    let has_tasks = document.list(field).is_some_and(|mut tasks| tasks.next().is_some());
    if has_tasks { Status::InProgress } else { Status::Unknown }
}
