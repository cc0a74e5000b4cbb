//! One value over time: what each checkpoint has at a JSON pointer, and how its numbers went.
//!
//! Keeps no more than one value of each series in memory, and a part of the documents.

use std::cmp::Ordering;

use serde::Serialize;

use super::content::{ReadDocument, Tally};
use super::nearby::nearby;
use crate::checkpoint::{Document, Entry, Id, Series, TextStyle, Timestamp};
use crate::diff::{Pointer, compare_numbers, diff};
use crate::error::{Error, Result};
use crate::query::Documents;
use crate::store::Store;

// A longer text is no number that was put in quotes.
const NUMBER_CHARS: usize = 60;

/// What a checkpoint has at a JSON pointer.
///
/// ```
/// use waypost::history::{Value, Values};
/// use waypost::{Document, NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::default(), &serde_json::json!({"score": 71}))?;
/// let entries = store.list(&Query::default())?.entries;
/// let pointer = "/score".parse()?;
/// for at in Values::new(&store, &entries, &pointer) {
///     assert_eq!(at?.value, Value::Present(Document::Uint(71)));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// This value.
    Present(Document),
    /// Nothing.
    Absent,
    /// Its document is damaged; the text names the damage.
    Damaged(String),
    /// It was deleted after it was listed.
    Gone,
}

/// A checkpoint, and what it has at a JSON pointer.
///
/// See [`Values`] for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueAt<'a> {
    /// The checkpoint.
    pub entry: &'a Entry,
    /// What it has.
    pub value: Value,
}

/// Follows a JSON pointer through checkpoints, one document at a time.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::Values;
/// # use waypost::{NewEntry, Query, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::default(), &serde_json::json!({"score": 71}))?;
/// store.save(NewEntry::default(), &serde_json::json!({"score": 74}))?;
/// let entries = store.list(&Query::default())?.entries;
/// let pointer = "/score".parse()?;
/// let mut values = Values::new(&store, &entries, &pointer);
/// let newest = values.next().unwrap()?;
/// assert!(newest.to_json()?.ends_with(r#""value":74}"#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Values<'a> {
    store: &'a Store,
    entries: &'a [Entry],
    documents: Documents<'a>,
    pointer: &'a Pointer,
    at: usize,
    tally: Tally,
    has_value: bool,
}

impl<'a> Values<'a> {
    /// Starts at the first of these entries.
    #[must_use]
    pub fn new(store: &'a Store, entries: &'a [Entry], pointer: &'a Pointer) -> Self {
        let documents = store.documents_of(entries.iter().cloned().map(Ok));
        let tally = Tally::default();
        Self { store, entries, documents, pointer, at: 0, tally, has_value: false }
    }

    /// Returns how many documents were read so far, and how many are damaged.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether any checkpoint so far has a value there.
    #[must_use]
    pub fn has_value(&self) -> bool {
        self.has_value
    }

    /// Returns places of the newest readable document that the pointer may have meant.
    ///
    /// Reads documents again, up to the first that can be read.
    #[must_use]
    pub fn nearby(&self) -> Vec<String> {
        let read = |entry: &Entry| match ReadDocument::of(self.store, &entry.id) {
            Ok(ReadDocument::Read(document)) => Some(document),
            _ => None,
        };
        let newest = self.entries.iter().find_map(read);
        newest.map(|newest| nearby(&newest, self.pointer)).unwrap_or_default()
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<ValueAt<'a>>;

    fn next(&mut self) -> Option<Result<ValueAt<'a>>> {
        let entry = self.entries.get(self.at)?;
        self.at += 1;
        // As many as there are entries, and in their order.
        let found = ReadDocument::with_entry(self.documents.read_next()?);
        Some(found.map(|(_, content)| {
            self.tally.add(&content);
            let value = Value::of(content, self.pointer);
            self.has_value |= matches!(value, Value::Present(_));
            ValueAt { entry, value }
        }))
    }
}

impl Value {
    fn of(content: ReadDocument, pointer: &Pointer) -> Self {
        match content {
            ReadDocument::Read(document) => match pointer.find(&document) {
                Some(value) => Self::Present(value.clone()),
                None => Self::Absent,
            },
            ReadDocument::Damaged(reason) => Self::Damaged(reason),
            ReadDocument::Gone => Self::Gone,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Present(one), Self::Present(other)) => diff(one, other).is_empty(),
            (Self::Absent, Self::Absent) => true,
            _ => false,
        }
    }

    /// The number that it is, or that its text is; `None` for a NaN, which has no order.
    fn number(&self) -> Option<Document> {
        let Self::Present(value) = self else { return None };
        let number = match value {
            Document::Int(_) | Document::Uint(_) | Document::Number(_) | Document::Float(_) => {
                value.clone()
            }
            Document::Text(text) if text.len() <= NUMBER_CHARS => {
                Document::from_json(text.as_bytes()).ok()?
            }
            Document::Null
            | Document::Bool(_)
            | Document::Text(_)
            | Document::Bytes(_)
            | Document::Array(_)
            | Document::Object(_) => return None,
        };
        compare_numbers(&number, &Document::Uint(0)).map(|_| number)
    }
}

