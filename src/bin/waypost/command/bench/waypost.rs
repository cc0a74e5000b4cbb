//! The store, as a program would use it.

use std::path::Path;

use anyhow::{Context as _, Result};
use waypost::source::JsonStyle;
use waypost::{Durability, Id, Query, Series, Store};

use super::Plan;
use super::document::AgentLoop;
use super::run::Contender;

const LISTED: usize = 20;

#[derive(Debug)]
pub(super) struct Waypost {
    store: Store,
    durability: Durability,
}

impl Waypost {
    pub(super) fn new(place: &Path, plan: &Plan) -> Result<Self> {
        let store = Store::open(place.join("store.redb"))?;
        let durability = if plan.is_durable { Durability::Immediate } else { Durability::Relaxed };
        Ok(Self { store, durability })
    }
}

impl Contender for Waypost {
    type Saved = (Series, Id);

    fn save(&self, agent_loop: &AgentLoop) -> Result<(Series, Id)> {
        let draft = self.store.draft(agent_loop.about(), &agent_loop.state)?;
        let entry = self.store.save_draft(draft.with_durability(self.durability))?;
        Ok((entry.series, entry.id))
    }

    fn finish(&self) -> Result<()> {
        Ok(self.store.flush()?)
    }

    fn newest(&self, (series, _): &(Series, Id)) -> Result<String> {
        let query = Query { series: Some(series.clone()), ..Query::default() };
        let newest = self.store.latest(&query)?.context("nothing was saved")?;
        Ok(newest.to_json(JsonStyle::Compact)?)
    }

    fn get(&self, (_, id): &(Series, Id)) -> Result<String> {
        Ok(self.store.get(id)?.to_json(JsonStyle::Compact)?)
    }

    fn list(&self, (series, _): &(Series, Id)) -> Result<usize> {
        let (series, limit) = (Some(series.clone()), Some(LISTED));
        Ok(self.store.list(&Query { series, limit, ..Query::default() })?.entries.len())
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.store.compact()?.after_bytes)
    }
}
