//! One file: what it holds, and whether the store has it.

use std::borrow::Cow;
use std::fs;

use anyhow::Result;
use waypost::layouts::{Kind, Place, recognise, unrecognised};
use waypost::{
    Checkpoint, Document, Draft, Entry, Error, Id, Layout, NewEntry, Source, Store, Trigger,
};

use super::deleted::Deleted;
use super::line::{self, Taken};
use super::read::{self, Content};
use super::walk::Item;
use crate::gzip;

// What lies elsewhere than checkpoints do and is longer is no checkpoint, but somebody's data.
const CANDIDATE_BYTES_MAX: usize = 8 << 20;
// With a tilde and eight digits behind it, it must fit a name.
const ID_BYTES_MAX: usize = 500;
// Several threads read at the same time, and reading takes several times the memory of a text.
const LARGE_BYTES: u64 = 4 << 20;

/// What is to be done about a file, or a line of one.
pub(super) enum Step {
    /// Not in the store yet, or of an id that is, where the store knows whether it is the same.
    Save { draft: Box<Draft>, layout: Layout, is_there: bool },
    /// As [`Step::Save`], where nothing is to be saved.
    Would { about: Box<NewEntry> },
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
    /// Whether nothing is to be changed.
    pub(super) is_dry: bool,
    pub(super) keeps_unreadable: bool,
    pub(super) deleted: &'a Deleted,
}

impl Importer<'_> {
    /// Reads a file, and says what is to be done. `is_alone` if no other is read meanwhile.
    pub(super) fn look(&self, item: &Item, is_alone: bool) -> Step {
        if matches!(item.kind, Kind::Lines) {
            return Step::Alone;
        }
        let is_large = |bytes: u64| bytes > LARGE_BYTES && !is_alone;
        if is_large(fs::symlink_metadata(&item.path).map_or(0, |found| found.len())) {
            return Step::Alone;
        }
        let content = match read::read(&item.path) {
            Ok(content) => content,
            Err(reason) => return Step::Unread(reason),
        };
        let is_candidate = matches!(item.kind, Kind::Candidate);
        if let Some(reason) = debris(&content.bytes) {
            return if is_candidate { Step::Ignore } else { Step::Skip(reason) };
        }
        if is_candidate && content.bytes.len() > CANDIDATE_BYTES_MAX {
            return Step::Ignore;
        }
        let limit = if is_alone { read::bytes_max() } else { LARGE_BYTES };
        let text = match unzipped(&content.bytes, limit) {
            Ok(text) => text,
            Err(Unzip::TooLong) if !is_alone => return Step::Alone,
            Err(_) if is_candidate => return Step::Ignore,
            Err(fault) => return self.unreadable(item, &content, fault.to_string()),
        };
        let is_yaml = [".yaml", ".yml"].iter().any(|end| item.place.ends_with(end));
        let source = if is_yaml { Source::from_yaml(&text) } else { Source::from_json(&text) };
        match source {
            Ok(source) => {
                let is_gzip = matches!(text, Cow::Owned(_));
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                self.source(item, &content, source, &text)
            }
            Err(_) if is_candidate => Step::Ignore,
            Err(error) => self.unreadable(item, &content, said(&error)),
        }
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
                    self.keep(item, &content, source, line, reason)
                }
                Ok(source) => self.source(item, &content, of_file(source), line),
                Err(error) => {
                    let source = of_file(Source::unreadable(line));
                    let reason = format!("line {number}: {}", said(&error));
                    self.keep(item, &content, source, line, reason)
                }
            })?;
        }
        Ok(())
    }

    fn source(&self, item: &Item, content: &Content, source: Source, text: &[u8]) -> Step {
        let document = match source.outline() {
            Ok(document) => document,
            Err(error) => return refuse(said(&error)),
        };
        if is_dump(&document) {
            return match self.dump(text, &item.place) {
                // Somebody else has objects with the same members.
                Step::Refuse { .. } if matches!(item.kind, Kind::Candidate) => Step::Ignore,
                step => step,
            };
        }
        let place = place(item, content);
        let about = recognise(&document, &place);
        // Building the tree took as much memory as several documents.
        drop(document);
        match about {
            Some(about) => self.take(item, about, source, text),
            None if matches!(item.kind, Kind::Candidate) => Step::Ignore,
            None => self.take(item, unrecognised(&place), source, text),
        }
    }

    /// A file that `export --layout native` wrote.
    fn dump(&self, text: &[u8], place: &str) -> Step {
        let would = || {
            let source_path = Some(place.to_owned());
            Step::Would { about: Box::new(NewEntry { source_path, ..NewEntry::default() }) }
        };
        let Some(store) = self.store else { return would() };
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
            (true, false) => would(),
            (false, _) => Step::Save { draft, layout: Layout::Native, is_there },
        }
    }

    /// Keeps what cannot be read, if that is wished for, and says so in any case.
    fn unreadable(&self, item: &Item, content: &Content, reason: String) -> Step {
        let source = Source::unreadable(&content.bytes);
        let source = source.of_file(false, content.mode, content.modified_at);
        self.keep(item, content, source, &content.bytes, reason)
    }

    fn keep(
        &self,
        item: &Item,
        content: &Content,
        source: Source,
        bytes: &[u8],
        reason: String,
    ) -> Step {
        let kept = self.keeps_unreadable.then(|| {
            let mut about = unrecognised(&place(item, content));
            about.can_resume = Some(false);
            about.warnings.push(format!("it could not be read: {reason}"));
            Box::new(self.take(item, about, source, bytes))
        });
        Step::Refuse { reason, kept }
    }

    /// Finds out whether the store has it, and under which id it goes there if not.
    fn take(&self, item: &Item, mut about: NewEntry, source: Source, text: &[u8]) -> Step {
        let layout = about.layout;
        let fingerprint = source.fingerprint(&item.place);
        let line = source.form().line;
        about.created_at = about.created_at.or(source.form().modified_at);
        // Files that stand twice, were changed since or have no id of their own are told apart by
        // their path and text, so that importing them again finds them.
        let mut ids = Vec::new();
        // That word stands for the newest of all.
        if let Some(id) = about.id.take().filter(|id| id.as_str() != "latest") {
            let text = id.as_str();
            // Both must be short enough for a name.
            let stem = &text[..text.floor_char_boundary(ID_BYTES_MAX)];
            ids.extend(Id::new(format!("{stem}~{:08x}", fingerprint >> 32)));
            ids.push(id);
        } else {
            let line = line.map(|line| format!("-{line}")).unwrap_or_default();
            let name = if layout == Layout::Native { "file" } else { layout.as_str() };
            ids.extend(Id::new(format!("{name}-{fingerprint:016x}{line}")));
        }
        let Some(store) = self.store else {
            about.id = ids.pop();
            return Step::Would { about: Box::new(about) };
        };
        let text = Text { place: &item.place, line, bytes: text };
        let mut free = None;
        for id in ids {
            match text.compare_with(store, &id) {
                Ok(Compared::Same(trigger)) => {
                    // The index of claude-crunch comes after the file, and may be put right.
                    if about.trigger != Trigger::Unknown && about.trigger != trigger {
                        return Step::Explain { id, trigger: about.trigger };
                    }
                    return Step::Known;
                }
                // The first is for when the last is taken.
                Ok(Compared::Free) => match self.deleted.compare(store, &id, &text) {
                    Ok(Compared::Free) => free = Some(id),
                    Ok(Compared::Same(_)) => return Step::Deleted,
                    Ok(Compared::Other) => {}
                    Err(error) => return Step::Fail(error),
                },
                Ok(Compared::Other) => {}
                Err(error @ Error::Corrupt { .. }) => return refuse(said(&error)),
                Err(error) => return Step::Fail(error),
            }
        }
        about.id = free;
        if about.id.is_none() {
            return refuse("its id is taken by another checkpoint".to_owned());
        }
        if self.is_dry {
            return Step::Would { about: Box::new(about) };
        }
        match store.draft_source(about, source) {
            Ok(draft) => Step::Save { draft: Box::new(draft), layout, is_there: false },
            Err(error) => refuse(said(&error)),
        }
    }
}

