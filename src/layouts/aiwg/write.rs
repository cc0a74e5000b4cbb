//! Writes checkpoints as `.aiwg/ralph/loops/LOOP/checkpoints/iteration-NNN.json.gz`, or, without a
//! loop, under the legacy name.
//!
//! The sources of each field, the entry first, then fields of the document:
//!
//! - `checkpoint_id`: `id`.
//! - `workflow_id`: the same; the same; else the loop's, as in the schema's example.
//! - `loop_id`: the same, which must be like `ralph-SLUG-0123abcd`.
//! - `workflow_type`: the same, if the schema has it.
//! - `created_at`: the same.
//! - `trigger`: the same, if AIWG has a word for it; see [`Why`].
//! - `state.phase`: `phase`; the same, `/phase`.
//! - `state.step`: `step`.
//! - `state.progress`, `state.artifacts`: the same, also at the top; else empty, as nothing in them
//!   is required.
//! - `state.iteration.current`: `iteration`; the same, `/iteration`. Required in a loop.
//! - `state.variables.current_issue`: `issue`.
//! - `state.variables.document`: all of the document.
//! - `state.agent_state.current_agent`: `agent`.
//! - `metadata.retention_days`, `metadata.tags`: the same.
//! - `metadata.trigger`: `trigger`, if `trigger` of the file is not the same word.
//! - `metadata.size_bytes`: the length of the JSON text, with this field in it.
//!
//! A second checkpoint of the same iteration gets the legacy name, in the same directory.

use super::{Compression, LoopTrigger, SchemaVersion, WorkflowType};
use crate::checkpoint::{self, Document, Entry, Format, SourceForm, Spacing, TextStyle};
use crate::codec::convert;
use crate::layouts::given::{Given, at, object, text, time};
use crate::layouts::write::{Paths, misfit, placed};
use crate::layouts::{Field, Problem, Word, part};

/// As `JSON.stringify(.., null, 2)` does, compressed.
pub(in crate::layouts) const FORM: SourceForm = SourceForm {
    format: Format::Json,
    style: Some(TextStyle {
        spacing: Spacing::Indent(2),
        is_ascii: false,
        has_final_newline: false,
        has_byte_order_mark: false,
    }),
    is_gzip: true,
    mode: None,
    modified_at: None,
    line: None,
    text_bytes: 0,
};

/// The trigger in the file name if none is known.
const UNKNOWN: &str = "unknown";

pub(in crate::layouts) fn paths(entry: &Entry, document: &Document) -> Result<Paths, Vec<Problem>> {
    let checkpoint = named_by(document).map_err(|error| vec![misfit(&error)])?;
    let path = checkpoint.location().map_err(|error| vec![misfit(&error)])?;
    let Some(loop_id) = checkpoint.loop_id.value() else {
        return Ok(Paths { path, other_path: None });
    };
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    // A loop's id always names a file, but may be too long with a time after it.
    let names = [checkpoint.workflow_id.value().cloned(), Some(loop_id.clone())];
    let names = names.into_iter().flatten().chain([part::hash(entry.id.as_str())]);
    let other = |workflow_id: String| {
        let single = super::LoopCheckpoint {
            loop_id: Field::Absent,
            workflow_id: workflow_id.into(),
            ..checkpoint.clone()
        };
        Some(format!("{directory}/{}", single.name().ok()?))
    };
    let other_path = names.filter_map(other).find(|path| part::is_path(path));
    Ok(Paths { path, other_path })
}

/// Only the fields that name the file: the document may be large.
fn named_by(document: &Document) -> crate::error::Result<super::LoopCheckpoint> {
    let found = |key: &str| at(document, key).cloned();
    let iteration = found("/state/iteration");
    let mut checkpoint: super::LoopCheckpoint = convert(
        &object([
            ("loop_id", found("/loop_id")),
            ("workflow_id", found("/workflow_id")),
            ("created_at", found("/created_at")),
            ("trigger", found("/trigger")),
            ("state", Some(object([("iteration", iteration)]))),
        ]),
        "document",
    )?;
    if checkpoint.trigger.value().is_none() {
        checkpoint.trigger = Field::Value(Word::of(UNKNOWN));
    }
    Ok(checkpoint)
}

