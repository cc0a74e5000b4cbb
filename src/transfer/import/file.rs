//! Judges one file: which checkpoint it is, and whether the store has it.

use std::borrow::Cow;
use std::path::Path;

use super::line::{self, FromLine};
use super::revisions::Revisions;
use super::text::{self, Unzip, bytes_max, debris, is_dump, read, said, unzipped};
use super::unsettled::Unsettled;
use super::walk::Item;
use crate::checkpoint::{Id, Layout, NewEntry, Trigger};
use crate::codec::{Datum, Kind as DatumKind, Source};
use crate::error::Error;
use crate::layouts::crunch::Location;
use crate::layouts::{
    Kind, Place, Problem, check_datum, locate, marked_unreadable, recognise_datum, unreadable,
    unrecognised,
};
use crate::store::{Draft, Store};
use crate::transfer::steady::{Content, Unread, read_listed};

// A longer file in a directory without checkpoints is other data.
const CANDIDATE_BYTES_MAX: usize = 8 << 20;
// Several threads read at the same time, and reading takes several times the memory of a text.
const LARGE_BYTES: u64 = 4 << 20;

const NO_CHECKPOINT: &str = "no checkpoint by its content";
const TOO_LARGE: &str = "too large for a checkpoint outside of its usual place";

/// What to do about a file, or a line of one.
pub(super) enum Judged {
    /// Save it. With `is_there` the store has a checkpoint of this id, and tells whether it is the
    /// same.
    Save { draft: Box<Draft>, layout: Layout, is_there: bool, problems: Vec<Problem> },
    /// As [`Judged::Save`], in a dry run.
    Would { about: Box<NewEntry>, problems: Vec<Problem> },
    /// The store has it.
    Known,
    /// The store had it, and it was deleted.
    Deleted,
    /// The store has it, with another trigger than the index of claude-crunch says now.
    Explain { id: Id, trigger: Trigger },
    /// It is no checkpoint although it lies beside some.
    Skip(&'static str),
    /// It is no checkpoint.
    Ignore,
    /// Judge it after all others: it states no time, and its series may have files that do.
    Undated,
    /// Judge it while no other file is read: it is large, or has many checkpoints.
    Alone,
    /// It cannot be imported. `kept` is what to do about its bytes, which are kept.
    Refuse { reason: String, kept: Option<Box<Judged>> },
    /// It cannot be read now, but perhaps later.
    Unread(String),
    /// The store failed.
    Fail(Error),
}

/// What a document of a system says about itself, and which rules it breaks.
type Recognised = Option<(NewEntry, Vec<Problem>)>;

/// Receives a closure that judges a line.
pub(super) type TakeLine<'a, E> = &'a mut dyn FnMut(&dyn Fn() -> Judged) -> Result<(), E>;

/// How files are judged.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    /// `None` if there is no store yet.
    pub(super) store: Option<&'a Store>,
    /// The directory that the store is for.
    pub(super) home: Option<&'a Path>,
    pub(super) is_dry: bool,
    pub(super) keeps_unreadable: bool,
    /// Where the project has the files of claude-crunch.
    pub(super) location: &'a Location,
    pub(super) revisions: &'a Revisions,
    /// True once all files that state a time are saved, so that the others can follow.
    pub(super) takes_undated: bool,
    /// Set if the tree is followed: a broken file may be half written.
    pub(super) unsettled: Option<&'a Unsettled>,
}

