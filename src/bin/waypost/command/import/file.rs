//! One file: what it holds, and whether the store has it.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::Result;
use waypost::layouts::{
    Kind, Place, Problem, Revision, check, claude, locate, recognise, unrecognised,
};
use waypost::{
    Checkpoint, Document, Draft, Entry, Error, Id, Layout, NewEntry, Query, Restorable, Series,
    Source, SourceForm, Store, Trigger,
};

use super::line::{self, Taken};
use super::read::{self, Content};
use super::revisions::Revisions;
use super::text::{self, Unzip, debris, is_dump, said, unzipped};
use super::walk::Item;

// Revisions of a file among which the one that an export moved is looked for.
const MOVED_MAX: usize = 16;
// What lies elsewhere than checkpoints do and is longer is no checkpoint, but somebody's data.
const CANDIDATE_BYTES_MAX: usize = 8 << 20;
// Several threads read at the same time, and reading takes several times the memory of a text.
const LARGE_BYTES: u64 = 4 << 20;

const NO_CHECKPOINT: &str = "no checkpoint by its content";
const TOO_LARGE: &str = "too large for a checkpoint outside of its usual place";

/// What is to be done about a file, or a line of one.
pub(super) enum Step {
    /// Not in the store yet, or of an id that is, where the store knows whether it is the same.
    Save { draft: Box<Draft>, layout: Layout, is_there: bool, problems: Vec<Problem> },
    /// As [`Step::Save`], where nothing is to be saved.
    Would { about: Box<NewEntry>, problems: Vec<Problem> },
    /// In the store already.
    Known,
    /// Was in the store, and deleted.
    Deleted,
    /// In the store, but why it was saved has been found out, or said otherwise, since.
    Explain { id: Id, trigger: Trigger },
    /// Known, and no checkpoint.
    Skip(&'static str),
    /// Not what is looked for.
    Ignore,
    /// To be looked at after all others: it states no time, and the others of its series may.
    Undated,
    /// To be looked at alone: it is large, or has many checkpoints.
    Alone,
    /// Cannot be taken; what is done about it besides, if anything.
    Refuse { reason: String, kept: Option<Box<Step>> },
    /// Cannot be had at this moment, but perhaps at another.
    Unread(String),
    /// The store cannot be asked.
    Fail(Error),
}

/// How files are taken in.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    /// None if there is none yet.
    pub(super) store: Option<&'a Store>,
    /// The directory that the store is for.
    pub(super) home: Option<&'a Path>,
    /// Whether nothing is to be changed.
    pub(super) is_dry: bool,
    pub(super) keeps_unreadable: bool,
    pub(super) revisions: &'a Revisions,
    /// Whether files are taken that state no time; they come after those that do.
    pub(super) takes_undated: bool,
}

