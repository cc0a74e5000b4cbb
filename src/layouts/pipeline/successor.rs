//! Describes the files of `.hex-skills/pipeline`, the successor of `.pipeline`.
//!
//! The first release has `state.json` and `checkpoint-STORY.json`. The next one has a directory per
//! run, with a history in which each line is a checkpoint. The checkpoints of a run are rebuilt
//! whenever they are read, with the time of reading, so their times are not those of the work.

use super::StoryState;
use super::recognise::{phase, remaining, stage};
use crate::checkpoint::{Issue, Layout, NewEntry, Status};
use crate::codec::Datum;
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path};

const ANCHORS: [&str; 1] = [".hex-skills"];

pub(super) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    // Many systems use the words run, story and phase.
    if !path::parts(place.path).contains(&ANCHORS[0]) {
        return None;
    }
    event(document, place)
        .or_else(|| state(document, place))
        .or_else(|| checkpoint(document, place))
        .or_else(|| recorded(document, place))
        .or_else(|| manifest(document, place))
        .or_else(|| active(document, place))
}

/// A line of `history.jsonl`.
fn event(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let kind = document.text("event_type")?;
    document.word("run_id").zip(document.at("sequence"))?;
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    reading.trigger("event_type", kind);
    for field in ["state.story_id", "manifest.story_id", "story_id"] {
        if reading.entry.issue.is_none() {
            reading.issue(field);
        }
    }
    reading.entry.phase = reading.name_of(&["phase", "state.phase"]);
    reading.entry.iteration = reading.count("sequence");
    reading.entry.created_at = reading.time("created_at");
    reading.entry.status = match kind {
        "RUN_COMPLETED" => Status::Completed,
        "RUN_PAUSED" => Status::Paused,
        _ => document.at("state").map_or(Status::Unknown, |state| standing(state, "phase")),
    };
    set_run(&mut reading, document, place);
    Some(reading.finish())
}

/// `state.json` of a run, or of the first release, which calls the phase a stage.
fn state(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.text("story_id")?;
    let has_run = document.text("run_id").is_some() && document.text("phase").is_some();
    // Other systems have a story and a stage, too, but no such word for it.
    let is_stage = |word: &str| StoryState::ALL.iter().any(|state| state.as_str() == word);
    let has_stage = document
        .text("stage")
        .is_some_and(|word| is_stage(word) && (word.starts_with("STAGE_") || is_run(document)));
    if !has_run && !has_stage {
        return None;
    }
    let field = if has_run { "phase" } else { "stage" };
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    reading.issue("story_id");
    reading.entry.phase = reading.name(field);
    reading.entry.status = standing(document, field);
    // `created_at` is when the run began.
    reading.entry.created_at = reading.time("updated_at");
    reading.entry.updated_at = reading.entry.created_at;
    set_run(&mut reading, document, place);
    Some(reading.finish())
}

fn is_run(document: Datum<'_>) -> bool {
    document.truth("complete").is_some()
}

/// `checkpoint-STORY.json` of the first release: only its name and path identify it.
fn checkpoint(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let story = path::stem(place.path).strip_prefix("checkpoint-")?;
    let stage = stage(document, "stage")?;
    document.list("tasks_completed").map(drop)?;
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    let name = reading.legal("the story in the name of the file", story);
    reading.entry.issue = name.and_then(|name| Issue::new(name).ok());
    reading.entry.phase = Some(phase(stage).to_owned());
    reading.entry.created_at = reading.time("completed_at");
    reading.entry.status = remaining(document, "tasks_remaining");
    reading.series(&ANCHORS, &format!("story:{story}"));
    Some(reading.finish())
}

/// `checkpoints.json` of a run: all its checkpoints; the last one counts.
fn recorded(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let history = document.list("_history")?;
    document.at("_next_sequence")?;
    let last = history.last().unwrap_or(Datum::NULL);
    let mut newest = Reading::new(Layout::Pipeline, last, place);
    newest.entry.phase = newest.name("phase");
    newest.entry.iteration = newest.count("sequence");
    newest.entry.created_at = newest.time("payload.completed_at");
    set_run(&mut newest, document, place);
    Some(newest.finish())
}

/// `manifest.json` of a run: its start parameters.
fn manifest(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let is_manifest = document.text("skill").is_some()
        && document.word("identifier").is_some()
        && document.text("project_root").is_some();
    if !is_manifest {
        return None;
    }
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    reading.issue("story_id");
    reading.entry.created_at = reading.time("created_at");
    set_run(&mut reading, document, place);
    Some(reading.finish())
}

/// A file of `active`, which names the run of a story that is under way.
fn active(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.text("run_id")?;
    if !matches!(path::parts(place.path).as_slice(), [.., "active", _, _]) {
        return None;
    }
    let mut reading = Reading::new(Layout::Pipeline, document, place);
    reading.issue("story_id");
    reading.entry.status = Status::InProgress;
    reading.entry.created_at = reading.time_of(&["updated_at", "created_at", "started_at"]);
    set_run(&mut reading, document, place);
    Some(reading.finish())
}

/// The run is named by the document, or by the directory it lies in.
fn set_run(reading: &mut Reading<'_>, document: Datum<'_>, place: &Place<'_>) {
    let run = document.word("run_id");
    let directory = path::directory_below(place.path, "runs");
    let name = run.as_deref().or(directory);
    reading.entry.workflow_id = name.and_then(|name| reading.legal("run_id", name));
    let series = match (name, &reading.entry.issue) {
        (Some(name), _) => format!("run:{name}"),
        (None, Some(story)) => format!("story:{story}"),
        (None, None) => "pipeline".to_owned(),
    };
    reading.series(&ANCHORS, &series);
}

/// The status of a run. A cancelled run is complete but not done.
fn standing(state: Datum<'_>, field: &str) -> Status {
    let phase = state.text(field);
    let is_paused = state.is_object("pending_decision") || state.text("paused_reason").is_some();
    match state.truth("complete") {
        Some(true) if phase.is_none_or(|phase| phase == "DONE") => Status::Completed,
        Some(true) => Status::Failed,
        None if phase == Some("DONE") => Status::Completed,
        _ if phase == Some("PAUSED") || is_paused => Status::Paused,
        Some(false) => Status::InProgress,
        None => Status::Unknown,
    }
}