impl Importer<'_> {
    /// Reads and judges a file. `is_alone` if no other file is read meanwhile.
    pub(super) fn judge(&self, item: &Item, is_alone: bool) -> Judged {
        if matches!(item.kind, Kind::Lines) {
            return Judged::Alone;
        }
        if self.is_ambiguous(item) {
            let reason = "a file of the project is known by the same path; use another store";
            return refuse(reason.to_owned());
        }
        let limit = if is_alone { bytes_max() } else { LARGE_BYTES };
        let content = match read_listed(&item.path, limit) {
            Ok(content) => content,
            Err(Unread::TooLong { .. }) if !is_alone => return Judged::Alone,
            Err(error) => return Judged::Unread(error.to_string()),
        };
        let is_candidate = is_candidate(item);
        if let Some(reason) = debris(&content.bytes) {
            return self.broken(item, &content, (reason, reason.to_owned()));
        }
        if is_candidate && content.bytes.len() > CANDIDATE_BYTES_MAX {
            return passed_over(item, TOO_LARGE);
        }
        let text = match unzipped(&content.bytes, limit) {
            Ok(text) => text,
            Err(Unzip::TooLong) if !is_alone => return Judged::Alone,
            Err(fault) => {
                return self.broken(item, &content, (NO_CHECKPOINT, fault.to_string()));
            }
        };
        match text::source(&item.place, &text) {
            Ok(source) => {
                let is_gzip = matches!(text, Cow::Owned(_));
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                self.source(item, source, &text)
            }
            Err(error) => self.broken(item, &content, (NO_CHECKPOINT, said(&error))),
        }
    }

    /// True for a file outside of the project whose path a file of the project has, too.
    fn is_ambiguous(&self, item: &Item) -> bool {
        let is_other = |home: &&Path| !item.path.starts_with(home);
        self.home.filter(is_other).is_some_and(|home| home.join(&item.place).exists())
    }

    /// Reads a file in which each line is a checkpoint, and passes a closure that judges each line
    /// to `take`. `take` calls it again after it saved an earlier line of the same id.
    pub(super) fn judge_lines<E>(&self, item: &Item, take: TakeLine<'_, E>) -> Result<(), E> {
        let content = match read(&item.path) {
            Ok(content) => content,
            Err(error) => return take(&|| Judged::Unread(error.to_string())),
        };
        let text = match unzipped(&content.bytes, bytes_max()) {
            Ok(text) => text,
            Err(fault) => return take(&|| self.unreadable(item, &content, fault.to_string())),
        };
        let is_gzip = matches!(text, Cow::Owned(_));
        for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
            let (line, has_end) =
                line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
            if line.trim_ascii().is_empty() {
                continue;
            }
            let of_file = |source: Source| {
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                source.at_line(number, has_end)
            };
            take(&|| match Source::from_json(line) {
                // The writer may still be appending to it.
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

    fn source(&self, item: &Item, source: Source, text: &[u8]) -> Judged {
        let (about, problems) = match self.recognised(item, &source, text) {
            Ok(Some(recognised)) => recognised,
            Ok(None) if is_candidate(item) => return passed_over(item, NO_CHECKPOINT),
            Ok(None) => return self.take(item, other(item, &source), source, text),
            Err(judged) => return *judged,
        };
        match self.take(item, about, source, text) {
            Judged::Save { draft, layout, is_there, .. } => {
                Judged::Save { draft, layout, is_there, problems }
            }
            Judged::Would { about, .. } => Judged::Would { about, problems },
            judged => judged,
        }
    }

    /// Describes a document, with the rules of its system that it breaks; `None` if it is of no
    /// system.
    ///
    /// # Errors
    /// What to do about a document that needs no more.
    fn recognised(
        &self,
        item: &Item,
        source: &Source,
        text: &[u8],
    ) -> Result<Recognised, Box<Judged>> {
        let refused = |error: Error| Box::new(refuse(said(&error)));
        if text.len() as u64 <= LARGE_BYTES {
            let tokened = source.tokened().map_err(refused)?;
            let about = self.described(item, tokened.datum(), text)?;
            return Ok(about.map(|about| {
                let problems = problems(&about, tokened.datum(), source, text);
                (about, problems)
            }));
        }
        // All values of a large document take much memory. Its outline is enough to recognise it.
        let outline = source.outline().map_err(refused)?;
        let about = self.described(item, (&outline).into(), text)?;
        drop(outline);
        let Some(about) = about else { return Ok(None) };
        let document = source.document().map_err(refused)?;
        let problems = problems(&about, (&document).into(), source, text);
        Ok(Some((about, problems)))
    }

    /// Describes a document of a system, unless it is one that an export in the native layout
    /// wrote.
    fn described(
        &self,
        item: &Item,
        document: Datum<'_>,
        text: &[u8],
    ) -> Result<Option<NewEntry>, Box<Judged>> {
        if !is_dump(document) {
            return Ok(recognise_datum(document, &place(item)));
        }
        Err(Box::new(match self.dump(text, document, &item.place) {
            // Other programs write objects with the same members.
            Judged::Refuse { .. } if is_candidate(item) => passed_over(item, NO_CHECKPOINT),
            judged => judged,
        }))
    }

    /// A file that an export in the native layout wrote.
    fn dump(&self, text: &[u8], document: Datum<'_>, place: &str) -> Judged {
        let would_be = || {
            let source_path = Some(place.to_owned());
            let id = match document.get("id").map(Datum::kind) {
                Some(DatumKind::Text(id)) => Id::new(id).ok(),
                _ => None,
            };
            would(NewEntry { id, source_path, ..NewEntry::default() })
        };
        let Some(store) = self.store else { return would_be() };
        let (draft, is_there) = match line::draft(store, text) {
            // An export writes no such file, but a line of one may have been put into a file.
            Ok(FromLine { missing, .. }) if !missing.is_empty() => {
                return refuse("it lacks captured files; as a .jsonl file it is taken".to_owned());
            }
            Ok(FromLine { draft, .. }) => {
                let is_there = store.entry(draft.id()).is_ok();
                (Box::new(draft), is_there)
            }
            Err(error) => return refuse(said(&error)),
        };
        match (self.is_dry, is_there) {
            (true, true) => Judged::Known,
            (true, false) => would_be(),
            (false, _) => save(draft, Layout::Native, is_there),
        }
    }

    /// Judges a file that cannot be read as a document. One that may be no checkpoint is passed
    /// over, with the first reason, unless the store has an earlier content of it.
    fn broken(
        &self,
        item: &Item,
        content: &Content,
        (passed, refused): (&'static str, String),
    ) -> Judged {
        if is_candidate(item) && self.system_before(item).is_none() {
            return passed_over(item, passed);
        }
        self.unreadable(item, content, refused)
    }

    /// Refuses a file that cannot be read as a document, and keeps its bytes if it is in the place
    /// of a system or the options say so.
    fn unreadable(&self, item: &Item, content: &Content, reason: String) -> Judged {
        let source = Source::unreadable(&content.bytes);
        let source = source.of_file(false, content.mode, content.modified_at);
        self.keep(item, source, &content.bytes, reason)
    }

    fn keep(&self, item: &Item, source: Source, bytes: &[u8], reason: String) -> Judged {
        let Some(about) = self.unread(item, &source, &reason) else { return refuse(reason) };
        let is_settled =
            |it: &Unsettled| it.is_settled(&item.place, source.fingerprint(&item.place));
        if source.form().line.is_none() && !self.unsettled.is_none_or(is_settled) {
            return Judged::Unread(reason);
        }
        let kept = Some(Box::new(self.take(item, about, source, bytes)));
        Judged::Refuse { reason, kept }
    }

    /// Describes a file or line whose bytes are kept. A file in the place of a system, or that was
    /// one of a system before, always is: without its bytes, its earlier content would count as the
    /// present one.
    fn unread(&self, item: &Item, source: &Source, reason: &str) -> Option<NewEntry> {
        let usual = self.location.usual(&item.place);
        let path = usual.as_deref().unwrap_or(&item.place);
        let place = Place { path, modified_at: source.form().modified_at, ..place(item) };
        let is_file = source.form().line.is_none();
        if is_file && let Some(about) = unreadable(&place, reason) {
            let source_path = about.source_path.map(|_| item.place.clone());
            return Some(NewEntry { source_path, ..about });
        }
        if is_file && let Some(layout) = self.system_before(item) {
            let about = NewEntry { layout, ..other(item, source) };
            return Some(marked_unreadable(about, reason));
        }
        self.keeps_unreadable.then(|| marked_unreadable(other(item, source), reason))
    }
}

/// True if only the content of a file can tell whether it is a checkpoint.
fn is_candidate(item: &Item) -> bool {
    matches!(item.kind, Kind::Candidate | Kind::Neighbour)
}

/// A file that is no checkpoint. The report names it, with the reason, if it lies beside some.
fn passed_over(item: &Item, reason: &'static str) -> Judged {
    match item.kind {
        Kind::Neighbour => Judged::Skip(reason),
        _ => Judged::Ignore,
    }
}

fn place(item: &Item) -> Place<'_> {
    // A checkpoint is dated by what its document states, not by the time of its file.
    Place { path: &item.place, modified_at: None, index: item.index.as_deref() }
}

/// Describes a file of no known system. It is a series of its own, dated by its file.
fn other(item: &Item, source: &Source) -> NewEntry {
    unrecognised(&Place { modified_at: source.form().modified_at, ..place(item) })
}

/// The rules of its system that a document breaks, with the lines of its text.
fn problems(about: &NewEntry, document: Datum<'_>, source: &Source, text: &[u8]) -> Vec<Problem> {
    let path = about.source_path.as_deref().unwrap_or_default();
    let mut problems = check_datum(about.layout, document, path);
    if !problems.is_empty() {
        locate(&mut problems, source.form(), text);
    }
    problems
}

pub(super) fn save(draft: Box<Draft>, layout: Layout, is_there: bool) -> Judged {
    Judged::Save { draft, layout, is_there, problems: Vec::new() }
}

pub(super) fn would(about: NewEntry) -> Judged {
    Judged::Would { about: Box::new(about), problems: Vec::new() }
}

pub(super) fn refuse(reason: String) -> Judged {
    Judged::Refuse { reason, kept: None }
}
