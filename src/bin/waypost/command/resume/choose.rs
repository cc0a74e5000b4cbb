//! From what a person names to one checkpoint that was read and checked.

use std::io::{self, Write};

use anyhow::Result;
use waypost::recovery::{Candidate, Hurdle, Offer, PassedOver, Proposal, Strategy, Target};
use waypost::{Entry, Error, Id, Query, Series, Store, Timestamp};

use super::super::series;
use super::{Args, Choice, How, ask, is_asked_here};
use crate::args::Global;
use crate::exit::Refusal;
use crate::filter::nothing;
use crate::output;

// More would fill the screen.
const SHOWN_MAX: usize = 20;

/// A checkpoint, why it was chosen, and what stands in the way of going on from it.
pub(super) struct Chosen {
    pub(super) offer: Offer,
    pub(super) reasons: Vec<String>,
    pub(super) hurdles: Vec<Hurdle>,
    pub(super) passed_over: Vec<PassedOver>,
    pub(super) damage: Vec<String>,
    /// Before an invalid one, the newest that could be resumed.
    pub(super) older: Option<Id>,
    /// Whether somebody asked for this very checkpoint.
    is_named: bool,
}

impl Chosen {
    /// Whether it stands for a series that is over.
    pub(super) fn has_ended(&self) -> bool {
        let is_end = |hurdle: &Hurdle| matches!(hurdle, Hurdle::Ended { .. });
        !self.is_named && self.hurdles.iter().any(is_end)
    }

    /// Whether it breaks rules of its system.
    pub(super) fn is_invalid(&self) -> bool {
        self.hurdles.iter().any(|hurdle| matches!(hurdle, Hurdle::Invalid { .. }))
    }
}

pub(super) fn choose(
    args: &Args,
    store: &Store,
    global: &Global,
    out: &mut dyn Write,
) -> Result<Chosen> {
    let target = match &args.target {
        Some(name) => target(name, args, store, global)?,
        None => any(args, store, global)?,
    };
    match target {
        Target::Checkpoint(entry) => named(store, *entry, "It was named."),
        // To start over, none need be selected.
        Target::Series(series)
            if args.strategy == How::Select && args.choice != Some(Choice::Fresh) =>
        {
            select(args, store, &series, global, out)
        }
        Target::Series(series) => propose(args, store, &series),
    }
}

/// The one thing that the target stands for.
fn target(wanted: &str, args: &Args, store: &Store, global: &Global) -> Result<Target> {
    let mut found = store.targets(wanted)?;
    if found.is_empty() {
        return meant(wanted, args, store, global).map(Target::Series);
    }
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let mut open = Vec::new();
    for (at, target) in found.iter().enumerate() {
        if is_open(store, target)? {
            open.push(at);
        }
    }
    if open.is_empty() {
        // All are over: which of them is told does not matter.
        return Ok(found.swap_remove(0));
    }
    // The others are over, so that only one can be meant.
    if let [only] = open[..] {
        let count = found.len();
        let only = found.swap_remove(only);
        global.note(format_args!("{}: the only one of {count} that has not ended", name(&only)));
        return Ok(only);
    }
    let choices: Vec<String> = found.iter().map(name).collect();
    if is_asked_here(args, global) {
        let at = ask::number(&choices, &mut io::stdin().lock(), &mut output::stderr())?;
        return Ok(found.swap_remove(at));
    }
    Err(Refusal::Unclear { wanted: wanted.to_owned(), choices }.into())
}

/// One of all series, if a person at the terminal chooses it.
fn any(args: &Args, store: &Store, global: &Global) -> Result<Target> {
    if !is_asked_here(args, global) {
        let newest = store.newest_series()?;
        let names: Vec<&str> = newest.iter().map(Series::as_str).collect();
        let what = format!("name what to resume; the newest are {}", names.join(", "));
        return Err(Refusal::Usage(what).into());
    }
    let query = Query { limit: Some(SHOWN_MAX), ..Query::default() };
    let mut states = store.overview(&query, Timestamp::now())?;
    if states.is_empty() {
        return Err(nothing(&query).into());
    }
    let lines = series::lines(store, &states, Timestamp::now())?;
    let at = ask::number(&lines, &mut io::stdin().lock(), &mut output::stderr())?;
    Ok(Target::Series(states.swap_remove(at).series))
}

/// The series that was meant by a name that none has, if a person at the terminal says which.
fn meant(wanted: &str, args: &Args, store: &Store, global: &Global) -> Result<Series> {
    let mut about = store.about(wanted)?;
    if !about.is_empty() && is_asked_here(args, global) {
        let lines: Vec<String> = about.iter().map(ToString::to_string).collect();
        let mut output = output::stderr();
        writeln!(output, "No work is called {}. Is it one of these?", output::plain(wanted))?;
        let at = ask::number(&lines, &mut io::stdin().lock(), &mut output)?;
        return Ok(about.swap_remove(at));
    }
    let (lost, nearby) = (store.lost_names()?, store.nearby(wanted)?);
    let wanted = wanted.to_owned();
    if !lost.is_empty() {
        return Err(Refusal::LostNames { wanted, series: lost }.into());
    }
    about.extend(nearby.into_iter().filter(|series| !about.contains(series)).collect::<Vec<_>>());
    let nearby = about;
    let newest = store.newest_series()?;
    Err(Refusal::NoTarget { wanted, nearby, newest }.into())
}

