//! Builds an entry from a document of another system.
//!
//! A name that a store would refuse is left out of the entry. A warning names the field and never
//! quotes the value, which stays in the document.

use std::borrow::Cow;

use super::{Place, path, time};
use crate::checkpoint::{
    Document, Id, Issue, Layout, LoopId, NewEntry, Series, Status, Timestamp, Trigger,
};
use crate::codec::{Datum, Kind, check};

/// Default limit of a store for names and paths, in bytes.
const NAME_BYTES_MAX: usize = 512;
const PATH_BYTES_MAX: usize = 8 * NAME_BYTES_MAX;
/// Default limit of a store for the number of tags and of warnings.
const LIST_MAX: usize = 64;
const WARNING_BYTES_MAX: usize = 1024;
/// Warnings taken from the document; the rest is reserved for warnings about it.
const OWN_WARNINGS_MAX: usize = 32;

/// The value of a field, given as keys with `.` between them; null counts as missing.
pub(super) fn at<'a>(document: &'a Document, field: &str) -> Option<&'a Document> {
    let mut keys = field.split('.');
    keys.try_fold(document, |inner, key| inner.get(key))
        .filter(|value| !matches!(value, Document::Null))
}

/// The text of a field.
pub(super) fn text<'a>(document: &'a Document, field: &str) -> Option<&'a str> {
    Datum::from(document).text(field)
}

/// The elements of a field that is a list.
pub(super) fn list<'a>(document: &'a Document, field: &str) -> Option<&'a [Document]> {
    match at(document, field)? {
        Document::Array(items) => Some(items),
        _ => None,
    }
}

/// Tells whether a field is an object.
pub(super) fn is_object(document: &Document, field: &str) -> bool {
    Datum::from(document).is_object(field)
}

/// The whole number from zero up that a field is or spells.
pub(super) fn whole(document: &Document, field: &str) -> Option<u64> {
    Datum::from(document).whole(field)
}

/// The boolean value of a field; language models put quotes around it.
pub(super) fn truth(document: &Document, field: &str) -> Option<bool> {
    Datum::from(document).truth(field)
}

/// A text or a number as text.
pub(super) fn word<'a>(document: &'a Document, field: &str) -> Option<Cow<'a, str>> {
    Datum::from(document).word(field)
}

impl<'a> Datum<'a> {
    /// The value of a field, given as keys with `.` between them; null counts as missing.
    pub(super) fn at(self, field: &str) -> Option<Self> {
        let mut keys = field.split('.');
        keys.try_fold(self, Self::get).filter(|value| !matches!(value.kind(), Kind::Null))
    }

    /// True if the field is there, and not null.
    pub(super) fn has(self, field: &str) -> bool {
        self.at(field).is_some()
    }

    /// The text of a field.
    pub(super) fn text(self, field: &str) -> Option<&'a str> {
        match self.at(field)?.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a field that is a list.
    pub(super) fn list(self, field: &str) -> Option<impl Iterator<Item = Self> + use<'a>> {
        let list = self.at(field).filter(|it| matches!(it.kind(), Kind::Array));
        list.map(Self::children)
    }

    /// Tells whether a field is an object.
    pub(super) fn is_object(self, field: &str) -> bool {
        self.at(field).is_some_and(|value| matches!(value.kind(), Kind::Object))
    }

    /// The whole number from zero up that a field is or spells.
    pub(super) fn whole(self, field: &str) -> Option<u64> {
        whole_of(self.at(field)?)
    }

    /// The boolean value of a field; language models put quotes around it.
    pub(super) fn truth(self, field: &str) -> Option<bool> {
        match self.at(field)?.kind() {
            Kind::Bool(value) => Some(value),
            Kind::Text(text) => text.trim().to_ascii_lowercase().parse().ok(),
            _ => None,
        }
    }

    /// A text or a number as text.
    pub(super) fn word(self, field: &str) -> Option<Cow<'a, str>> {
        spelled(self.at(field)?)
    }
}

/// An entry under construction, and its document.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The entry so far.
    pub(super) entry: NewEntry,
    document: Datum<'a>,
    place: &'a Place<'a>,
}

impl<'a> Reading<'a> {
    /// An entry with only its origin.
    pub(super) fn new(layout: Layout, document: Datum<'a>, place: &'a Place<'a>) -> Self {
        let entry = NewEntry { layout, status: Status::Unknown, ..NewEntry::default() };
        let mut reading = Self { entry, document, place };
        if place.path.len() <= PATH_BYTES_MAX {
            reading.entry.source_path = Some(place.path.to_owned());
        } else {
            reading.warn("the path of the file is too long to be kept");
        }
        reading
    }

    /// The finished entry; without a stated time it has that of the file.
    pub(super) fn finish(mut self) -> NewEntry {
        self.entry.created_at = self.entry.created_at.or(self.place.modified_at);
        self.entry
    }

    /// Adds a warning, up to the limit.
    pub(super) fn warn(&mut self, warning: &str) {
        if self.entry.warnings.len() < LIST_MAX {
            let end = warning.floor_char_boundary(WARNING_BYTES_MAX);
            self.entry.warnings.push(warning[..end].to_owned());
        }
    }

    /// Takes over the warnings of the document.
    pub(super) fn warnings(&mut self, field: &str) {
        let all = || self.document.list(field).into_iter().flatten();
        let is_longer = all().nth(OWN_WARNINGS_MAX).is_some();
        let texts = all().filter_map(spelled).filter(|text| !text.is_empty());
        let texts: Vec<_> = texts.take(OWN_WARNINGS_MAX).collect();
        for text in &texts {
            self.warn(text);
        }
        if is_longer {
            self.warn(&format!("{field} of the document has more"));
        }
    }

