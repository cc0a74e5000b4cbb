//! Revisions of one file: the ids that they may have, and their place in the order.
//!
//! Pure: no store is read or written here.
//!
//! An imported file is known by its path, and each content that an import finds there is a
//! *revision*. The import compares the text with that of the newest revision: the same text adds
//! nothing, any other is a new checkpoint, even if an earlier revision had it (A, B, A). So
//! importing again adds nothing, nor does continuing after a kill. Tags, marks and forks do not
//! change the file.
//!
//! - The id is the one that the document states, else its layout and a hash of path and text. Where
//!   that is taken, `~` and the hash follow. Where that is taken too, by an earlier revision with
//!   this text, a hash of it and the id of the revision before follows. An id depends on the file
//!   and the revision before alone, so two processes that import the same file at the same time
//!   save it once.
//! - The order: a revision is newer than those before it, whatever time it states. Different files
//!   have the order of the times that they state.
//! - Without a stated time the date is that of the file. After a checkout or a copy that is the
//!   time of the copy, and an old file would be the newest of its series. Such a tree shows in its
//!   other files: the newest checkpoint of the series came from a file that was written more than a
//!   minute after the time it states. Then the file without a time goes right before the newest of
//!   its series, or right behind its own revision before, with a warning. Files without a time are
//!   imported after all others, so the order of names does not matter.
//! - Deleted revisions are compared while they are newer than all that exist: what was deleted
//!   stays so. A file that changed after that is a new revision. Once they are gone for good, the
//!   file brings them back. If the newest revision is damaged, the present content is saved.
//! - A content that is no document is a revision, too, in the series of the one before it.
//! - A file outside of the directory of the store is known by its whole path. If a file within has
//!   the same path from there, the one outside is refused, since each import would find a change.
//! - Lines of an export and native files have ids, dates and places of their own, and are taken as
//!   they are. Those that name a source are revisions of it in the new store.
//!
//! A store of an earlier build may have revisions whose stated times go back. `latest` and `export`
//! both give the one that is last in the order, and the next import adds the present content behind
//! it. Only triggers change later, with the index of claude-crunch, which is written after the
//! file.

use super::reading::series;
use crate::checkpoint::{Entry, Id, Layout, NewEntry, Timestamp};
use crate::codec::check;

// An id with a tilde and eight digits appended must still be a valid name.
const ID_BYTES_MAX: usize = 500;
// Systems write a file right after they take its time. A file written later is a copy, and so are
// the files beside it.
const WRITTEN_WITHIN_MICROS: u64 = 60_000_000;
// A second attempt is needed only if a caller used the first id for something else.
const ATTEMPTS: u8 = 4;

/// A content of a file, before it is saved.
///
/// ```
/// use waypost::NewEntry;
/// use waypost::layouts::Revision;
/// use waypost::source::Source;
///
/// # fn main() -> waypost::Result<()> {
/// let path = ".pipeline/checkpoint-PROJ-42.json";
/// let fingerprint = Source::from_json(br#"{"storyId": "PROJ-42"}"#)?.fingerprint(path);
/// let revision = Revision { fingerprint, line: None, modified_at: None, before: None };
/// // The same text at the same path has the same ids, so that it is saved once.
/// let about = NewEntry::default();
/// assert!(!revision.ids(&about).is_empty());
/// assert_eq!(revision.ids(&about), revision.ids(&about));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Revision<'a> {
    /// [`Source::fingerprint`](crate::source::Source::fingerprint) of its path.
    pub fingerprint: u64,
    /// Which line of the file it is, where each line is a checkpoint.
    pub line: Option<u64>,
    /// When the file was last written.
    pub modified_at: Option<Timestamp>,
    /// The revision before it: the newest checkpoint of the file.
    pub before: Option<&'a Entry>,
}