fn name(target: &Target) -> String {
    match target {
        Target::Checkpoint(entry) => format!("checkpoint {}", entry.id),
        Target::Series(series) => series.to_string(),
    }
}

/// Whether its work may go on. What cannot be told may.
fn is_open(store: &Store, target: &Target) -> Result<bool> {
    let newest = match target {
        Target::Checkpoint(entry) => Some((**entry).clone()),
        Target::Series(series) => {
            let query = Query { series: Some(series.clone()), limit: Some(1), ..Query::default() };
            match store.list(&query) {
                Ok(mut page) => page.entries.pop(),
                Err(Error::Corrupt { .. }) => None,
                Err(error) => return Err(error.into()),
            }
        }
    };
    Ok(!newest.is_some_and(|entry| entry.status.is_over()))
}

fn named(store: &Store, entry: Entry, reason: &str) -> Result<Chosen> {
    let (offer, hurdles) = store.offer(entry)?;
    let reasons = vec![reason.to_owned()];
    let (passed_over, damage, older) = (Vec::new(), Vec::new(), None);
    Ok(Chosen { offer, reasons, hurdles, passed_over, damage, older, is_named: true })
}

fn propose(args: &Args, store: &Store, series: &Series) -> Result<Chosen> {
    let strategy = if args.strategy == How::Smart { Strategy::Smart } else { Strategy::Last };
    let proposal = store.propose(series, strategy, args.depth as usize)?;
    if let Some(ended) = proposal.ended().filter(|it| !it.is_readable) {
        let (series, status) = (series.clone(), ended.entry.status);
        return Err(Refusal::Ended { series, status }.into());
    }
    let Proposal { offer, reasons, passed_over, older, damage, .. } = proposal;
    let is_named = false;
    if let Some(offer) = offer {
        let hurdles = Vec::new();
        return Ok(Chosen { offer, reasons, hurdles, passed_over, damage, older, is_named });
    }
    // With --force, or to start over, there is still something to look at.
    let newest = passed_over.iter().find(|it| it.is_readable).map(|it| it.entry.clone());
    let Some(newest) = newest else {
        let count = passed_over.len() + damage.len();
        return Err(Refusal::AllDamaged { series: series.clone(), count }.into());
    };
    let (offer, mut hurdles) = store.offer(newest)?;
    if hurdles.is_empty() {
        // Every one of them is unsafe, though nothing forbids to go on from it.
        hurdles.push(Hurdle::Unsafe);
    }
    Ok(Chosen { offer, reasons, hurdles, passed_over, damage, older, is_named })
}

/// Lets somebody choose.
fn select(
    args: &Args,
    store: &Store,
    series: &Series,
    global: &Global,
    out: &mut dyn Write,
) -> Result<Chosen> {
    let (mut candidates, damage) = store.candidates(series, args.depth as usize)?;
    for damage in &damage {
        global.note(format_args!("damaged: {damage}"));
    }
    if candidates.is_empty() {
        return Err(Refusal::AllDamaged { series: series.clone(), count: damage.len() }.into());
    }
    let now = Timestamp::now();
    let id_length = output::id_length(store, candidates.iter().map(|it| &it.entry))?;
    let lines: Vec<String> = candidates.iter().map(|it| line(it, id_length, now)).collect();
    if !is_asked_here(args, global) {
        let is_listed = !(args.document || args.prompt);
        for (candidate, line) in candidates.iter().zip(&lines).filter(|_| is_listed) {
            if global.json {
                output::json_line(out, candidate)?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        let safe = candidates.iter().position(|it| it.hurdles.is_empty()).unwrap_or(0);
        let likely = candidates.swap_remove(safe).entry.id;
        let refusal = Refusal::Unselected { series: series.clone(), count: lines.len(), likely };
        return Err(refusal.into());
    }
    let at = ask::number(&lines, &mut io::stdin().lock(), &mut output::stderr())?;
    named(store, candidates.swap_remove(at).entry, "It was selected.")
}

/// A candidate as one of a list.
fn line(candidate: &Candidate, id_length: usize, now: Timestamp) -> String {
    let Candidate { entry, standing, hurdles, .. } = candidate;
    let mut line = format!(
        "{}  {} ago  {}",
        output::short_id(&entry.id, id_length),
        output::age(now.saturating_since(entry.created_at)),
        entry.trigger
    );
    let iteration = entry.iteration.map(|number| format!("iteration {number}"));
    let score = standing.score.map(|score| format!("score {score}"));
    let why = hurdles.iter().map(ToString::to_string);
    for word in entry.phase.clone().into_iter().chain(iteration).chain(score).chain(why) {
        line.push_str("  ");
        line.push_str(&word);
    }
    output::plain(&line)
}