pub(in crate::layouts) fn envelope(given: &mut Given<'_>) -> Document {
    let entry = given.entry;
    let kind =
        entry.workflow_type.as_deref().and_then(|kind| Word::<WorkflowType>::of(kind).known());
    object([
        ("checkpoint_id", text(Some(entry.id.as_str()))),
        ("workflow_id", text(workflow_id(given))),
        ("loop_id", text(loop_id(given))),
        ("workflow_type", text(kind.map(WorkflowType::as_str))),
        ("created_at", text(Some(time(entry.created_at)))),
        ("trigger", text(why(given).word.map(LoopTrigger::as_str))),
        ("state", Some(state(given))),
        ("metadata", Some(metadata(entry, None))),
    ])
}

fn workflow_id(given: &mut Given<'_>) -> Option<String> {
    const FIELD: &str = "workflow_id";
    let entry = given.entry;
    let Some(loop_id) = &entry.loop_id else {
        let said = given.said(FIELD, entry.workflow_id.as_deref(), &["/workflow_id"]);
        if said.is_none() {
            given.miss(FIELD, "the workflow");
        }
        // Without a loop it is part of the file's name.
        return given.name(said);
    };
    let said = given.said(FIELD, entry.workflow_id.as_deref(), &["/workflow_id"]);
    Some(said.map_or_else(|| loop_id.to_string(), |said| said.text))
}

fn loop_id(given: &mut Given<'_>) -> Option<String> {
    const FIELD: &str = "loop_id";
    let loop_id = given.entry.loop_id.as_ref()?;
    if !loop_id.is_ralph() {
        given.refuse(FIELD, "must match ^ralph-[a-z0-9-]+-[a-f0-9]{8}$ for aiwg");
        return None;
    }
    given.name(given.said(FIELD, Some(loop_id.as_str()), &[]))
}

/// Why a checkpoint was saved, in a file of AIWG.
struct Why<'a> {
    /// The schema's word, if it has one.
    word: Option<LoopTrigger>,
    /// The trigger that is not that word.
    kept: Option<&'a str>,
}

/// Words of the schema are written unchanged. Words of `lifecycle.auto_triggers` are not allowed in
/// the field, but each has an equivalent. For any other trigger no equivalent is known.
impl<'a> Why<'a> {
    fn of(trigger: &'a checkpoint::Trigger) -> Self {
        use checkpoint::Trigger as Saved;
        let kept = Some(trigger.as_str());
        let (word, kept) = match trigger {
            Saved::Unknown => (None, None),
            Saved::Manual => (Some(LoopTrigger::Manual), None),
            Saved::Automatic => (Some(LoopTrigger::Automatic), None),
            Saved::PhaseBoundary => (Some(LoopTrigger::PhaseBoundary), None),
            Saved::Iteration => (Some(LoopTrigger::Iteration), None),
            Saved::PreRiskyOp => (Some(LoopTrigger::PreRiskyOp), None),
            Saved::ErrorRecovery => (Some(LoopTrigger::ErrorRecovery), None),
            Saved::PhaseStart => (Some(LoopTrigger::PhaseBoundary), kept),
            Saved::ArtifactComplete => (Some(LoopTrigger::Automatic), kept),
            Saved::BeforeExternalCall => (Some(LoopTrigger::PreRiskyOp), kept),
            Saved::IterationBoundary => (Some(LoopTrigger::Iteration), kept),
            Saved::PhaseTransition
            | Saved::BatchStart
            | Saved::BatchComplete
            | Saved::AgentComplete
            | Saved::ConflictStart
            | Saved::ConflictResolved
            | Saved::UserInterrupt
            | Saved::SessionEnd
            | Saved::Heartbeat
            | Saved::Custom(_) => (None, kept),
        };
        Self { word, kept }
    }
}

