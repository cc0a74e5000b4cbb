//! Where a workflow of `.claude/checkpoints` stands: a checkpoint, parallel operations, or a build.
//!
//! Fields are read at the top, then in `workflow_state`, from which they were copied. For
//! `tests_passing` the order is reversed, because the copy is always true.

mod phases;

use super::SCHEMA_VERSIONS;
use crate::checkpoint::{Document, Entry};
use crate::layouts::Problem;
use crate::layouts::reading::{at, list, text, truth, whole};
use crate::layouts::standing::told::{
    LIST_MAX, file, message, missing, name, named, names, newer, required, said, seconds, sum,
};
use crate::layouts::standing::{NamedFile, Progress, Snapshot, Standing};
use phases::Phases;

/// Fields that the scripts check with `jq -e`, and the state to resume from.
const REQUIRED: [&str; 5] =
    ["checkpoint_id", "workflow_type", "created_at", "status", "workflow_state"];
const PROJECT: [&str; 2] = ["project_name", "workflow_state.project_name"];
const PLAN: [&str; 2] = ["workflow_state.plan_path", "plan_path"];

pub(in crate::layouts) fn standing(entry: &Entry, document: &Document) -> Standing {
    let has = |fields: &[&str]| fields.iter().all(|field| at(document, field).is_some());
    let is_checkpoint = has(&["workflow_state"]) || has(&["workflow_type"]);
    let mut standing = if !is_checkpoint && has(&["operation_type", "operations"]) {
        parallel_operations(document)
    } else if !is_checkpoint && has(&["iteration", "max_iterations"]) {
        build_iteration(document)
    } else {
        checkpoint(entry, document)
    };
    standing.snapshot.issue.clone_from(&entry.issue);
    standing.snapshot.plan_file = name(document, &PLAN);
    standing
}

fn checkpoint(entry: &Entry, document: &Document) -> Standing {
    let phases = Phases::of(document);
    let tests_passing = truth(document, "workflow_state.tests_passing");
    let errors = ["last_error", "error_state.last_error", "workflow_state.last_error"];
    let modified_at = ["plan_modification_time", "workflow_state.plan_modification_time"];
    Standing {
        description: said(
            document,
            &["workflow_description", "workflow_state.workflow_description"],
        ),
        version: name(document, &["schema_version"]),
        refusals: refusals(document),
        progress: phases.progress(entry.status),
        tasks_done: phases.done(),
        tasks_remaining: phases.remaining(),
        failures: sum([
            whole(document, "error_state.retry_count"),
            whole(document, "debug_iteration_count"),
        ]),
        error: message(document, &errors),
        tests_passing: tests_passing.or_else(|| truth(document, "tests_passing")),
        snapshot: Snapshot {
            plan_modified_at: seconds(document, &modified_at),
            files: artifacts(document),
            ..Snapshot::default()
        },
        ..Standing::default()
    }
}

/// `jq -e` treats false as missing.
fn refusals(document: &Document) -> Vec<Problem> {
    let is_there =
        |field: &&str| !matches!(at(document, field), None | Some(Document::Bool(false)));
    let newest = SCHEMA_VERSIONS[SCHEMA_VERSIONS.len() - 1];
    let newer = newer(document, "schema_version", newest);
    let missing = REQUIRED.iter().filter(|field| !is_there(field));
    let has_project = PROJECT.iter().any(is_there);
    let project = (!has_project).then_some(&PROJECT[0]);
    newer.into_iter().chain(missing.chain(project).map(|field| required(field))).collect()
}

/// The registry maps names of artifacts to a path, a list of paths, or an object.
fn artifacts(document: &Document) -> Vec<NamedFile> {
    let registry = ["workflow_state.artifact_registry", "artifact_registry"];
    let registry = registry.iter().find_map(|field| at(document, field));
    let Some(Document::Object(artifacts)) = registry else { return Vec::new() };
    let each = artifacts.iter().flat_map(|(_, value)| match value {
        Document::Array(items) => items.as_slice(),
        value => std::slice::from_ref(value),
    });
    each.filter_map(file).filter(|file| is_path(&file.path)).take(LIST_MAX).collect()
}

/// A registry may hold any text; one with a directory and no blanks counts as a path.
fn is_path(text: &str) -> bool {
    text.contains('/') && !text.contains(char::is_whitespace) && !text.contains("://")
}

/// The file is written before the operations start, so all of them remain.
fn parallel_operations(document: &Document) -> Standing {
    let is_before = text(document, "status") == Some("pre_execution");
    let operations = list(document, "operations").filter(|_| is_before);
    let progress = operations.map(|operations| Progress {
        unit: "task",
        done: 0,
        total: Some(operations.len() as u64),
        next: operations.first().and_then(named),
    });
    Standing {
        refusals: missing(document, &["plan_path"]),
        progress,
        tasks_remaining: names(document, &["operations"]).filter(|_| is_before),
        ..Standing::default()
    }
}

/// The file is written when a build halts before an iteration; the build resumes with that
/// iteration.
fn build_iteration(document: &Document) -> Standing {
    let progress = whole(document, "iteration").map(|iteration| Progress {
        unit: "iteration",
        done: iteration.saturating_sub(1),
        total: whole(document, "max_iterations"),
        next: Some(format!("iteration {iteration}")),
    });
    let halted = text(document, "halt_reason");
    Standing {
        version: name(document, &["version"]),
        refusals: missing(document, &["plan_path"]),
        progress,
        tasks_remaining: work_remaining(document),
        error: halted.filter(|reason| ["error", "stuck"].contains(reason)).map(str::to_owned),
        ..Standing::default()
    }
}

/// A list, or a text with commas between its parts.
fn work_remaining(document: &Document) -> Option<Vec<String>> {
    const FIELD: &str = "work_remaining";
    let Some(words) = text(document, FIELD) else { return names(document, &[FIELD]) };
    let parts = words.trim_matches(['[', ']', ' ']).split([',', '\n']).map(str::trim);
    Some(parts.filter(|part| !part.is_empty()).take(LIST_MAX).map(str::to_owned).collect())
}
