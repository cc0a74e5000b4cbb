//! Turns checkpoints into files in several threads: reads and renders them, and writes drafts
//! beside where they go.
//!
//! Decides nothing between checkpoints: which of them gets a path depends on their order.

use std::io::ErrorKind;

use super::ExportOptions;
use super::failure::{ExportError, NotExported, Trying as _};
use super::index::Row;
use super::render::{Rendered, Report, Way};
use super::vacate::{Leaving, Left};
use crate::checkpoint::{Entry, Id, Layout, Series, SourceForm};
use crate::error::Error;
use crate::store::Store;
use crate::transfer::directory::{Content, Directory, Draft, Occupant};
use crate::transfer::place;

/// Some checkpoints that follow each other.
#[derive(Default)]
pub(super) struct Part {
    pub(super) entries: Vec<(Entry, Way)>,
    /// Number of checkpoints left out since a newer one is the same file.
    pub(super) older: u64,
}

/// The files of a [`Part`].
pub(super) struct Prepared {
    pub(super) files: Vec<File>,
    pub(super) older: u64,
}

/// The result for a checkpoint.
pub(super) enum File {
    Ready(Box<Ready>),
    Line { path: String, form: SourceForm, layout: Layout, id: Id },
    Refused { id: Id, why: NotExported },
}

/// A file whose content and place are known.
pub(super) struct Ready {
    pub(super) id: Id,
    pub(super) series: Series,
    /// Whether it is not the file that the checkpoint came from.
    pub(super) is_made: bool,
    pub(super) path: String,
    pub(super) other_path: Option<String>,
    pub(super) layout: Layout,
    pub(super) content: Content,
    pub(super) row: Option<Row>,
    pub(super) report: Report,
    pub(super) leaving: Option<Leaving>,
    pub(super) progress: Progress,
}

/// The stage of a file.
pub(super) enum Progress {
    Drafted(Draft),
    Unchanged,
    Differs,
    Obstructed(&'static str),
}

impl Part {
    /// Writes drafts of all files whose places are free.
    pub(super) fn prepare(
        self,
        store: &Store,
        directory: &Directory,
        options: &ExportOptions,
    ) -> Result<Prepared, ExportError> {
        let files = self.entries.into_iter().filter_map(|(entry, way)| {
            let id = entry.id.clone();
            let file = prepare(store, directory, options, entry, way);
            let of_id = |source| ExportError::Checkpoint { id, source: Box::new(source) };
            file.map_err(of_id).transpose()
        });
        Ok(Prepared { files: files.collect::<Result<_, _>>()?, older: self.older })
    }
}

fn prepare(
    store: &Store,
    directory: &Directory,
    options: &ExportOptions,
    entry: Entry,
    way: Way,
) -> Result<Option<File>, ExportError> {
    if let Way::Line(path, form) = way {
        return Ok(Some(File::Line { path, form, layout: entry.layout, id: entry.id }));
    }
    let Entry { id, series, .. } = entry;
    let checkpoint = match store.get(&id) {
        Ok(checkpoint) => checkpoint,
        // Deleted since it was listed.
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error @ Error::Corrupt { .. }) => {
            return Ok(Some(File::Refused { id, why: NotExported::Damaged(error) }));
        }
        Err(error) => return Err(error.into()),
    };
    let is_made = matches!(way, Way::Made(_));
    let rendered = match options.render(&checkpoint, way) {
        Ok(rendered) => rendered,
        Err(why) => return Ok(Some(File::Refused { id, why })),
    };
    if let Some(reason) = place::recorded_refusal(&rendered.path) {
        let why = NotExported::Path { path: rendered.path, reason };
        return Ok(Some(File::Refused { id, why }));
    }
    let Rendered { path, other_path, layout, content, row, report, leaving } = rendered;
    let left = leaving.map(|leaving| leaving.look(store, directory, &checkpoint)).transpose()?;
    let leaving = match left {
        Some(Left::Changed(path)) => {
            return Ok(Some(File::Refused { id, why: NotExported::Changed { path } }));
        }
        Some(Left::Same(leaving)) => Some(leaving),
        Some(Left::Nothing) | None => None,
    };
    let progress = drafted(directory, &path, &content)?;
    // Only a file that may have to go to its other path still needs its content.
    let text = if other_path.is_some() { content.text } else { Vec::new() };
    let content = Content { text, form: content.form };
    let ready = Ready {
        id,
        series,
        is_made,
        path,
        other_path,
        layout,
        content,
        row,
        report,
        leaving,
        progress,
    };
    Ok(Some(File::Ready(Box::new(ready))))
}

/// Writes the draft of a file, unless its path is blocked or already has the content.
pub(super) fn drafted(
    directory: &Directory,
    path: &str,
    content: &Content,
) -> Result<Progress, ExportError> {
    let found = match directory.look(path, content) {
        Err(error) if error.kind() == ErrorKind::InvalidFilename => {
            return Ok(Progress::Obstructed("is too long for this system"));
        }
        found => found.trying(|| format!("read {}", directory.path(path).display()))?,
    };
    let draft = || directory.draft(path, content);
    Progress::of(directory, found, path, draft)
}

impl Progress {
    /// The next stage of a file, by what is at its path.
    pub(super) fn of(
        directory: &Directory,
        found: Occupant,
        path: &str,
        draft: impl FnOnce() -> std::io::Result<Draft>,
    ) -> Result<Self, ExportError> {
        match found {
            Occupant::Other if !directory.overwrites => Ok(Self::Differs),
            Occupant::Nothing | Occupant::Other => {
                let draft = draft().trying(|| format!("write {}", directory.path(path).display()));
                draft.map(Self::Drafted)
            }
            Occupant::Same => Ok(Self::Unchanged),
            Occupant::Obstacle(reason) => Ok(Self::Obstructed(reason)),
        }
    }
}
