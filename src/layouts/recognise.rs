//! Which system wrote a document, and what it says about itself.
//!
//! It decides by content, since related systems use the same paths. It must never convert a
//! document into the types of its layout: one bad field must not hide the others.
//!
//! A document that lacks required fields is recognised by place and shape together: the path of the
//! system, and at least two fields that only the system has. Files of related systems at the same
//! path have one at most. Most repositories with a `.pipeline/state.json` belong to another system.

use super::reading::{Reading, series};
use super::{agentize, aiwg, claude, crunch, pipeline};
use crate::checkpoint::{Document, Layout, NewEntry, Timestamp};
use crate::codec::Datum;

/// The path of a file, with its time and the index beside it.
///
/// ```
/// use waypost::layouts::{Place, recognise};
/// use waypost::{Document, Layout};
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"storyId": "PROJ-42", "stage": 2, "agentId": "a"}"#)?;
/// let place = Place { path: ".pipeline/checkpoint-PROJ-42.json", ..Place::default() };
/// let about = recognise(&document, &place).expect("the checkpoint of a story");
/// assert_eq!(about.layout, Layout::Pipeline);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// From the imported root, with `/` between its parts.
    pub path: &'a str,
    /// When the file was last written.
    pub modified_at: Option<Timestamp>,
    /// The index of the directory, which alone knows the triggers of claude-crunch.
    pub index: Option<&'a crunch::Index>,
}

/// Returns what a document says about itself, if one of the five systems wrote it.
///
/// Each line of a `history.jsonl` is such a document. The path only adds what the document lacks.
/// Values that a store would refuse are left out with a warning. A trigger or status that no file
/// states is unknown.
///
/// A document that lacks what its system requires is still that system's if it lies in its place
/// and has its shape: [`check`](super::check()) tells what is missing. It has no series if it lacks
/// what names one; see [`Revision::name`](super::Revision::name).
#[must_use]
pub fn recognise(document: &Document, place: &Place<'_>) -> Option<NewEntry> {
    recognise_datum(document.into(), place)
}

/// As [`recognise`], also of a document that is no tree.
pub(crate) fn recognise_datum(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    agentize::recognise(document, place)
        .or_else(|| crunch::recognise(document, place))
        .or_else(|| claude::recognise(document, place))
        .or_else(|| pipeline::recognise(document, place))
        .or_else(|| aiwg::recognise(document, place))
        .or_else(|| agentize::broken(document, place))
        .or_else(|| claude::broken(document, place))
        .or_else(|| pipeline::broken(document, place))
        .or_else(|| aiwg::broken(document, place))
}

/// Returns what a document says about itself as one of a given system, even if nothing in it
/// identifies that system.
///
/// `None` for a document of this store, and for one of a pipeline that names no story.
///
/// ```
/// use waypost::layouts::{Place, recognise, recognise_as};
/// use waypost::{Document, Layout};
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"storyId": "PROJ-42"}"#)?;
/// assert_eq!(recognise(&document, &Place::default()), None);
/// let about = recognise_as(Layout::Pipeline, &document, &Place::default()).expect("a story");
/// assert_eq!(about.series.expect("that of the story").as_str(), "story:PROJ-42");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn recognise_as(layout: Layout, document: &Document, place: &Place<'_>) -> Option<NewEntry> {
    // A complete document says more, such as which of several files of its system it is.
    if let Some(whole) = recognise(document, place).filter(|it| it.layout == layout) {
        return Some(whole);
    }
    let document = Datum::from(document);
    match layout {
        Layout::Native => None,
        Layout::Agentize => Some(agentize::entry(document, place)),
        Layout::Crunch => Some(crunch::entry(document, place)),
        Layout::Claude => Some(claude::entry(document, place)),
        Layout::Pipeline => pipeline::entry(document, place),
        Layout::Aiwg => Some(aiwg::entry(document, place)),
    }
}

/// Describes a file of no known system.
///
/// Successive states of the file are a series of their own.
#[must_use]
pub fn unrecognised(place: &Place<'_>) -> NewEntry {
    let mut reading = Reading::new(Layout::Native, Datum::NULL, place);
    reading.entry.series = series(&format!("file:{}", place.path));
    reading.finish()
}
