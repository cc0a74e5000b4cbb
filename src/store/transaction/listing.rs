//! Listing: the rows that lead to a checkpoint, and the names that they are made of.

use std::collections::HashSet;
use std::sync::Arc;

use crate::checkpoint::{Entry, Series};
use crate::codec::{NameKind, cause, derived_tail};
use crate::error::{Error, Result};
use crate::key::{ANY_NAME, IndexBytes, NameId, RecordKey, index_row};
use crate::store::engine::fault::In;
use crate::store::engine::names;
use crate::store::transaction::writer::Writer;

impl Writer<'_> {
    /// Adds the rows that lead to an entry.
    pub(in crate::store) fn list(&mut self, entry: &Entry) -> Result<()> {
        let key = RecordKey::of(entry).to_bytes();
        for row in self.index_rows(entry)? {
            self.index.insert(row, ()).within(self.path)?;
        }
        if derived_tail(entry).is_none() {
            self.ids.insert(entry.id.as_str(), key).within(self.path)?;
        }
        if let Some(parent) = &entry.parent {
            let path = self.path;
            self.children()?.insert((parent.as_str(), key), ()).within(path)?;
        }
        self.list_source(entry)
    }

    /// Removes the rows that lead to an entry.
    pub(in crate::store) fn unlist(&mut self, entry: &Entry) -> Result<()> {
        for row in self.index_rows(entry)? {
            self.index.remove(row).within(self.path)?;
        }
        if derived_tail(entry).is_none() {
            self.ids.remove(entry.id.as_str()).within(self.path)?;
        }
        if let Some(parent) = &entry.parent {
            let (path, key) = (self.path, RecordKey::of(entry).to_bytes());
            self.children()?.remove((parent.as_str(), key)).within(path)?;
        }
        self.unlist_source(entry)
    }

    /// The rows that lead to an entry.
    pub(in crate::store) fn index_rows(&mut self, entry: &Entry) -> Result<Vec<IndexBytes>> {
        let cause = self.intern(NameKind::Cause, &cause(entry.status, &entry.trigger))?;
        let mut names = vec![ANY_NAME];
        for (kind, name) in listed_names(entry) {
            names.push(self.intern(kind, name)?);
        }
        Ok(names.into_iter().map(|name| index_row(name, cause, RecordKey::of(entry))).collect())
    }

    pub(in crate::store) fn intern(&mut self, kind: NameKind, name: &str) -> Result<NameId> {
        let pair = (kind, Arc::from(name));
        if let Some(id) = self.new_names.get(&pair) {
            return Ok(*id);
        }
        match self.open.names.find(&self.names, &pair, self.path) {
            Ok(Some(id)) => return Ok(id),
            Err(error) if error.is_of_engine() => return Err(error),
            // A damaged name keeps its number for existing checkpoints, and gets another for new
            // ones.
            Ok(None) | Err(_) => {}
        }
        let id = self.next_name;
        names::add(&mut self.names, id, &pair, self.path)?;
        self.next_name = id.checked_add(1).ok_or_else(|| Error::Limit {
            what: "number of names".to_owned(),
            limit: NameId::MAX.into(),
        })?;
        self.new_names.insert(pair, id);
        Ok(id)
    }

    /// The number of a name, or `None` if no checkpoint ever had it.
    pub(in crate::store) fn name(&self, kind: NameKind, name: &str) -> Result<Option<NameId>> {
        let pair = (kind, Arc::from(name));
        match self.new_names.get(&pair) {
            Some(id) => Ok(Some(*id)),
            None => self.open.names.find(&self.names, &pair, self.path),
        }
    }

    /// Removes all names except these.
    pub(in crate::store) fn retain_names(&mut self, used: &HashSet<NameId>) -> Result<()> {
        names::retain(&mut self.names, used, self.path)
    }
}

/// The names under which an entry is listed, beside the row for any name.
pub(in crate::store) fn listed_names(entry: &Entry) -> impl Iterator<Item = (NameKind, &str)> {
    // The series of an issue or a loop leads to it already.
    let issue = entry.issue.as_ref().filter(|it| Series::of_issue(it) != entry.series);
    let name = entry.loop_id.as_ref().filter(|it| Series::of_loop(it) != entry.series);
    [(NameKind::Series, entry.series.as_str())]
        .into_iter()
        .chain(issue.map(|issue| (NameKind::Issue, issue.as_str())))
        .chain(name.map(|name| (NameKind::Loop, name.as_str())))
        .chain(entry.phase.as_deref().map(|phase| (NameKind::Phase, phase)))
        .chain(entry.tags.iter().map(|tag| (NameKind::Tag, tag.as_str())))
}
