//! Describes the files of `.claude/checkpoints`.
//!
//! Checkpoints do not say why they were saved, so their trigger is unknown. Exceptions: those of
//! parallel operations are written before the operations start, and those of a build say why it
//! halted. A file in a directory `failed` is archived, whatever its status: the README moves failed
//! workflows there.

use super::{SCHEMA_VERSIONS, WorkflowCheckpointId, shape};
use crate::checkpoint::{Layout, NewEntry, Status, Timestamp, Trigger};
use crate::codec::{Datum, Kind};
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path, status};

const ANCHORS: [&str; 1] = [".claude"];

pub(in crate::layouts) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    checkpoint(document, place)
        .or_else(|| parallel_operations(document, place))
        .or_else(|| build_iteration(document, place))
        .map(|entry| if is_archived(place) { archived(entry) } else { entry })
}

/// A file at a path and of the shape of the system that lacks required fields.
pub(in crate::layouts) fn broken(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let is_like = || shape::is_like(document) || shape::is_named(place.path, document);
    (shape::is_placed(place.path) && is_like()).then(|| entry(document, place))
}

/// A file that cannot be read. Only a name like those of the README has a type and a project.
pub(in crate::layouts) fn unreadable(place: &Place<'_>) -> NewEntry {
    let named = entry(Datum::NULL, place);
    let is_named = path::stem(place.path).parse::<WorkflowCheckpointId>().is_ok();
    let series = named.series.filter(|_| is_named && shape::is_placed(place.path));
    NewEntry { series, ..named }
}

/// Without its type or its project it has no series.
pub(in crate::layouts) fn entry(document: Datum<'_>, place: &Place<'_>) -> NewEntry {
    let project =
        document.text("project_name").or_else(|| document.text("workflow_state.project_name"));
    let kind = document.text("workflow_type");
    let id = document.text("checkpoint_id").unwrap_or_default();
    let names = [id, path::stem(place.path)];
    let parts = names.iter().find_map(|name| shape::parts_of(name, kind, project));
    let mut reading = Reading::new(Layout::Claude, document, place);
    describe(&mut reading, document, place);
    if let Some((kind, project)) = parts {
        reading.series(&ANCHORS, &format!("{kind}:{project}"));
    }
    let entry = reading.finish();
    if is_archived(place) { archived(entry) } else { entry }
}

/// True if the file is in the directory of failed workflows.
fn is_archived(place: &Place<'_>) -> bool {
    matches!(path::parts(place.path).as_slice(), [.., "failed", _])
}

fn archived(entry: NewEntry) -> NewEntry {
    NewEntry { status: Status::Archived, ..entry }
}

fn checkpoint(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.text("checkpoint_id")?;
    let kind = document.text("workflow_type")?;
    if !document.is_object("workflow_state") {
        return None;
    }
    let mut reading = Reading::new(Layout::Claude, document, place);
    let parts = describe(&mut reading, document, place);
    let project = document
        .word("project_name")
        .or_else(|| document.word("workflow_state.project_name"))
        .or_else(|| parts.map(|parts| parts.project_name.into()));
    let name = match project {
        Some(project) => format!("{kind}:{project}"),
        None => kind.to_owned(),
    };
    reading.series(&ANCHORS, &name);
    Some(reading.finish())
}

/// All but the series; returns what the id or the name of the file says.
///
/// The name also has the time to the second, and the project if the type has no underscore.
fn describe(
    reading: &mut Reading<'_>,
    document: Datum<'_>,
    place: &Place<'_>,
) -> Option<WorkflowCheckpointId> {
    let id = document.text("checkpoint_id").unwrap_or_default();
    let parts = id.parse::<WorkflowCheckpointId>().or_else(|_| path::name(place.path).parse()).ok();
    reading.id("checkpoint_id");
    reading.entry.workflow_type = reading.name("workflow_type");
    set_phase(reading, document);
    reading.entry.status = document.text("status").map_or(Status::Unknown, status);
    reading.entry.created_at =
        reading.time("created_at").or_else(|| parts.as_ref().map(|parts| parts.time));
    reading.entry.updated_at = reading.time("updated_at");
    check_version(reading, document);
    parts
}

/// With a state machine the phase is the name of the state, and its number is the step.
fn set_phase(reading: &mut Reading<'_>, document: Datum<'_>) {
    let phase = reading.name("current_phase");
    match reading.name("state_machine.current_state") {
        Some(state) => (reading.entry.phase, reading.entry.step) = (Some(state), phase),
        None => reading.entry.phase = phase,
    }
    let completed = document.list("completed_phases");
    reading.entry.iteration = completed.map(|completed| completed.count() as u64);
}

fn check_version(reading: &mut Reading<'_>, document: Datum<'_>) {
    let version = document.word("schema_version");
    if version.is_some_and(|version| !SCHEMA_VERSIONS.contains(&&*version)) {
        reading.warn("schema_version is none that is known");
    }
}

fn parallel_operations(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let plan = document.text("plan_path")?;
    document.text("operation_type")?;
    document.list("operations").map(drop)?;
    let mut reading = Reading::new(Layout::Claude, document, place);
    reading.id("checkpoint_id");
    reading.entry.trigger = Trigger::PreRiskyOp;
    reading.entry.phase = reading.name("status");
    reading.entry.step = reading.name("operation_type");
    reading.entry.status = document.text("status").map_or(Status::Unknown, status);
    reading.entry.created_at = reading.time("created_at").or_else(|| time_of_id(document));
    let plan = path::name(plan);
    let plan = plan.strip_suffix(".md").unwrap_or(plan);
    reading.series(&ANCHORS, &format!("parallel:{plan}"));
    Some(reading.finish())
}

fn time_of_id(document: Datum<'_>) -> Option<Timestamp> {
    Some(document.text("checkpoint_id")?.parse::<WorkflowCheckpointId>().ok()?.time)
}

fn build_iteration(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    let is_build = document.word("version")? == "2.1"
        && document.has("iteration")
        && document.has("max_iterations");
    let workflow = document.word("workflow_id").filter(|_| is_build)?;
    let mut reading = Reading::new(Layout::Claude, document, place);
    reading.entry.workflow_id = reading.name("workflow_id");
    reading.entry.iteration = reading.count("iteration");
    reading.entry.created_at = reading.time("timestamp");
    let halted = document.text("halt_reason");
    if let Some(reason) = halted {
        reading.trigger("halt_reason", reason);
    }
    reading.entry.status = match halted {
        Some("completion") => Status::Completed,
        Some("error") => Status::Failed,
        _ if has_work_left(document) => Status::InProgress,
        _ => Status::Unknown,
    };
    reading.series(&ANCHORS, &format!("workflow:{workflow}"));
    Some(reading.finish())
}

fn has_work_left(document: Datum<'_>) -> bool {
    let Some(left) = document.at("work_remaining") else { return false };
    match left.kind() {
        Kind::Text(text) => !text.trim().is_empty(),
        Kind::Array => left.children().next().is_some(),
        _ => false,
    }
}