impl Revision<'_> {
    /// Returns the ids that it may have, the best first: the one that the document states, or its
    /// layout and its fingerprint; then ids that tell it from others with that id, and last from
    /// earlier revisions with the same text.
    ///
    /// Each follows from the text, the path and the revision before alone, so that two processes
    /// that import the same file at the same time save it once.
    #[must_use]
    pub fn ids(&self, about: &NewEntry) -> Vec<Id> {
        // `latest` is reserved for the newest checkpoint.
        let own = about.id.as_ref().filter(|id| id.as_str() != "latest");
        let mut ids: Vec<Id> = own.cloned().into_iter().collect();
        ids.extend(self.id_of(own, about.layout, self.fingerprint));
        let mut hash = self.fingerprint;
        for _ in 0..self.before.map_or(0, |_| ATTEMPTS) {
            hash = check(hash, self.before.map_or("", |before| before.id.as_str()).as_bytes());
            ids.extend(self.id_of(own, about.layout, hash));
        }
        ids
    }

    fn id_of(&self, own: Option<&Id>, layout: Layout, hash: u64) -> Option<Id> {
        if let Some(own) = own {
            let stem = &own.as_str()[..own.as_str().floor_char_boundary(ID_BYTES_MAX)];
            return Id::new(format!("{stem}~{:08x}", hash >> 32)).ok();
        }
        let line = self.line.map(|line| format!("-{line}")).unwrap_or_default();
        let name = if layout == Layout::Native { "file" } else { layout.as_str() };
        Id::new(format!("{name}-{hash:016x}{line}")).ok()
    }

    /// Names the series of a document that lacks what names it: that of the revision before, else
    /// one of its file.
    pub fn name(&self, about: &mut NewEntry) {
        if about.series.is_some() {
            return;
        }
        let before = self.before.filter(|before| before.layout == about.layout);
        let path = about.source_path.as_deref().unwrap_or_default();
        about.series = match before {
            Some(before) => Some(before.series.clone()),
            None => series(&format!("file:{path}")),
        };
    }

    /// Takes over the names of the revision before for a content that has none, since it could not
    /// be read.
    pub fn inherit(&self, about: &mut NewEntry) {
        let before = self.before.filter(|before| before.layout == about.layout);
        let Some(before) = before.cloned() else { return };
        about.series = Some(before.series);
        about.issue = before.issue;
        about.loop_id = before.loop_id;
        about.workflow_id = before.workflow_id;
        about.workflow_type = before.workflow_type;
    }

    /// Dates a content without a stated time and orders it after the revision before. `newest` is
    /// the newest checkpoint of its series.
    ///
    /// Without a time of its own it has that of the file. If the newest of the series came from a
    /// file that was written long after the time that it states, the files are copies, and the time
    /// of a file says when it was copied: a stated time then counts for more, and this one goes
    /// before the newest of its series, or right behind the revision before.
    pub fn date(&self, about: &mut NewEntry, newest: Option<&Entry>) {
        let before = self.before.map(|before| before.order().0);
        if about.created_at.is_none() {
            let limit = newest.filter(|newest| is_copy(newest)).map(|newest| {
                // Lines follow each other.
                let step = i64::from(self.line.is_none());
                let limit = newest.order().0.as_micros().saturating_sub(step);
                Timestamp::from_micros(limit).max(before.unwrap_or(Timestamp::from_micros(limit)))
            });
            about.created_at = self.modified_at;
            if let Some(limit) = limit.filter(|limit| Some(*limit) < self.modified_at) {
                about.created_at = Some(limit);
                about.warnings.push(
                    "it states no time, and its file is a copy: dated by its series".to_owned(),
                );
            }
        }
        about.ordered_at = before.filter(|before| about.created_at.is_some_and(|at| at < *before));
    }
}

