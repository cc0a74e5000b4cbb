//! Turns checkpoints into files of a layout.
//!
//! A document that has the shape of the layout is written as it is. Any other is embedded whole in
//! an envelope with the required fields, at a place where the system tolerates unknown data; each
//! layout's `write.rs` lists the fields. Must never make a value up.
//!
//! Every field that the system's code reads unconditionally is written: with the value of the entry
//! or the document under its usual names, else null or empty. A missing required value is an error
//! that names it. Where a system's schema and its code disagree, the schema decides, unless
//! `Form::Reader` is asked for.

use serde::de::DeserializeOwned;

use super::given::Given;
use super::migrate::{Migration, migrate};
use super::{
    Code, Form, Problem, Writing, agentize, aiwg, claude, crunch, native, part, path, pipeline,
};
use crate::checkpoint::{Document, Entry, Layout, SourceForm};
use crate::codec::convert;
use crate::error::{Error, Subject};

/// A checkpoint as a file of a layout.
///
/// ```
/// use waypost::layouts::file_as;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let document = Document::from_json(br#"{"step": 3}"#)?;
/// let entry = store.save(NewEntry::default().id("run-7")?, &document)?;
/// let file = file_as(Layout::Native, &entry, &document).expect("nothing is required");
/// assert!(file.path.contains("run-7"));
/// assert!(file.added.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayoutFile {
    /// Where it belongs, from the root of the project, with `/`.
    ///
    /// Every part is a plain name: it is not `..`, leads to no other place on any system, has no
    /// control characters, and at most 255 bytes.
    pub path: String,
    /// The path to use if another checkpoint of the same export has the first one.
    ///
    /// `None` if the system has a single file that is overwritten: then only the newest is written.
    pub other_path: Option<String>,
    /// The content of the file.
    pub document: Document,
    /// How the system itself writes it; if the checkpoint came from a file of this layout, how that
    /// was written.
    pub form: SourceForm,
    /// The JSON pointers of fields that a migration to another version of the schema added.
    pub added: Vec<String>,
    /// Further notes for the report, without any value of the document.
    pub notes: Vec<String>,
}

impl LayoutFile {
    pub(super) fn new(paths: Paths, document: Document, form: SourceForm) -> Self {
        let Paths { path, other_path } = paths;
        Self { path, other_path, document, form, added: Vec::new(), notes: Vec::new() }
    }
}

/// Where a file belongs; see [`LayoutFile`].
pub(super) struct Paths {
    pub(super) path: String,
    pub(super) other_path: Option<String>,
}

impl Paths {
    /// The same paths below the project that the checkpoint came from, if it is one of several.
    pub(super) fn below(self, entry: &Entry) -> Self {
        let source = entry.source_path.as_ref().filter(|path| part::is_path(path));
        let Some(project) = source.and_then(|path| path::project(path, &path::ANCHORS)) else {
            return self;
        };
        let below = |path: String| format!("{project}/{path}");
        Self { path: below(self.path), other_path: self.other_path.map(below) }
    }
}

/// Returns a checkpoint as a file that the system of `layout` accepts.
///
/// A document that came from that layout, or has its shape, is written unchanged. For any other,
/// the required fields come from the entry, else from fields of the document that other systems use
/// for the same. The whole document is embedded. A native file has both.
///
/// Knows nothing of other checkpoints: a caller that writes many must prevent one from replacing
/// another.
///
/// # Errors
/// The missing required values, each with the field of [`Entry`] or the JSON pointer where it was
/// expected. For a document of the layout's shape, the pointer of the field that cannot name a
/// file.
pub fn file_as(
    layout: Layout,
    entry: &Entry,
    document: &Document,
) -> Result<LayoutFile, Vec<Problem>> {
    file_with(layout, entry, document, Writing::default())
}

/// Returns a checkpoint as a file of `layout` that is written as `writing` says.
///
/// As [`file_as`] otherwise.
///
/// # Errors
/// As [`file_as`].
pub fn file_with(
    layout: Layout,
    entry: &Entry,
    document: &Document,
    writing: Writing,
) -> Result<LayoutFile, Vec<Problem>> {
    let file = match layout {
        Layout::Native => native::file(entry, document)?,
        Layout::Aiwg if writing.form == Form::Reader => {
            aiwg::reader_file(entry, document, writing)?
        }
        Layout::Agentize | Layout::Crunch | Layout::Claude | Layout::Pipeline | Layout::Aiwg => {
            let wanted = writing.schema.filter(|schema| schema.layout() == layout);
            let migrated = || wanted.map(|schema| migrate(document, schema)).transpose();
            if entry.layout == layout {
                as_it_was(layout, entry, document, migrated()?)?
            } else if has_shape(layout, document) {
                shaped(layout, entry, document, migrated()?)?
            } else {
                made(layout, entry, document, writing)?
            }
        }
    };
    check(file)
}

