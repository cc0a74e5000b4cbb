//! An overview of all series: the newest checkpoint, and whether it would be resumed.
//!
//! Reads only the store: branches, files and issues are compared when a series is resumed.

use serde::Serialize;

use super::blind::Blind;
use super::candidate::judged;
use super::freshness::{Advice, freshness};
use super::proposal::{Proposal, Strategy};
use crate::checkpoint::{Entry, Id, Series, Timestamp};
use crate::error::{Error, Result};
use crate::query::Query;
use crate::store::Store;

/// How many of the newest checkpoints of a series are considered, unless told otherwise.
pub const DEPTH: u32 = 256;
// Entries tried before a series counts as one without a readable entry.
const ENTRIES_MAX: usize = 8;

/// A series, its newest checkpoint, and what resuming it would do.
///
/// ```
/// use waypost::recovery::Outlook;
/// use waypost::{NewEntry, Query, Store, Timestamp};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let all = store.overview(&Query::default(), Timestamp::now())?;
/// assert_eq!(all[0].series.as_str(), "issue:42");
/// assert_eq!(all[0].decision, Outlook::Resume);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeriesState {
    /// The series.
    pub series: Series,
    /// Its newest checkpoint; `None` if damage leaves no entry of the newest few.
    pub newest: Option<Entry>,
    /// The score that the newest checkpoint states.
    pub score: Option<f64>,
    /// What resuming the series would decide, as far as the store alone can tell.
    pub decision: Outlook,
    /// The checkpoint that work would go on from.
    pub from: Option<Id>,
    /// Why the newest checkpoint is not the one to go on from, in words that follow its name; or
    /// what a person must decide before work goes on, in sentences.
    pub why: Vec<String>,
    /// Damage that leaves so little of a checkpoint that it cannot be named.
    pub damage: Vec<String>,
}

/// What resuming a series would decide, before branch, issue and files are compared.
///
/// See [`SeriesState`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// Work goes on.
    Resume,
    /// A person must decide, because of what the checkpoint itself says.
    PromptUser,
    /// The work is completed or archived.
    Ended,
    /// Nothing in the series can be resumed.
    Refused,
}

impl Outlook {
    /// Returns the name that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::PromptUser => "prompt_user",
            Self::Ended => "ended",
            Self::Refused => "refused",
        }
    }
}

impl Store {
    /// Lists the series whose newest checkpoint fits `query`, the last active first, with what
    /// [`Store::propose`] would choose in each.
    ///
    /// Reads a few entries of every series, and usually one document of each series that is
    /// returned; the number of checkpoints in a series does not matter. Does not compare branches,
    /// files or issues with what they are now: [`freshness`](super::freshness()) does, for one
    /// checkpoint. A series whose newest entries are damaged matches every query, comes first, and
    /// reports its damage. Order and cursor of the query are ignored.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn overview(&self, query: &Query, now: Timestamp) -> Result<Vec<SeriesState>> {
        let mut found = Vec::new();
        for series in self.series()? {
            if query.series.as_ref().is_some_and(|wanted| *wanted != series) {
                continue;
            }
            let newest = newest(self, &series)?;
            if newest.as_ref().is_none_or(|newest| query.admits(newest)) {
                found.push((series, newest));
            }
        }
        found.sort_by_key(|(_, newest)| {
            // Its last save is unknown: damaged series come first, so that the limit does not hide
            // them.
            let order = newest.as_ref().map(Entry::order);
            (order.is_some(), std::cmp::Reverse(order))
        });
        let states = found.into_iter().filter_map(|(series, newest)| {
            // `None` if all of it was deleted since it was listed.
            state(self, series, newest, now).transpose()
        });
        states.take(query.limit.unwrap_or(usize::MAX)).collect()
    }
}

fn newest(store: &Store, series: &Series) -> Result<Option<Entry>> {
    let first = store.newest_of(series, 1)?.pop();
    if let Some(Ok(newest)) = first {
        return Ok(Some(newest));
    }
    Ok(store.newest_of(series, ENTRIES_MAX)?.into_iter().find_map(Result::ok))
}

fn state(
    store: &Store,
    series: Series,
    newest: Option<Entry>,
    now: Timestamp,
) -> Result<Option<SeriesState>> {
    let proposal = match store.propose(&series, Strategy::Last) {
        Ok(proposal) => proposal,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let stated = score(store, newest.as_ref(), &proposal)?;
    let open = questions(&proposal, now);
    let decision = if open.is_empty() { proposal.outlook() } else { Outlook::PromptUser };
    let from = proposal.offer.map(|offer| offer.checkpoint.entry.id);
    let passed_over = proposal.passed_over.into_iter().next().map(|it| it.why).unwrap_or_default();
    let why = if open.is_empty() { passed_over } else { open };
    let damage = proposal.damage;
    Ok(Some(SeriesState { series, newest, score: stated, decision, from, why, damage }))
}

/// Questions for a person that do not depend on the world.
fn questions(proposal: &Proposal, now: Timestamp) -> Vec<String> {
    let Some(offer) = &proposal.offer else { return Vec::new() };
    let found = freshness(&offer.checkpoint.entry, &offer.standing, &Blind, now);
    let open = found.findings.into_iter().filter(|it| it.advice >= Advice::PromptUser);
    open.map(|it| it.message).collect()
}

/// The document of the offer has been read already, and it usually is the newest.
fn score(store: &Store, newest: Option<&Entry>, proposal: &Proposal) -> Result<Option<f64>> {
    let Some(newest) = newest else { return Ok(None) };
    match &proposal.offer {
        Some(offer) if offer.checkpoint.entry.id == newest.id => Ok(offer.standing.score),
        _ => Ok(judged(store, newest.clone())?.and_then(|it| it.standing.score)),
    }
}
