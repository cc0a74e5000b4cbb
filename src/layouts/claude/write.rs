//! Writes checkpoints as `.claude/data/checkpoints/TYPE_PROJECT_TIME.json`.
//!
//! The schema is the newest, or the one asked for; before 1.2 the directory is
//! `.claude/checkpoints`. The sources of each field, the entry first, then fields of the document:
//!
//! - `checkpoint_id`: type, project and the second of `created_at`.
//! - `workflow_type`: the same; the same.
//! - `project_name`: `/project_name`, `/workflow_state/project_name`; else the `workflow_id` of the
//!   entry, which has no project.
//! - `workflow_description`: the same of the document, if it is a text.
//! - `created_at`, `updated_at`: the same, to the second.
//! - `status`: the same; `unknown` is refused. Work in progress whose native document says that it
//!   has ended has the status of the document.
//! - `current_phase`: `phase`, if it is a number; the same, if it is one.
//! - `total_phases`: the same of the document, if it is a number.
//! - `completed_phases`, `last_error`, `tests_passing`, `plan_modification_time`: the same, at the
//!   top or in `/workflow_state`; else the error and the tests that [`standing()`] finds.
//! - Fields of later versions: the same, at the top or in `/workflow_state`; else the default of
//!   the scripts.
//! - `workflow_state`: all of the document; one that is no object is its `document`.
//!
//! Failed or archived checkpoints are in `failed`, as in the README. A second checkpoint of the
//! same second has a hash of its id between project and time, where scripts that search by project
//! still find it.

use super::schema::{self, NONE};
use super::{DATA_DIRECTORY, DIRECTORY, SCHEMA_VERSIONS, WorkflowCheckpointId};
use crate::checkpoint::{Document, Entry, Format, Layout, SourceForm, Spacing, Status, TextStyle};
use crate::layouts::given::{Given, Said, at, object, seconds, text, text_of, whole};
use crate::layouts::write::Paths;
use crate::layouts::{Code, Problem, part, standing, status};

/// As `jq` does.
pub(in crate::layouts) const FORM: SourceForm = SourceForm {
    format: Format::Json,
    style: Some(TextStyle {
        spacing: Spacing::Indent(2),
        is_ascii: false,
        has_final_newline: true,
        has_byte_order_mark: false,
    }),
    is_gzip: false,
    mode: None,
    modified_at: None,
    line: None,
    text_bytes: 0,
};

const NEWEST: &str = SCHEMA_VERSIONS[SCHEMA_VERSIONS.len() - 1];

pub(in crate::layouts) fn paths(entry: &Entry, document: &Document) -> Result<Paths, Vec<Problem>> {
    const AT: &str = "/checkpoint_id";
    let problem = |rule: &str| vec![Problem::new(Code::Name, AT, rule)];
    let id = at(document, AT).and_then(text_of).ok_or_else(|| problem("is required"))?;
    if !part::is_name(id) {
        return Err(problem(part::RULE));
    }
    // Eight digits are enough to distinguish checkpoints of the same second.
    let hash = &part::hash(entry.id.as_str())[..8];
    let other = match id.parse::<WorkflowCheckpointId>() {
        Ok(parts) => {
            WorkflowCheckpointId { project_name: format!("{}_{hash}", parts.project_name), ..parts }
                .to_string()
        }
        Err(_) => format!("{id}_{hash}"),
    };
    let word = at(document, "/status").and_then(text_of);
    let directory = schema::directory(&schema::version_of(document));
    let directory = match word.map_or(entry.status, status) {
        Status::Failed | Status::Archived => format!("{directory}/failed"),
        Status::InProgress | Status::Completed | Status::Paused | Status::Unknown => {
            directory.to_owned()
        }
    };
    let path_of = |id: &str| format!("{directory}/{id}.json");
    Ok(Paths { path: path_of(id), other_path: Some(path_of(&other)) })
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let entry = given.entry;
    let kind = workflow_type(given);
    let project = project_name(given);
    let (kind, project) = (given.name(kind), given.name(project));
    let id = kind.clone().zip(project.clone()).map(|(workflow_type, project_name)| {
        WorkflowCheckpointId { workflow_type, project_name, time: entry.created_at }.to_string()
    });
    let status = status_of(given);
    let phase = entry.phase.as_ref().and_then(|phase| phase.parse().ok());
    let phase = phase.or_else(|| given.whole_at(&["/current_phase"]));
    let total = given.whole_at(&["/total_phases"]);
    let version = given.writing.schema.map_or(NEWEST, |schema| schema.as_str());
    let standing = standing(entry, given.document);
    let error = lifted(given, "last_error").filter(|error| schema::is_error(error));
    let error = error.cloned().or_else(|| text(standing.error)).unwrap_or_default();
    let tests = lifted(given, "tests_passing").cloned();
    let mut envelope = object([
        ("schema_version", text(Some(version).filter(|version| *version != NONE))),
        ("checkpoint_id", text(id)),
        ("workflow_type", text(kind)),
        ("project_name", text(project)),
        ("workflow_description", text(given.text_at(&["/workflow_description"]))),
        ("created_at", text(Some(seconds(entry.created_at)))),
        ("updated_at", text(entry.updated_at.map(seconds))),
        ("status", text(Some(status.as_str()))),
        ("current_phase", phase.map(Document::Uint)),
        ("total_phases", total.map(Document::Uint)),
        ("completed_phases", completed_phases(given, total)),
        ("workflow_state", Some(Document::Null)),
        ("last_error", Some(error)),
        ("tests_passing", tests.or(standing.tests_passing.map(Document::Bool))),
        ("plan_modification_time", plan_modified_at(given)),
    ]);
    extend(&mut envelope, given, version);
    envelope
}

