//! Tells whether a text is a new revision of its file, and drafts it as one.

use super::file::{Importer, Judged, refuse, save, would};
use super::text::said;
use super::walk::Item;
use crate::checkpoint::{
    Checkpoint, Entry, Format, Id, Layout, NewEntry, Series, SourceForm, Trigger,
};
use crate::codec::Source;
use crate::error::{Error, Result};
use crate::layouts::{Revision, claude};
use crate::query::Query;
use crate::store::{Restorable, Store};

// Newest revisions of a file among which the one that an export moved is searched.
const MOVED_MAX: usize = 16;

/// How a text compares with what the store has of its file.
enum Compared {
    /// The newest revision has the same text.
    Known(Box<Entry>),
    /// The newest revision has the same text, and was deleted.
    Deleted,
    /// It is another text. With the newest revision, if there is one.
    New(Option<Box<Entry>>),
}

/// A text and the file it is from.
pub(super) struct Text<'a> {
    pub(super) place: &'a str,
    pub(super) line: Option<u64>,
    bytes: &'a [u8],
}

impl Text<'_> {
    pub(super) fn file(&self) -> (String, Option<u64>) {
        (self.place.to_owned(), self.line)
    }

    /// True if it is the text of a checkpoint. A damaged checkpoint, or one that is gone by now,
    /// counts as another text, so that this one is saved.
    fn is_in(&self, checkpoint: Result<Checkpoint>) -> Result<bool> {
        let checkpoint = match checkpoint {
            Ok(checkpoint) => checkpoint,
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let known = checkpoint.source_text()?.unwrap_or_default();
        // The end of a line does not count.
        let known = self.line.and_then(|_| known.strip_suffix(b"\n")).unwrap_or(&known);
        Ok(known == self.bytes)
    }
}

impl Importer<'_> {
    /// Judges a text that was recognised: whether it is a new revision of its file, and which.
    pub(super) fn take(
        &self,
        item: &Item,
        mut about: NewEntry,
        source: Source,
        text: &[u8],
    ) -> Judged {
        let SourceForm { line, modified_at, .. } = *source.form();
        let fingerprint = source.fingerprint(&item.place);
        let mut revision = Revision { fingerprint, line, modified_at, before: None };
        let Some(store) = self.store else {
            revision.name(&mut about);
            return would(about);
        };
        let text = Text { place: &item.place, line, bytes: text };
        let before = match self.compare(store, &text) {
            Ok(Compared::New(before)) => before,
            // claude-crunch writes its index after the file, and may correct it later.
            Ok(Compared::Known(known))
                if about.trigger != Trigger::Unknown && about.trigger != known.trigger =>
            {
                return Judged::Explain { id: known.id, trigger: about.trigger };
            }
            Ok(Compared::Known(_)) => return Judged::Known,
            Ok(Compared::Deleted) => return Judged::Deleted,
            Err(error) => return failed(error),
        };
        revision.before = before.as_deref();
        if source.form().format == Format::Unreadable {
            revision.inherit(&mut about);
        }
        revision.name(&mut about);
        if self.is_dry {
            return would(about);
        }
        let is_undated = about.created_at.is_none();
        if is_undated && before.is_none() && line.is_none() && !self.takes_undated {
            return Judged::Undated;
        }
        self.draft(store, about, source, &revision)
    }

    /// The system of the newest revision of a file. A failure of the store shows when it is saved.
    pub(super) fn system_before(&self, item: &Item) -> Option<Layout> {
        let text = Text { place: &item.place, line: None, bytes: &[] };
        let newest = self.revisions.newest(self.store?, &text, self.is_dry).ok()??;
        Some(newest.layout).filter(|layout| *layout != Layout::Native)
    }

    /// Compares a text with the newest revision of its file. A file that an export moved is also
    /// compared with the file at its earlier place.
    fn compare(&self, store: &Store, text: &Text<'_>) -> Result<Compared> {
        let compared = self.compare_at(store, text)?;
        let Some(before) = claude::counterpart(text.place) else { return Ok(compared) };
        if !matches!(compared, Compared::New(None)) || text.line.is_some() {
            return Ok(compared);
        }
        for entry in store.newest_of_file_each(&before, None, MOVED_MAX)? {
            if claude::is_moved_file(&entry, text.place) && text.is_in(store.get(&entry.id))? {
                return Ok(Compared::Known(Box::new(entry)));
            }
        }
        match self.compare_at(store, &Text { place: &before, ..*text })? {
            Compared::Deleted => Ok(Compared::Deleted),
            Compared::Known(_) | Compared::New(_) => Ok(compared),
        }
    }

    fn compare_at(&self, store: &Store, text: &Text<'_>) -> Result<Compared> {
        let newest = self.revisions.newest(store, text, self.is_dry)?;
        let is_newer = |it: &&Restorable| {
            newest.as_ref().is_none_or(|newest| newest.order() < it.entry.order())
        };
        // If the last revision was deleted, a return to the one before it is a change, too.
        if let Some(deleted) = self.revisions.newest_deleted(store, text)?.filter(is_newer) {
            let is_same = text.is_in(store.get_deleted(deleted))?;
            let before = || Compared::New(Some(Box::new(deleted.entry.clone())));
            return Ok(if is_same { Compared::Deleted } else { before() });
        }
        match newest {
            Some(newest) if text.is_in(store.get(&newest.id))? => {
                Ok(Compared::Known(Box::new(newest)))
            }
            newest => Ok(Compared::New(newest.map(Box::new))),
        }
    }

    fn draft(
        &self,
        store: &Store,
        mut about: NewEntry,
        source: Source,
        revision: &Revision<'_>,
    ) -> Judged {
        let layout = about.layout;
        let ids = revision.ids(&about);
        about.id = match self.free(store, ids) {
            Ok(Some(id)) => Some(id),
            Ok(None) => return refuse("its id is taken by another checkpoint".to_owned()),
            Err(error) => return failed(error),
        };
        let newest = if about.created_at.is_none() {
            let query = Query { series: Some(Series::of(&about)), ..Query::default() };
            // A damaged entry must not hide the others.
            store.entries(query).find_map(Result::ok)
        } else {
            None
        };
        revision.date(&mut about, newest.as_ref());
        match store.draft_source(about, source) {
            Ok(draft) => save(Box::new(draft), layout, false),
            Err(error) => refuse(said(&error)),
        }
    }

    /// The first of these ids that is free: no checkpoint has it, and no deleted one that can be
    /// restored.
    fn free(&self, store: &Store, ids: Vec<Id>) -> Result<Option<Id>> {
        for id in ids {
            match store.entry(&id) {
                Ok(_) => {}
                Err(Error::NotFound { .. }) if self.revisions.is_deleted(store, &id)? => {}
                Err(Error::NotFound { .. }) => return Ok(Some(id)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Damage to one checkpoint concerns its file alone; any other failure ends the import.
fn failed(error: Error) -> Judged {
    match error {
        error @ Error::Corrupt { .. } => refuse(said(&error)),
        error => Judged::Fail(error),
    }
}
