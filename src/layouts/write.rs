//! Checkpoints as files of a layout.
//!
//! A document that has the shape of the layout is written as it is. Any other one travels whole, in
//! a place where the system tolerates what it does not know, within a document that has what the
//! system requires; each layout's `write.rs` says what becomes what. Must never make a value up.

use serde::de::DeserializeOwned;

use super::given::Given;
use super::{Code, Problem, agentize, aiwg, claude, crunch, native, part, path, pipeline};
use crate::checkpoint::{Document, Entry, Layout, SourceForm};
use crate::codec::convert;
use crate::error::Error;

/// A checkpoint as a file of a layout.
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
    /// What the file says.
    pub document: Document,
    /// How the system itself writes it; if the checkpoint came from a file of this layout, how that
    /// was written.
    pub form: SourceForm,
}

/// Where a file belongs; see [`LayoutFile`].
pub(super) struct Paths {
    pub(super) path: String,
    pub(super) other_path: Option<String>,
}

impl Paths {
    /// The same in the project that the checkpoint came from, where that is one of several.
    fn below(self, entry: &Entry) -> Self {
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
/// What came from that layout, or has its shape, is written unchanged. Of another one the entry
/// tells what the system requires; where it does not, fields of the document that other systems
/// have for the same do. The document travels along whole. A native file has both.
///
/// Knows nothing of other checkpoints: who writes many sees to it that none replaces another.
///
/// # Errors
/// What the system requires and the checkpoint does not have, each by the field of [`Entry`] or the
/// JSON pointer into the document where it was looked for; a document of the layout's shape by the
/// pointer of the field that cannot name a file.
pub fn file_as(
    layout: Layout,
    entry: &Entry,
    document: &Document,
) -> Result<LayoutFile, Vec<Problem>> {
    let file = match layout {
        Layout::Native => native::file(entry, document)?,
        Layout::Agentize | Layout::Crunch | Layout::Claude | Layout::Pipeline | Layout::Aiwg => {
            if entry.layout == layout {
                as_it_was(layout, entry, document)?
            } else if has_shape(layout, document) {
                unchanged(layout, entry, document)?
            } else {
                made(layout, entry, document)?
            }
        }
    };
    check(file)
}

/// A file of the layout goes back to where it was, if that is where the system looks.
fn as_it_was(
    layout: Layout,
    entry: &Entry,
    document: &Document,
) -> Result<LayoutFile, Vec<Problem>> {
    let form = entry.source.unwrap_or_else(|| form(layout));
    let file = |paths: Paths| LayoutFile {
        path: paths.path,
        other_path: paths.other_path,
        document: document.clone(),
        form,
    };
    let source = entry.source_path.as_ref().filter(|path| part::is_path(path));
    let at_source = |path: &String| file(Paths { path: path.clone(), other_path: None });
    match source {
        Some(path) if is_home(layout, path) => Ok(at_source(path)),
        _ => match paths(layout, entry, document) {
            Ok(paths) => Ok(file(paths)),
            Err(problems) => source.map(at_source).ok_or(problems),
        },
    }
}

fn unchanged(
    layout: Layout,
    entry: &Entry,
    document: &Document,
) -> Result<LayoutFile, Vec<Problem>> {
    let Paths { path, other_path } = paths(layout, entry, document)?.below(entry);
    Ok(LayoutFile { path, other_path, document: document.clone(), form: form(layout) })
}

fn made(layout: Layout, entry: &Entry, document: &Document) -> Result<LayoutFile, Vec<Problem>> {
    let mut given = Given::new(layout, entry, document);
    given.check_times();
    let envelope = match layout {
        Layout::Agentize => agentize::envelope(&mut given),
        Layout::Crunch => crunch::envelope(&mut given),
        Layout::Claude => claude::envelope(&mut given),
        Layout::Pipeline => pipeline::envelope(&mut given),
        Layout::Aiwg => aiwg::envelope(&mut given),
        Layout::Native => Document::Null,
    };
    let problems = given.finish();
    if !problems.is_empty() {
        return Err(problems);
    }
    // Before the document is in it: that may be large, and is not the system's concern.
    let problems = validated(layout, &envelope);
    if !problems.is_empty() {
        return Err(problems);
    }
    let Paths { path, other_path } = paths(layout, entry, &envelope)?.below(entry);
    let document = enclose(layout, entry, envelope, document.clone());
    Ok(LayoutFile { path, other_path, document, form: form(layout) })
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

/// The document with a value at a place that it has.
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
    // Spares most documents of others the long way.
    let mark = match layout {
        Layout::Agentize => "state",
        Layout::Pipeline => "storyId",
        Layout::Native | Layout::Crunch | Layout::Claude | Layout::Aiwg => "checkpoint_id",
    };
    // Without what a workflow resumes from, nobody would know it again for one of that system.
    let has_state = matches!(document.get("workflow_state"), Some(Document::Object(_)));
    let is_known = layout != Layout::Claude || has_state;
    document.get(mark).is_some() && is_known && validated(layout, document).is_empty()
}

fn validated(layout: Layout, document: &Document) -> Vec<Problem> {
    match layout {
        Layout::Native => Vec::new(),
        Layout::Agentize => checked(document, agentize::Checkpoint::validate),
        Layout::Crunch => checked(document, crunch::Checkpoint::validate),
        Layout::Claude => checked(document, claude::Checkpoint::validate),
        Layout::Pipeline => checked(document, pipeline::Checkpoint::validate),
        Layout::Aiwg => checked(document, aiwg::Checkpoint::validate),
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

/// A document that has not even the kinds of values that its type asks for.
pub(super) fn misfit(error: &Error) -> Problem {
    match error {
        Error::Invalid { what, reason } => {
            let field = what.strip_prefix("document at ").unwrap_or(what);
            Problem::new(Code::Type, field, reason)
        }
        other => Problem::new(Code::Type, "document", other.to_string()),
    }
}

/// The last look at what will be a path, whoever made it.
fn check(file: LayoutFile) -> Result<LayoutFile, Vec<Problem>> {
    let paths = [Some(&file.path), file.other_path.as_ref()];
    if paths.into_iter().flatten().all(|path| part::is_path(path)) {
        return Ok(file);
    }
    Err(vec![Problem::new(Code::Name, "path", part::RULE)])
}
