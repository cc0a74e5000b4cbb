//! Imports trees of files: several threads read and judge them, and they are saved in their order.

use std::cell::RefCell;
use std::collections::HashSet;

use super::failure::{Ended, Ending};
use super::file::{Importer, Judged};
use super::tally::Tally;
use super::walk::{Discovered, Item, Root};
use crate::checkpoint::{Id, Layout};
use crate::error::{Error, Result};
use crate::layouts::{Kind, Problem};
use crate::store::{Draft, Store};
use crate::transfer::ordered::in_order;

// Enough to make handing over cheap beside it; few enough that all processors have work.
const PART_FILES: usize = 128;
// Files are saved in groups of this many: more take as long per file.
const SAVED_FILES: usize = 512;
// Drafts of one transaction must fit in memory, and those of a part once per thread.
const PART_BYTES: usize = 8 << 20;
// Often enough that a caller who stops the import need not wait.
const DIRECTORIES_PER_STEP: u64 = 32;

/// A discovery after a thread processed it.
enum Processed {
    NoFile(Discovered),
    File {
        item: Item,
        judged: Judged,
    },
    /// The memory for this part is used up.
    Later(Item),
}

/// Returns true for discoveries to process.
pub(super) type Wants<'a> = &'a mut (dyn FnMut(&Discovered) -> bool + Send);

/// Trees to import, and how.
#[derive(Clone, Copy)]
pub(super) struct Trees<'a> {
    pub(super) importer: Importer<'a>,
    pub(super) roots: &'a [Root],
}