/// Whether the file of a checkpoint was written long after the time that the checkpoint states.
fn is_copy(entry: &Entry) -> bool {
    let written = entry.source.and_then(|source| source.modified_at);
    written.is_some_and(|written| {
        written > entry.created_at && entry.created_at.micros_until(written) > WRITTEN_WITHIN_MICROS
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::SourceForm;
    use crate::store::Store;

    const MINUTE: i64 = 60_000_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_micros(minutes * MINUTE)
    }

    /// An entry with an id, a date in minutes, and a file that was written then.
    fn entry(id: &str, (date, written): (i64, Option<i64>)) -> Entry {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let about = NewEntry {
            id: Some(Id::new(id).unwrap()),
            created_at: Some(at(date)),
            ..NewEntry::default()
        };
        let modified_at = written.map(at);
        let source = Some(SourceForm { modified_at, ..SourceForm::default() });
        Entry { source, ..store.save(about, &0).unwrap() }
    }

    fn revision(before: Option<&Entry>) -> Revision<'_> {
        Revision { fingerprint: 7, line: None, modified_at: Some(at(1000)), before }
    }

    fn dated(stated: Option<i64>, before: Option<&Entry>, newest: Option<&Entry>) -> NewEntry {
        let mut about = NewEntry { created_at: stated.map(at), ..NewEntry::default() };
        revision(before).date(&mut about, newest);
        about
    }

    #[test]
    fn an_id_is_stated_or_follows_from_the_text_and_then_from_the_revision_before() {
        let before = entry("b", (1, None));
        let about = NewEntry { layout: Layout::Pipeline, ..NewEntry::default() };
        assert_eq!(revision(None).ids(&about)[0].as_str(), "pipeline-0000000000000007");
        assert_eq!(revision(None).ids(&about).len(), 1);
        let ids = revision(Some(&before)).ids(&about);
        assert_eq!(ids[0].as_str(), "pipeline-0000000000000007");
        assert!(ids[1..].iter().all(|id| id.as_str().starts_with("pipeline-") && *id != ids[0]));
        let own = NewEntry { id: Some(Id::new("x".repeat(512)).unwrap()), ..about.clone() };
        let ids = revision(Some(&before)).ids(&own);
        assert_eq!((ids[0].as_str().len(), ids.len()), (512, 6));
        let latest = NewEntry { id: Some(Id::new("latest").unwrap()), ..about };
        assert!(revision(None).ids(&latest)[0].as_str().starts_with("pipeline-"));
    }

    #[test]
    fn a_revision_is_ordered_after_the_one_before_and_keeps_its_date() {
        let before = entry("b", (10, None));
        for (stated, ordered) in [(9, Some(10)), (10, None), (11, None), (-5, Some(10))] {
            let about = dated(Some(stated), Some(&before), None);
            assert_eq!((about.created_at, about.ordered_at), (Some(at(stated)), ordered.map(at)));
        }
    }

    #[test]
    fn the_time_of_a_file_counts_unless_the_newest_of_the_series_is_a_copy() {
        let just_before = Timestamp::from_micros(10 * MINUTE - 1);
        for (newest, expected) in [
            (None, at(1000)),
            (Some(entry("n", (10, None))), at(1000)),
            (Some(entry("n", (10, Some(10)))), at(1000)),
            (Some(entry("n", (10, Some(11)))), at(1000)),
            (Some(entry("n", (10, Some(500)))), just_before),
            (Some(entry("n", (2000, Some(3000)))), at(1000)),
        ] {
            let about = dated(None, None, newest.as_ref());
            assert_eq!(about.created_at, Some(expected), "{newest:?}");
            assert_eq!(about.warnings.len(), usize::from(expected == just_before));
        }
        // A revision of a file goes behind the one before in any case.
        let newest = entry("n", (10, Some(500)));
        let about = dated(None, Some(&newest), Some(&newest));
        assert_eq!((about.created_at, about.ordered_at), (Some(at(10)), None));
    }

    #[test]
    fn what_has_no_time_at_all_is_dated_by_the_store() {
        let before = entry("b", (10, None));
        let mut about = NewEntry::default();
        let revision = Revision { modified_at: None, ..revision(Some(&before)) };
        revision.date(&mut about, None);
        assert_eq!((about.created_at, about.ordered_at), (None, None));
    }
}
