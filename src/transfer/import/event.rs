//! What an import reports while it runs.

use std::ops::ControlFlow;

use crate::checkpoint::{Layout, NewEntry};

/// What an import reports while it runs.
///
/// A closure that returns [`ControlFlow::Break`] stops the import before its next transaction. It
/// runs in the thread of the caller and must not use the store.
///
/// Paths are those in the store, with `/`, from the directory that the store is for. A `reason` is
/// a fragment such as `not a file`. Both may have control characters.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::Store;
/// use waypost::transfer::import::{ImportEvent, ImportOptions, Sources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path();
/// # std::fs::create_dir(project.join(".aiwg"))?;
/// # std::fs::write(project.join(".aiwg/notes.txt"), "")?;
/// # std::fs::create_dir(project.join(".pipeline"))?;
/// std::fs::write(project.join(".pipeline/checkpoint-A-1.json"), "{")?;
/// let store = Store::open(project.join("store.redb"))?;
/// let mut sources = Sources::new(store.path(), Default::default());
/// sources.add(project)?;
/// let mut refused = Vec::new();
/// store.import_with(sources, &ImportOptions::default(), &mut |event| {
///     if let ImportEvent::Refused { path, .. } = event {
///         refused.push(path.to_owned());
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(refused, [".pipeline/checkpoint-A-1.json"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportEvent<'a> {
    /// How far the import is: before each transaction, and while directories are searched.
    Progress {
        /// Number of files and lines that are done.
        done: u64,
        /// Number of all files, if [`ImportOptions::count_first`](super::ImportOptions).
        total: Option<u64>,
    },
    /// A checkpoint of a file was saved.
    Imported {
        /// The file.
        path: &'a str,
        /// The system that wrote it.
        layout: Layout,
    },
    /// A dry run found a checkpoint that is not in the store.
    WouldImport(&'a NewEntry),
    /// A document that was imported breaks rules of its system in a way that makes it invalid.
    Invalid {
        /// The file.
        path: &'a str,
        /// Which rules, the first few of them.
        reason: &'a str,
    },
    /// The file cannot be read as a document, but its bytes are kept; see
    /// [`ImportOptions::keep_unreadable`](super::ImportOptions::keep_unreadable).
    KeptUnread {
        /// The file.
        path: &'a str,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// The file is no checkpoint.
    Skipped {
        /// The file.
        path: &'a str,
        /// Why not.
        reason: &'a str,
    },
    /// The file cannot be imported.
    Refused {
        /// The file.
        path: &'a str,
        /// Why not.
        reason: &'a str,
    },
    /// Something that a file says is not so.
    Note {
        /// The file.
        path: &'a str,
        /// What it says.
        reason: &'a str,
    },
    /// A line of JSON cannot be imported, or lacks a captured file.
    Line {
        /// The name of the input.
        input: &'a str,
        /// Counted from one.
        number: u64,
        /// What is wrong with it.
        reason: &'a str,
    },
}

/// Receives the events of an import.
pub(super) type Watch<'a> = &'a mut dyn FnMut(ImportEvent<'_>) -> ControlFlow<()>;
