//! Chooses the checkpoint of a series to resume, with the reasons.
//!
//! The newest checkpoints of a series are read one after the other. The first that can be read, is
//! not marked as not resumable, and has the state its system needs is offered. Each one passed over
//! is named with the reason.
//!
//! - One that breaks the rules of its system ends the search: an older one may lack the work of the
//!   writer that failed, so a person decides. `Proposal::older` names the newest valid one.
//! - Nothing older than a completed or archived checkpoint is offered: that work is over, and an
//!   earlier state would repeat some of it.
//! - A damaged entry hides no other: each is looked up by its own index row. If others prune
//!   entries between listing and reading, the search starts again; such a series never counts as
//!   empty.

use super::candidate::{Candidate, Hurdle, entries, judged, read};
use super::overview::DEPTH;
use super::pipeline::join;
use super::present::Present;
use super::proposal::{Offer, PassedOver, Proposal, Strategy};
use super::smart;
use crate::checkpoint::{Entry, Id, Series};
use crate::error::{Error, Result};
use crate::layouts::Standing;
use crate::store::Store;

// Candidates read first; usually enough.
const NEAR: usize = 8;
// Tries if other processes prune the listed entries before they are read.
const TRIES: usize = 16;

impl Store {
    /// Chooses the checkpoint of a series to go on from, among the newest [`DEPTH`] of them.
    ///
    /// ```
    /// use waypost::recovery::Strategy;
    /// use waypost::{NewEntry, Series, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path().join("store.redb"))?;
    /// store.save(NewEntry::issue("42")?, &"halfway")?;
    /// let proposal = store.propose(&Series::new("issue:42")?, Strategy::Last)?;
    /// let offer = proposal.offer.expect("nothing stands in the way");
    /// assert_eq!(offer.checkpoint.state::<String>()?, "halfway");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The offer has been read and checked. Nothing before a completed or archived checkpoint is
    /// offered: that work is over. [`Strategy::Last`] also offers nothing before a checkpoint that
    /// breaks the rules of its system; [`Proposal::older`] names the one it could be.
    /// [`Strategy::Smart`] passes over those, and reads all candidates.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the series has no checkpoint, [`Error::Invalid`] for
    /// [`Strategy::Select`], [`Error::Outdated`] if others keep pruning the candidates, and any
    /// error of reading the store.
    pub fn propose(&self, series: &Series, strategy: Strategy) -> Result<Proposal> {
        self.propose_among(series, strategy, DEPTH as usize)
    }

    /// As [`Store::propose`], among the newest `depth` of the series.
    ///
    /// # Errors
    /// As [`Store::propose`].
    pub fn propose_among(
        &self,
        series: &Series,
        strategy: Strategy,
        depth: usize,
    ) -> Result<Proposal> {
        if strategy == Strategy::Last {
            // The first one is nearly always enough.
            let near = self.propose_within(series, strategy, depth.min(NEAR))?;
            if near.offer.is_some() || near.older.is_some() || !near.has_more {
                return Ok(near);
            }
        }
        self.propose_within(series, strategy, depth)
    }

    fn propose_within(&self, series: &Series, how: Strategy, depth: usize) -> Result<Proposal> {
        for _ in 0..TRIES {
            let (mut entries, damage) = entries(self, series, depth.saturating_add(1))?;
            if entries.is_empty() && damage.is_empty() {
                return Err(Error::NotFound { wanted: series.to_string().into() });
            }
            let has_more = entries.len() + damage.len() > depth;
            entries.truncate(depth);
            let found = match how {
                Strategy::Last => self.last(entries, &damage)?,
                Strategy::Smart => self.smart(entries)?,
                Strategy::Select => {
                    return Err(Error::invalid(
                        "strategy",
                        "it proposes nothing: let a person choose among the candidates",
                    ));
                }
            };
            if let Some(mut proposal) = found {
                proposal.offer.as_mut().map_or(Ok(()), |offer| join(self, offer))?;
                // The offer of the newest does not depend on older ones.
                if has_more && (how == Strategy::Smart || proposal.offer.is_none()) {
                    let only = format!("Only the newest {depth} of its series were looked at.");
                    proposal.reasons.push(only);
                }
                return Ok(Proposal { damage, has_more, ..proposal });
            }
        }
        Err(Error::Outdated {
            id: series.to_string(),
            reason: "was pruned by others at each try",
            removed: 0,
        })
    }

