//! Recognises a checkpoint of `.claude/checkpoints` that lacks fields, and lists its problems.
//!
//! Other systems keep their files in a directory of this name. None of them has workflows.

use super::WorkflowCheckpoint;
use crate::codec::Datum;
use crate::layouts::check::{no_stand_in, typed_to};
use crate::layouts::{Problem, path};

const OWN: [&str; 2] = ["workflow_type", "workflow_state"];
const OTHERS: [&str; 6] = [
    "checkpoint_id",
    "project_name",
    "workflow_description",
    "current_phase",
    "total_phases",
    "completed_phases",
];
/// The length of `_YYYYMMDD_HHMMSS`.
const TIME_BYTES: usize = 16;

/// The rules are about the fields at the top, and those of the state.
const DEPTH: usize = 2;

/// Tells whether a path is that of a checkpoint.
pub(super) fn is_placed(path: &str) -> bool {
    let parts = path::parts(path);
    let Some((_, directories)) = parts.split_last() else { return false };
    let directories = directories.strip_suffix(&["failed"]).unwrap_or(directories);
    matches!(directories, [.., ".claude", "checkpoints"] | [.., ".claude", "data", "checkpoints"])
}

/// True if a document has a field that only this system has, and another of its fields.
pub(super) fn is_like(document: Datum<'_>) -> bool {
    let has = |field: &&&str| document.has(field);
    let own = OWN.iter().filter(has).count();
    own > 0 && own + OTHERS.iter().filter(has).count() > 1
}

/// True if a file is named like a checkpoint and has a field of one.
pub(super) fn is_named(path: &str, document: Datum<'_>) -> bool {
    let mut fields = OWN.iter().chain(&OTHERS).chain(&["status", "last_error", "schema_version"]);
    path::stem(path).parse::<super::WorkflowCheckpointId>().is_ok()
        && fields.any(|key| document.has(key))
}

/// The type and the project by an id or the name of a file, `TYPE_PROJECT_YYYYMMDD_HHMMSS`, if one
/// of both is known: both may have underscores.
pub(super) fn parts_of<'a>(
    name: &'a str,
    kind: Option<&'a str>,
    project: Option<&'a str>,
) -> Option<(&'a str, &'a str)> {
    let (names, _) = name.split_at_checked(name.len().checked_sub(TIME_BYTES)?)?;
    let parts = match (kind, project) {
        (Some(kind), Some(project)) => return Some((kind, project)),
        (Some(kind), None) => (kind, names.strip_prefix(kind)?.strip_prefix('_')?),
        (None, Some(project)) => (names.strip_suffix(project)?.strip_suffix('_')?, project),
        (None, None) => names.split_once('_')?,
    };
    (!parts.0.is_empty() && !parts.1.is_empty()).then_some(parts)
}

pub(in crate::layouts) fn check(document: Datum<'_>) -> Vec<Problem> {
    if is_other(document) {
        return Vec::new();
    }
    typed_to(document, Some(DEPTH), &no_stand_in, |checkpoint: &WorkflowCheckpoint| {
        let mut problems = checkpoint.validate();
        // Checked here and not by the type: an export fills it in last.
        if checkpoint.workflow_state.value().is_none() {
            problems.push(Problem::required("/workflow_state"));
        }
        problems
    })
}

/// Parallel operations, and the iterations of a build: the README does not know them.
fn is_other(document: Datum<'_>) -> bool {
    let has = |fields: &[&str]| fields.iter().all(|field| document.has(field));
    let is_checkpoint = has(&OWN[..1]) || document.is_object(OWN[1]);
    !is_checkpoint
        && (has(&["operation_type", "operations"]) || has(&["iteration", "max_iterations"]))
}