impl Importer<'_> {
    /// Reads a file, and says what is to be done. `is_alone` if no other is read meanwhile.
    pub(super) fn look(&self, item: &Item, is_alone: bool) -> Step {
        if matches!(item.kind, Kind::Lines) {
            return Step::Alone;
        }
        if self.is_ambiguous(item) {
            let reason = "a file of the project is known by the same path; use another store";
            return refuse(reason.to_owned());
        }
        let is_large = |bytes: u64| bytes > LARGE_BYTES && !is_alone;
        if is_large(fs::symlink_metadata(&item.path).map_or(0, |found| found.len())) {
            return Step::Alone;
        }
        let content = match read::read(&item.path) {
            Ok(content) => content,
            Err(reason) => return Step::Unread(reason),
        };
        let is_candidate = is_candidate(item);
        if let Some(reason) = debris(&content.bytes) {
            return if is_candidate { passed_over(item, reason) } else { Step::Skip(reason) };
        }
        if is_candidate && content.bytes.len() > CANDIDATE_BYTES_MAX {
            return passed_over(item, TOO_LARGE);
        }
        let limit = if is_alone { read::bytes_max() } else { LARGE_BYTES };
        let text = match unzipped(&content.bytes, limit) {
            Ok(text) => text,
            Err(Unzip::TooLong) if !is_alone => return Step::Alone,
            Err(_) if is_candidate => return passed_over(item, NO_CHECKPOINT),
            Err(fault) => return self.unreadable(item, &content, fault.to_string()),
        };
        match text::source(&item.place, &text) {
            Ok(source) => {
                let is_gzip = matches!(text, Cow::Owned(_));
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                self.source(item, source, &text)
            }
            Err(_) if is_candidate => passed_over(item, NO_CHECKPOINT),
            Err(error) => self.unreadable(item, &content, said(&error)),
        }
    }

    /// Whether a file elsewhere has the path that one in the directory of the store has there.
    fn is_ambiguous(&self, item: &Item) -> bool {
        let is_other = |home: &&Path| !item.path.starts_with(home);
        self.home.filter(is_other).is_some_and(|home| home.join(&item.place).exists())
    }

    /// Reads a file in which each line is a checkpoint, and hands out what is to be done about
    /// each. A step is asked for again if another one of the file was in its way.
    pub(super) fn look_at_lines(
        &self,
        item: &Item,
        take: &mut dyn FnMut(&dyn Fn() -> Step) -> Result<()>,
    ) -> Result<()> {
        let content = match read::read(&item.path) {
            Ok(content) => content,
            Err(reason) => return take(&|| Step::Unread(reason.clone())),
        };
        let text = match unzipped(&content.bytes, read::bytes_max()) {
            Ok(text) => text,
            Err(fault) => return take(&|| self.unreadable(item, &content, fault.to_string())),
        };
        let is_gzip = matches!(text, Cow::Owned(_));
        for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
            let (line, has_end) =
                line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
            // Says nothing, and no system writes one.
            if line.trim_ascii().is_empty() {
                continue;
            }
            let of_file = |source: Source| {
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                source.at_line(number, has_end)
            };
            take(&|| match Source::from_json(line) {
                // Whoever appends to it has not come to its end.
                Ok(_) if !has_end => {
                    let source = of_file(Source::unreadable(line));
                    let reason = format!("line {number}: has no end yet");
                    self.keep(item, source, line, reason)
                }
                Ok(source) => self.source(item, of_file(source), line),
                Err(error) => {
                    let source = of_file(Source::unreadable(line));
                    let reason = format!("line {number}: {}", said(&error));
                    self.keep(item, source, line, reason)
                }
            })?;
        }
        Ok(())
    }

    fn source(&self, item: &Item, source: Source, text: &[u8]) -> Step {
        // All of a large one would take much memory, and its rules are checked later.
        let is_large = text.len() as u64 > LARGE_BYTES;
        let document = if is_large { source.outline() } else { source.document() };
        let document = match document {
            Ok(document) => document,
            Err(error) => return refuse(said(&error)),
        };
        if is_dump(&document) {
            return match self.dump(text, &item.place) {
                // Somebody else has objects with the same members.
                Step::Refuse { .. } if is_candidate(item) => passed_over(item, NO_CHECKPOINT),
                step => step,
            };
        }
        let place = place(item);
        let Some(about) = recognise(&document, &place) else {
            // Building the tree took as much memory as several documents.
            drop(document);
            if is_candidate(item) {
                return passed_over(item, NO_CHECKPOINT);
            }
            return self.take(item, other(item, &source), source, text);
        };
        let document = if is_large { source.document() } else { Ok(document) };
        let problems = match document {
            Ok(document) => problems(&about, &document, &source, text),
            Err(error) => return refuse(said(&error)),
        };
        match self.take(item, about, source, text) {
            Step::Save { draft, layout, is_there, .. } => {
                Step::Save { draft, layout, is_there, problems }
            }
            Step::Would { about, .. } => Step::Would { about, problems },
            step => step,
        }
    }

    /// A file that `export --layout native` wrote.
    fn dump(&self, text: &[u8], place: &str) -> Step {
        let would_be = || {
            let source_path = Some(place.to_owned());
            would(NewEntry { source_path, ..NewEntry::default() })
        };
        let Some(store) = self.store else { return would_be() };
        let (draft, is_there) = match line::draft(store, text) {
            // No such file is written; a line may end up in one.
            Ok(Taken { missing, .. }) if !missing.is_empty() => {
                return refuse("it lacks captured files; as a .jsonl file it is taken".to_owned());
            }
            Ok(Taken { draft, .. }) => {
                let is_there = store.entry(draft.id()).is_ok();
                (Box::new(draft), is_there)
            }
            Err(error) => return refuse(said(&error)),
        };
        match (self.is_dry, is_there) {
            (true, true) => Step::Known,
            (true, false) => would_be(),
            (false, _) => save(draft, Layout::Native, is_there),
        }
    }

    /// Keeps what cannot be read, if that is wished for, and says so in any case.
    fn unreadable(&self, item: &Item, content: &Content, reason: String) -> Step {
        let source = Source::unreadable(&content.bytes);
        let source = source.of_file(false, content.mode, content.modified_at);
        self.keep(item, source, &content.bytes, reason)
    }

    fn keep(&self, item: &Item, source: Source, bytes: &[u8], reason: String) -> Step {
        let kept = self.keeps_unreadable.then(|| {
            let mut about = other(item, &source);
            about.can_resume = Some(false);
            about.warnings.push(format!("it could not be read: {reason}"));
            Box::new(self.take(item, about, source, bytes))
        });
        Step::Refuse { reason, kept }
    }

    /// Finds out whether it is the newest revision of its file, and how it goes into the store if
    /// not.
    fn take(&self, item: &Item, mut about: NewEntry, source: Source, text: &[u8]) -> Step {
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
            // The index of claude-crunch comes after the file, and may be put right.
            Ok(Compared::Known(known))
                if about.trigger != Trigger::Unknown && about.trigger != known.trigger =>
            {
                return Step::Explain { id: known.id, trigger: about.trigger };
            }
            Ok(Compared::Known(_)) => return Step::Known,
            Ok(Compared::Deleted) => return Step::Deleted,
            Err(error @ Error::Corrupt { .. }) => return refuse(said(&error)),
            Err(error) => return Step::Fail(error),
        };
        revision.before = before.as_deref();
        revision.name(&mut about);
        if self.is_dry {
            return would(about);
        }
        let is_undated = about.created_at.is_none();
        if is_undated && before.is_none() && line.is_none() && !self.takes_undated {
            return Step::Undated;
        }
        self.draft(store, about, source, &revision)
    }

    /// Whether a text is what its file held last, as far as the store knows. A file that an export
    /// has moved is known by the place where it was.
    fn compare(&self, store: &Store, text: &Text<'_>) -> waypost::Result<Compared> {
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

    fn compare_at(&self, store: &Store, text: &Text<'_>) -> waypost::Result<Compared> {
        let newest = self.revisions.newest(store, text, self.is_dry)?;
        let is_newer = |it: &&Restorable| {
            newest.as_ref().is_none_or(|newest| newest.order() < it.entry.order())
        };
        // A return to what is there is a change, too, if the last one was deleted.
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
    ) -> Step {
        let layout = about.layout;
        let ids = revision.ids(&about);
        about.id = match self.free(store, ids) {
            Ok(Some(id)) => Some(id),
            Ok(None) => return refuse("its id is taken by another checkpoint".to_owned()),
            Err(error @ Error::Corrupt { .. }) => return refuse(said(&error)),
            Err(error) => return Step::Fail(error),
        };
        let newest = if about.created_at.is_none() {
            let query = Query { series: Some(Series::of(&about)), ..Query::default() };
            // What is damaged says nothing about the others.
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

    /// The first of these ids that no checkpoint has, nor had if it can be restored.
    fn free(&self, store: &Store, ids: Vec<Id>) -> waypost::Result<Option<Id>> {
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

/// Whether only its content can tell whether a file is a checkpoint.
fn is_candidate(item: &Item) -> bool {
    matches!(item.kind, Kind::Candidate | Kind::Neighbour)
}

/// A file that is none after all; beside checkpoints a person wants to know which and why.
fn passed_over(item: &Item, reason: &'static str) -> Step {
    match item.kind {
        Kind::Neighbour => Step::Skip(reason),
        _ => Step::Ignore,
    }
}

/// What the store has of a file.
enum Compared {
    /// The same text as the newest revision, which this is.
    Known(Box<Entry>),
    /// The same text as the newest revision, which was deleted.
    Deleted,
    /// Another text; the newest revision, if there is one.
    New(Option<Box<Entry>>),
}

/// A text and where it stands.
pub(super) struct Text<'a> {
    pub(super) place: &'a str,
    pub(super) line: Option<u64>,
    bytes: &'a [u8],
}

impl Text<'_> {
    pub(super) fn file(&self) -> (String, Option<u64>) {
        (self.place.to_owned(), self.line)
    }

    /// Whether it is the text of a checkpoint. One that is damaged, or gone by now, counts as
    /// another text: then this one is saved.
    fn is_in(&self, checkpoint: waypost::Result<Checkpoint>) -> waypost::Result<bool> {
        let checkpoint = match checkpoint {
            Ok(checkpoint) => checkpoint,
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let known = checkpoint.source_text()?.unwrap_or_default();
        // The end of a line is not part of what is compared.
        let known = self.line.and_then(|_| known.strip_suffix(b"\n")).unwrap_or(&known);
        Ok(known == self.bytes)
    }
}

fn place(item: &Item) -> Place<'_> {
    // When the file was written is told apart from the time that it states.
    Place { path: &item.place, modified_at: None, index: item.index.as_deref() }
}

/// What can be said about a file of no system that is known. It is a series of its own, so no other
/// time counts for more than that of the file.
fn other(item: &Item, source: &Source) -> NewEntry {
    unrecognised(&Place { modified_at: source.form().modified_at, ..place(item) })
}

/// The rules of its system that a document breaks, with the lines of its text.
fn problems(about: &NewEntry, document: &Document, source: &Source, text: &[u8]) -> Vec<Problem> {
    let path = about.source_path.as_deref().unwrap_or_default();
    let mut problems = check(about.layout, document, path);
    if !problems.is_empty() {
        locate(&mut problems, source.form(), text);
    }
    problems
}

fn save(draft: Box<Draft>, layout: Layout, is_there: bool) -> Step {
    Step::Save { draft, layout, is_there, problems: Vec::new() }
}

fn would(about: NewEntry) -> Step {
    Step::Would { about: Box::new(about), problems: Vec::new() }
}

fn refuse(reason: String) -> Step {
    Step::Refuse { reason, kept: None }
}