/// A file of the layout returns to its original path, if its system looks there.
fn as_it_was(
    layout: Layout,
    entry: &Entry,
    document: &Document,
    migrated: Option<Migration>,
) -> Result<LayoutFile, Vec<Problem>> {
    let own = form(layout);
    let mut form = entry.source.unwrap_or(own);
    let is_migrated = migrated.as_ref().is_some_and(|it| it.document != *document);
    if is_migrated {
        form.style = form.style.or(own.style);
    }
    let Migration { document, added, notes } = migrated.unwrap_or_else(|| Migration::of(document));
    let source = entry.source_path.as_ref().filter(|path| part::is_path(path));
    let at_source = |path: &String| Paths { path: path.clone(), other_path: None };
    let paths = match source {
        Some(path) if is_home(layout, path) => {
            let filed = claude::Filed::of(entry, &document).map(|filed| filed.path);
            let path = filed.as_ref().unwrap_or(path);
            let moved = if is_migrated { in_place(layout, path, &document) } else { None };
            at_source(moved.as_ref().unwrap_or(path))
        }
        _ => match paths(layout, entry, &document) {
            Ok(paths) => paths,
            Err(problems) => source.map(at_source).ok_or(problems)?,
        },
    };
    Ok(LayoutFile { added, notes, ..LayoutFile::new(paths, document, form) })
}

/// The path at which programs of another version look for a file.
fn in_place(layout: Layout, path: &str, document: &Document) -> Option<String> {
    match layout {
        Layout::Claude => claude::in_place_of_version(path, document),
        Layout::Native | Layout::Agentize | Layout::Crunch | Layout::Pipeline | Layout::Aiwg => {
            None
        }
    }
}

/// A document that another system or a user wrote in the shape of this layout.
fn shaped(
    layout: Layout,
    entry: &Entry,
    document: &Document,
    migrated: Option<Migration>,
) -> Result<LayoutFile, Vec<Problem>> {
    let Migration { document, added, notes } = migrated.unwrap_or_else(|| Migration::of(document));
    let paths = paths(layout, entry, &document)?.below(entry);
    Ok(LayoutFile { added, notes, ..LayoutFile::new(paths, document, form(layout)) })
}

fn made(
    layout: Layout,
    entry: &Entry,
    document: &Document,
    writing: Writing,
) -> Result<LayoutFile, Vec<Problem>> {
    let mut given = Given::new(layout, entry, document, writing);
    given.check_times();
    let envelope = match layout {
        Layout::Agentize => agentize::envelope(&mut given),
        Layout::Crunch => crunch::envelope(&mut given),
        Layout::Claude => claude::envelope(&mut given),
        Layout::Pipeline => pipeline::envelope(&mut given),
        Layout::Aiwg => aiwg::envelope(&mut given),
        Layout::Native => Document::Null,
    };
    let mut notes = given.finish()?;
    // Validated before the document is embedded: it may be large, and the rules do not apply to it.
    let problems = validated(layout, &envelope);
    if !problems.is_empty() {
        return Err(problems);
    }
    let paths = paths(layout, entry, &envelope)?.below(entry);
    let mut document = enclose(layout, entry, envelope, document.clone());
    // The envelopes of the others have the version that was asked for.
    if let Some(schema) = writing.schema.filter(|_| layout == Layout::Aiwg) {
        let migrated = migrate(&document, schema)?;
        notes.extend(migrated.notes);
        document = migrated.document;
    }
    Ok(LayoutFile { notes, ..LayoutFile::new(paths, document, form(layout)) })
}

/// Puts the document where the envelope has a place for it.
fn enclose(layout: Layout, entry: &Entry, envelope: Document, document: Document) -> Document {
    match layout {
        Layout::Native => document,
        Layout::Agentize => placed(envelope, &["state", "document"], document),
        Layout::Crunch | Layout::Pipeline => placed(envelope, &["document"], document),
        Layout::Claude => placed(envelope, &["workflow_state"], claude::state_of(document)),
        Layout::Aiwg => {
            let whole = placed(envelope, &["state", "variables", "document"], document);
            aiwg::with_size(whole, entry)
        }
    }
}