impl Trees<'_> {
    /// Imports the files that are wanted.
    pub(super) fn run(&self, tally: &mut Tally<'_>, wants: Wants<'_>) -> Ended {
        let mut saves = Saves::default();
        let produce = |hand_out: &mut dyn FnMut(Vec<Discovered>) -> bool| {
            // If no more parts are taken, the consumer says why.
            self.walk(wants, hand_out);
            Ended::Ok(())
        };
        let taken = in_order(
            produce,
            |part| self.process(part),
            |part| {
                tally.step()?;
                let is_file = |it: &&Processed| !matches!(it, Processed::NoFile(_));
                let files = part.iter().filter(is_file).count();
                self.save(part, &mut saves, tally)?;
                tally.advance(files as u64);
                Ok(())
            },
        );
        let undated = std::mem::take(&mut saves.undated);
        match taken {
            // What was judged by then is saved, and spares the next import the work.
            Ok(()) | Err(Ending::Stopped) => self.commit(saves, tally)?,
            Err(Ending::Failed(_)) => {}
        }
        taken?;
        self.take_undated(undated, tally)
    }

    /// Imports files that state no time, now that the store has those that do.
    fn take_undated(&self, items: Vec<Item>, tally: &mut Tally<'_>) -> Ended {
        let importer = Importer { takes_undated: true, ..self.importer };
        let trees = Self { importer, ..*self };
        let mut saves = Saves::default();
        for item in items {
            tally.step()?;
            trees.take_alone(&item, &mut saves, tally)?;
            trees.commit_if_many(&mut saves, tally)?;
        }
        Ok(trees.commit(saves, tally)?)
    }

    /// Counts the files, so that steps have a total.
    pub(super) fn count(&self, tally: &mut Tally<'_>) -> Ended {
        let mut count = 0;
        for root in self.roots {
            let mut hand_out = |found| {
                count += u64::from(matches!(found, Discovered::File(_)));
                true
            };
            if !root.walk(&mut || tally.step().is_ok(), &mut hand_out) {
                return Err(Ending::Stopped);
            }
        }
        tally.expect(Some(count));
        Ok(())
    }

    /// Hands out parts, and empty ones while nothing is found, so that the caller can stop it.
    fn walk(&self, wants: Wants<'_>, hand_out: &mut dyn FnMut(Vec<Discovered>) -> bool) {
        let hand_out = RefCell::new(hand_out);
        let mut part = Vec::with_capacity(PART_FILES);
        let mut directories = 0;
        let is_wanted = self.roots.iter().all(|root| {
            let mut goes_on = || {
                directories += 1;
                directories % DIRECTORIES_PER_STEP != 0 || hand_out.borrow_mut()(Vec::new())
            };
            root.walk(&mut goes_on, &mut |found| {
                if wants(&found) {
                    part.push(found);
                }
                part.len() < PART_FILES || hand_out.borrow_mut()(std::mem::take(&mut part))
            })
        });
        if is_wanted {
            hand_out.into_inner()(part);
        }
    }

    fn process(&self, part: Vec<Discovered>) -> Vec<Processed> {
        let mut bytes = 0;
        part.into_iter()
            .map(|found| match found {
                Discovered::File(item) if bytes > PART_BYTES => Processed::Later(item),
                Discovered::File(item) => match self.importer.judge(&item, false) {
                    Judged::Alone => Processed::Later(item),
                    judged => {
                        bytes += weight(&judged);
                        Processed::File { item, judged }
                    }
                },
                other => Processed::NoFile(other),
            })
            .collect()
    }

    /// Saves a part, once there is enough for a transaction.
    fn save(&self, part: Vec<Processed>, saves: &mut Saves, tally: &mut Tally<'_>) -> Ended {
        for processed in part {
            match processed {
                Processed::NoFile(found) => report(&found, tally),
                Processed::File { item, judged } => {
                    self.take(&item, judged, saves, tally)?;
                    self.commit_if_many(saves, tally)?;
                }
                Processed::Later(item) => {
                    self.commit(saves.start_over(), tally)?;
                    self.take_alone(&item, saves, tally)?;
                }
            }
        }
        Ok(())
    }

    /// Imports a file that is large, or has many checkpoints.
    fn take_alone(&self, item: &Item, saves: &mut Saves, tally: &mut Tally<'_>) -> Ended {
        if !matches!(item.kind, Kind::Lines) {
            let judged = self.importer.judge(item, true);
            return Ok(self.take(item, judged, saves, tally)?);
        }
        self.importer.judge_lines(item, &mut |judge| {
            tally.step()?;
            let mut judged = judge();
            // What the store has of a line depends on the lines before it.
            if saves.has_id_of(&judged) || saves.bytes > PART_BYTES {
                self.commit(saves.start_over(), tally)?;
                judged = judge();
            }
            self.take(item, judged, saves, tally)?;
            Ok(self.commit_if_many(saves, tally)?)
        })
    }

    fn take(
        &self,
        item: &Item,
        mut judged: Judged,
        saves: &mut Saves,
        tally: &mut Tally<'_>,
    ) -> Result<()> {
        if let Judged::Refuse { reason, kept: Some(kept) } = judged {
            if !self.importer.keeps_unreadable {
                return keep(item, (&reason, *kept), saves, tally);
            }
            tally.kept(&item.place, &reason);
            judged = *kept;
        }
        match judged {
            Judged::Save { draft, layout, is_there, problems } => {
                let item = item.clone();
                let saving = Saving { item, layout, is_there, is_refused: false, problems };
                saves.add(saving, *draft);
            }
            Judged::Would { about, problems } => {
                tally.would(&about, &problems, &item.place);
            }
            Judged::Known => tally.report.known += 1,
            Judged::Deleted => tally.report.deleted += 1,
            Judged::Explain { id, trigger } => {
                tally.report.known += 1;
                if let Some(store) = self.importer.store.filter(|_| !self.importer.is_dry) {
                    store.set_trigger(&id, trigger)?;
                }
            }
            Judged::Undated => saves.undated.push(item.clone()),
            Judged::Skip(reason) => tally.skipped(&item.place, reason),
            Judged::Ignore => tally.report.ignored += 1,
            // `process` passes these on as `Processed::Later`.
            Judged::Alone => tally.unread(&item.place, "import it again"),
            Judged::Refuse { reason, .. } => tally.refused(&item.place, &reason),
            Judged::Unread(reason) => tally.unread(&item.place, &reason),
            Judged::Fail(error) => return Err(error),
        }
        Ok(())
    }

    fn commit_if_many(&self, saves: &mut Saves, tally: &mut Tally<'_>) -> Result<()> {
        if saves.drafts.len() < SAVED_FILES && saves.bytes <= PART_BYTES {
            return Ok(());
        }
        self.commit(saves.start_over(), tally)
    }

    fn commit(&self, saves: Saves, tally: &mut Tally<'_>) -> Result<()> {
        let Some(store) = self.importer.store else { return Ok(()) };
        if saves.drafts.is_empty() {
            return Ok(());
        }
        let outcomes = store.batch(saves.drafts)?;
        for (saving, outcome) in saves.items.into_iter().zip(outcomes) {
            let Saving { item, layout, is_there, is_refused, problems } = saving;
            match outcome {
                Ok(_) if is_refused => tally.kept_refused += 1,
                // Another process saved the same bytes.
                Err(Error::Exists { .. }) if is_refused => {}
                Ok(_) if is_there => tally.report.known += 1,
                Ok(_) => tally.imported(&item.place, layout, &problems),
                // Another file of this import, or another process, took the id meanwhile.
                Err(Error::Exists { .. }) => self.again(&item, store, tally)?,
                Err(error) => tally.refused(&item.place, &error.to_string()),
            }
        }
        Ok(())
    }

    /// Judges a file again, now that the store has the checkpoint that took its id.
    fn again(&self, item: &Item, store: &Store, tally: &mut Tally<'_>) -> Result<()> {
        match self.importer.judge(item, true) {
            Judged::Save { draft, layout, problems, .. } => match store.save_draft(*draft) {
                Ok(_) => tally.imported(&item.place, layout, &problems),
                Err(error @ Error::Exists { .. }) => {
                    tally.refused(&item.place, &error.to_string());
                }
                Err(error) => return Err(error),
            },
            Judged::Known | Judged::Explain { .. } => tally.report.known += 1,
            // Another process took the id of a line.
            Judged::Alone | Judged::Undated => tally.unread(&item.place, "import it again"),
            Judged::Deleted => tally.report.deleted += 1,
            Judged::Skip(_) | Judged::Ignore | Judged::Would { .. } => {}
            Judged::Refuse { reason, .. } => tally.refused(&item.place, &reason),
            Judged::Unread(reason) => tally.unread(&item.place, &reason),
            Judged::Fail(error) => return Err(error),
        }
        Ok(())
    }
}

