//! One file: what it holds, and whether the store has it.

use waypost::layouts::{Kind, Place, recognise, unrecognised};
use waypost::{Document, Draft, Error, Id, Layout, NewEntry, Source, Store, Trigger};

use super::line;
use super::read::{self, Content};
use super::walk::Item;
use crate::gzip;

// What lies elsewhere than checkpoints do and is longer is no checkpoint, but somebody's data.
const CANDIDATE_BYTES_MAX: usize = 8 << 20;

/// What is to be done about a file, or a line of one.
pub(super) enum Step {
    /// Not in the store yet, or of an id that is, where the store knows whether it is the same.
    Save { draft: Box<Draft>, layout: Layout, is_there: bool },
    /// As [`Step::Save`], where there is no store to save it in.
    Would { about: Box<NewEntry> },
    /// In the store already.
    Known,
    /// In the store, but why it was saved has been found out, or said otherwise, since.
    Explain { id: Id, trigger: Trigger },
    /// Known, and no checkpoint.
    Skip(&'static str),
    /// Not what is looked for.
    Ignore,
    /// Cannot be taken; what is done about it besides, if anything.
    Refuse { reason: String, kept: Option<Box<Step>> },
}

/// How files are taken in.
#[derive(Clone, Copy)]
pub(super) struct Importer<'a> {
    /// None if there is none yet.
    pub(super) store: Option<&'a Store>,
    /// Whether nothing is to be changed.
    pub(super) is_dry: bool,
    pub(super) keeps_unreadable: bool,
}

impl Importer<'_> {
    /// Reads a file, and says what is to be done: one step, or one for each line that it has.
    pub(super) fn look(&self, item: &Item) -> Vec<Step> {
        let content = match read::read(&item.path) {
            Ok(content) => content,
            Err(reason) => return vec![refuse(reason)],
        };
        let is_candidate = matches!(item.kind, Kind::Candidate);
        if let Some(reason) = debris(&content.bytes) {
            return vec![if is_candidate { Step::Ignore } else { Step::Skip(reason) }];
        }
        if is_candidate && content.bytes.len() > CANDIDATE_BYTES_MAX {
            return vec![Step::Ignore];
        }
        let (text, is_gzip) = match unzipped(&content.bytes) {
            Ok(Some(text)) => (text, true),
            Ok(None) => (content.bytes.clone(), false),
            Err(_) if is_candidate => return vec![Step::Ignore],
            Err(reason) => return vec![self.unreadable(item, &content, reason)],
        };
        if matches!(item.kind, Kind::Lines) {
            return self.lines(item, &content, &text, is_gzip);
        }
        let is_yaml = [".yaml", ".yml"].iter().any(|end| item.place.ends_with(end));
        let source = if is_yaml { Source::from_yaml(&text) } else { Source::from_json(&text) };
        match source {
            Ok(source) => {
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                vec![self.source(item, &content, source, &text)]
            }
            Err(_) if is_candidate => vec![Step::Ignore],
            Err(error) => vec![self.unreadable(item, &content, said(&error))],
        }
    }

    fn source(&self, item: &Item, content: &Content, source: Source, text: &[u8]) -> Step {
        let document = match source.document() {
            Ok(document) => document,
            Err(error) => return refuse(said(&error)),
        };
        if is_dump(&document) {
            return self.dump(text);
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
    fn dump(&self, text: &[u8]) -> Step {
        let Some(store) = self.store else {
            return Step::Would { about: Box::default() };
        };
        let (draft, is_there) = match line::draft(store, text) {
            Ok(draft) => {
                let is_there = store.entry(draft.id()).is_ok();
                (Box::new(draft), is_there)
            }
            Err(error) => return refuse(said(&error)),
        };
        match (self.is_dry, is_there) {
            (true, true) => Step::Known,
            (true, false) => Step::Would { about: Box::default() },
            (false, _) => Step::Save { draft, layout: Layout::Native, is_there },
        }
    }

    fn lines(&self, item: &Item, content: &Content, text: &[u8], is_gzip: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
            let (line, has_end) =
                line.strip_suffix(b"\n").map_or((line, false), |line| (line, true));
            let of_file = |source: Source| {
                let source = source.of_file(is_gzip, content.mode, content.modified_at);
                source.at_line(number, has_end)
            };
            steps.push(match Source::from_json(line) {
                Ok(source) => self.source(item, content, of_file(source), line),
                // Whoever appends to it has not come to its end.
                Err(_) if !has_end => refuse(format!("line {number}: is cut short")),
                Err(error) => {
                    let reason = format!("line {number}: {}", said(&error));
                    let source = of_file(Source::unreadable(line));
                    self.keep(item, content, source, line, reason)
                }
            });
        }
        steps
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
        if let Some(id) = about.id.take() {
            let other = format!("{id}~{:08x}", fingerprint >> 32);
            ids.extend(Id::new(other));
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
        let mut free = None;
        for id in ids {
            match compare(store, &id, &item.place, line, text) {
                Ok(Compared::Same(trigger)) => {
                    // The index of claude-crunch comes after the file, and may be put right.
                    if about.trigger != Trigger::Unknown && about.trigger != trigger {
                        return Step::Explain { id, trigger: about.trigger };
                    }
                    return Step::Known;
                }
                // The first is for when the last is taken.
                Ok(Compared::Free) => free = Some(id),
                Ok(Compared::Other) => {}
                Err(error) => return refuse(said(&error)),
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

enum Compared {
    Free,
    /// The same file, saved for this reason.
    Same(Trigger),
    Other,
}

/// Whether the store has this file under `id`. Tags and statuses may have changed since.
fn compare(
    store: &Store,
    id: &Id,
    place: &str,
    line: Option<u64>,
    text: &[u8],
) -> Result<Compared, Error> {
    let found = match store.entry(id) {
        Ok(found) => found,
        Err(Error::NotFound { .. }) => return Ok(Compared::Free),
        Err(error) => return Err(error),
    };
    let is_place = found.source_path.as_deref() == Some(place)
        && found.source.is_some_and(|source| source.line == line);
    if !is_place {
        return Ok(Compared::Other);
    }
    let checkpoint = store.get(id)?;
    let known = checkpoint.source_text()?.unwrap_or_default();
    // The end of a line may have come after the line.
    let known = line.and_then(|_| known.strip_suffix(b"\n")).unwrap_or(&known);
    let is_same = known == text;
    Ok(if is_same { Compared::Same(found.trigger) } else { Compared::Other })
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

/// What is in a file that is compressed; `None` for one that is not.
fn unzipped(bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
    if !gzip::is_gzip(bytes) {
        return Ok(None);
    }
    match gzip::decompress(bytes, read::bytes_max()) {
        Ok(text) => Ok(Some(text)),
        Err(Error::Limit { limit, .. }) => {
            Err(format!("longer than {limit} bytes once decompressed"))
        }
        Err(error) => Err(format!("not a whole file of gzip: {error}")),
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
