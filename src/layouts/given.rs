//! Reads the values of a checkpoint that a file of another system needs.
//!
//! Must never make a value up: a required value that is missing is a problem.

use super::part;
use super::problem::{Checker, Code};
use super::reading::list;
use super::standing::told::named;
use super::{Problem, Vocabulary, Word, Writing};
use crate::checkpoint::{Document, Entry, Layout, Timestamp};

/// A text and its origin: a field of the entry, or a pointer into the document.
pub(super) struct Said {
    pub(super) field: String,
    pub(super) text: String,
}

/// An entry, a document, and the required values found missing so far.
pub(super) struct Given<'a> {
    pub(super) layout: Layout,
    pub(super) entry: &'a Entry,
    pub(super) document: &'a Document,
    /// How the file is to be written.
    pub(super) writing: Writing,
    checker: Checker,
    notes: Vec<String>,
}

impl<'a> Given<'a> {
    pub(super) fn new(
        layout: Layout,
        entry: &'a Entry,
        document: &'a Document,
        writing: Writing,
    ) -> Self {
        let (checker, notes) = (Checker::default(), Vec::new());
        Self { layout, entry, document, writing, checker, notes }
    }

    /// Returns the notes for the report, or the problems.
    pub(super) fn finish(self) -> Result<Vec<String>, Vec<Problem>> {
        let problems = self.checker.finish();
        if problems.is_empty() { Ok(self.notes) } else { Err(problems) }
    }

    /// Adds a note to the report of the export. It must not quote a value.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes that a required field of the entry, or of the document by its pointer, is missing.
    pub(super) fn miss(&mut self, field: &str, what: &str) {
        let remedy = match field.strip_prefix('/') {
            Some(_) => "put it into the document".to_owned(),
            None => format!("save with --{}", field.replace('_', "-")),
        };
        let rule = format!("is required by {}: {what}; {remedy}", self.layout);
        self.checker.refuse(Code::Required, field, rule);
    }

    pub(super) fn refuse(&mut self, field: &str, rule: impl Into<String>) {
        self.checker.refuse(Code::Name, field, rule);
    }

    /// The first of these places of the document that has something other than null.
    pub(super) fn at(&self, pointers: &[&str]) -> Option<&'a Document> {
        let found = pointers.iter().filter_map(|pointer| at(self.document, pointer));
        found.into_iter().find(|found| **found != Document::Null)
    }

    /// The object at the first of these places that has anything.
    pub(super) fn object_at(&self, pointers: &[&str]) -> Option<Document> {
        self.at(pointers).filter(|found| matches!(found, Document::Object(_))).cloned()
    }

    /// The list at the first of these places that has anything.
    pub(super) fn array_at(&self, pointers: &[&str]) -> Option<Document> {
        self.at(pointers).filter(|found| matches!(found, Document::Array(_))).cloned()
    }

    /// The names of the elements of the first of these fields that is a list; field paths have `.`
    /// between keys. All elements must have a name.
    pub(super) fn names(&mut self, fields: &[&str]) -> Option<Vec<String>> {
        let found = fields.iter().find_map(|field| Some((field, list(self.document, field)?)));
        let (field, items) = found?;
        let names: Option<Vec<String>> = items.iter().map(name_of).collect();
        if names.is_none() {
            let pointer = format!("/{}", field.replace('.', "/"));
            self.refuse(&pointer, "must be a list of names");
        }
        // One problem is enough.
        Some(names.unwrap_or_default())
    }

    /// The value of the entry, else the first text at these places of the document.
    pub(super) fn said(&self, field: &str, own: Option<&str>, pointers: &[&str]) -> Option<Said> {
        let found = pointers.iter().copied().map(|pointer| (pointer, at(self.document, pointer)));
        let found = found.filter_map(|(pointer, value)| Some((pointer, text_of(value?)?)));
        let mut texts = own.map(|text| (field, text)).into_iter().chain(found);
        let (field, text) = texts.find(|(_, text)| !text.is_empty())?;
        Some(Said { field: field.to_owned(), text: text.to_owned() })
    }

    /// The first text at these places of the document.
    pub(super) fn text_at(&self, pointers: &[&str]) -> Option<String> {
        self.said("", None, pointers).map(|said| said.text)
    }

    /// The number, or the text that spells one, at the first of these places that has one.
    pub(super) fn whole_at(&self, pointers: &[&str]) -> Option<u64> {
        pointers.iter().find_map(|pointer| whole(at(self.document, pointer)?))
    }

    /// The number of the issue.
    pub(super) fn issue_number(&mut self, pointers: &[&str]) -> Option<u64> {
        let number = match &self.entry.issue {
            Some(issue) => issue.as_str().parse().ok(),
            None => self.whole_at(pointers),
        };
        let number = number.filter(|number| *number > 0);
        if number.is_none() && self.entry.issue.is_some() {
            let rule = format!("must be a number of 1 or more for {}", self.layout);
            self.refuse("issue", rule);
        } else if number.is_none() {
            self.miss("issue", "the number of the issue");
        }
        number
    }

    /// The phase, if it is a word of the system; a phase that is not is a problem.
    pub(super) fn phase<T: Vocabulary>(&mut self, pointers: &[&str]) -> Option<T> {
        let said = self.said("phase", self.entry.phase.as_deref(), pointers)?;
        let known = Word::<T>::of(&said.text).known();
        if known.is_none() {
            let words: Vec<_> = T::ALL.iter().map(|word| word.as_str()).collect();
            let rule = format!("must be one of {} for {}", words.join(", "), self.layout);
            self.refuse(&said.field, rule);
        }
        known
    }

    /// A text that is to be part of a file's name.
    pub(super) fn name(&mut self, said: Option<Said>) -> Option<String> {
        let Said { field, text } = said?;
        if !part::is_name(&text) {
            self.refuse(&field, part::RULE);
            return None;
        }
        Some(text)
    }

    /// Systems write years of four digits only.
    pub(super) fn check_times(&mut self) {
        let times =
            [("created_at", Some(self.entry.created_at)), ("updated_at", self.entry.updated_at)];
        for (field, time) in times {
            let text = time.map(|time| time.to_string());
            let is_plain = |text: String| {
                text.ends_with('Z') && text.starts_with(|it: char| it.is_ascii_digit())
            };
            if !text.is_none_or(is_plain) {
                self.refuse(field, "must be from the year 0 to 9999-12-31");
            }
        }
    }
}

