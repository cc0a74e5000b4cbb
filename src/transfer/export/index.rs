//! Files that claude-crunch keeps beside its checkpoints: an index of the directory, and a link to
//! the newest checkpoint.

use std::collections::BTreeMap;

use crate::checkpoint::{Document, Entry, Layout, SourceForm};
use crate::error::Result;
use crate::layouts::crunch::{Index, IndexEntry};
use crate::layouts::{Field, Scalar};
use crate::transfer::directory::Content;
use crate::transfer::place::split;

/// The row of a checkpoint in an index.
#[derive(Debug)]
pub(super) struct Row {
    entry: IndexEntry,
    issue_number: Field<Scalar>,
}

impl Row {
    /// The row of a checkpoint, if its layout has an index.
    pub(super) fn of(layout: Layout, entry: &Entry, document: &Document) -> Option<Self> {
        if layout != Layout::Crunch {
            return None;
        }
        let issue = match document.get("issue_number") {
            Some(Document::Uint(number)) => Some(Scalar::from(*number)),
            Some(Document::Text(text)) => Some(Scalar::from(text.as_str())),
            _ => entry.issue.as_ref().map(|issue| number(issue.as_str())),
        };
        let issue_number = issue.map_or(Field::Absent, Field::from);
        Some(Self { entry: IndexEntry::of(entry, document), issue_number })
    }
}

fn number(text: &str) -> Scalar {
    text.parse::<u64>().map_or_else(|_| Scalar::from(text), Scalar::from)
}

/// The directories of an export that have an index.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    directories: BTreeMap<String, Indexed>,
}

/// A directory that has an index.
#[derive(Debug)]
struct Indexed {
    /// The name of the newest file, and how it was written.
    newest: String,
    form: SourceForm,
    issue_number: Field<Scalar>,
    /// From the newest to the oldest.
    entries: Vec<IndexEntry>,
}

/// The files that go beside the checkpoints of a directory.
pub(super) struct Beside {
    pub(super) index_path: String,
    pub(super) index: Content,
    pub(super) latest_path: String,
    /// The name of the newest: the target of the link, or the content where links cannot be made.
    pub(super) latest: Content,
}

impl Indexes {
    /// Adds the file of a checkpoint. The newest comes first.
    pub(super) fn add(&mut self, path: &str, form: SourceForm, row: Row) {
        let (directory, name) = split(path);
        let Row { entry, issue_number } = row;
        if let Some(indexed) = self.directories.get_mut(directory) {
            indexed.entries.push(entry);
            return;
        }
        let newest = name.to_owned();
        let indexed = Indexed { newest, form, issue_number, entries: vec![entry] };
        self.directories.insert(directory.to_owned(), indexed);
    }

    pub(super) fn into_files(self) -> impl Iterator<Item = Result<Beside>> {
        self.directories.into_iter().map(|(directory, indexed)| indexed.beside(&directory))
    }
}

impl Indexed {
    fn beside(self, directory: &str) -> Result<Beside> {
        let at = |name: &str| match directory {
            "" => name.to_owned(),
            _ => format!("{directory}/{name}"),
        };
        let entries = self.entries.into_iter().rev().collect();
        let file = Index::of_entries(self.issue_number, entries).file(self.form.format)?;
        // As readable as the newest checkpoint, since the index repeats parts of it.
        let form = SourceForm { mode: self.form.mode, ..SourceForm::default() };
        Ok(Beside {
            index_path: at(file.name),
            index: Content { text: file.text.into_bytes(), form },
            latest_path: at("latest"),
            latest: Content { text: self.newest.into_bytes(), form },
        })
    }
}