/// Refuses a file, and keeps its bytes.
fn keep(
    item: &Item,
    (reason, kept): (&str, Judged),
    saves: &mut Saves,
    tally: &mut Tally<'_>,
) -> Result<()> {
    if matches!(kept, Judged::Undated) {
        saves.undated.push(item.clone());
        return Ok(());
    }
    tally.refused(&item.place, reason);
    match kept {
        Judged::Save { draft, layout, is_there, problems } => {
            let item = item.clone();
            saves.add(Saving { item, layout, is_there, is_refused: true, problems }, *draft);
        }
        Judged::Fail(error) => return Err(error),
        Judged::Refuse { reason, .. } => {
            tally.note(&item.place, &format!("its bytes cannot be kept: {reason}"));
            return Ok(());
        }
        Judged::Would { .. }
        | Judged::Known
        | Judged::Deleted
        | Judged::Explain { .. }
        | Judged::Skip(_)
        | Judged::Ignore
        | Judged::Undated
        | Judged::Alone
        | Judged::Unread(_) => {}
    }
    tally.report.kept += 1;
    Ok(())
}

fn report(found: &Discovered, tally: &mut Tally<'_>) {
    match found {
        Discovered::File(_) => {}
        Discovered::Skipped { place, reason } => tally.skipped(place, reason),
        Discovered::Problem { place, reason } => tally.refused(place, reason),
        Discovered::Note { place, reason } => tally.note(place, reason),
    }
}

/// A draft on its way into the store.
struct Saving {
    item: Item,
    layout: Layout,
    /// True if the store has a checkpoint of its id.
    is_there: bool,
    /// True if only its bytes are kept, and it counts as refused already.
    is_refused: bool,
    problems: Vec<Problem>,
}

/// Drafts that are saved with one sync.
#[derive(Default)]
struct Saves {
    items: Vec<Saving>,
    drafts: Vec<Draft>,
    ids: HashSet<Id>,
    bytes: usize,
    /// Files that are saved later, since they state no time.
    undated: Vec<Item>,
}

impl Saves {
    fn add(&mut self, saving: Saving, draft: Draft) {
        self.bytes += draft.raw_bytes();
        self.ids.insert(draft.id().clone());
        self.items.push(saving);
        self.drafts.push(draft);
    }

    /// What is to be saved so far; the files that are saved later stay.
    fn start_over(&mut self) -> Self {
        let undated = std::mem::take(&mut self.undated);
        std::mem::replace(self, Self { undated, ..Self::default() })
    }

    fn has_id_of(&self, judged: &Judged) -> bool {
        matches!(judged, Judged::Save { draft, .. } if self.ids.contains(draft.id()))
    }
}

fn weight(judged: &Judged) -> usize {
    match judged {
        Judged::Save { draft, .. } => draft.raw_bytes(),
        Judged::Refuse { kept: Some(kept), .. } => weight(kept),
        _ => 0,
    }
}
