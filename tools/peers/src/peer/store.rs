//! Waypost itself, through its public interface and with the options that a user gets.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use waypost::{Entry, Id, Issue, NewEntry, Order, Query, Series, Store, Trigger};

use super::{Document, Durability, PAGE, Peer, Record};
use crate::document::LoopState;

pub(super) struct Waypost {
    store: Store,
    durability: waypost::Durability,
}

impl Waypost {
    pub(super) fn open(directory: &Path, durability: Durability) -> Result<Self> {
        let durability = match durability {
            Durability::Durable => waypost::Durability::Immediate,
            Durability::Relaxed => waypost::Durability::Relaxed,
        };
        Ok(Self { store: Store::open(directory.join("store.redb"))?, durability })
    }
}

impl Peer for Waypost {
    fn save(&self, about: NewEntry, state: &LoopState) -> Result<String> {
        let draft = self.store.draft(about, state)?.with_durability(self.durability);
        Ok(self.store.save_draft(draft)?.id.as_str().to_owned())
    }

    fn latest(&self, series: &str) -> Result<Document> {
        let query = Query { series: Some(Series::new(series)?), ..Query::default() };
        let newest = self.store.latest(&query)?.context("nothing in the series")?;
        Ok(Document::Checkpoint(Box::new(newest)))
    }

    fn get(&self, id: &str) -> Result<Document> {
        Ok(Document::Checkpoint(Box::new(self.store.get(&Id::new(id)?)?)))
    }

    fn list(&self, issue: &str, limit: usize) -> Result<Vec<Record>> {
        let issue = Some(Issue::new(issue)?);
        let page = self.store.list(&Query { issue, limit: Some(limit), ..Query::default() })?;
        Ok(page.entries.into_iter().map(record).collect())
    }

    fn filter(&self, series: &str, trigger: &str) -> Result<Vec<Record>> {
        let page = self.store.list(&Query {
            series: Some(Series::new(series)?),
            triggers: vec![trigger.parse::<Trigger>()?],
            limit: Some(PAGE),
            ..Query::default()
        })?;
        Ok(page.entries.into_iter().map(record).collect())
    }

    fn export(&self, out: &mut dyn Write) -> Result<()> {
        let query = Query { order: Order::Oldest, ..Query::default() };
        let (mut documents, mut line) = (self.store.documents(query), Vec::new());
        while let Some(entry) = documents.next_json(&mut line) {
            entry?;
            line.push(b'\n');
            out.write_all(&line)?;
            line.clear();
        }
        Ok(())
    }

    fn delete(&self, ids: &[String]) -> Result<()> {
        let ids = ids.iter().map(Id::new).collect::<waypost::Result<Vec<Id>>>()?;
        self.store.delete_now(&ids)?;
        Ok(())
    }

    fn reclaim(&mut self) -> Result<()> {
        self.store.compact()?;
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(self.store.flush()?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.store.close()?)
    }
}

fn record(entry: Entry) -> Record {
    Record {
        series: entry.series.as_str().to_owned(),
        issue: entry.issue.map(|issue| issue.as_str().to_owned()).unwrap_or_default(),
        trigger: entry.trigger.as_str().to_owned(),
        phase: entry.phase.unwrap_or_default(),
        iteration: entry.iteration.unwrap_or_default(),
        created_micros: entry.created_at.as_micros(),
    }
}