pub(super) enum Compared {
    Free,
    /// The same file, saved for this reason.
    Same(Trigger),
    Other,
}

/// A text and where it stands, which tell whether a checkpoint is it.
pub(super) struct Text<'a> {
    place: &'a str,
    line: Option<u64>,
    bytes: &'a [u8],
}

impl Text<'_> {
    pub(super) fn is_at(&self, entry: &Entry) -> bool {
        entry.source_path.as_deref() == Some(self.place)
            && entry.source.is_some_and(|source| source.line == self.line)
    }

    pub(super) fn compare(&self, checkpoint: &Checkpoint) -> waypost::Result<Compared> {
        let known = checkpoint.source_text()?.unwrap_or_default();
        // The end of a line is not part of what is compared.
        let known = self.line.and_then(|_| known.strip_suffix(b"\n")).unwrap_or(&known);
        if known == self.bytes {
            return Ok(Compared::Same(checkpoint.entry.trigger.clone()));
        }
        Ok(Compared::Other)
    }

    /// Whether the store has it under `id`. Tags and statuses may have changed since.
    fn compare_with(&self, store: &Store, id: &Id) -> waypost::Result<Compared> {
        match store.entry(id) {
            Ok(found) if self.is_at(&found) => match store.get(id) {
                Ok(checkpoint) => self.compare(&checkpoint),
                // Deleted by another process meanwhile.
                Err(Error::NotFound { .. }) => Ok(Compared::Free),
                Err(error) => Err(error),
            },
            Ok(_) => Ok(Compared::Other),
            Err(Error::NotFound { .. }) => Ok(Compared::Free),
            Err(error) => Err(error),
        }
    }
}

fn place<'a>(item: &'a Item, content: &Content) -> Place<'a> {
    Place { path: &item.place, modified_at: content.modified_at, index: item.index.as_deref() }
}

/// What `export` writes of a native checkpoint: its entry, and its document.
fn is_dump(document: &Document) -> bool {
    ["id", "series", "trigger", "created_at", "document"]
        .into_iter()
        .all(|key| document.get(key).is_some())
}

/// Files that a crash left behind, by what is in them.
fn debris(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        Some("empty")
    } else if bytes.iter().all(|byte| *byte == 0) {
        Some("nothing but NUL bytes, as after a crash")
    } else {
        None
    }
}

/// Why a file of gzip cannot be read.
#[derive(Debug, thiserror::Error)]
enum Unzip {
    #[error("longer than {} bytes once decompressed", read::bytes_max())]
    TooLong,
    #[error("not a whole file of gzip: {0}")]
    Damaged(Error),
}

/// The text of a file; owned if it was compressed.
fn unzipped(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, Unzip> {
    if !gzip::is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    match gzip::decompress(bytes, limit) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(Error::Limit { .. }) => Err(Unzip::TooLong),
        Err(error) => Err(Unzip::Damaged(error)),
    }
}

fn refuse(reason: String) -> Step {
    Step::Refuse { reason, kept: None }
}

/// Without `invalid document`, which is the file whose path stands before it.
fn said(error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix("invalid document: ").map_or_else(|| text.clone(), str::to_owned)
}
