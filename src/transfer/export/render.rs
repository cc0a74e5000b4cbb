//! The content of a checkpoint's file, and the path where it belongs.

use super::failure::NotExported;
use super::index::Row;
use super::vacate::Leaving;
use super::{ExportOptions, Selection};
use crate::checkpoint::{Checkpoint, Entry, Format, Layout, SourceForm};
use crate::error::Result;
use crate::layouts::claude::Filed;
use crate::layouts::{self, Form, LayoutFile, Problem};
use crate::transfer::directory::Content;

/// How a checkpoint becomes a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// The file that it came from, at this path and in this form.
    Restored(String, SourceForm),
    /// A line of such a file.
    Line(String, SourceForm),
    /// A new file in this layout.
    Made(Layout),
}

/// A file of a checkpoint.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) path: String,
    /// Where it goes if another checkpoint has the path.
    pub(super) other_path: Option<String>,
    pub(super) layout: Layout,
    pub(super) content: Content,
    /// Its row in the index of its directory, if the layout has one.
    pub(super) row: Option<Row>,
    pub(super) report: Report,
    /// Where the file was before a change of the checkpoint's status.
    pub(super) leaving: Option<Leaving>,
}

/// What the report of an export counts of a file; see [`LayoutFile`].
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) added: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl ExportOptions {
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

    /// Whether checkpoints were named one by one, so that rows of others in indexes must stay.
    fn is_of_named(&self) -> bool {
        matches!(self.selection, Selection::Named(_))
    }

    /// Whether to write the file that the system's code reads, which may be another one.
    fn is_for_readers(&self, layout: Layout) -> bool {
        self.layout == Some(layout) && self.writing.form == Form::Reader
    }

    pub(super) fn render(
        &self,
        checkpoint: &Checkpoint,
        way: Way,
    ) -> Result<Rendered, NotExported> {
        let rendered = match way {
            Way::Restored(path, form) if self.writing.schema.is_some() => {
                self.migrated(checkpoint, path, form)
            }
            Way::Restored(path, form) => self.filed(checkpoint, path, form),
            Way::Line(path, form) => restored(checkpoint, path, form),
            Way::Made(layout) => self.made(checkpoint, layout),
        }?;
        let row = rendered.row.filter(|_| !self.is_of_named());
        Ok(Rendered { row, ..rendered })
    }

    /// The file that it came from, in the place of its status.
    fn filed(
        &self,
        checkpoint: &Checkpoint,
        path: String,
        form: SourceForm,
    ) -> Result<Rendered, NotExported> {
        let entry = &checkpoint.entry;
        if entry.layout != Layout::Claude {
            return restored(checkpoint, path, form);
        }
        let document = checkpoint.tokened().map_err(NotExported::Damaged)?;
        let Some(filed) = Filed::of_datum(entry, document.datum()) else {
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
    ) -> Result<Rendered, NotExported> {
        let document = checkpoint.document().map_err(NotExported::Damaged)?;
        let layout = checkpoint.entry.layout;
        let file = layouts::file_with(layout, &checkpoint.entry, &document, self.writing);
        match file.map_err(invalid)? {
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

    fn made(&self, checkpoint: &Checkpoint, layout: Layout) -> Result<Rendered, NotExported> {
        let document = checkpoint.document().map_err(NotExported::Damaged)?;
        let file = layouts::file_with(layout, &checkpoint.entry, &document, self.writing);
        self.rendered(&checkpoint.entry, layout, file.map_err(invalid)?)
    }

    fn rendered(
        &self,
        entry: &Entry,
        layout: Layout,
        file: LayoutFile,
    ) -> Result<Rendered, NotExported> {
        let text = text(&file).map_err(NotExported::Unspellable)?;
        let (path, form) = self.packing.apply(&self.location.place(&file.path), file.form);
        let other_path = file.other_path.map(|path| self.packing.apply(&path, file.form).0);
        let row = Row::of(layout, entry, &file.document);
        let content = Content { text: text.into_bytes(), form };
        let report = Report { added: file.added, notes: file.notes };
        Ok(Rendered { path, other_path, layout, content, row, report, leaving: None })
    }
}

fn invalid(problems: Vec<Problem>) -> NotExported {
    NotExported::Invalid { problems }
}

/// Whether it was forked from a file of another system.
///
/// The document of the fork names the file of the original, which must not be overwritten.
fn is_copy(entry: &Entry) -> bool {
    entry.parent.is_some() && entry.source_path.is_none() && entry.layout != Layout::Native
}

fn restored(
    checkpoint: &Checkpoint,
    path: String,
    form: SourceForm,
) -> Result<Rendered, NotExported> {
    let text =
        checkpoint.source_text().map_err(NotExported::Damaged)?.unwrap_or_default().into_owned();
    let layout = checkpoint.entry.layout;
    let row = if layout == Layout::Crunch {
        let document = checkpoint.document().map_err(NotExported::Damaged)?;
        Row::of(layout, &checkpoint.entry, &document)
    } else {
        None
    };
    let (content, report) = (Content { text, form }, Report::default());
    Ok(Rendered { path, other_path: None, layout, content, row, report, leaving: None })
}

fn text(file: &LayoutFile) -> Result<String> {
    match file.form.format {
        Format::Yaml => layouts::to_yaml(&file.document),
        Format::Json | Format::Unreadable => {
            file.document.to_json(file.form.style.unwrap_or_default())
        }
    }
}
