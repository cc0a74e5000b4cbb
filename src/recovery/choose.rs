//! Finds the one checkpoint that a name means, reads and checks it.
//!
//! Never asks and never guesses: an ambiguous name is an error.

use super::candidate::Hurdle;
use super::decision::{Choice, Resume};
use super::present::unknown_content;
use super::proposal::{Offer, PassedOver, Proposal, Strategy};
use super::target::Target;
use super::unresolved::Unresolved;
use crate::checkpoint::{Entry, Id, Series};
use crate::error::Result;
use crate::store::Store;

/// The one target that a name means.
///
/// ```
/// use waypost::recovery::Target;
/// use waypost::{NewEntry, Series, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let meant = store.meant("42")?;
/// assert_eq!(meant.target, Target::Series(Series::new("issue:42")?));
/// assert_eq!(meant.left_out, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Meant {
    /// The target.
    pub target: Target,
    /// Number of other targets of this name, left out because their work has ended.
    pub left_out: usize,
}

/// A checkpoint that was read and checked, why it was chosen, and why it cannot be resumed.
///
/// ```
/// use waypost::recovery::Resume;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let chosen = store.choose(store.meant("42")?.target, &Resume::default())?;
/// assert_eq!(chosen.offer.checkpoint.state::<String>()?, "state");
/// assert!(chosen.hurdles.is_empty() && !chosen.is_named);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Chosen {
    /// The checkpoint.
    pub offer: Offer,
    /// Why this one, in sentences.
    pub reasons: Vec<String>,
    /// What stands in the way.
    pub hurdles: Vec<Hurdle>,
    /// Newer checkpoints, newest first; all of them if none of the series can be resumed.
    pub passed_over: Vec<PassedOver>,
    /// If the checkpoint is invalid, the newest older one that could be resumed.
    pub older: Option<Id>,
    /// Damage that leaves so little of a checkpoint that it cannot be named.
    pub damage: Vec<String>,
    /// Whether the checkpoint itself was named, not its series.
    pub is_named: bool,
}

impl Store {
    /// Finds the one target that a name means, by the rules of [`Store::targets`].
    ///
    /// If several targets fit and the work of only one has not ended, it is that one.
    ///
    /// # Errors
    /// [`Unresolved::Nothing`], [`Unresolved::LostNames`], [`Unresolved::Several`], and
    /// [`Unresolved::Failed`] if the store cannot be read.
    pub fn meant(&self, name: &str) -> Result<Meant, Unresolved> {
        let mut found = self.targets(name)?;
        if found.is_empty() {
            return Err(self.nothing(name)?);
        }
        let mut open = Vec::new();
        for (at, target) in found.iter().enumerate().filter(|_| found.len() > 1) {
            if self.may_go_on(target)? {
                open.push(at);
            }
        }
        match open[..] {
            // Only one is left, or all have ended and any will do.
            [] => Ok(Meant { target: found.swap_remove(0), left_out: 0 }),
            [only] => {
                let left_out = found.len() - 1;
                Ok(Meant { target: found.swap_remove(only), left_out })
            }
            _ => Err(Unresolved::Several { wanted: name.to_owned(), choices: found }),
        }
    }

    /// Chooses the checkpoint to go on from: the one that is named, or one of a series by
    /// [`Resume::strategy`]. Reads and checks it.
    ///
    /// If nothing in the series can be resumed, it is the newest that can be read, with
    /// [`Chosen::hurdles`].
    ///
    /// # Errors
    /// [`Unresolved::Unselected`], [`Unresolved::AllDamaged`], [`Unresolved::Ended`], and
    /// [`Unresolved::Failed`] if the store cannot be read.
    pub fn choose(&self, target: Target, how: &Resume) -> Result<Chosen, Unresolved> {
        let series = match target {
            Target::Checkpoint(entry) => return Ok(self.chosen(*entry, "It was named.")?),
            Target::Series(series) => series,
        };
        match how.strategy {
            // Starting over needs no selection.
            Strategy::Select if how.choice != Some(Choice::Fresh) => {
                Err(self.unselected(series, how.depth)?)
            }
            Strategy::Select | Strategy::Last => self.proposed(&series, Strategy::Last, how.depth),
            Strategy::Smart => self.proposed(&series, Strategy::Smart, how.depth),
        }
    }