impl ValueAt<'_> {
    /// Returns the object that `waypost log --path --json` prints, without its version: the value
    /// is spelled as it was saved.
    ///
    /// # Errors
    /// If the value cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Start<'a> {
            id: &'a Id,
            series: &'a Series,
            created_at: Timestamp,
            iteration: Option<u64>,
        }
        let Entry { id, series, created_at, iteration, .. } = self.entry;
        let start = Start { id, series, created_at: *created_at, iteration: *iteration };
        let member = match &self.value {
            Value::Present(value) => format!("\"value\":{}", value.to_json(TextStyle::default())?),
            Value::Absent => "\"absent\":true".to_owned(),
            Value::Gone => "\"gone\":true".to_owned(),
            Value::Damaged(reason) => format!("\"damaged\":{}", json(reason)?),
        };
        let mut text = json(&start)?;
        text.pop();
        Ok(format!("{text},{member}}}"))
    }
}

/// The course of the values of one series, from its newest checkpoint on.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::{Course, Values};
/// # use waypost::source::TextStyle;
/// # use waypost::{NewEntry, Query, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for score in [71, 80, 80, 64] {
///     store.save(NewEntry::default(), &serde_json::json!({"score": score}))?;
/// }
/// let entries = store.list(&Query::default())?.entries;
/// let pointer = "/score".parse()?;
/// let mut course = Course::default();
/// let mut changes = 0;
/// for value in Values::new(&store, &entries, &pointer) {
///     changes += usize::from(course.add(value?).is_some());
/// }
/// changes += usize::from(course.finish().is_some());
/// assert_eq!(changes, 3);
/// assert_eq!(course.max().unwrap().to_json(TextStyle::default())?, "80");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Course<'a> {
    numbers: Vec<Option<f64>>,
    last: Option<Document>,
    min: Option<Document>,
    max: Option<Document>,
    /// The oldest so far, not returned yet: the one before may have the same value.
    held: Option<ValueAt<'a>>,
}

impl<'a> Course<'a> {
    /// Takes the next older value; returns the one after it if that is a change.
    pub fn add(&mut self, value: ValueAt<'a>) -> Option<ValueAt<'a>> {
        let number = value.value.number();
        self.numbers.push(number.as_ref().and_then(as_double));
        if let Some(number) = number {
            replace_if(&mut self.min, &number, Ordering::is_gt);
            replace_if(&mut self.max, &number, Ordering::is_lt);
            self.last.get_or_insert(number);
        }
        let newer = self.held.replace(value);
        let held = self.held.as_ref();
        newer.filter(|newer| held.is_none_or(|held| !held.value.is_same(&newer.value)))
    }

    /// Returns the oldest value, before which nothing is known.
    pub fn finish(&mut self) -> Option<ValueAt<'a>> {
        self.held.take()
    }

    /// Returns the number of each checkpoint, the newest first; `None` where there is none.
    #[must_use]
    pub fn numbers(&self) -> &[Option<f64>] {
        &self.numbers
    }

    /// Returns the newest number, as it was written.
    #[must_use]
    pub fn last(&self) -> Option<&Document> {
        self.last.as_ref()
    }

    /// Returns the least number.
    #[must_use]
    pub fn min(&self) -> Option<&Document> {
        self.min.as_ref()
    }

    /// Returns the greatest number.
    #[must_use]
    pub fn max(&self) -> Option<&Document> {
        self.max.as_ref()
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::invalid("value", error))
}

/// Keeps the least or the greatest number; one that has no order is neither.
fn replace_if(kept: &mut Option<Document>, number: &Document, is: fn(Ordering) -> bool) {
    if kept.as_ref().is_none_or(|kept| compare_numbers(kept, number).is_some_and(is)) {
        *kept = Some(number.clone());
    }
}

/// As a double; a number that is too large for one becomes infinite.
fn as_double(number: &Document) -> Option<f64> {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "a sparkline has eight levels")]
        Document::Uint(number) => Some(*number as f64),
        #[expect(clippy::cast_precision_loss, reason = "a sparkline has eight levels")]
        Document::Int(number) => Some(*number as f64),
        Document::Float(number) => Some(*number),
        Document::Number(literal) => literal.parse().ok(),
        _ => None,
    }
}
