//! Saves of every kind, and what a worker finds of them when it starts again.

use anyhow::Result;
use waypost::source::Source;
use waypost::{Draft, Durability, Entry, Id, NewEntry, Query};

use super::Worker;
use crate::document::{captured, is_intact, state, text};
use crate::kind::{Kind, Spot, tag};
use crate::note::{Note, Work};

/// How many a worker keeps of those that it deletes itself.
const KEPT_MAX: usize = 48;
/// How many are imported at once.
const IMPORTED: u64 = 5;
// More than there are of anything in a series.
const ALL: Option<usize> = Some(4096);

impl Worker {
    /// Finds what an earlier process of this worker left: the newest of its ring, as a loop that
    /// goes on would, what it kept and what it tagged.
    pub(super) fn recall(&mut self) -> Result<()> {
        let worker = self.orders.worker;
        let highest = self.next[&Kind::Ring] - 2;
        let query = Query { series: Some(Kind::Ring.series(worker)), ..Query::default() };
        let newest = self.call(Work::Latest, |store| store.latest(&query))?;
        match newest {
            Some(Some(newest)) => {
                self.compare(&newest)?;
                let found = newest.entry.iteration.unwrap_or_default();
                if found < highest {
                    self.wrong(format!("goes on from {found}, but {highest} was acknowledged"))?;
                }
            }
            Some(None) if highest > 0 => {
                self.wrong(format!("nothing to go on from, but {highest} was acknowledged"))?;
            }
            Some(None) | None => {}
        }
        let kept =
            Query { series: Some(Kind::Kept.series(worker)), limit: ALL, ..Query::default() };
        self.kept = self.find(&kept)?;
        let tagged = Query { tag: Some(tag(worker)), limit: ALL, ..Query::default() };
        self.tagged = self.find(&tagged)?.into();
        Ok(())
    }

    pub(super) fn save_to_ring(&mut self) -> Result<()> {
        let spot = self.spot(Kind::Ring);
        let state = state(self.orders.seed, spot);
        let saved = self.call(Work::Save, |store| store.save(spot.about(), &state))?;
        if let Some(entry) = saved {
            self.acknowledge(spot, &entry)?;
            self.last = Some((spot.number, entry.id));
        }
        Ok(())
    }

    pub(super) fn save_to_be_pruned(&mut self) -> Result<()> {
        let spot = self.spot(Kind::Pruned);
        let state = state(self.orders.seed, spot);
        // A kill of the process loses no relaxed save either.
        let is_relaxed = self.random.one_in(3);
        let durability = if is_relaxed { Durability::Relaxed } else { Durability::Immediate };
        let saved = self.call(Work::SaveOther, |store| {
            store.save_draft(store.draft(spot.about(), &state)?.with_durability(durability))
        })?;
        saved.map_or(Ok(()), |entry| self.acknowledge(spot, &entry))
    }

    pub(super) fn save_to_keep(&mut self) -> Result<()> {
        let spot = self.spot(Kind::Kept);
        let state = state(self.orders.seed, spot);
        let file = captured(self.orders.seed, spot);
        let saved = self.call(Work::SaveOther, |store| {
            store.save_draft(store.draft(spot.about(), &state)?.with_artifacts(vec![file])?)
        })?;
        if let Some(entry) = saved {
            self.acknowledge(spot, &entry)?;
            self.kept.push((spot.number, entry.id));
        }
        if self.kept.len() > KEPT_MAX { self.delete() } else { Ok(()) }
    }

    /// Takes in the texts of some files, under ids of their own, all at once.
    pub(super) fn import(&mut self) -> Result<()> {
        let first = self.spot(Kind::Imported);
        let spots = first.number..first.number + IMPORTED;
        let spots: Vec<Spot> = spots.map(|number| Spot { number, ..first }).collect();
        let seed = self.orders.seed;
        let imported = self.call(Work::Import, |store| {
            let draft = |spot: &Spot| -> waypost::Result<Draft> {
                let source = Source::from_json(text(seed, *spot).as_bytes())?;
                store.draft_source(about_file(*spot)?, source)
            };
            let drafts = spots.iter().map(draft).collect::<waypost::Result<Vec<Draft>>>()?;
            store.batch(drafts)?.into_iter().collect::<waypost::Result<Vec<Entry>>>()
        })?;
        for (spot, entry) in spots.into_iter().zip(imported.into_iter().flatten()) {
            self.acknowledge(spot, &entry)?;
        }
        Ok(())
    }

    /// Looks whether a checkpoint is what was saved.
    pub(super) fn compare(&self, found: &waypost::Checkpoint) -> Result<()> {
        let entry = &found.entry;
        let Some(spot) = Spot::of(entry) else {
            return self.wrong(format!("nobody saved {} of {}", entry.id, entry.series));
        };
        match is_intact(self.orders.seed, spot, found) {
            Ok(true) => Ok(()),
            Ok(false) => self.wrong(format!("{spot} is not what was saved: {}", entry.id)),
            Err(error) => self.wrong(format!("{spot} cannot be read: {error}")),
        }
    }

    pub(super) fn wrong(&self, what: String) -> Result<()> {
        self.note(&Note::Wrong(what))
    }

    fn acknowledge(&mut self, spot: Spot, entry: &Entry) -> Result<()> {
        let Spot { kind, number, .. } = spot;
        self.advance(kind);
        self.note(&Note::Saved { kind, number, id: entry.id.clone() })
    }

    /// What of this worker a query finds, oldest first.
    fn find(&self, query: &Query) -> Result<Vec<(u64, Id)>> {
        let page = self.call(Work::List, |store| store.list(query))?;
        let entries = page.into_iter().flat_map(|page| page.entries).rev();
        Ok(entries.filter_map(|entry| Some((entry.iteration?, entry.id))).collect())
    }
}

fn about_file(spot: Spot) -> waypost::Result<NewEntry> {
    let path = format!("states/{}-{}.json", spot.worker, spot.number);
    let id = Id::new(path.replace('/', "-"))?;
    Ok(NewEntry { id: Some(id), source_path: Some(path), ..spot.about() })
}
