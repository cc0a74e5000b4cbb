//! The versions of the schema, and what each of them added.
//!
//! Documents are migrated as the scripts do it, with two exceptions: a default never replaces a
//! value in the state, and tests that fail in the state fail at the top, too.

use std::borrow::Cow;

use super::{SCHEMA_VERSIONS, STATES};
use crate::checkpoint::{Document, Layout};
use crate::layouts::Problem;
use crate::layouts::given::{object, text};
use crate::layouts::migrate::{Migration, unknown_version};
use crate::layouts::reading::{at, is_object, list, truth, whole_of, word};

/// From this version on, the scripts look for files in `.claude/data/checkpoints`.
const IN_DATA: &str = "1.2";

/// The version without a version field.
pub(super) const NONE: &str = "none";

/// Fields that a version added, with the defaults of the scripts.
const ADDED: [(&str, &str, &str); 15] = [
    ("1.1", "replanning_count", "0"),
    ("1.1", "last_replan_reason", "null"),
    ("1.1", "replan_phase_counts", "{}"),
    ("1.1", "replan_history", "[]"),
    ("1.2", "debug_report_path", "null"),
    ("1.2", "user_last_choice", "null"),
    ("1.2", "debug_iteration_count", "0"),
    ("1.3", "topic_directory", "null"),
    ("1.3", "topic_number", "null"),
    (
        "1.3",
        "context_preservation",
        r#"{"pruning_log": [], "artifact_metadata_cache": {}, "subagent_output_references": []}"#,
    ),
    ("1.3", "template_source", "null"),
    ("1.3", "template_variables", "null"),
    (
        "1.3",
        "spec_maintenance",
        r#"{"parent_plan_path": null, "grandparent_plan_path": null,
            "spec_updater_invocations": [], "checkbox_propagation_log": []}"#,
    ),
    ("2.0", "phase_data", "{}"),
    ("2.0", "supervisor_state", "{}"),
];

/// Which state follows which, as every migrated file has it.
const TRANSITIONS: [&str; 8] = [
    "research",
    "plan,complete",
    "implement,complete",
    "test",
    "debug,document",
    "test,complete",
    "complete",
    "",
];

/// The scope that the scripts assume by default.
const SCOPE: &str = "full-implementation";

/// How far a version is from the first; `none` is the first.
fn rank(version: &str) -> Option<usize> {
    let version = if version == NONE { SCHEMA_VERSIONS[0] } else { version };
    SCHEMA_VERSIONS.iter().position(|known| *known == version)
}

/// Whether a version has what another one added.
pub(super) fn has(version: &str, other: &str) -> bool {
    rank(version) >= rank(other)
}

/// Where the scripts of a version look for files.
pub(super) fn directory(version: &str) -> &'static str {
    if has(version, IN_DATA) { super::DATA_DIRECTORY } else { super::DIRECTORY }
}

/// The version that a document says it has.
pub(super) fn version_of(document: &Document) -> String {
    word(document, "schema_version").map_or_else(|| NONE.to_owned(), Cow::into_owned)
}

/// The fields that later versions added, with the value found or the default of the scripts.
pub(super) fn fields<'a>(
    version: &str,
    find: impl Fn(&str) -> Option<&'a Document>,
) -> Vec<(String, Document)> {
    let of_version = ADDED.iter().filter(|(since, ..)| has(version, since));
    let field = |&(_, key, default): &(&str, &str, &str)| {
        let default = Document::from_json(default.as_bytes()).unwrap_or_default();
        let found = find(key).filter(|found| is_alike(&default, found)).cloned();
        (key.to_owned(), found.unwrap_or(default))
    };
    of_version.map(field).collect()
}

/// True if a value has the same type as the default of the scripts.
fn is_alike(default: &Document, value: &Document) -> bool {
    match default {
        Document::Uint(_) => matches!(value, Document::Uint(_)),
        Document::Array(_) => matches!(value, Document::Array(_)),
        Document::Object(_) => matches!(value, Document::Object(_)),
        _ => true,
    }
}

/// The error state that a version writes.
pub(super) fn error_state(last_error: Document) -> Document {
    object([
        ("last_error", Some(last_error)),
        ("retry_count", Some(Document::Uint(0))),
        ("failed_state", Some(Document::Null)),
    ])
}

pub(super) fn metadata(document: &Document) -> Document {
    let copy = |key| Some(document.get(key).cloned().unwrap_or_default());
    object(
        ["checkpoint_id", "project_name", "created_at", "updated_at"].map(|key| (key, copy(key))),
    )
}