/// Adds the fields that versions after the first have.
fn extend(envelope: &mut Document, given: &Given<'_>, version: &str) {
    let mut more = schema::fields(version, |key| lifted(given, key));
    if schema::has(version, "2.0") {
        let is_machine = |found: &&Document| found.get("current_state").is_some();
        let machine = lifted(given, "state_machine").filter(is_machine).cloned();
        let error = envelope.get("last_error").cloned().unwrap_or_default();
        more.push(("state_machine".to_owned(), machine.unwrap_or_default()));
        more.push(("error_state".to_owned(), schema::error_state(error)));
        more.push(("metadata".to_owned(), schema::metadata(envelope)));
    }
    if let Document::Object(fields) = envelope {
        fields.extend(more);
    }
}

/// A field of the document, at the top or in the state.
fn lifted<'a>(given: &Given<'a>, key: &str) -> Option<&'a Document> {
    given.at(&[&format!("/{key}"), &format!("/workflow_state/{key}")])
}

/// The status. A native entry is in progress unless marked otherwise, so an end stated in its
/// document takes precedence.
fn status_of(given: &mut Given<'_>) -> Status {
    let entry = given.entry;
    let said = given.text_at(&["/status", "/workflow_state/status"]);
    let said = said.map_or(Status::Unknown, |word| status(&word));
    match (entry.status, said) {
        (Status::InProgress | Status::Unknown, Status::Unknown | Status::InProgress) => {}
        (Status::InProgress | Status::Unknown, said) if entry.layout == Layout::Native => {
            let entry = entry.status;
            given.note(format!("is {entry}, its document says {said}: written as {said}"));
            return said;
        }
        _ => {}
    }
    if entry.status == Status::Unknown {
        given.miss("status", "where the work stands");
    }
    entry.status
}

/// Completed phases by number. Names stay in the state only, since the scripts count phases.
fn completed_phases(given: &mut Given<'_>, total: Option<u64>) -> Option<Document> {
    let said = lifted(given, "completed_phases")?;
    let last = total.filter(|total| *total > 0).unwrap_or(u64::MAX);
    let is_phase = |phase: &Document| whole(phase).is_some_and(|phase| phase <= last);
    match said {
        Document::Array(phases) if phases.iter().all(is_phase) => Some(said.clone()),
        _ => {
            given.note("completed_phases are not numbers of phases: they stay in /workflow_state");
            None
        }
    }
}

/// Seconds since 1970, as the scripts compare them.
fn plan_modified_at(given: &Given<'_>) -> Option<Document> {
    let said = lifted(given, "plan_modification_time")?;
    matches!(said, Document::Uint(_)).then(|| said.clone())
}

/// The path of a file where the scripts of its version look; `None` if it lies elsewhere.
pub(in crate::layouts) fn in_place_of_version(path: &str, document: &Document) -> Option<String> {
    let wanted = schema::directory(&schema::version_of(document));
    [DATA_DIRECTORY, DIRECTORY].iter().find_map(|directory| {
        let at = format!("/{path}").rfind(&format!("/{directory}/"))?;
        Some(format!("{}{wanted}{}", &path[..at], &path[at + directory.len()..]))
    })
}

/// The state to resume from, which must be an object.
pub(in crate::layouts) fn state_of(document: Document) -> Document {
    match document {
        Document::Object(_) => document,
        other => object([("document", Some(other))]),
    }
}

fn workflow_type(given: &mut Given<'_>) -> Option<Said> {
    const FIELD: &str = "workflow_type";
    let said = given.said(FIELD, given.entry.workflow_type.as_deref(), &["/workflow_type"]);
    if said.is_none() {
        given.miss(FIELD, "the kind of workflow, such as implement");
    }
    said
}

/// The project; an entry has none, so its workflow id stands in.
fn project_name(given: &mut Given<'_>) -> Option<Said> {
    const POINTERS: [&str; 2] = ["/project_name", "/workflow_state/project_name"];
    let workflow = given.entry.workflow_id.as_deref();
    let said = given.said("", None, &POINTERS).or_else(|| given.said("workflow_id", workflow, &[]));
    if said.is_none() {
        given.miss(POINTERS[0], "the project, else the workflow with --workflow-id");
    }
    said
}
