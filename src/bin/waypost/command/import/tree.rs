//! Trees of files into the store: read by several threads, saved in their order.

use std::collections::HashSet;

use anyhow::Result;
use waypost::layouts::{Kind, Problem};
use waypost::{Draft, Error, Id, Layout, NewEntry, Store};

use super::file::{Importer, Step};
use super::tally::Tally;
use super::walk::{Found, Item, Root};
use crate::args::Global;
use crate::interrupt;
use crate::progress::Progress;
use waypost::transfer::ordered::in_order;

// A transaction of so many is cheap for each.
const PART_FILES: usize = 128;
// What is to be saved at once must fit the memory, for every thread.
const PART_BYTES: usize = 8 << 20;

/// What came of looking at something that was found.
enum Looked {
    Told(Found),
    File {
        item: Item,
        step: Step,
    },
    /// There was no more room for it.
    Later(Item),
}

/// Tells whether something that was found is to be looked at.
pub(super) type Wants<'a> = &'a mut (dyn FnMut(&Found) -> bool + Send);

/// How to import trees.
#[derive(Clone, Copy)]
pub(super) struct Trees<'a> {
    pub(super) importer: Importer<'a>,
    pub(super) roots: &'a [Root],
    pub(super) global: &'a Global,
}

impl Trees<'_> {
    /// Imports what is found and wanted; `would` hears of it instead if nothing may be changed.
    pub(super) fn run(
        &self,
        tally: &mut Tally,
        wants: Wants<'_>,
        would: &mut dyn FnMut(&NewEntry) -> Result<()>,
    ) -> Result<()> {
        // What would be imported is listed, line by line.
        let is_dry = self.importer.is_dry;
        let progress =
            if is_dry { Progress::hidden() } else { Progress::new("importing", self.global) };
        let total = progress.is_shown().then(|| self.count());
        let progress = progress.of(total);
        let (mut files, mut undated) = (0, Vec::new());
        let produce = |hand_out: &mut dyn FnMut(Vec<Found>) -> bool| {
            // Either nobody takes any more, who says why, or nobody wants more.
            if self.walk(wants, hand_out) { Ok(()) } else { interrupt::check() }
        };
        in_order(
            produce,
            |part| self.look(part),
            |part| {
                interrupt::check()?;
                files += part.iter().filter(|looked| !matches!(looked, Looked::Told(_))).count();
                undated.extend(self.save(part, tally, would)?);
                progress.show(files as u64);
                Ok(())
            },
        )?;
        self.take_undated(undated, tally, would)
    }

    /// Takes in files that state no time, now that the store has those that do.
    fn take_undated(
        &self,
        items: Vec<Item>,
        tally: &mut Tally,
        would: &mut dyn FnMut(&NewEntry) -> Result<()>,
    ) -> Result<()> {
        let importer = Importer { takes_undated: true, ..self.importer };
        let trees = Self { importer, ..*self };
        let mut saves = Saves::default();
        for item in items {
            interrupt::check()?;
            trees.take_alone(&item, &mut saves, tally, would)?;
            if saves.drafts.len() >= PART_FILES || saves.bytes > PART_BYTES {
                trees.commit(std::mem::take(&mut saves), tally)?;
            }
        }
        trees.commit(saves, tally)
    }

    /// How many files there are to be read.
    fn count(&self) -> u64 {
        let mut count = 0;
        for root in self.roots {
            root.walk(&mut |found| {
                count += u64::from(matches!(found, Found::File(_)));
                true
            });
        }
        count
    }

    /// Whether it came to the end.
    fn walk(&self, wants: Wants<'_>, hand_out: &mut dyn FnMut(Vec<Found>) -> bool) -> bool {
        let mut part = Vec::with_capacity(PART_FILES);
        let is_wanted = self.roots.iter().all(|root| {
            root.walk(&mut |found| {
                if wants(&found) {
                    part.push(found);
                }
                part.len() < PART_FILES || hand_out(std::mem::take(&mut part))
            })
        });
        is_wanted && hand_out(part)
    }

    fn look(&self, part: Vec<Found>) -> Vec<Looked> {
        let mut bytes = 0;
        part.into_iter()
            .map(|found| match found {
                Found::File(item) if bytes > PART_BYTES => Looked::Later(item),
                Found::File(item) => match self.importer.look(&item, false) {
                    Step::Alone => Looked::Later(item),
                    step => {
                        bytes += weight(&step);
                        Looked::File { item, step }
                    }
                },
                told => Looked::Told(told),
            })
            .collect()
    }

    /// Saves a part, and returns what is to be looked at after all others.
    fn save(
        &self,
        part: Vec<Looked>,
        tally: &mut Tally,
        would: &mut dyn FnMut(&NewEntry) -> Result<()>,
    ) -> Result<Vec<Item>> {
        let (mut saves, mut undated) = (Saves::default(), Vec::new());
        for looked in part {
            match looked {
                Looked::Told(found) => self.tell(&found, tally),
                Looked::File { item, step } => self.take(&item, step, &mut saves, tally, would)?,
                Looked::Later(item) => {
                    undated.append(&mut saves.undated);
                    self.commit(std::mem::take(&mut saves), tally)?;
                    self.take_alone(&item, &mut saves, tally, would)?;
                }
            }
        }
        undated.append(&mut saves.undated);
        self.commit(saves, tally)?;
        Ok(undated)
    }

    /// A file that is large, or has many checkpoints.
    fn take_alone(
        &self,
        item: &Item,
        saves: &mut Saves,
        tally: &mut Tally,
        would: &mut dyn FnMut(&NewEntry) -> Result<()>,
    ) -> Result<()> {
        if !matches!(item.kind, Kind::Lines) {
            let step = self.importer.look(item, true);
            return self.take(item, step, saves, tally, would);
        }
        self.importer.look_at_lines(item, &mut |look| {
            interrupt::check()?;
            let mut step = look();
            // Whether the store has it can be told once the store has what came before it.
            if saves.has_id_of(&step) || saves.bytes > PART_BYTES {
                self.commit(std::mem::take(saves), tally)?;
                step = look();
            }
            self.take(item, step, saves, tally, would)?;
            if saves.drafts.len() >= PART_FILES {
                self.commit(std::mem::take(saves), tally)?;
            }
            Ok(())
        })
    }

    fn take(
        &self,
        item: &Item,
        mut step: Step,
        saves: &mut Saves,
        tally: &mut Tally,
        would: &mut dyn FnMut(&NewEntry) -> Result<()>,
    ) -> Result<()> {
        if let Step::Refuse { reason, kept: Some(kept) } = step {
            tally.kept(&item.place, &reason, self.global);
            step = *kept;
        }
        match step {
            Step::Save { draft, layout, is_there, problems } => {
                saves.bytes += draft.raw_bytes();
                saves.ids.insert(draft.id().clone());
                saves.items.push(Saving { item: item.clone(), layout, is_there, problems });
                saves.drafts.push(*draft);
            }
            Step::Would { about, problems } => {
                tally.would(&about);
                tally.broken(&item.place, about.layout, &problems, self.global);
                would(&about)?;
            }
            Step::Known => tally.known += 1,
            Step::Deleted => tally.deleted += 1,
            Step::Explain { id, trigger } => {
                tally.known += 1;
                if let Some(store) = self.importer.store.filter(|_| !self.importer.is_dry) {
                    store.set_trigger(&id, trigger)?;
                }
            }
            Step::Undated => saves.undated.push(item.clone()),
            Step::Skip(reason) => tally.skipped(&item.place, reason, self.global),
            Step::Ignore => tally.ignored(),
            // Only a look beside others ends so, and those files are looked at again.
            Step::Alone => tally.unread(&item.place, "import it again", self.global),
            Step::Refuse { reason, .. } => tally.refused(&item.place, &reason, self.global),
            Step::Unread(reason) => tally.unread(&item.place, &reason, self.global),
            Step::Fail(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn commit(&self, saves: Saves, tally: &mut Tally) -> Result<()> {
        let Some(store) = self.importer.store else { return Ok(()) };
        let outcomes = store.batch(saves.drafts)?;
        for (saving, outcome) in saves.items.into_iter().zip(outcomes) {
            let Saving { item, layout, is_there, problems } = saving;
            match outcome {
                Ok(_) if is_there => tally.known += 1,
                Ok(_) => {
                    tally.imported(&item.place, layout, self.global);
                    tally.broken(&item.place, layout, &problems, self.global);
                }
                // Another of this import, or another process, was faster.
                Err(Error::Exists { .. }) => self.again(&item, store, tally)?,
                Err(error) => tally.refused(&item.place, &error.to_string(), self.global),
            }
        }
        Ok(())
    }

    /// Looks at a file once more, now that the store has what took its id.
    fn again(&self, item: &Item, store: &Store, tally: &mut Tally) -> Result<()> {
        match self.importer.look(item, true) {
            Step::Save { draft, layout, problems, .. } => match store.save_draft(*draft) {
                Ok(_) => {
                    tally.imported(&item.place, layout, self.global);
                    tally.broken(&item.place, layout, &problems, self.global);
                }
                Err(error @ Error::Exists { .. }) => {
                    tally.refused(&item.place, &error.to_string(), self.global);
                }
                Err(error) => return Err(error.into()),
            },
            Step::Known | Step::Explain { .. } => tally.known += 1,
            // Another process has taken a line of it.
            Step::Alone | Step::Undated => {
                tally.unread(&item.place, "import it again", self.global);
            }
            Step::Deleted => tally.deleted += 1,
            Step::Skip(_) | Step::Ignore | Step::Would { .. } => {}
            Step::Refuse { reason, .. } => tally.refused(&item.place, &reason, self.global),
            Step::Unread(reason) => tally.unread(&item.place, &reason, self.global),
            Step::Fail(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn tell(&self, found: &Found, tally: &mut Tally) {
        match found {
            Found::File(_) => {}
            Found::Skipped { place, reason } => tally.skipped(place, reason, self.global),
            Found::Problem { place, reason } => tally.refused(place, reason, self.global),
            Found::Note { place, reason } => tally.note(place, reason, self.global),
        }
    }
}

/// What is known of a draft.
struct Saving {
    item: Item,
    layout: Layout,
    /// Whether there was one of its id.
    is_there: bool,
    problems: Vec<Problem>,
}

/// What goes into the store with one sync.
#[derive(Default)]
struct Saves {
    items: Vec<Saving>,
    drafts: Vec<Draft>,
    ids: HashSet<Id>,
    bytes: usize,
    /// What is not saved yet, since it states no time.
    undated: Vec<Item>,
}

impl Saves {
    fn has_id_of(&self, step: &Step) -> bool {
        matches!(step, Step::Save { draft, .. } if self.ids.contains(draft.id()))
    }
}

fn weight(step: &Step) -> usize {
    match step {
        Step::Save { draft, .. } => draft.raw_bytes(),
        Step::Refuse { kept: Some(kept), .. } => weight(kept),
        _ => 0,
    }
}