/// The document with the value at an existing place replaced.
pub(super) fn placed(mut document: Document, keys: &[&str], value: Document) -> Document {
    let mut place = Some(&mut document);
    for key in keys {
        place = place.and_then(|inner| match inner {
            Document::Object(fields) => {
                fields.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        });
    }
    if let Some(place) = place {
        *place = value;
    }
    document
}

fn paths(layout: Layout, entry: &Entry, document: &Document) -> Result<Paths, Vec<Problem>> {
    match layout {
        Layout::Native => Ok(native::paths(entry)),
        Layout::Agentize => Ok(agentize::paths()),
        Layout::Crunch => crunch::paths(entry, document),
        Layout::Claude => claude::paths(entry, document),
        Layout::Pipeline => pipeline::paths(document),
        Layout::Aiwg => aiwg::paths(entry, document),
    }
}

fn form(layout: Layout) -> SourceForm {
    match layout {
        Layout::Native => native::FORM,
        Layout::Agentize => agentize::FORM,
        Layout::Crunch => crunch::FORM,
        Layout::Claude => claude::FORM,
        Layout::Pipeline => pipeline::FORM,
        Layout::Aiwg => aiwg::FORM,
    }
}

/// Tells whether a path leads through a directory of the system's own, wherever a project has it.
fn is_home(layout: Layout, path: &str) -> bool {
    let homes: &[&str] = match layout {
        Layout::Native => &[],
        Layout::Agentize => &[".tmp"],
        Layout::Crunch | Layout::Claude => &[".claude"],
        Layout::Pipeline => &[".pipeline", ".hex-skills"],
        Layout::Aiwg => &[".aiwg"],
    };
    path.split('/').any(|part| homes.contains(&part))
}

/// Tells whether the document is one that the system would have written.
fn has_shape(layout: Layout, document: &Document) -> bool {
    // A quick check that excludes most other documents.
    let mark = match layout {
        Layout::Agentize => "state",
        Layout::Pipeline => "storyId",
        Layout::Native | Layout::Crunch | Layout::Claude | Layout::Aiwg => "checkpoint_id",
    };
    // Without the state to resume from, it would not be recognised as a file of that system.
    let has_state = matches!(document.get("workflow_state"), Some(Document::Object(_)));
    let is_known = layout != Layout::Claude || has_state;
    document.get(mark).is_some() && is_known && validated(layout, document).is_empty()
}

fn validated(layout: Layout, document: &Document) -> Vec<Problem> {
    match layout {
        Layout::Native => Vec::new(),
        Layout::Agentize => checked(document, agentize::ImplCheckpoint::validate),
        Layout::Crunch => checked(document, crunch::IssueCheckpoint::validate),
        Layout::Claude => checked(document, claude::WorkflowCheckpoint::validate),
        Layout::Pipeline => checked(document, pipeline::StoryCheckpoint::validate),
        Layout::Aiwg => checked(document, aiwg::LoopCheckpoint::validate),
    }
}

fn checked<T: DeserializeOwned>(
    document: &Document,
    validate: impl Fn(&T) -> Vec<Problem>,
) -> Vec<Problem> {
    match convert(document, "document") {
        Ok(typed) => validate(&typed),
        Err(error) => vec![misfit(&error)],
    }
}

/// The problem of a document that does not fit its type.
pub(super) fn misfit(error: &Error) -> Problem {
    match error {
        Error::Invalid { what, reason } => {
            let field = match what {
                Subject::Document(Some(pointer)) => pointer.clone(),
                other => other.to_string(),
            };
            Problem::new(Code::Type, &field, reason)
        }
        other => Problem::new(Code::Type, "document", other.to_string()),
    }
}

/// The final check of every path, wherever it comes from.
fn check(file: LayoutFile) -> Result<LayoutFile, Vec<Problem>> {
    let paths = [Some(&file.path), file.other_path.as_ref()];
    if paths.into_iter().flatten().all(|path| part::is_path(path)) {
        return Ok(file);
    }
    Err(vec![Problem::new(Code::Name, "path", part::RULE)])
}
