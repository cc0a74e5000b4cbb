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

use serde::Serialize;

use super::Freshness;
use super::candidate::{Candidate, Hurdle, entries, judged, read};
use super::overview::{DEPTH, Outlook};
use super::pipeline::join;
use super::present::Present;
use super::smart;
use crate::checkpoint::{Checkpoint, Entry, Id, Series};
use crate::error::{Error, Result};
use crate::layouts::{Problem, Standing};
use crate::store::Store;

// Candidates read first; usually enough.
const NEAR: usize = 8;
// Tries if other processes prune the listed entries before they are read.
const TRIES: usize = 16;

/// How the checkpoint is chosen.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The newest that can be resumed.
    #[default]
    Last,
    /// The last one before the work went wrong.
    Smart,
    /// A person selects one of [`Store::candidates`]; nothing is proposed.
    Select,
}

/// The checkpoint to resume, if any, and those passed over.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// The chosen checkpoint, read and checked.
    pub offer: Option<Offer>,
    /// Why this one, in sentences.
    pub reasons: Vec<String>,
    /// Checkpoints newer than the offer, newest first; all of them if there is no offer.
    pub passed_over: Vec<PassedOver>,
    /// The newest checkpoint that could be resumed, if a person must decide: the newest readable
    /// one is invalid, or its file now has a content of no known system.
    pub older: Option<Id>,
    /// Damage that leaves so little of a checkpoint that it cannot be named.
    pub damage: Vec<String>,
    /// Whether the series has more checkpoints than were considered.
    pub has_more: bool,
}

/// A checkpoint that was read and checked.
///
/// See [`Store::propose`](crate::Store::propose) for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The checkpoint itself.
    pub checkpoint: Checkpoint,
    /// What its document says; for a story, with the state of its pipeline.
    pub standing: Standing,
    /// The rules of its system that its document breaks.
    pub problems: Vec<Problem>,
}

/// A checkpoint that was passed over.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::Strategy;
/// use waypost::{NewEntry, Series, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let good = store.save(NewEntry::issue("42")?, &"state")?;
/// store.save(NewEntry { can_resume: Some(false), ..NewEntry::issue("42")? }, &"broken")?;
/// let proposal = store.propose(&Series::new("issue:42")?, Strategy::Last)?;
/// for passed_over in &proposal.passed_over {
///     show(format!("not {}: {}", passed_over.entry.id, passed_over.why.join(" ")));
/// }
/// assert_eq!(proposal.passed_over.len(), 1);
/// assert_eq!(proposal.offer.unwrap().checkpoint.entry.id, good.id);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PassedOver {
    /// The checkpoint.
    #[serde(flatten)]
    pub entry: Entry,
    /// Whether it can be read.
    pub is_readable: bool,
    /// Why not, in words that follow its name.
    pub why: Vec<String>,
    #[serde(skip)]
    is_over: bool,
    #[serde(skip)]
    is_set_aside: bool,
}

/// The point at which work goes on.
///
/// ```
/// use waypost::recovery::ResumePoint;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?.phase("review").iteration(7), &"state")?;
/// let (offer, _hurdles) = store.offer(saved)?;
/// let point = ResumePoint::of(&offer.checkpoint.entry, &offer.standing);
/// assert_eq!((point.phase.as_deref(), point.iteration), (Some("review"), Some(7)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResumePoint {
    /// The phase of the work.
    pub phase: Option<String>,
    /// The phase of the checkpoint, if the work has since moved to another.
    pub saved_phase: Option<String>,
    /// The step within the phase.
    pub step: Option<String>,
    /// The iteration of the loop.
    pub iteration: Option<u64>,
    /// The place that the checkpoint itself names.
    pub resume_from: Option<String>,
    /// What its system does first, in a sentence.
    pub next: Option<String>,
}

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
                    return Err(Error::invalid("strategy", "only a person can select"));
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
            reason: "is pruned all the time",
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
        let mut older = None;
        for entry in entries {
            let Some((mut candidate, checkpoint)) = read(self, entry)? else { continue };
            present.take(&mut candidate);
            if stop.is_none() {
                present.check(&mut candidate);
            }
            let unknown = present.check_content(self, &mut candidate)?;
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
            }
            if let Some(by) = unknown {
                let why =
                    || format!("{by} is of no system that is known, so nothing older is offered.");
                stop.get_or_insert_with(why);
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

impl Proposal {
    fn new(offer: Option<Offer>, reasons: Vec<String>, passed_over: Vec<PassedOver>) -> Self {
        let damage = Vec::new();
        Self { offer, reasons, passed_over, older: None, damage, has_more: false }
    }

    /// Returns the checkpoint that ended the work, if that is why nothing is offered.
    #[must_use]
    pub fn ended(&self) -> Option<&PassedOver> {
        let known = || self.passed_over.iter().filter(|it| it.is_readable || it.is_over);
        let newest = known().find(|it| !it.is_set_aside).or_else(|| known().next());
        newest.filter(|it| self.offer.is_none() && it.is_over)
    }

    /// Returns the decision by the store alone, before the world is compared.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        match (&self.offer, self.ended()) {
            (Some(_), _) => Outlook::Resume,
            (None, Some(_)) => Outlook::Ended,
            (None, None) => Outlook::Refused,
        }
    }
}

impl Offer {
    fn of(candidate: &Candidate, checkpoint: Checkpoint) -> Self {
        let (standing, problems) = (candidate.standing.clone(), candidate.problems.clone());
        Self { checkpoint, standing, problems }
    }
}

impl PassedOver {
    /// Passed over for its hurdles.
    pub(super) fn of(candidate: &Candidate) -> Self {
        Self::because(candidate, candidate.hurdles.iter().map(Hurdle::to_string).collect())
    }

    /// As [`PassedOver::of`], for these reasons.
    pub(super) fn because(candidate: &Candidate, why: Vec<String>) -> Self {
        Self {
            entry: candidate.entry.clone(),
            is_readable: candidate.is_readable(),
            why,
            is_over: candidate.has_ended(),
            is_set_aside: candidate.is_set_aside,
        }
    }
}

impl ResumePoint {
    /// Where work goes on from a checkpoint.
    #[must_use]
    pub fn of(entry: &Entry, standing: &Standing) -> Self {
        Self {
            phase: entry.phase.clone(),
            saved_phase: None,
            step: entry.step.clone(),
            iteration: entry.iteration,
            resume_from: entry.resume_from.clone(),
            next: standing.next.clone(),
        }
    }

    /// The same, in the phase that the labels of the issue name.
    #[must_use]
    pub fn following(mut self, freshness: &Freshness) -> Self {
        if let Some(phase) = &freshness.phase {
            self.saved_phase = self.phase.replace(phase.clone());
        }
        self
    }

    /// Returns a clause that says that the phase is not that of the checkpoint, and why.
    #[must_use]
    pub fn phase_note(&self) -> Option<String> {
        let [phase, saved] = [self.phase.as_ref()?, self.saved_phase.as_ref()?];
        Some(format!("{phase}, by the current labels of the issue; it was saved in {saved}"))
    }
}

fn reason(entry: &Entry, newer: usize) -> String {
    match newer {
        0 => format!("{} is the newest of its series.", entry.id),
        1 => format!("{} is the newest that can be resumed; one is newer.", entry.id),
        count => format!("{} is the newest that can be resumed; {count} are newer.", entry.id),
    }
}
