//! Recognises a file of `.pipeline` that lacks fields, and lists its problems.
//!
//! Many repositories have unrelated files of these names. None has the field names that are
//! specific to the protocol.

use super::{PipelineState, StoryCheckpoint};
use crate::codec::Datum;
use crate::layouts::check::{no_stand_in, typed};
use crate::layouts::{Problem, path};

/// Fields of the checkpoint of a story; relatives write them in another case.
const OF_CHECKPOINT: [&str; 7] = [
    "storyId",
    "agentId",
    "tasksCompleted",
    "tasksRemaining",
    "lastAction",
    "planScore",
    "qualityScore",
];
const OF_STATE: [&str; 12] = [
    "story_state",
    "active_workers",
    "stories_remaining",
    "last_check",
    "worker_map",
    "quality_cycles",
    "validation_retries",
    "crash_count",
    "priority_queue_ids",
    "story_results",
    "worktree_map",
    "pipeline_start_time",
];
/// Fields of the successor system, for which the protocol has no rules.
const OF_SUCCESSOR: [&str; 6] =
    ["event_type", "run_id", "story_id", "tasks_completed", "tasks_remaining", "_history"];
const SUCCESSOR: &str = ".hex-skills";

/// The story of `.pipeline/checkpoint-STORY.json`.
pub(super) fn story_of(path: &str) -> Option<&str> {
    let is_placed = matches!(path::parts(path).as_slice(), [.., ".pipeline", _]);
    let story = path::stem(path).strip_prefix("checkpoint-").filter(|_| is_placed)?;
    (!story.is_empty()).then_some(story)
}

/// Tells whether a path is that of the state of a pipeline.
pub(super) fn is_state(path: &str) -> bool {
    matches!(path::parts(path).as_slice(), [.., ".pipeline", "state.json"])
}

/// True if a file at the path of a checkpoint has a field name specific to the protocol.
pub(super) fn is_of_checkpoint(document: Datum<'_>) -> bool {
    count(document, &OF_CHECKPOINT) > 0
}

/// The same, for a file at the path of the state.
pub(super) fn is_of_state(document: Datum<'_>) -> bool {
    document.is_object("story_state") || is_like_state(document)
}

pub(super) fn is_like_checkpoint(document: Datum<'_>) -> bool {
    let count = count(document, &OF_CHECKPOINT);
    count > 1 || count == 1 && document.has("stage")
}

pub(super) fn is_like_state(document: Datum<'_>) -> bool {
    let count = count(document, &OF_STATE);
    count > 1 || count == 1 && document.has("complete")
}

fn count(document: Datum<'_>, fields: &[&str]) -> usize {
    fields.iter().filter(|field| document.has(field)).count()
}

pub(in crate::layouts) fn check(document: Datum<'_>, path: &str) -> Vec<Problem> {
    let is_checkpoint = is_like_checkpoint(document);
    let is_successor = path::parts(path).contains(&SUCCESSOR)
        || !is_checkpoint && OF_SUCCESSOR.iter().any(|field| document.has(field));
    let is_state = is_state(path) || document.is_object("story_state") || is_like_state(document);
    if is_successor {
        Vec::new()
    } else if is_state && !is_checkpoint {
        typed(document, &no_stand_in, PipelineState::validate)
    } else {
        typed(document, &no_stand_in, StoryCheckpoint::validate)
    }
}