    /// Sets the id, if the document has one.
    pub(super) fn id(&mut self, field: &str) {
        self.entry.id = self.name(field).and_then(|name| Id::new(name).ok());
    }

    /// Sets the issue, if the field has one.
    pub(super) fn issue(&mut self, field: &str) {
        self.entry.issue = self.name(field).and_then(|name| Issue::new(name).ok());
    }

    /// Sets the loop, and warns if its id does not match the schema of AIWG.
    pub(super) fn loop_id(&mut self, field: &str) {
        self.entry.loop_id = self.name(field).and_then(|name| LoopId::new(name).ok());
        if self.entry.loop_id.as_ref().is_some_and(|name| !name.is_ralph()) {
            self.warn(&format!("{field} is not like ralph-SLUG-0123abcd"));
        }
    }

    /// A field as a name.
    pub(super) fn name(&mut self, field: &str) -> Option<String> {
        let value = self.document.at(field)?;
        let Some(text) = spelled(value) else {
            self.warn(&format!("{field} is no text and is left out"));
            return None;
        };
        self.legal(field, &text)
    }

    /// The first of some fields that is a name.
    pub(super) fn name_of(&mut self, fields: &[&str]) -> Option<String> {
        fields.iter().find_map(|field| self.name(field))
    }

    /// A text as a name, if a store takes it for one.
    pub(super) fn legal(&mut self, field: &str, text: &str) -> Option<String> {
        let wrong = if text.is_empty() {
            "is empty"
        } else if text.contains(char::is_control) {
            "has a control character"
        } else if text.len() > NAME_BYTES_MAX {
            "is longer than 512 bytes"
        } else {
            return Some(text.to_owned());
        };
        self.warn(&format!("{field} {wrong} and is left out"));
        None
    }

    /// A field as a number of something.
    pub(super) fn count(&mut self, field: &str) -> Option<u64> {
        let count = whole_of(self.document.at(field)?);
        if count.is_none() {
            self.warn(&format!("{field} is no whole number from 0 up and is left out"));
        }
        count
    }

    /// A field as a time.
    pub(super) fn time(&mut self, field: &str) -> Option<Timestamp> {
        let value = self.document.at(field)?;
        self.assumed(field, time::of_value(value))
    }

    /// The first of some fields that is a time.
    pub(super) fn time_of(&mut self, fields: &[&str]) -> Option<Timestamp> {
        fields.iter().find_map(|field| self.time(field))
    }

    /// A time; warns of an assumption made about it, or that it cannot be read.
    pub(super) fn assumed(&mut self, what: &str, read: Option<time::Assumed>) -> Option<Timestamp> {
        match read {
            Some((_, Some(assumed))) => self.warn(&format!("{what} {assumed}")),
            Some((_, None)) => {}
            None => self.warn(&format!("{what} is no time and is left out")),
        }
        read.map(|(time, _)| time)
    }

    /// Sets the trigger to the word of a file, in the file's spelling.
    pub(super) fn trigger(&mut self, field: &str, word: &str) {
        let spelling = |word: &str| word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let trigger = word.parse().or_else(|_| spelling(word).parse());
        self.entry.trigger = trigger.unwrap_or_else(|_| {
            self.warn(&format!("{field} cannot be the name of a trigger and is left out"));
            Trigger::Unknown
        });
    }

    /// Adds tags; as many as a store takes.
    pub(super) fn tags(&mut self, field: &str) {
        for tag in self.document.list(field).into_iter().flatten() {
            let Some(tag) = spelled(tag).and_then(|tag| self.legal(field, &tag)) else { continue };
            if self.entry.tags.len() >= LIST_MAX {
                return self.warn(&format!("{field} has more than 64"));
            }
            self.entry.tags.insert(tag);
        }
    }

    /// Sets the series, prefixed with the directories before that of the system.
    ///
    /// Issue 42 of two projects is not the same.
    pub(super) fn series(&mut self, anchors: &[&str], name: &str) {
        let text = match path::project(self.place.path, anchors) {
            Some(project) => Cow::from(format!("{project}/{name}")),
            None => Cow::from(name),
        };
        self.entry.series = series(&text);
    }

    /// Sets the series to that of its loop, workflow or issue.
    pub(super) fn series_of_names(&mut self, anchors: &[&str]) {
        let name = Series::of(&self.entry);
        self.series(anchors, name.as_str());
    }
}

/// A series named by any text. An invalid or too long text is changed and gets a checksum of the
/// original, so that two series stay distinct.
pub(super) fn series(text: &str) -> Option<Series> {
    const SUM_BYTES: usize = 17;
    if text.len() <= NAME_BYTES_MAX && !text.contains(char::is_control) {
        return Series::new(text).ok();
    }
    let start = &text[..text.floor_char_boundary(NAME_BYTES_MAX - SUM_BYTES)];
    // One byte each, so that it does not get longer.
    let name = start.replace(char::is_control, "?");
    Series::new(format!("{name}~{:016x}", check(0, text.as_bytes()))).ok()
}

/// The whole number from zero up that a value is or spells.
pub(super) fn whole_of<'a>(value: impl Into<Datum<'a>>) -> Option<u64> {
    match value.into().kind() {
        Kind::Uint(number) => Some(number),
        Kind::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A text, or a number as text.
pub(super) fn spelled<'a>(value: impl Into<Datum<'a>>) -> Option<Cow<'a, str>> {
    match value.into().kind() {
        Kind::Text(text) | Kind::Number(text) => Some(Cow::from(text)),
        Kind::Uint(number) => Some(Cow::from(number.to_string())),
        Kind::Int(number) => Some(Cow::from(number.to_string())),
        Kind::Float(number) => Some(Cow::from(number.to_string())),
        _ => None,
    }
}
