//! Removes files from their old places after the status of their checkpoint changed.
//!
//! Must never remove a file that is not the one in the store, byte for byte.

use std::fs;
use std::io;

use super::event::{ExportEvent, Watcher};
use super::failure::{ExportError, NotExported, Trying as _};
use super::report::{Exported, MovedFile};
use crate::checkpoint::{Checkpoint, Entry, Id, SourceForm};
use crate::error::Result;
use crate::layouts::claude::Filed;
use crate::store::{Store, opening, sync_parent};
use crate::transfer::directory::{Content, Directory, Occupant};
use crate::transfer::place::{Packing, split};

/// A place that the file of a checkpoint leaves.
#[derive(Debug, Clone)]
pub(super) struct Leaving {
    path: String,
    form: SourceForm,
    /// Whether it came from there.
    is_source: bool,
}

/// A file that was written to its new place, and may still be in the old one.
#[derive(Debug)]
pub(super) struct Move {
    file: MovedFile,
    form: SourceForm,
}

/// What is at the old place of a checkpoint's file.
pub(super) enum Left {
    /// Nothing that an export would remove.
    Nothing,
    /// The file of the checkpoint.
    Same(Leaving),
    /// A file that has changed since it was imported, at this path.
    Changed(String),
}

impl Leaving {
    /// The place that the file of a checkpoint leaves, if there is one.
    pub(super) fn of(filed: Filed, form: SourceForm, packing: Packing) -> Option<Self> {
        let (path, form) = packing.apply(&filed.left?, form);
        Some(Self { path, form, is_source: filed.is_moved })
    }

    pub(super) fn look(
        self,
        store: &Store,
        directory: &Directory,
        checkpoint: &Checkpoint,
    ) -> Result<Left, ExportError> {
        let content = content(checkpoint, self.form)?;
        let found = directory.look(&self.path, &content);
        let found = found.trying(|| format!("read {}", self.path))?;
        if found == Occupant::Nothing || !self.is_of(store, &checkpoint.entry)? {
            return Ok(Left::Nothing);
        }
        Ok(match found {
            Occupant::Same => Left::Same(self),
            Occupant::Other | Occupant::Obstacle(_) if self.is_source => Left::Changed(self.path),
            Occupant::Nothing | Occupant::Other | Occupant::Obstacle(_) => Left::Nothing,
        })
    }

    /// Whether the newest checkpoint from that place is this one, or there is none.
    fn is_of(&self, store: &Store, entry: &Entry) -> Result<bool> {
        let newest = store.newest_of_file(&self.path, None)?;
        Ok(newest.is_none_or(|newest| newest.id == entry.id))
    }

    pub(super) fn to(self, id: Id, to: &str) -> Move {
        Move { file: MovedFile { id, from: self.path, to: to.to_owned() }, form: self.form }
    }
}

fn content(checkpoint: &Checkpoint, form: SourceForm) -> Result<Content> {
    let text = checkpoint.source_text()?.unwrap_or_default().into_owned();
    Ok(Content { text, form })
}

/// Removes files from where they were. Their new places must be on disk.
pub(super) fn vacate(
    store: &Store,
    directory: &Directory,
    moves: Vec<Move>,
    report: &mut Exported,
    watcher: &mut Watcher<'_>,
) -> Result<(), ExportError> {
    for Move { file, form } in moves {
        let content = content(&store.get(&file.id)?, form)?;
        let removed = remove(directory, &file.from, &content);
        if removed.trying(|| format!("remove {}", file.from))? {
            watcher.tell(ExportEvent::Moved(&file));
            report.moved.push(file);
        } else {
            let why = NotExported::Changed { path: file.from };
            watcher.leave_out(report, file.id.as_str(), &why, 0);
        }
    }
    Ok(())
}

/// Removes a file if it has this content. Renames it first and compares it under the new name, so
/// that no other program changes it between the two.
fn remove(directory: &Directory, path: &str, content: &Content) -> io::Result<bool> {
    let (parent, _) = split(path);
    directory.check(parent)?;
    // Not the name of a draft: if a kill leaves the file here, it is the user's, and no export may
    // sweep it away.
    let aside = format!("{}.leaving", directory.temporary_name(parent));
    let (place, shown) = (directory.path(path), directory.path(&aside));
    fs::rename(&place, &shown)?;
    let found = directory.look(&aside, content);
    if !matches!(found, Ok(Occupant::Same)) {
        opening::rename_new(&shown, &place)?;
        return found.map(|_| false);
    }
    fs::remove_file(&shown)?;
    sync_parent(&place)?;
    Ok(true)
}
