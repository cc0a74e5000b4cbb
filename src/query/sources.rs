//! Sources: the index rows that may lead to what a query asks for.
//!
//! Reads only names, no rows of checkpoints.

use super::cursor::Cursor;
use super::{Order, Query};
use crate::checkpoint::Series;
use crate::codec::{NameKind, parse_cause};
use crate::error::{Error, Result};
use crate::key::{ANY_NAME, NameId, RecordKey, Span};
use crate::store::Snapshot;

/// Which part of the order to read. A date may lag behind the order time, but is never after it.
pub(super) fn span(snapshot: &Snapshot<'_>, query: &Query) -> Span {
    let mut from = query.since.map_or(RecordKey::MIN, RecordKey::first_at);
    let until = query.until.and_then(|until| until.checked_add_micros(snapshot.lag_max()));
    let mut to = until.map_or(RecordKey::MAX, RecordKey::first_at);
    match (query.after, query.order) {
        (Some(Cursor(key)), Order::Newest) => to = to.min(key),
        (Some(Cursor(key)), Order::Oldest) => from = from.max(key.next().unwrap_or(RecordKey::MAX)),
        (None, _) => {}
    }
    Span { from: from.min(to), to, order: query.order }
}

/// Sets of names and the allowed causes: a checkpoint must have one name of each set.
pub(super) struct Sources {
    pub(super) names: Vec<Vec<NameId>>,
    /// `None` if any cause is allowed.
    pub(super) causes: Option<Vec<NameId>>,
}

pub(super) fn sources(snapshot: &Snapshot<'_>, query: &Query) -> Result<Sources> {
    let mut names = Vec::new();
    let numbers = |names: &[(NameKind, &str)]| -> Result<Vec<NameId>> {
        let ids = names.iter().map(|(kind, name)| snapshot.name(*kind, name));
        ids.filter_map(Result::transpose).collect()
    };
    if let Some(series) = &query.series {
        names.push(numbers(&[(NameKind::Series, series.as_str())])?);
    }
    // The series of an issue or a loop leads to it without a row of its own.
    if let Some(issue) = &query.issue {
        let series = Series::of_issue(issue);
        names.push(numbers(&[
            (NameKind::Issue, issue.as_str()),
            (NameKind::Series, series.as_str()),
        ])?);
    }
    if let Some(name) = &query.loop_id {
        let series = Series::of_loop(name);
        names.push(numbers(&[
            (NameKind::Loop, name.as_str()),
            (NameKind::Series, series.as_str()),
        ])?);
    }
    if let Some(phase) = &query.phase {
        names.push(numbers(&[(NameKind::Phase, phase)])?);
    }
    if let Some(tag) = &query.tag {
        names.push(numbers(&[(NameKind::Tag, tag)])?);
    }
    let causes = causes(snapshot, query)?;
    if names.is_empty() && causes.is_some() {
        names.push(vec![ANY_NAME]);
    }
    Ok(Sources { names, causes })
}

fn causes(snapshot: &Snapshot<'_>, query: &Query) -> Result<Option<Vec<NameId>>> {
    if query.status.is_none() && query.triggers.is_empty() {
        return Ok(None);
    }
    let mut causes = Vec::new();
    for (cause, id) in snapshot.names(NameKind::Cause)? {
        let (status, trigger) =
            parse_cause(&cause).ok_or_else(|| Error::corrupt("names", "unknown cause"))?;
        if query.has_cause(status, &trigger) {
            causes.push(id);
        }
    }
    Ok(Some(causes))
}
