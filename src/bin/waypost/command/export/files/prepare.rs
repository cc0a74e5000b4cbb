//! Checkpoints into files, by several threads: read, rendered, and written beside where they go.
//!
//! Decides nothing between checkpoints: who gets a path is told by their order.

use std::io::ErrorKind;

use anyhow::{Context as _, Result};
use waypost::{Entry, Error, Id, Layout, Series, SourceForm, Store};

use super::index::Row;
use super::render::{Fault, Rendered, Report, Way, Wish};
use super::vacate::{self, Leaving, Left};
use crate::output::plain;
use waypost::transfer::directory::{Content, Directory, Draft, Found};
use waypost::transfer::place;

/// Some checkpoints that follow each other.
#[derive(Default)]
pub(super) struct Part {
    pub(super) entries: Vec<(Entry, Way)>,
    /// How many of them a newer one has the file of.
    pub(super) older: u64,
}

/// The same, as files.
pub(super) struct Prepared {
    pub(super) files: Vec<File>,
    pub(super) older: u64,
}

/// What a checkpoint has become.
pub(super) enum File {
    Ready(Box<Ready>),
    Line { path: String, form: SourceForm, layout: Layout, id: Id },
    Refused { id: Id, reason: String },
    Damaged(Error),
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
    pub(super) state: State,
}

/// How far a file has come.
pub(super) enum State {
    Drafted(Draft),
    Unchanged,
    Differs,
    Obstructed(&'static str),
}

impl Part {
    /// Writes files beside where they go, wherever that is free.
    pub(super) fn prepare(
        self,
        store: &Store,
        directory: &Directory,
        wish: &Wish<'_>,
    ) -> Result<Prepared> {
        let files = self.entries.into_iter().filter_map(|(entry, way)| {
            let id = entry.id.clone();
            let file = prepare(store, directory, wish, entry, way);
            file.with_context(|| format!("cannot export {id}")).transpose()
        });
        Ok(Prepared { files: files.collect::<Result<_>>()?, older: self.older })
    }
}

fn prepare(
    store: &Store,
    directory: &Directory,
    wish: &Wish<'_>,
    entry: Entry,
    way: Way,
) -> Result<Option<File>> {
    if let Way::Line(path, form) = way {
        return Ok(Some(File::Line { path, form, layout: entry.layout, id: entry.id }));
    }
    let checkpoint = match store.get(&entry.id) {
        Ok(checkpoint) => checkpoint,
        // Deleted since it was listed.
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error @ Error::Corrupt { .. }) => return Ok(Some(File::Damaged(error))),
        Err(error) => return Err(error.into()),
    };
    let Entry { id, series, .. } = entry;
    let is_made = matches!(way, Way::Made(_));
    let rendered = match wish.render(&checkpoint, way) {
        Ok(rendered) => rendered,
        Err(Fault::Damaged(error)) => return Ok(Some(File::Damaged(error))),
        Err(Fault::Refused(reason)) => return Ok(Some(File::Refused { id, reason })),
    };
    if let Some(reason) = place::recorded_refusal(&rendered.path) {
        let reason = named(&rendered.path, reason);
        return Ok(Some(File::Refused { id, reason }));
    }
    let Rendered { path, other_path, layout, content, row, report, leaving } = rendered;
    let left = leaving.map(|leaving| leaving.look(store, directory, &checkpoint)).transpose()?;
    let leaving = match left {
        Some(Left::Changed(path)) => {
            return Ok(Some(File::Refused { id, reason: vacate::changed(&path) }));
        }
        Some(Left::Same(leaving)) => Some(leaving),
        Some(Left::Nothing) | None => None,
    };
    let state = drafted(directory, &path, &content)?;
    // What has its place needs its content no more.
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
        state,
    };
    Ok(Some(File::Ready(Box::new(ready))))
}

pub(super) fn drafted(directory: &Directory, path: &str, content: &Content) -> Result<State> {
    let shown = directory.path(path);
    let shown = shown.display();
    let found = match directory.look(path, content) {
        Err(error) if error.kind() == ErrorKind::InvalidFilename => {
            return Ok(State::Obstructed("is too long for this system"));
        }
        found => found.with_context(|| format!("cannot read {shown}"))?,
    };
    let draft = || directory.draft(path, content).with_context(|| format!("cannot write {shown}"));
    stated(directory, found, draft)
}

/// What is to become of a file, by what was found in its place.
pub(super) fn stated(
    directory: &Directory,
    found: Found,
    draft: impl FnOnce() -> Result<Draft>,
) -> Result<State> {
    match found {
        Found::Nothing => Ok(State::Drafted(draft()?)),
        Found::Other if directory.overwrites => Ok(State::Drafted(draft()?)),
        Found::Other => Ok(State::Differs),
        Found::Same => Ok(State::Unchanged),
        Found::Obstacle(reason) => Ok(State::Obstructed(reason)),
    }
}

/// A refusal with the path it is about, which may be empty or hold control characters.
pub(super) fn named(path: &str, reason: &str) -> String {
    format!("path \"{}\" {reason}", plain(path))
}
