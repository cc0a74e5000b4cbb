//! Resolves names: a series, an issue, a loop, a story, a description, or a checkpoint.
//!
//! Names in an index come first; documents are read only if no name fits.
//!
//! The order: a series, an id, an issue, a loop; then the start of an id that the store made, and
//! the whole description of some work. A part of a name or of a description is only proposed, since
//! a new loop must not continue the work of another.

use std::fmt;

use crate::checkpoint::{Checkpoint, Entry, Id, Issue, LATEST, LoopId, Series};
use crate::error::{Error, Result};
use crate::key::Order;
use crate::layouts::standing;
use crate::query::Query;
use crate::spelling::distance;
use crate::store::Store;

const NEARBY_MAX: usize = 5;
// Several entries in a row may be damaged; more are not tried.
const READ_MAX: usize = 8;
// Bytes of each name that are compared: the time grows with the product.
const NAME_BYTES: usize = 64;

/// The target of a name.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::Target;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// for target in store.targets("42")? {
///     match target {
///         Target::Series(series) => assert_eq!(series, saved.series),
///         Target::Checkpoint(entry) => show(format!("{}", entry.id)),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One checkpoint.
    Checkpoint(Box<Entry>),
    /// A line of checkpoints.
    Series(Series),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint(entry) => write!(f, "checkpoint {}", entry.id),
            Self::Series(series) => write!(f, "{series}"),
        }
    }
}

impl Store {
    /// Returns what `text` may stand for: a series, an id, `latest`, `NAME@N` as for
    /// [`Store::resolve`], an issue, a loop, a workflow, a story, the start of an id that the store
    /// made, or the whole description of some work.
    ///
    /// More than one if the name is not clear, and none if nothing has it. Looks at the newest
    /// document of every series only if no name fits.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn targets(&self, text: &str) -> Result<Vec<Target>> {
        // A name may have `@` in it, or be `latest`.
        if let Ok(series) = Series::new(text)
            && self.has_series(&series)?
        {
            return Ok(vec![Target::Series(series)]);
        }
        let exact = self.exact(text)?.map(|entry| Target::Checkpoint(Box::new(entry)));
        let all = self.series()?;
        let named = self.without_forks(self.named(&all, text)?)?;
        let found: Vec<Target> =
            exact.into_iter().chain(named.into_iter().map(Target::Series)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        match self.resolve(text) {
            // Ids of other systems often differ only at their ends, so a prefix does not count.
            Ok(entry) if entry.id.parts().is_some() => {
                return Ok(vec![Target::Checkpoint(Box::new(entry))]);
            }
            // Any text can be a description, even if it cannot be the start of an id.
            Ok(_) | Err(Error::NotFound { .. } | Error::Invalid { .. }) => {}
            Err(Error::Ambiguous { .. }) if !is_start_of_uuid(text) => {}
            Err(error) => return Err(error),
        }
        Ok(self.described(&all, text)?.into_iter().map(Target::Series).collect())
    }