    /// Reads and checks a checkpoint that a person chose, for a reason in a sentence.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn chosen(&self, entry: Entry, reason: &str) -> Result<Chosen> {
        let (offer, hurdles) = self.offer(entry)?;
        Ok(Chosen {
            reasons: vec![reason.to_owned()],
            is_named: true,
            ..Chosen::of(offer, hurdles)
        })
    }

    fn nothing(&self, name: &str) -> Result<Unresolved> {
        let (about, lost) = (self.about(name)?, self.lost_names()?);
        let wanted = name.to_owned();
        if !lost.is_empty() {
            return Ok(Unresolved::LostNames { wanted, about, series: lost });
        }
        let mut nearby = self.nearby(name)?;
        nearby.retain(|series| !about.contains(series));
        Ok(Unresolved::Nothing { wanted, about, nearby, newest: self.newest_series()? })
    }

    /// Whether its work may go on; true if that is unknown.
    fn may_go_on(&self, target: &Target) -> Result<bool> {
        match target {
            Target::Checkpoint(entry) => Ok(!entry.status.is_over()),
            Target::Series(series) => self.is_open(series),
        }
    }

    fn unselected(&self, series: Series, depth: u32) -> Result<Unresolved> {
        let (candidates, damage) = self.candidates(&series, depth as usize)?;
        if candidates.is_empty() {
            return Ok(Unresolved::AllDamaged { series, count: damage.len(), damage });
        }
        Ok(Unresolved::Unselected { series, candidates, damage })
    }

    fn proposed(&self, series: &Series, how: Strategy, depth: u32) -> Result<Chosen, Unresolved> {
        let proposal = self.propose_among(series, how, depth as usize)?;
        if let Some(ended) = proposal.ended().filter(|it| !it.is_readable) {
            let (series, status) = (series.clone(), ended.entry.status);
            return Err(Unresolved::Ended { series, status });
        }
        let Proposal { offer, reasons, passed_over, older, damage, .. } = proposal;
        if let Some(offer) = offer {
            let chosen = Chosen::of(offer, Vec::new());
            return Ok(Chosen { reasons, passed_over, older, damage, ..chosen });
        }
        // With force, or to start over, the newest readable one is still chosen.
        let newest = passed_over.iter().find(|it| it.is_readable).map(|it| it.entry.clone());
        let Some(newest) = newest else {
            let count = passed_over.len() + damage.len();
            return Err(Unresolved::AllDamaged { series: series.clone(), count, damage });
        };
        let (offer, mut hurdles) = self.offer(newest)?;
        if hurdles.is_empty() {
            // All of them are unsafe, though none forbids resuming.
            let overwritten = unknown_content(self, &offer.checkpoint.entry)?;
            hurdles
                .push(overwritten.map_or(Hurdle::Unsafe, |it| Hurdle::Overwritten { by: it.id }));
        }
        Ok(Chosen { reasons, passed_over, older, damage, ..Chosen::of(offer, hurdles) })
    }
}

impl Chosen {
    fn of(offer: Offer, hurdles: Vec<Hurdle>) -> Self {
        let (reasons, passed_over, damage) = (Vec::new(), Vec::new(), Vec::new());
        Self { offer, reasons, hurdles, passed_over, older: None, damage, is_named: false }
    }

    /// Whether its series has ended.
    pub(super) fn has_ended(&self) -> bool {
        let is_end = |hurdle: &Hurdle| matches!(hurdle, Hurdle::Ended { .. });
        !self.is_named && self.hurdles.iter().any(is_end)
    }
}
