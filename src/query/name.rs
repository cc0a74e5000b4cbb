//! Names that a person uses for a checkpoint, and which one they mean.
//!
//! Names are matched whole, and nothing is guessed: only an id may be given by its start.

use super::{Query, nth};
use crate::checkpoint::{Entry, Id, Issue, LATEST, LoopId, Series};
use crate::codec::NameKind;
use crate::error::{Error, Result};
use crate::store::{Snapshot, Store, is_too_short};

impl Store {
    /// Returns the entry that `text` names: an id, `latest`, a series, an issue or a loop for its
    /// newest, `NAME@N` for the Nth newest of one, from 0, or the start of an id.
    ///
    /// The first match counts, in this order: a series with the name of an issue comes before the
    /// issue, and the issue before a loop. Costs as much as listing N entries.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Ambiguous`] if `text` is the start of several ids, or a
    /// name and the start of an id that the store made.
    ///
    /// ```
    /// # fn main() -> waypost::Result<()> {
    /// # use waypost::{Issue, NewEntry, Store};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let about = NewEntry { issue: Some(Issue::new("42")?), ..NewEntry::default() };
    /// let old = store.save(about.clone(), &1)?;
    /// let new = store.save(about, &2)?;
    /// for name in [new.id.as_str(), "latest", "issue:42", "42", "#42", "42@0"] {
    ///     assert_eq!(store.resolve(name)?.id, new.id);
    /// }
    /// assert_eq!(store.resolve("42@1")?.id, old.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve(&self, text: &str) -> Result<Entry> {
        self.read(|snapshot| resolve(snapshot, text))
    }

    /// Returns the query for all checkpoints of the series `name`, else of the issue, else of the
    /// loop; `None` if no checkpoint has such a name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn line(&self, name: &str) -> Result<Option<Query>> {
        self.read(|snapshot| line(snapshot, name))
    }

    /// Lists the issues that checkpoints work on, by name.
    ///
    /// Reads an entry of each.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn issues(&self) -> Result<Vec<Issue>> {
        self.read(|snapshot| {
            let mut names: Vec<String> =
                snapshot.names(NameKind::Issue)?.into_iter().map(|(name, _)| name).collect();
            // The series of an issue leads to it without a row of its own.
            for (series, _) in snapshot.names(NameKind::Series)? {
                names.extend(series.strip_prefix("issue:").map(str::to_owned));
            }
            names.sort();
            names.dedup();
            let mut found = Vec::new();
            for issue in names.into_iter().filter_map(|name| Issue::new(name).ok()) {
                let query = Query { issue: Some(issue.clone()), ..Query::default() };
                if has_any(snapshot, &query)? {
                    found.push(issue);
                }
            }
            Ok(found)
        })
    }
}

fn resolve(snapshot: &Snapshot<'_>, text: &str) -> Result<Entry> {
    let not_found = || Error::NotFound { wanted: text.to_owned().into() };
    if let Some(entry) = snapshot.find(&Id::new(text)?)? {
        return Ok(entry);
    }
    if text == LATEST {
        return nth(snapshot, &Query::default(), 0)?.ok_or_else(not_found);
    }
    let named = named(snapshot, text)?;
    let starting = snapshot.starting_with(text, 2)?;
    // Ids made elsewhere differ only at their ends: there a whole name comes first.
    let made_here = starting.iter().find(|entry| entry.id.parts().is_some());
    match (named, made_here, &starting[..]) {
        (Some(entry), None, _) => Ok(entry),
        (Some(entry), Some(other), _) if entry == *other => Ok(entry),
        (Some(_), Some(other), _) => Err(ambiguous(text, format!("{text}@0"), &other.id)),
        (None, _, [entry]) => Ok(entry.clone()),
        (None, _, [first, second, ..]) => Err(ambiguous(text, first.id.to_string(), &second.id)),
        (None, _, []) if is_cut_short(text) => Err(Error::invalid(
            "id",
            format_args!("{text:?} is too short; give at least 4 characters"),
        )),
        (None, _, []) => Err(not_found()),
    }
}

/// The newest of what has this whole name, else a place in what has the name before `@`.
fn named(snapshot: &Snapshot<'_>, text: &str) -> Result<Option<Entry>> {
    // A name may contain `@`.
    if let Some(query) = line(snapshot, text)? {
        return nth(snapshot, &query, 0);
    }
    let Some((name, count)) = text.rsplit_once('@') else { return Ok(None) };
    let Ok(count) = count.parse() else { return Ok(None) };
    match line(snapshot, name)? {
        Some(query) => nth(snapshot, &query, count),
        None => Ok(None),
    }
}

pub(super) fn line(snapshot: &Snapshot<'_>, name: &str) -> Result<Option<Query>> {
    let queries = [
        Query { series: Series::new(name).ok(), ..Query::default() },
        // `#42` is the usual spelling of an issue.
        Query { issue: Issue::new(name).ok(), ..Query::default() },
        Query { loop_id: LoopId::new(name).ok(), ..Query::default() },
    ];
    for query in queries.into_iter().filter(|query| *query != Query::default()) {
        if has_any(snapshot, &query)? {
            return Ok(Some(query));
        }
    }
    Ok(None)
}

fn has_any(snapshot: &Snapshot<'_>, query: &Query) -> Result<bool> {
    match nth(snapshot, query, 0) {
        Ok(found) => Ok(found.is_some()),
        // The index led to it, so the damaged entry has the name as far as is known.
        Err(Error::Corrupt { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn ambiguous(text: &str, first: String, second: &Id) -> Error {
    Error::Ambiguous { prefix: text.to_owned(), first, second: second.to_string() }
}

/// Whether it is the start of an id, rather than the number of an issue that does not exist.
fn is_cut_short(text: &str) -> bool {
    is_too_short(text) && (text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()))
}
