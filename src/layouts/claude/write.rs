//! Checkpoints of others as `.claude/checkpoints/TYPE_PROJECT_TIME.json`.
//!
//! The schema is that of the README, without a version: later releases read and migrate it. What
//! each field is made of, the entry first, then fields of the document:
//!
//! - `checkpoint_id`: type, project and the second of `created_at`.
//! - `workflow_type`: the same; the same.
//! - `project_name`: `/project_name`, `/workflow_state/project_name`; else the `workflow_id` of the
//!   entry, which has no project.
//! - `workflow_description`: the same of the document, if it is a text.
//! - `created_at`, `updated_at`: the same, to the second.
//! - `status`: the same; `unknown` is refused.
//! - `current_phase`: `phase`, if it is a number; the same, if it is one.
//! - `total_phases`: the same of the document, if it is a number.
//! - `workflow_state`: all of the document; one that is no object is its `document`.
//!
//! What has failed or is archived lies in `failed`, as the README has it. Two of the same second
//! would be one file: the other has a hash of its id between project and time, where scripts that
//! look for the project still find it.

use super::Id;
use crate::checkpoint::{Document, Entry, Format, SourceForm, Spacing, Status, TextStyle};
use crate::layouts::given::{Given, Said, at, object, seconds, text, text_of};
use crate::layouts::write::Paths;
use crate::layouts::{Code, Problem, part, status};

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

const DIRECTORY: &str = ".claude/checkpoints";

pub(in crate::layouts) fn paths(entry: &Entry, document: &Document) -> Result<Paths, Vec<Problem>> {
    const AT: &str = "/checkpoint_id";
    let problem = |rule: &str| vec![Problem::new(Code::Name, AT, rule)];
    let id = at(document, AT).and_then(text_of).ok_or_else(|| problem("is required"))?;
    if !part::is_name(id) {
        return Err(problem(part::RULE));
    }
    // Eight digits are enough to tell apart what was saved within a second.
    let hash = &part::hash(entry.id.as_str())[..8];
    let other = match id.parse::<Id>() {
        Ok(parts) => {
            Id { project_name: format!("{}_{hash}", parts.project_name), ..parts }.to_string()
        }
        Err(_) => format!("{id}_{hash}"),
    };
    let word = at(document, "/status").and_then(text_of);
    let directory = match word.map_or(entry.status, status) {
        Status::Failed | Status::Archived => format!("{DIRECTORY}/failed"),
        Status::InProgress | Status::Completed | Status::Paused | Status::Unknown => {
            DIRECTORY.to_owned()
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
        Id { workflow_type, project_name, time: entry.created_at }.to_string()
    });
    if entry.status == Status::Unknown {
        given.miss("status", "where the work stands");
    }
    let phase = entry.phase.as_ref().and_then(|phase| phase.parse().ok());
    let phase = phase.or_else(|| given.whole_at(&["/current_phase"]));
    object([
        ("checkpoint_id", text(id)),
        ("workflow_type", text(kind)),
        ("project_name", text(project)),
        ("workflow_description", text(given.text_at(&["/workflow_description"]))),
        ("created_at", text(Some(seconds(entry.created_at)))),
        ("updated_at", text(entry.updated_at.map(seconds))),
        ("status", text(Some(entry.status.as_str()))),
        ("current_phase", phase.map(Document::Uint)),
        ("total_phases", given.whole_at(&["/total_phases"]).map(Document::Uint)),
        ("workflow_state", Some(Document::Null)),
    ])
}

/// What a workflow resumes from is an object.
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

/// An entry has no project; a workflow of some type is what comes closest.
fn project_name(given: &mut Given<'_>) -> Option<Said> {
    const POINTERS: [&str; 2] = ["/project_name", "/workflow_state/project_name"];
    let workflow = given.entry.workflow_id.as_deref();
    let said = given.said("", None, &POINTERS).or_else(|| given.said("workflow_id", workflow, &[]));
    if said.is_none() {
        given.miss(POINTERS[0], "the project, else the workflow with --workflow-id");
    }
    said
}