    /// Returns a few series with names like `text`, the most alike first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn nearby(&self, text: &str) -> Result<Vec<Series>> {
        let wanted = text.to_lowercase();
        let wanted = &wanted[..wanted.floor_char_boundary(NAME_BYTES)];
        let mut alike: Vec<(usize, Series)> = Vec::new();
        for series in self.series()? {
            let name = series.as_str().to_lowercase();
            let away = [name.as_str(), last_part(&name)].map(|name| {
                let is_part = !wanted.is_empty() && name.contains(wanted);
                if is_part {
                    0
                } else {
                    distance(&name[..name.floor_char_boundary(NAME_BYTES)], wanted)
                }
            });
            let away = away[0].min(away[1]);
            if away <= wanted.len().div_ceil(3) {
                alike.push((away, series));
            }
        }
        alike.sort();
        Ok(alike.into_iter().map(|(_, series)| series).take(NEARBY_MAX).collect())
    }

    /// Returns a few series that may be meant by a part of a description or by a type of workflow.
    ///
    /// Propose them to a person only: a new loop must not continue the work of another. Reads the
    /// newest document of every series.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn about(&self, text: &str) -> Result<Vec<Series>> {
        let wanted = folded(text);
        let mut found = Vec::new();
        for series in self.series()? {
            let Some(newest) = self.newest_readable(&series)? else { continue };
            let is_type = newest.entry.workflow_type.as_deref() == Some(text);
            let has_part = |it: String| !wanted.is_empty() && folded(&it).contains(&wanted);
            if is_type || description(&newest).is_some_and(has_part) {
                found.push(series);
            }
        }
        found.truncate(NEARBY_MAX);
        Ok(found)
    }

    /// Returns the series whose names a repair could not save and whose work has not ended: each
    /// may be the one that is missing.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn lost_names(&self) -> Result<Vec<Series>> {
        let mut found = Vec::new();
        for series in self.series()? {
            if series.as_str().starts_with(Self::LOST_NAME) && self.is_open(&series)? {
                found.push(series);
            }
        }
        Ok(found)
    }

    /// By the whole id, or by a place in a series.
    fn exact(&self, text: &str) -> Result<Option<Entry>> {
        // An existing name with `@` in it is no `NAME@N`.
        let is_place = text == LATEST || (text.contains('@') && self.line(text)?.is_none());
        let found = if is_place {
            self.resolve(text)
        } else {
            Id::new(text).and_then(|id| self.entry(&id))
        };
        match found {
            Ok(entry) => Ok(Some(entry)),
            // A short prefix, a text that is no id, or one that fits several: names may still fit.
            Err(Error::NotFound { .. } | Error::Invalid { .. } | Error::Ambiguous { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Series that have an issue or a loop of this name, or end in it.
    fn named(&self, all: &[Series], text: &str) -> Result<Vec<Series>> {
        let issue = Query { issue: Issue::new(text).ok(), ..Query::default() };
        let issue = self.if_any(issue, |query| query.issue.is_some())?;
        let name = Query { loop_id: LoopId::new(text).ok(), ..Query::default() };
        let name = self.if_any(name, |query| query.loop_id.is_some())?;
        let mut found = Vec::new();
        for series in all {
            let mut is_named = last_part(series.as_str()) == text;
            for query in issue.iter().chain(&name) {
                let query = Query { series: Some(series.clone()), ..query.clone() };
                is_named = is_named || self.has(&query)?;
            }
            if is_named {
                found.push(series.clone());
            }
        }
        Ok(found)
    }

    /// Returns the query if it finds anything; then all series are searched.
    fn if_any(&self, query: Query, asks: impl Fn(&Query) -> bool) -> Result<Option<Query>> {
        let is_useful = asks(&query) && self.has(&query)?;
        Ok(is_useful.then_some(query))
    }

    fn has(&self, query: &Query) -> Result<bool> {
        let query = Query { limit: Some(1), ..query.clone() };
        match self.list(&query) {
            Ok(page) => Ok(!page.entries.is_empty()),
            // The index led to it, so a damaged entry counts as a match.
            Err(Error::Corrupt { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The name of an issue means its own series, not its forks.
    fn without_forks(&self, mut found: Vec<Series>) -> Result<Vec<Series>> {
        if found.len() < 2 {
            return Ok(found);
        }
        let mut forks = Vec::new();
        for series in &found {
            let query = Query {
                series: Some(series.clone()),
                order: Order::Oldest,
                limit: Some(1),
                ..Query::default()
            };
            let first = match self.list(&query) {
                Ok(mut page) => page.entries.pop(),
                Err(Error::Corrupt { .. }) => None,
                Err(error) => return Err(error),
            };
            let Some(parent) = first.and_then(|first| first.parent) else { continue };
            let from = match self.entry(&parent) {
                Ok(parent) => parent.series,
                Err(Error::NotFound { .. } | Error::Corrupt { .. }) => continue,
                Err(error) => return Err(error),
            };
            if from != *series && found.contains(&from) && self.is_open(&from)? {
                forks.push(series.clone());
            }
        }
        // Parents are unchecked: if all are forks of each other, none is removed.
        if forks.len() < found.len() {
            found.retain(|series| !forks.contains(series));
        }
        Ok(found)
    }

    /// Whether the work of a series goes on, by its newest entry.
    pub(super) fn is_open(&self, series: &Series) -> Result<bool> {
        let newest = self.newest_of(series, 1)?.pop();
        Ok(!newest.is_some_and(|newest| newest.is_ok_and(|entry| entry.status.is_over())))
    }

    /// Series whose newest checkpoint is of this workflow, or describes its work so.
    ///
    /// Only by the whole description: a new loop must not get the work of another.
    fn described(&self, all: &[Series], text: &str) -> Result<Vec<Series>> {
        let wanted = folded(text);
        let mut found = Vec::new();
        for series in all {
            let Some(newest) = self.newest_readable(series)? else { continue };
            let is_workflow = newest.entry.workflow_id.as_deref() == Some(text);
            if is_workflow || description(&newest).is_some_and(|it| folded(&it) == wanted) {
                found.push(series.clone());
            }
        }
        Ok(found)
    }

    /// A damaged checkpoint has no description, but the one before it may.
    fn newest_readable(&self, series: &Series) -> Result<Option<Checkpoint>> {
        for entry in self.newest_of(series, READ_MAX)? {
            match entry.and_then(|entry| self.get(&entry.id)) {
                Ok(checkpoint) => return Ok(Some(checkpoint)),
                Err(Error::Corrupt { .. } | Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns a few series, those with the latest saves first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn newest_series(&self) -> Result<Vec<Series>> {
        let mut found: Vec<Series> = Vec::new();
        let newest = match self.list(&Query::default()) {
            Ok(page) => page.entries,
            // Ignored: the list is only a hint for a person who looks for a name.
            Err(Error::Corrupt { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        for entry in newest {
            if !found.contains(&entry.series) {
                found.push(entry.series);
            }
        }
        found.truncate(NEARBY_MAX);
        Ok(found)
    }
}

fn is_start_of_uuid(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

fn description(checkpoint: &Checkpoint) -> Option<String> {
    standing(&checkpoint.entry, &checkpoint.document().ok()?).description
}

/// `auth` of `implement:auth`, `42` of `shop/issue:42`.
fn last_part(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, last)| last)
}

/// The text in lower case with normalised white space.
fn folded(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