/// The value at a JSON pointer without escapes.
pub(super) fn at<'a>(document: &'a Document, pointer: &str) -> Option<&'a Document> {
    pointer.split('/').skip(1).try_fold(document, |document, key| document.get(key))
}

pub(super) fn text_of(document: &Document) -> Option<&str> {
    match document {
        Document::Text(text) => Some(text),
        _ => None,
    }
}

/// A number from zero up, or the text that spells one.
pub(super) fn whole(document: &Document) -> Option<u64> {
    match document {
        Document::Uint(number) => Some(*number),
        Document::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// An object of the fields that there are.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Document>); N]) -> Document {
    let field = |(key, value): (&str, Option<Document>)| Some((key.to_owned(), value?));
    Document::Object(fields.into_iter().filter_map(field).collect())
}

/// The same, with the other fields of an object.
pub(super) fn completed<const N: usize>(
    fields: [(&str, Option<Document>); N],
    own: Option<Document>,
) -> Document {
    let names = fields.each_ref().map(|(name, _)| *name);
    let Document::Object(mut all) = object(fields) else { return Document::Null };
    if let Some(Document::Object(own)) = own {
        all.extend(own.into_iter().filter(|(name, _)| !names.contains(&name.as_str())));
    }
    Document::Object(all)
}

/// A text as it is, or the name of any other value.
fn name_of(value: &Document) -> Option<String> {
    let text = text_of(value).filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).or_else(|| named(value))
}

/// A text, if there is one.
pub(super) fn text<T: Into<String>>(text: Option<T>) -> Option<Document> {
    text.map(|text| Document::Text(text.into()))
}

/// A time as in the systems' documents: a zero fraction is omitted.
pub(super) fn time(time: Timestamp) -> String {
    let text = time.to_string();
    let digits = text.trim_end_matches('Z');
    let short = digits.strip_suffix("000").unwrap_or(digits);
    format!("{}Z", short.strip_suffix(".000").unwrap_or(short))
}

/// A time without its fraction.
pub(super) fn seconds(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{}Z", text.split(['.', 'Z']).next().unwrap_or_default())
}
