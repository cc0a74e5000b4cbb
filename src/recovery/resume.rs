//! Which checkpoint of a series to go on from, and why.

use std::str::FromStr;

use serde::Serialize;

use super::candidate::{Candidate, Hurdle, entries, read};
use super::smart;
use crate::checkpoint::{Checkpoint, Entry, Series};
use crate::error::{Error, Result};
use crate::layouts::Standing;
use crate::store::Store;

const NEAR: usize = 8;

/// How the checkpoint is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The newest that can be resumed.
    #[default]
    Last,
    /// The last one before things went wrong.
    Smart,
}

/// What to go on from, if anything, and what was passed over for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// Read and checked.
    pub offer: Option<Offer>,
    /// Why this one, in sentences.
    pub reasons: Vec<String>,
    /// What is newer than the offer, or all if there is none, the newest first.
    pub passed_over: Vec<PassedOver>,
    /// Damage that leaves so little of a checkpoint that it cannot be named.
    pub damage: Vec<String>,
    /// Whether the series has more checkpoints than were looked at.
    pub has_more: bool,
}

/// A checkpoint that was read and checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The checkpoint itself.
    pub checkpoint: Checkpoint,
    /// What its document says.
    pub standing: Standing,
}

/// A checkpoint that is not to go on from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PassedOver {
    /// The checkpoint.
    pub entry: Entry,
    /// Whether it can be read.
    pub is_readable: bool,
    /// Why not, in words that follow its name.
    pub why: Vec<String>,
}

/// Where work goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResumePoint {
    /// The phase of the work.
    pub phase: Option<String>,
    /// The step within the phase.
    pub step: Option<String>,
    /// The iteration of the loop.
    pub iteration: Option<u64>,
    /// The place that the checkpoint itself names.
    pub resume_from: Option<String>,
    /// What its system does first, in a sentence.
    pub next: Option<String>,
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "last" => Ok(Self::Last),
            "smart" => Ok(Self::Smart),
            _ => Err(Error::invalid("strategy", format_args!("{text:?} is none of last, smart"))),
        }
    }
}

impl Store {
    /// Chooses the checkpoint of a series to go on from, among the newest `depth` of them.
    ///
    /// What is offered has been read and checked. A series whose newest readable checkpoint is
    /// completed or archived has ended: nothing is offered. [`Strategy::Smart`] reads all that it
    /// looks at.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the series has no checkpoint, and if the store cannot be read.
    pub fn propose(&self, series: &Series, strategy: Strategy, depth: usize) -> Result<Proposal> {
        if strategy == Strategy::Last {
            // Nearly always the first one will do, and the others need not be looked for.
            let near = self.propose_within(series, strategy, depth.min(NEAR))?;
            if near.offer.is_some() || !near.has_more {
                return Ok(near);
            }
        }
        self.propose_within(series, strategy, depth)
    }

    fn propose_within(&self, series: &Series, how: Strategy, depth: usize) -> Result<Proposal> {
        let (mut entries, damage) = entries(self, series, depth.saturating_add(1))?;
        if entries.is_empty() && damage.is_empty() {
            return Err(Error::NotFound { wanted: series.to_string() });
        }
        let has_more = entries.len() + damage.len() > depth;
        entries.truncate(depth);
        let proposal = match how {
            Strategy::Last => self.last(entries)?,
            Strategy::Smart => self.smart(entries)?,
        };
        Ok(Proposal { damage, has_more, ..proposal })
    }

    /// Reads and checks one checkpoint, whatever stands in the way of going on from it.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn offer(&self, entry: Entry) -> Result<(Offer, Vec<Hurdle>)> {
        let id = entry.id.clone();
        match read(self, entry)? {
            (candidate, Some(checkpoint)) => {
                Ok((Offer { checkpoint, standing: candidate.standing }, candidate.hurdles))
            }
            // Says once more, as an error, what is wrong with it.
            (_, None) => self.get(&id).and_then(|checkpoint| {
                let standing = Standing::default();
                checkpoint.document().map(|_| (Offer { checkpoint, standing }, Vec::new()))
            }),
        }
    }

    fn last(&self, entries: Vec<Entry>) -> Result<Proposal> {
        let mut passed_over = Vec::new();
        let mut has_ended = false;
        for entry in entries {
            let (candidate, checkpoint) = read(self, entry)?;
            // Of work that is done an earlier state would do some of it again.
            has_ended |= candidate.has_ended() && passed_over.iter().all(is_unreadable);
            let standing = candidate.standing.clone();
            match checkpoint.filter(|_| candidate.hurdles.is_empty() && !has_ended) {
                Some(checkpoint) => {
                    let reasons = vec![reason(&candidate.entry, &passed_over)];
                    let offer = Some(Offer { checkpoint, standing });
                    return Ok(Proposal::new(offer, reasons, passed_over));
                }
                None => passed_over.push(PassedOver::of(&candidate)),
            }
            if has_ended {
                break;
            }
        }
        Ok(Proposal::new(None, Vec::new(), passed_over))
    }

    fn smart(&self, entries: Vec<Entry>) -> Result<Proposal> {
        let read = entries.into_iter().map(|entry| Candidate::of(self, entry));
        let candidates = read.collect::<Result<Vec<Candidate>>>()?;
        let choice = smart::choose(&candidates);
        let offer = match choice.at {
            Some(at) => Some(self.offer(candidates[at].entry.clone())?.0),
            None => None,
        };
        Ok(Proposal::new(offer, choice.reasons, choice.passed_over))
    }
}

impl Proposal {
    fn new(offer: Option<Offer>, reasons: Vec<String>, passed_over: Vec<PassedOver>) -> Self {
        Self { offer, reasons, passed_over, damage: Vec::new(), has_more: false }
    }
}

impl PassedOver {
    /// By what stands in the way.
    pub(super) fn of(candidate: &Candidate) -> Self {
        let mut why: Vec<String> = candidate.hurdles.iter().map(Hurdle::to_string).collect();
        if why.is_empty() {
            why.push("belongs to work that has ended".to_owned());
        }
        Self { entry: candidate.entry.clone(), is_readable: candidate.is_readable(), why }
    }
}

impl ResumePoint {
    /// Where work goes on from a checkpoint.
    #[must_use]
    pub fn of(entry: &Entry, standing: &Standing) -> Self {
        Self {
            phase: entry.phase.clone(),
            step: entry.step.clone(),
            iteration: entry.iteration,
            resume_from: entry.resume_from.clone(),
            next: standing.next.clone(),
        }
    }
}

fn is_unreadable(passed_over: &PassedOver) -> bool {
    !passed_over.is_readable
}

fn reason(entry: &Entry, passed_over: &[PassedOver]) -> String {
    match passed_over.len() {
        0 => format!("{} is the newest of its series.", entry.id),
        1 => format!("{} is the newest that can be resumed; one is newer.", entry.id),
        count => format!("{} is the newest that can be resumed; {count} are newer.", entry.id),
    }
}
