//! Files that an export has written to another place: taken from the one where they were.
//!
//! Must never remove a file that is not the one in the store, byte for byte.

use std::fs;
use std::io;

use anyhow::{Context as _, Result};
use serde::Serialize;
use waypost::layouts::claude::Filed;
use waypost::{Checkpoint, Entry, Id, SourceForm, Store, opening};

use super::tally::Tally;
use crate::args::Global;
use waypost::transfer::directory::{Content, Directory, Found};
use waypost::transfer::place::{Packing, split};
use waypost::transfer::private;

/// A place where the file of a checkpoint must not be any more.
#[derive(Debug, Clone)]
pub(super) struct Leaving {
    path: String,
    form: SourceForm,
    /// Whether it came from there.
    is_source: bool,
}

/// A file that was written to another place.
#[derive(Debug, Serialize)]
pub(in crate::command::export) struct Moved {
    id: Id,
    from: String,
    to: String,
    #[serde(skip)]
    form: SourceForm,
}

/// What lies in a place that the file of a checkpoint leaves.
pub(super) enum Left {
    /// Nothing that is to be removed.
    Nothing,
    /// The file of the checkpoint.
    Same(Leaving),
    /// A file that has changed since.
    Changed(String),
}

impl Leaving {
    /// The place that the file of a checkpoint leaves, if there is one.
    pub(super) fn of(filed: Filed, form: SourceForm, packing: Packing) -> Option<Self> {
        let (path, form) = packing.apply(&filed.left?, form);
        Some(Self { path, form, is_source: filed.is_moved })
    }

    /// Looks at what is there.
    pub(super) fn look(
        self,
        store: &Store,
        directory: &Directory,
        checkpoint: &Checkpoint,
    ) -> Result<Left> {
        let content = content(checkpoint, self.form)?;
        let found = directory.look(&self.path, &content);
        let found = found.with_context(|| format!("cannot read {}", self.path))?;
        if found == Found::Nothing || !self.is_of(store, &checkpoint.entry)? {
            return Ok(Left::Nothing);
        }
        Ok(match found {
            Found::Same => Left::Same(self),
            Found::Other | Found::Obstacle(_) if self.is_source => Left::Changed(self.path),
            Found::Nothing | Found::Other | Found::Obstacle(_) => Left::Nothing,
        })
    }

    /// Whether the newest that came from there is this checkpoint, or nothing did.
    fn is_of(&self, store: &Store, entry: &Entry) -> Result<bool> {
        let newest = store.newest_of_file(&self.path, None)?;
        Ok(newest.is_none_or(|newest| newest.id == entry.id))
    }

    pub(super) fn to(self, id: Id, to: &str) -> Moved {
        Moved { id, from: self.path, to: to.to_owned(), form: self.form }
    }
}

fn content(checkpoint: &Checkpoint, form: SourceForm) -> Result<Content> {
    let text = checkpoint.source_text()?.unwrap_or_default().into_owned();
    Ok(Content { text, form })
}

/// Removes files that are where they belong, on disk, from where they were.
pub(super) fn vacate(
    store: &Store,
    directory: &Directory,
    tally: &mut Tally,
    global: &Global,
) -> Result<()> {
    for moved in std::mem::take(&mut tally.moved) {
        let content = content(&store.get(&moved.id)?, moved.form)?;
        let removed = remove(directory, &moved.from, &content);
        if removed.with_context(|| format!("cannot remove {}", moved.from))? {
            global.note(format_args!("moved {} to {}", moved.from, moved.to));
            tally.moved.push(moved);
        } else {
            tally.refuse(global, moved.id.as_str(), &changed(&moved.from), 0);
        }
    }
    Ok(())
}

/// Says that a file is not removed.
pub(super) fn changed(path: &str) -> String {
    format!("{path} has changed since it was imported, and stays; import it, or remove it")
}

/// Removes a file if it has this content. It is looked at under another name, so that nobody
/// changes it after that.
fn remove(directory: &Directory, path: &str, content: &Content) -> io::Result<bool> {
    let (parent, _) = split(path);
    directory.check(parent)?;
    // No name of a draft: what a kill leaves here is a file of the user, and nobody sweeps it.
    let aside = format!("{}.leaving", directory.temporary_name(parent));
    let (place, shown) = (directory.path(path), directory.path(&aside));
    fs::rename(&place, &shown)?;
    let found = directory.look(&aside, content);
    if !matches!(found, Ok(Found::Same)) {
        opening::rename_new(&shown, &place)?;
        return found.map(|_| false);
    }
    fs::remove_file(&shown)?;
    private::sync_parent(&place)?;
    Ok(true)
}
