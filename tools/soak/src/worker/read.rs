//! Reads: the newest, lists by every filter, single ones, and all of a series.

use anyhow::Result;
use waypost::{Entry, Query, Status};

use super::Worker;
use crate::kind::{Kind, issue, tag};
use crate::note::Work;

const LIMIT: usize = 20;

impl Worker {
    /// Reads the newest of a ring: of its own it knows which one that is.
    pub(super) fn latest(&mut self) -> Result<()> {
        let worker = self.anybody();
        let query = Query { series: Some(Kind::Ring.series(worker)), ..Query::default() };
        let Some(found) = self.call(Work::Latest, |store| store.latest(&query))? else {
            return Ok(());
        };
        if let Some(checkpoint) = &found {
            self.compare(checkpoint)?;
        }
        let expected = self.last.as_ref().filter(|_| worker == self.orders.worker);
        let found = found.map(|checkpoint| checkpoint.entry.id);
        match expected {
            Some((number, id)) if found.as_ref() != Some(id) => {
                self.wrong(format!("the newest of its ring is {found:?}, not {number}, {id}"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn list(&mut self) -> Result<()> {
        let query = self.query();
        let Some(page) = self.call(Work::List, |store| store.list(&query))? else {
            return Ok(());
        };
        if let Some(other) = page.entries.iter().find(|entry| !query.admits(entry)) {
            self.wrong(format!("{query:?} found {}", other.id))?;
        }
        let is_newer = |pair: &[Entry]| pair[0].created_at >= pair[1].created_at;
        if page.entries.len() > LIMIT || !page.entries.windows(2).all(is_newer) {
            self.wrong(format!("{query:?} found too many, or in another order"))?;
        }
        self.listed = page.entries;
        Ok(())
    }

    /// Reads one that was listed before.
    pub(super) fn get(&mut self) -> Result<()> {
        let Some(id) = self.random.choose(&self.listed).map(|entry| entry.id.clone()) else {
            return Ok(());
        };
        let found = self.call(Work::Get, |store| store.get(&id))?;
        found.map_or(Ok(()), |checkpoint| self.compare(&checkpoint))
    }

    /// Reads all imported files, as an export would.
    pub(super) fn export(&mut self) -> Result<()> {
        let query = Query {
            series: Some(Kind::Imported.series(self.anybody())),
            limit: Kind::Imported.keep_last().map(|count| count as usize),
            ..Query::default()
        };
        let found = self.call(Work::Export, |store| {
            let entries = store.entries(query);
            entries.map(|entry| store.get(&entry?.id)).collect::<waypost::Result<Vec<_>>>()
        })?;
        found.into_iter().flatten().try_for_each(|checkpoint| self.compare(&checkpoint))
    }

    /// A question by one filter or another.
    fn query(&mut self) -> Query {
        let worker = self.anybody();
        let kind = *self.random.choose(&Kind::ALL).expect("there are kinds");
        let all = Query { limit: Some(LIMIT), ..Query::default() };
        match self.random.below(7) {
            0 => all,
            1 => Query { issue: Some(issue(worker)), ..all },
            2 => Query { issue: Some(issue(worker)), triggers: vec![kind.trigger()], ..all },
            3 => Query { series: Some(kind.series(worker)), phase: Some("build".into()), ..all },
            4 => Query { tag: Some(tag(worker)), ..all },
            // Nothing is ever failed.
            5 => Query { status: Some(Status::Failed), ..all },
            _ => Query { triggers: vec![kind.trigger()], ..all },
        }
    }
}
