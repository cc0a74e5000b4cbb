//! Writing a group of packed drafts: to the journal where that pays, else to the tables.
//!
//! A relaxed save is written to the journal but not synced. It reaches the disk with the next
//! durable save, with `flush`, at closing, or after `flush_within` by the keeper. The order stays,
//! so a power loss costs a suffix of the relaxed saves and nothing else. A kill of the process
//! costs none.

use std::sync::atomic::Ordering;

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::Placed;
use crate::error::Result;
use crate::store::chain::bases::Saved;
use crate::store::log::journal::Journal;
use crate::store::options::Durability;
use crate::store::save::draft::Draft;
use crate::store::save::gather::Gathered;
use crate::store::save::order::any_lags;
use crate::store::save::queue::GROUP_MAX;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::sync::lock;

// Beyond this the savers settle the journal themselves: memory is bounded.
const PENDING_BYTES_MAX: usize = 4 << 20;

impl Shared {
    /// Writes packed drafts in one turn, and waits for it as long as `patience` says. Each has its
    /// own outcome, unless the store fails. Takes in what was spooled before.
    ///
    /// `None` if the store was moved meanwhile: then nothing is acknowledged.
    pub(in crate::store) fn write_group_once(
        &self,
        patience: Patience,
        drafts: &mut [Draft],
    ) -> Result<Option<Vec<Result<Entry>>>> {
        if drafts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.within(patience, |open| {
            // What was acknowledged before this save began gets a lower sequence.
            let mut spooled = self.take_in_most(open)?;
            let mut journal = lock(&open.journal);
            open.check_key()?;
            let now = (self.options.clock)();
            // Starting over may prune, so it comes before the bases are checked.
            if journal.is_full() && suits_journal(open, &journal, (drafts, now)) {
                self.write_durably(open, &mut journal, |_| Ok(()))?;
            }
            self.drop_lost_bases(open, &journal, drafts)?;
            self.drop_lost_bases(open, &journal, spooled.drafts())?;
            let outcomes = self.write_drafts(open, &mut journal, (drafts, now), &mut spooled)?;
            learn(open, drafts);
            if self.turn.is_replaced(open) {
                return Ok(None);
            }
            self.keep_journal(open, &mut journal)?;
            // Comes after the new bases are noted: pruning must make the store forget them.
            if lock(&open.intake).pending_bytes() > PENDING_BYTES_MAX {
                // The saves are durable even if this fails; the next reader retries it.
                self.keeper.note_failure(self.settle_and_prune(open));
            }
            Ok(Some(outcomes))
        })
    }

    /// Writes drafts to the journal if that pays, else to the tables, with what was spooled.
    fn write_drafts(
        &self,
        open: &Open,
        journal: &mut Journal,
        (drafts, now): (&mut [Draft], Timestamp),
        spooled: &mut Gathered<'_>,
    ) -> Result<Vec<Result<Entry>>> {
        if spooled.is_empty()
            && suits_journal(open, journal, (drafts, now))
            && journal.prepare(bytes_of(drafts))
        {
            return self.append_to_journal(open, journal, (drafts, now));
        }
        if !spooled.is_empty() {
            let outcomes = self.write_durably(open, journal, |writer| {
                writer.take_in(spooled)?;
                writer.add_each(drafts, now)
            });
            open.has_saved.store(true, Ordering::Relaxed);
            match outcomes {
                Ok(outcomes) => {
                    self.discard(open, spooled);
                    return Ok(outcomes);
                }
                // Damage to other checkpoints is no reason not to save.
                Err(error) => {
                    self.pass_over(error)?;
                    spooled.rest();
                }
            }
        }
        let outcomes = self.write_durably(open, journal, |writer| writer.add_each(drafts, now));
        open.has_saved.store(true, Ordering::Relaxed);
        outcomes
    }

    /// Gives drafts their places, and makes them durable in the journal.
    fn append_to_journal(
        &self,
        open: &Open,
        journal: &mut Journal,
        (drafts, now): (&mut [Draft], Timestamp),
    ) -> Result<Vec<Result<Entry>>> {
        let placed: Vec<Result<Placed>> = {
            let mut intake = lock(&open.intake);
            (0..drafts.len()).map(|at| intake.place((drafts, at), open, now)).collect()
        };
        let outcomes = placed.iter().map(|placed| match placed {
            Ok(placed) => Ok(placed.entry.clone()),
            Err(error) => Err(error.share()),
        });
        let outcomes = outcomes.collect();
        let placed: Vec<Placed> = placed.into_iter().filter_map(Result::ok).collect();
        self.tell_aside(journal);
        journal.append(&placed)?;
        if is_relaxed(drafts) {
            self.keeper.note_relaxed();
        } else {
            journal.sync()?;
            self.keeper.note_durable();
        }
        open.unsettled.fetch_add(placed.len(), Ordering::Release);
        lock(&open.intake).push(placed);
        self.keeper.note_pending();
        Ok(outcomes)
    }
}

/// The journal pays for saves that follow each other. It cannot tell whether an id is taken or a
/// content exists, and cannot raise the format of the store, as dates that lag and checkpoints from
/// files require.
fn suits_journal(open: &Open, journal: &Journal, (drafts, now): (&[Draft], Timestamp)) -> bool {
    // With this many names of the greatest length an item still fits into what is read of a
    // journal.
    drafts.len() <= GROUP_MAX
        && drafts.iter().all(|draft| !draft.has_own_id && draft.artifacts.is_empty())
        && !Journal::is_too_much(bytes_of(drafts))
        && (open.has_sources.load(Ordering::Relaxed) || !drafts.iter().any(Draft::is_of_file))
        && (open.may_lag() || !any_lags(drafts, lock(&open.intake).highest(), now))
        && (open.has_saved.load(Ordering::Relaxed) || journal.is_open() || is_relaxed(drafts))
}

/// The approximate length of drafts in the journal.
fn bytes_of(drafts: &[Draft]) -> u64 {
    // Names, and what else an entry has.
    const ENTRY_BYTES: usize = 512;
    let texts = |Draft { entry, .. }: &Draft| {
        let lists = entry.warnings.iter().chain(&entry.tags).map(String::len);
        lists.sum::<usize>() + entry.source_path.as_ref().map_or(0, String::len)
    };
    let payload = |draft: &Draft| draft.packed.as_ref().map_or(0, |it| it.frame.payload_bytes());
    let bytes = |draft: &Draft| ENTRY_BYTES + texts(draft) + payload(draft);
    drafts.iter().map(|draft| bytes(draft) as u64).sum()
}

fn is_relaxed(drafts: &[Draft]) -> bool {
    drafts.iter().all(|draft| draft.durability == Durability::Relaxed)
}

/// Lets the next save of each series refer to what was just saved.
fn learn(open: &Open, drafts: &[Draft]) {
    let saved = drafts.iter().filter_map(|draft| {
        let (series, raw) = (&draft.entry.series, &draft.raw);
        Some(Saved { series, sequence: draft.sequence?, packed: draft.packed.as_ref()?, raw })
    });
    open.bases.learn(saved, |at| drafts[at].sequence);
}