pub(in crate::layouts) fn migrate(
    document: &Document,
    to: &str,
) -> Result<Migration, Vec<Problem>> {
    if !is_object(document, "workflow_state") {
        return Ok(Migration::none_of(document, "checkpoint of a workflow"));
    }
    let from = version_of(document);
    let unknown = || unknown_version("/schema_version", Layout::Claude);
    let from_rank = rank(&from).ok_or_else(unknown)?;
    let mut migration = Migration::of(document);
    if from == to {
        return Ok(migration);
    }
    if to == NONE {
        migration.remove("schema_version");
    } else {
        migration.set("", "schema_version", Document::Text(to.to_owned()));
    }
    if rank(to) < Some(from_rank) {
        migration.note(format!("fields of schema {from} are kept in schema {to}"));
    }
    lift_safety(&mut migration, document);
    let in_state = |key: &str| at(document, &format!("workflow_state.{key}"));
    for (key, value) in fields(to, in_state) {
        migration.add("", &key, value);
    }
    if has(to, "2.0") {
        let machine = state_machine(&mut migration, document);
        migration.add("", "state_machine", machine);
        let error = migration.document.get("last_error").cloned().unwrap_or_default();
        migration.add("", "error_state", error_state(error));
        migration.add("", "metadata", metadata(document));
    }
    if has(to, "2.1") {
        migration.add("/state_machine", "classification", classification(&migration.document));
    }
    Ok(migration)
}

/// Copies an error and failing tests from the state to the top, where the check before a resume
/// looks.
fn lift_safety(migration: &mut Migration, document: &Document) {
    let error_at = |field| at(document, field).filter(|error| is_error(error));
    let error = error_at("workflow_state.last_error");
    if let Some(error) = error.filter(|_| error_at("last_error").is_none()) {
        migration.set("", "last_error", error.clone());
        migration.note("/last_error is that of /workflow_state");
    }
    let is_failing = truth(document, "workflow_state.tests_passing") == Some(false);
    if is_failing && truth(document, "tests_passing") != Some(false) {
        migration.set("", "tests_passing", Document::Bool(false));
        migration.note("/tests_passing is that of /workflow_state");
    }
}

/// True if a value is an error: the scripts read false as none.
pub(super) fn is_error(error: &Document) -> bool {
    !matches!(error, Document::Null | Document::Bool(false))
}

/// Translates phase numbers into named states.
fn state_machine(migration: &mut Migration, document: &Document) -> Document {
    let given = at(document, "workflow_state.state_machine");
    if let Some(given) = given.filter(|given| matches!(given, Document::Object(_))) {
        return given.clone();
    }
    let phase = at(document, "current_phase");
    let completed = list(document, "completed_phases").unwrap_or_default();
    let is_named = |phase: &Document| named(phase).is_some();
    if !phase.into_iter().chain(completed).all(is_named) {
        migration.note("a phase that no state has the number of is initialize, as in the scripts");
    }
    let state = |phase: &Document| Document::Text(named(phase).unwrap_or(STATES[0]).to_owned());
    let first = Document::Text(STATES[0].to_owned());
    let transitions = STATES.iter().zip(TRANSITIONS);
    let transitions =
        transitions.map(|(state, next)| ((*state).to_owned(), Document::Text(next.to_owned())));
    let said = |key| text(Some(word(document, key).unwrap_or_default()));
    object([
        ("current_state", Some(phase.map_or(first, state))),
        ("completed_states", Some(Document::Array(completed.iter().map(state).collect()))),
        ("transition_table", Some(Document::Object(transitions.collect()))),
        (
            "workflow_config",
            Some(object([
                ("scope", text(Some(SCOPE))),
                ("description", said("workflow_description")),
                ("command", said("workflow_type")),
            ])),
        ),
    ])
}

fn named(phase: &Document) -> Option<&'static str> {
    let number = usize::try_from(whole_of(phase)?).ok()?;
    STATES.get(number).copied()
}

/// A classification that says the workflow was not classified.
fn classification(document: &Document) -> Document {
    let scope = word(document, "state_machine.workflow_config.scope");
    object([
        ("workflow_type", text(Some(scope.unwrap_or(SCOPE.into())))),
        ("research_complexity", Some(Document::Uint(2))),
        ("research_topics", Some(Document::Array(Vec::new()))),
        ("confidence", Some(Document::Uint(0))),
        ("reasoning", text(Some("default of a migration: nothing was classified"))),
        ("classified_at", Some(Document::Null)),
    ])
}
