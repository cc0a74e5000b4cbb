//! The directory of a file by its status: `failed` for failed or archived work, else the parent
//! directory, where the scripts look for work to resume.
//!
//! Must never move an unmarked checkpoint: a file that says of itself that it failed stays.
//!
//! An export writes the new place and syncs it before it removes the file from the old one. A kill
//! in between leaves it in both, and the next export removes the old one. It renames the old file
//! first and then compares it with the text in the store, so that no program changes it in between;
//! a file that differs is moved back. An import that finds a file in one place knows it by the
//! other, if the status of the checkpoint puts it there. A file that a script moved by hand is a
//! checkpoint of its own.

use super::{recognise, unreadable};
use crate::checkpoint::{Document, Entry, Layout, NewEntry, Status};
use crate::codec::Datum;
use crate::layouts::{Place, path};

const ASIDE: &str = "failed";

/// Where the file of a checkpoint belongs since its status was changed.
///
/// ```
/// use waypost::layouts::claude::Filed;
/// use waypost::layouts::{Place, recognise};
/// use waypost::source::Source;
/// use waypost::{Document, NewEntry, Status, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let json = br#"{"checkpoint_id": "implement_shop_20251003_192230", "status": "in_progress",
/// #     "workflow_type": "implement", "project_name": "shop", "workflow_state": {},
/// #     "created_at": "2025-10-03T19:22:30Z", "schema_version": "1.0"}"#;
/// # let path = ".claude/checkpoints/implement_shop_20251003_192230.json";
/// # let document = Document::from_json(json)?;
/// # let about = recognise(&document, &Place { path, ..Place::default() }).unwrap();
/// # let about = NewEntry { source_path: Some(path.to_owned()), ..about };
/// # let saved = store.save_draft(store.draft_source(about, Source::from_json(json)?)?)?;
/// // Imported from a file in .claude/checkpoints.
/// let failed = store.mark(&[saved.id], Status::Failed)?.remove(0);
/// let filed = Filed::of(&failed, &document).expect("a change of status moves it");
/// assert!(filed.is_moved && filed.path.contains("/failed/"));
/// assert_eq!(filed.left.as_deref(), Some(path));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filed {
    /// Where it belongs, from the root of the project.
    pub path: String,
    /// The old path, from which it must be removed.
    pub left: Option<String>,
    /// True if `path` is not where it came from.
    pub is_moved: bool,
}

impl Filed {
    /// Returns where the imported file of a checkpoint belongs; `None` if its status does not move
    /// it.
    #[must_use]
    pub fn of(entry: &Entry, document: &Document) -> Option<Self> {
        Self::of_datum(entry, document.into())
    }

    /// As [`of`](Self::of), also of a document that is no tree.
    pub(crate) fn of_datum(entry: &Entry, document: Datum<'_>) -> Option<Self> {
        let is_file = entry.source.is_some_and(|source| source.line.is_none());
        let source = entry.source_path.as_ref().filter(|_| is_file)?;
        if entry.layout != Layout::Claude {
            return None;
        }
        let other = counterpart(source)?;
        let is_over = is_over(entry.status);
        let is_moved = is_marked(entry, document) && is_over != is_aside(source);
        let (path, left) = if is_moved { (other, source.clone()) } else { (source.clone(), other) };
        let left = Some(left).filter(|_| is_over == is_aside(&path) && was_marked(entry, document));
        Some(Self { path, left, is_moved })
    }
}

/// True if the scripts no longer consider a checkpoint: it is in `failed`, or belongs there since
/// it was marked.
pub(crate) fn is_set_aside(entry: &Entry, document: &Document) -> bool {
    Filed::of(entry, document).is_some_and(|filed| is_over(entry.status) && is_aside(&filed.path))
}

/// True if the status differs from that in the file.
fn is_marked(entry: &Entry, document: Datum<'_>) -> bool {
    stated(entry, document).is_none_or(|stated| stated.status != entry.status)
}

/// True if the status was ever changed. A reopened checkpoint has its first status again, but the
/// time of the change.
fn was_marked(entry: &Entry, document: Datum<'_>) -> bool {
    let is_changed = |stated: NewEntry| stated.updated_at != entry.updated_at;
    is_marked(entry, document) || stated(entry, document).is_none_or(is_changed)
}

/// What the file says about itself, where it came from.
fn stated(entry: &Entry, document: Datum<'_>) -> Option<NewEntry> {
    let path = entry.source_path.as_deref()?;
    let place = Place { path, ..Place::default() };
    if entry.is_unreadable() {
        return Some(unreadable(&place));
    }
    recognise(document, &place)
}

/// Tells whether a file with the text of a checkpoint is the one that it came from, moved to `path`
/// by a change of its status.
#[must_use]
pub fn is_moved_file(entry: &Entry, path: &str) -> bool {
    let source = entry.source_path.as_deref().filter(|_| entry.layout == Layout::Claude);
    source.is_some()
        && counterpart(path).as_deref() == source
        && is_over(entry.status) == is_aside(path)
}

/// Returns the place in `failed` of a file among those to resume, or the reverse; `None` for a file
/// that lies elsewhere.
#[must_use]
pub fn counterpart(path: &str) -> Option<String> {
    let (directory, name) = path.rsplit_once('/')?;
    let (directory, is_aside) = match directory.strip_suffix(ASIDE) {
        Some(above) => (above.strip_suffix('/')?, true),
        None => (directory, false),
    };
    match path::parts(directory).as_slice() {
        [.., ".claude", "checkpoints"] | [.., ".claude", "data", "checkpoints"] => {}
        _ => return None,
    }
    let aside = if is_aside { String::new() } else { format!("/{ASIDE}") };
    Some(format!("{directory}{aside}/{name}"))
}

fn is_aside(path: &str) -> bool {
    matches!(path::parts(path).as_slice(), [.., ASIDE, _])
}

fn is_over(status: Status) -> bool {
    match status {
        Status::Failed | Status::Archived => true,
        Status::InProgress | Status::Completed | Status::Paused | Status::Unknown => false,
    }
}
