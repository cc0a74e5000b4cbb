//! Checkpoints whose document fulfils a condition.

use super::content::{ReadDocument, Tally};
use super::scope::Scope;
use crate::checkpoint::{Checkpoint, Document, Entry, TextStyle};
use crate::condition::Condition;
use crate::diff::Pointer;
use crate::error::{Error, Result};
use crate::key::Order;
use crate::query::{Documents, Unread};
use crate::store::Store;

/// A search for checkpoints by what is in their documents.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::{Search, Searched};
/// # use waypost::{NewEntry, Order, Query, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for score in [71, 80, 64] {
///     store.save(NewEntry::default(), &serde_json::json!({"score": score}))?;
/// }
/// let condition = "/score >= 70".parse()?;
/// let search = Search { condition: &condition, order: Order::Newest, limit: 1 };
/// let scope = store.scope(None, Query::default())?;
/// let mut found = search.run(&store, &scope);
/// let first = found.find_map(|step| match step {
///     Ok(Searched::Match(found)) => Some(found),
///     _ => None,
/// });
/// assert_eq!(first.unwrap().values, [Some("80".to_owned())]);
/// assert_eq!(found.tally().total, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// What a document must fulfil.
    pub condition: &'a Condition,
    /// Where the search starts.
    pub order: Order,
    /// It ends after this many matches.
    pub limit: usize,
}

/// What a search did with one checkpoint.
///
/// See [`Search`] for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Searched {
    /// It fulfils the condition.
    Match(Box<Match>),
    /// It does not, or was deleted after it was listed.
    Other,
    /// Its document is damaged, so the search passed it over; the text names the damage.
    Damaged(String),
}

/// A checkpoint that fulfils a condition.
///
/// See [`Search`] for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// The checkpoint.
    pub entry: Entry,
    /// For each pointer of the condition the value as JSON, `None` where there is none.
    pub values: Vec<Option<String>>,
}

impl<'a> Search<'a> {
    /// Reads documents one by one and tests each.
    #[must_use]
    pub fn run(self, store: &'a Store, scope: &'a Scope) -> Searching<'a> {
        let documents = store.documents_of(scope.entries(store, self.order));
        Searching { search: self, documents, left: self.limit, tally: Tally::default() }
    }
}

/// A running search: a result for each checkpoint that it has read.
///
/// See [`Search`] for an example.
pub struct Searching<'a> {
    search: Search<'a>,
    documents: Documents<'a>,
    left: usize,
    tally: Tally,
}

impl Searching<'_> {
    /// Returns how many documents were read so far, and how many are damaged.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn look(&mut self, found: Result<Checkpoint, Unread>) -> Result<Searched> {
        let (entry, content) = ReadDocument::with_entry(found)?;
        self.tally.add(&content);
        let condition = self.search.condition;
        Ok(match content {
            ReadDocument::Read(document) if condition.holds(&document) => {
                self.left -= 1;
                let values = values(&document, condition.pointers())?;
                Searched::Match(Box::new(Match { entry, values }))
            }
            ReadDocument::Damaged(reason) => Searched::Damaged(reason),
            ReadDocument::Read(_) | ReadDocument::Gone => Searched::Other,
        })
    }
}

impl Iterator for Searching<'_> {
    type Item = Result<Searched>;

    fn next(&mut self) -> Option<Result<Searched>> {
        if self.left == 0 {
            return None;
        }
        let found = self.documents.read_next()?;
        Some(self.look(found))
    }
}

impl Match {
    /// Returns the object that `waypost find --json` prints, without its version: values are
    /// spelled as they were saved.
    ///
    /// # Errors
    /// If the entry cannot be written as JSON.
    pub fn to_json(&self, pointers: &[Pointer]) -> Result<String> {
        let known = pointers.iter().zip(&self.values);
        let known = known.filter_map(|(pointer, value)| Some((pointer, value.as_ref()?)));
        let member = |(pointer, value): (&Pointer, &String)| -> Result<String> {
            Ok(format!("{}:{value}", json(pointer.as_str())?))
        };
        let members = known.map(member).collect::<Result<Vec<_>>>()?;
        let mut text = json(&self.entry)?;
        text.pop();
        Ok(format!("{text},\"values\":{{{}}}}}", members.join(",")))
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::invalid("value", error))
}

fn values(document: &Document, pointers: &[Pointer]) -> Result<Vec<Option<String>>> {
    let json = |pointer: &Pointer| {
        pointer.find(document).map(|value| value.to_json(TextStyle::default())).transpose()
    };
    pointers.iter().map(json).collect()
}