/// The same, and reports a trigger that is written elsewhere.
fn why<'a>(given: &mut Given<'a>) -> Why<'a> {
    let why = Why::of(&given.entry.trigger);
    match (&why.kept, why.word) {
        (Some(kept), Some(word)) => {
            given.note(format!("trigger {kept} is {word} for aiwg; /metadata/trigger keeps it"));
        }
        (Some(kept), None) => {
            given.note(format!("aiwg has no trigger {kept}; /metadata/trigger keeps it"));
        }
        (None, _) => {}
    }
    why
}

/// The trigger for a state of a loop, which has no field for it. Its name says `iteration`.
pub(super) fn kept<'a>(given: &mut Given<'a>) -> Option<&'a str> {
    let is_said = given.entry.trigger == checkpoint::Trigger::Iteration;
    let word = why(given).word.filter(|_| !is_said).map(LoopTrigger::as_str);
    Why::of(&given.entry.trigger).kept.or(word)
}

fn state(given: &mut Given<'_>) -> Document {
    let entry = given.entry;
    let phase = entry.phase.clone().or_else(|| given.text_at(&["/state/phase", "/phase"]));
    if phase.is_none() {
        given.miss("phase", "the phase of the work");
    }
    let number = entry.iteration;
    let number = number.or_else(|| given.whole_at(&["/state/iteration/current", "/iteration"]));
    if number.is_none() && entry.loop_id.is_some() {
        given.miss("iteration", "the iteration of the loop, which names the file");
    }
    let iteration = number.map(|number| object([("current", Some(Document::Uint(number)))]));
    let progress = given.object_at(&["/state/progress", "/progress"]);
    let artifacts = given.array_at(&["/state/artifacts", "/artifacts"]);
    let agent = text(entry.agent.as_deref());
    object([
        ("phase", text(phase)),
        ("step", text(entry.step.as_deref())),
        ("progress", progress.or(Some(Document::Object(Vec::new())))),
        ("iteration", iteration),
        ("artifacts", artifacts.or(Some(Document::Array(Vec::new())))),
        (
            "variables",
            Some(object([
                ("current_issue", text(entry.issue.as_ref().map(issue))),
                ("document", Some(Document::Null)),
            ])),
        ),
        ("agent_state", agent.map(|agent| object([("current_agent", Some(agent))]))),
    ])
}

/// With `#` before a number, as in the schema's example.
fn issue(issue: &checkpoint::Issue) -> String {
    let is_number = issue.as_str().bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("#{issue}") } else { issue.to_string() }
}

fn metadata(entry: &Entry, size: Option<u64>) -> Document {
    let tags: Vec<_> = entry.tags.iter().cloned().map(Document::Text).collect();
    object([
        ("size_bytes", size.map(Document::Uint)),
        ("compression", text(Some(Compression::Gzip.as_str()))),
        ("retention_days", entry.retention_days.map(|days| Document::Uint(days.into()))),
        ("tags", (!tags.is_empty()).then_some(Document::Array(tags))),
        ("schema_version", text(Some(SchemaVersion::V2.as_str()))),
        ("trigger", text(Why::of(&entry.trigger).kept)),
    ])
}

/// The document with the length of its own text in it; the digits of that length count, too.
pub(in crate::layouts) fn with_size(document: Document, entry: &Entry) -> Document {
    let sized = |document, size| placed(document, &["metadata"], metadata(entry, size));
    let document = sized(document, Some(0));
    let size = text_bytes(&document).map(|bytes| {
        let others = bytes - 1;
        let with_digits = |size: u64| others + u64::from(size.checked_ilog10().unwrap_or(0)) + 1;
        let mut size = with_digits(others);
        while with_digits(size) != size {
            size = with_digits(size);
        }
        size
    });
    sized(document, size)
}

fn text_bytes(document: &Document) -> Option<u64> {
    let text = document.to_json(FORM.style.unwrap_or_default());
    Some(text.ok()?.len() as u64)
}
