//! What the file of a checkpoint holds, and where it belongs.

use std::path::Path;

use waypost::layouts::claude::Filed;
use waypost::layouts::crunch::Location;
use waypost::layouts::{self, Form, LayoutFile, Problem, Writing};
use waypost::{Checkpoint, Entry, Error, Format, Layout, SourceForm};

use super::index::Row;
use super::vacate::Leaving;
use waypost::transfer::directory::{Content, Modes};
use waypost::transfer::place::Packing;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub(in crate::command::export) struct Wish<'a> {
    pub(in crate::command::export) directory: &'a Path,
    /// The layout of all files; each in its own if `None`.
    pub(in crate::command::export) layout: Option<Layout>,
    /// How files that are made for that layout are written.
    pub(in crate::command::export) writing: Writing,
    pub(in crate::command::export) packing: Packing,
    pub(in crate::command::export) overwrites: bool,
    pub(in crate::command::export) modes: Modes,
    /// Where the project has the files of claude-crunch.
    pub(in crate::command::export) location: &'a Location,
    /// Whether checkpoints were named one by one: what indexes say of others must stay.
    pub(in crate::command::export) is_named: bool,
}

/// How a checkpoint becomes a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// The very file that it came from, at this path and in this form.
    Restored(String, SourceForm),
    /// A line of such a file.
    Line(String, SourceForm),
    /// A file that is made for it in this layout.
    Made(Layout),
}

/// A file of a checkpoint.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) path: String,
    /// Where it goes if another has the path.
    pub(super) other_path: Option<String>,
    pub(super) layout: Layout,
    pub(super) content: Content,
    /// What an index of its directory says of it, if there is one.
    pub(super) row: Option<Row>,
    pub(super) report: Report,
    /// Where the file was before a change of its status.
    pub(super) leaving: Option<Leaving>,
}

/// What a report says of a file; see [`LayoutFile`].
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) added: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Why there is no file of a checkpoint.
#[derive(Debug)]
pub(super) enum Fault {
    Damaged(Error),
    /// In words, by field.
    Refused(String),
}

impl Wish<'_> {
    pub(super) fn way(&self, entry: &Entry) -> Way {
        let layout = self.layout.unwrap_or(entry.layout);
        match (&entry.source_path, entry.source) {
            (Some(path), Some(form)) if layout == entry.layout && !self.is_for_readers(layout) => {
                // All lines of a file go the same way.
                let is_line = form.line.is_some();
                let format = if is_line { Format::Json } else { form.format };
                let (path, form) = self.packing.apply(path, SourceForm { format, ..form });
                if form.line.is_some() { Way::Line(path, form) } else { Way::Restored(path, form) }
            }
            _ if self.layout.is_none() && is_copy(entry) => Way::Made(Layout::Native),
            _ => Way::Made(layout),
        }
    }

    /// Whether the file is to be the one that the system's code reads, which may be another one.
    fn is_for_readers(&self, layout: Layout) -> bool {
        self.layout == Some(layout) && self.writing.form == Form::Reader
    }

    pub(super) fn render(&self, checkpoint: &Checkpoint, way: Way) -> Result<Rendered, Fault> {
        let rendered = match way {
            Way::Restored(path, form) if self.writing.schema.is_some() => {
                self.migrated(checkpoint, path, form)
            }
            Way::Restored(path, form) => self.filed(checkpoint, path, form),
            Way::Line(path, form) => restored(checkpoint, path, form),
            Way::Made(layout) => self.made(checkpoint, layout),
        }?;
        let row = rendered.row.filter(|_| !self.is_named);
        Ok(Rendered { row, ..rendered })
    }

    /// The file that it came from, where its status puts it.
    fn filed(
        &self,
        checkpoint: &Checkpoint,
        path: String,
        form: SourceForm,
    ) -> Result<Rendered, Fault> {
        let entry = &checkpoint.entry;
        if entry.layout != Layout::Claude {
            return restored(checkpoint, path, form);
        }
        let document = checkpoint.document().map_err(Fault::Damaged)?;
        let Some(filed) = Filed::of(entry, &document) else {
            return restored(checkpoint, path, form);
        };
        let before = entry.source.unwrap_or(form);
        let (path, form) = self.packing.apply(&filed.path, before);
        let leaving = Leaving::of(filed, before, self.packing);
        Ok(Rendered { leaving, ..restored(checkpoint, path, form)? })
    }

    /// The file that it came from, in another version; byte for byte if it has that version.
    fn migrated(
        &self,
        checkpoint: &Checkpoint,
        path: String,
        form: SourceForm,
    ) -> Result<Rendered, Fault> {
        let document = checkpoint.document().map_err(Fault::Damaged)?;
        let layout = checkpoint.entry.layout;
        let file = layouts::file_with(layout, &checkpoint.entry, &document, self.writing);
        match file.map_err(|problems| refused(&problems))? {
            file if file.document == document => {
                let report = Report { added: file.added, notes: file.notes };
                Ok(Rendered { report, ..self.filed(checkpoint, path, form)? })
            }
            file => {
                let entry = &checkpoint.entry;
                let before = entry.source.unwrap_or(form);
                let filed = Filed::of(entry, &document).filter(|filed| filed.is_moved);
                let leaving = filed.and_then(|filed| Leaving::of(filed, before, self.packing));
                Ok(Rendered { leaving, ..self.rendered(entry, layout, file)? })
            }
        }
    }

    fn made(&self, checkpoint: &Checkpoint, layout: Layout) -> Result<Rendered, Fault> {
        let document = checkpoint.document().map_err(Fault::Damaged)?;
        let file = layouts::file_with(layout, &checkpoint.entry, &document, self.writing);
        self.rendered(&checkpoint.entry, layout, file.map_err(|problems| refused(&problems))?)
    }

    fn rendered(&self, entry: &Entry, layout: Layout, file: LayoutFile) -> Result<Rendered, Fault> {
        let text = text(&file).map_err(|error| Fault::Refused(error.to_string()))?;
        let (path, form) = self.packing.apply(&self.location.place(&file.path), file.form);
        let other_path = file.other_path.map(|path| self.packing.apply(&path, file.form).0);
        let row = Row::of(layout, entry, &file.document);
        let content = Content { text: text.into_bytes(), form };
        let report = Report { added: file.added, notes: file.notes };
        Ok(Rendered { path, other_path, layout, content, row, report, leaving: None })
    }
}

fn refused(problems: &[Problem]) -> Fault {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Fault::Refused(problems.join("; "))
}

/// Whether it was forked from a file of another system.
///
/// Its document names the file of the original, which it must not take.
fn is_copy(entry: &Entry) -> bool {
    entry.parent.is_some() && entry.source_path.is_none() && entry.layout != Layout::Native
}

fn restored(checkpoint: &Checkpoint, path: String, form: SourceForm) -> Result<Rendered, Fault> {
    let text = checkpoint.source_text().map_err(Fault::Damaged)?.unwrap_or_default().into_owned();
    let layout = checkpoint.entry.layout;
    let row = if layout == Layout::Crunch {
        let document = checkpoint.document().map_err(Fault::Damaged)?;
        Row::of(layout, &checkpoint.entry, &document)
    } else {
        None
    };
    let (content, report) = (Content { text, form }, Report::default());
    Ok(Rendered { path, other_path: None, layout, content, row, report, leaving: None })
}

fn text(file: &LayoutFile) -> Result<String, Error> {
    match file.form.format {
        Format::Yaml => layouts::to_yaml(&file.document),
        Format::Json | Format::Unreadable => {
            file.document.to_json(file.form.style.unwrap_or_default())
        }
    }
}