    /// Returns the newest checkpoints of a series, at most `depth`, with what stands in the way of
    /// going on from them; and damage that leaves so little of one that it cannot be named.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn candidates(
        &self,
        series: &Series,
        depth: usize,
    ) -> Result<(Vec<Candidate>, Vec<String>)> {
        let (entries, damage) = entries(self, series, depth)?;
        let mut present = Present::default();
        let mut candidates = Vec::new();
        for entry in entries {
            let Some(mut candidate) = judged(self, entry)? else { continue };
            present.take(&mut candidate);
            present.check(&mut candidate);
            present.check_content(self, &mut candidate)?;
            candidates.push(candidate);
        }
        Ok((candidates, damage))
    }

    /// Reads and checks one checkpoint, even if it cannot be resumed.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn offer(&self, entry: Entry) -> Result<(Offer, Vec<Hurdle>)> {
        let id = entry.id.clone();
        match read(self, entry)? {
            Some((candidate, Some(checkpoint))) => {
                let mut offer = Offer::of(&candidate, checkpoint);
                join(self, &mut offer)?;
                Ok((offer, candidate.hurdles))
            }
            // Returns the damage as an error.
            Some((_, None)) | None => self.get(&id).and_then(|checkpoint| {
                let (standing, problems) = (Standing::default(), Vec::new());
                let offer =
                    |_| (Offer { checkpoint: checkpoint.clone(), standing, problems }, Vec::new());
                checkpoint.document().map(offer)
            }),
        }
    }

    /// `None` if all were deleted since they were listed.
    fn last(&self, entries: Vec<Entry>, damage: &[String]) -> Result<Option<Proposal>> {
        let mut present = Present::default();
        let mut passed_over = Vec::new();
        // The reason why nothing older is offered.
        let mut stop: Option<String> = None;
        let mut invalid: Option<Id> = None;
        let mut older = None;
        for entry in entries {
            let Some((mut candidate, checkpoint)) = read(self, entry)? else { continue };
            present.take(&mut candidate);
            if stop.is_none() {
                present.check(&mut candidate);
            }
            let unknown = present.check_content(self, &mut candidate)?;
            // A person may resume from the content that the invalid one overwrote.
            candidate.hurdles.retain(|hurdle| !hurdle.is_overwritten_by(invalid.as_ref()));
            if let Some(checkpoint) = checkpoint.filter(|_| candidate.hurdles.is_empty()) {
                if stop.is_some() {
                    older = Some(checkpoint.entry.id);
                    break;
                }
                let newer = passed_over.len() + damage.len();
                let reasons = vec![reason(&candidate.entry, newer)];
                let offer = Some(Offer::of(&candidate, checkpoint));
                return Ok(Some(Proposal::new(offer, reasons, passed_over)));
            }
            if stop.is_none() {
                passed_over.push(PassedOver::of(&candidate));
            }
            if candidate.is_invalid() {
                let id = &candidate.entry.id;
                stop.get_or_insert_with(|| {
                    format!("{id} is invalid, so nothing older is offered.")
                });
                invalid.get_or_insert_with(|| id.clone());
            }
            if let Some(by) = unknown {
                stop.get_or_insert_with(|| unknown_reason(&by));
            }
            // Resuming an earlier state would repeat finished work.
            if candidate.ends_run() {
                break;
            }
        }
        let is_gone = passed_over.is_empty() && damage.is_empty();
        let proposal = Proposal::new(None, stop.into_iter().collect(), passed_over);
        Ok((!is_gone).then_some(Proposal { older, ..proposal }))
    }

    /// `None` if the choice, or all, was deleted since it was listed.
    fn smart(&self, entries: Vec<Entry>) -> Result<Option<Proposal>> {
        let is_empty = entries.is_empty();
        let (mut present, mut candidates, mut aside) = (Present::default(), Vec::new(), Vec::new());
        for entry in entries {
            let Some(mut candidate) = judged(self, entry)? else { continue };
            present.take(&mut candidate);
            if candidate.is_set_aside {
                aside.push(candidate);
                continue;
            }
            present.check_content(self, &mut candidate)?;
            let has_ended = candidate.has_ended();
            candidates.push(candidate);
            // Older checkpoints belong to other, finished work.
            if has_ended {
                break;
            }
        }
        // If nothing else is left, the checkpoints set aside show how the work ended.
        let candidates = if candidates.is_empty() { aside } else { candidates };
        if candidates.is_empty() && !is_empty {
            return Ok(None);
        }
        let choice = smart::choose(&candidates);
        let Some(at) = choice.at else {
            return Ok(Some(Proposal::new(None, choice.reasons, choice.passed_over)));
        };
        let Some((candidate, checkpoint)) = read(self, candidates[at].entry.clone())? else {
            return Ok(None);
        };
        // Damaged since it was judged: an offer must be readable.
        let offer = checkpoint.map(|checkpoint| Offer::of(&candidate, checkpoint));
        Ok(Some(Proposal::new(offer, choice.reasons, choice.passed_over)))
    }
}

fn unknown_reason(by: &Entry) -> String {
    let what =
        if by.is_unreadable() { "could not be read" } else { "is of no system that is known" };
    format!("{} {what}, so nothing older is offered.", by.id)
}

fn reason(entry: &Entry, newer: usize) -> String {
    match newer {
        0 => format!("{} is the newest of its series.", entry.id),
        1 => format!("{} is the newest that can be resumed; one is newer.", entry.id),
        count => format!("{} is the newest that can be resumed; {count} are newer.", entry.id),
    }
}
