//! From what a person names to one checkpoint; at a terminal the person is asked what is not clear.

use std::io::{self, Write};

use anyhow::Result;
use waypost::recovery::{Candidate, Chosen, Meant, Target, Unresolved};
use waypost::{Query, Series, Store, Timestamp};

use super::{Args, Choice, How, ask, is_asked_here};
use crate::args::Global;
use crate::exit::Refusal;
use crate::filter::nothing;
use crate::output;

// More would fill the screen.
const SHOWN_MAX: usize = 20;

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
    let unresolved = match store.choose(target, &args.how()) {
        Ok(chosen) => return Ok(chosen),
        Err(unresolved) => unresolved,
    };
    let is_selecting = args.strategy == How::Select && args.choice != Some(Choice::Fresh);
    for damage in damage(&unresolved).iter().filter(|_| is_selecting) {
        global.note(format_args!("damaged: {damage}"));
    }
    match unresolved {
        Unresolved::Unselected { candidates, .. } if is_asked_here(args, global) => {
            select(store, candidates)
        }
        Unresolved::Unselected { series, candidates, .. } => {
            list(args, store, &candidates, global, out)?;
            Err(unselected(series, &candidates).into())
        }
        unresolved => Err(refused(unresolved)),
    }
}

/// The one thing that the target stands for.
fn target(wanted: &str, args: &Args, store: &Store, global: &Global) -> Result<Target> {
    let unresolved = match store.meant(wanted) {
        Ok(Meant { target, left_out, .. }) => {
            if left_out > 0 {
                let count = left_out + 1;
                global.note(format_args!("{target}: the only one of {count} that has not ended"));
            }
            return Ok(target);
        }
        Err(unresolved) => unresolved,
    };
    if !is_asked_here(args, global) {
        return Err(refused(unresolved));
    }
    match unresolved {
        Unresolved::Several { mut choices, .. } => {
            let lines: Vec<String> = choices.iter().map(Target::to_string).collect();
            let at = ask::number(&lines, &mut io::stdin().lock(), &mut output::stderr())?;
            Ok(choices.swap_remove(at))
        }
        Unresolved::Nothing { about, .. } | Unresolved::LostNames { about, .. }
            if !about.is_empty() =>
        {
            meant(wanted, about).map(Target::Series)
        }
        unresolved => Err(refused(unresolved)),
    }
}

/// As the command refuses it, with an exit code and a hint.
fn refused(unresolved: Unresolved) -> anyhow::Error {
    let refusal = match unresolved {
        Unresolved::Nothing { wanted, mut about, nearby, newest } => {
            about.extend(nearby);
            Refusal::NoTarget { wanted, nearby: about, newest }
        }
        Unresolved::LostNames { wanted, series, .. } => Refusal::LostNames { wanted, series },
        Unresolved::Several { wanted, choices } => {
            let choices = choices.iter().map(Target::to_string).collect();
            Refusal::Unclear { wanted, choices }
        }
        Unresolved::Unselected { series, candidates, .. } => unselected(series, &candidates),
        Unresolved::AllDamaged { series, count, .. } => Refusal::AllDamaged { series, count },
        Unresolved::Ended { series, status } => Refusal::Ended { series, status },
        Unresolved::Failed(error) => return error.into(),
        // The library may learn to fail in new ways.
        unresolved => return unresolved.into(),
    };
    refusal.into()
}

/// One of all series, if a person at the terminal chooses it.
fn any(args: &Args, store: &Store, global: &Global) -> Result<Target> {
    if !is_asked_here(args, global) {
        let newest = store.newest_series()?;
        if newest.is_empty() {
            return Err(nothing(&Query::default()).into());
        }
        let names: Vec<&str> = newest.iter().map(Series::as_str).collect();
        let what = format!("name what to resume; the newest series are {}", names.join(", "));
        return Err(Refusal::Usage(what).into());
    }
    let query = Query { limit: Some(SHOWN_MAX), ..Query::default() };
    let mut states = store.overview(&query, Timestamp::now())?;
    if states.is_empty() {
        return Err(nothing(&query).into());
    }
    let lines = output::state_lines(store, &states, Timestamp::now())?;
    let at = ask::number(&lines, &mut io::stdin().lock(), &mut output::stderr())?;
    Ok(Target::Series(states.swap_remove(at).series))
}

/// The series that a person at the terminal meant by a name that none has.
fn meant(wanted: &str, mut about: Vec<Series>) -> Result<Series> {
    let lines: Vec<String> = about.iter().map(ToString::to_string).collect();
    let mut output = output::stderr();
    writeln!(output, "No work is called {}. Is it one of these?", output::plain(wanted))?;
    let at = ask::number(&lines, &mut io::stdin().lock(), &mut output)?;
    Ok(about.swap_remove(at))
}

fn damage(unresolved: &Unresolved) -> &[String] {
    match unresolved {
        Unresolved::Unselected { damage, .. } | Unresolved::AllDamaged { damage, .. } => damage,
        _ => &[],
    }
}

/// Lets the person at the terminal choose.
fn select(store: &Store, mut candidates: Vec<Candidate>) -> Result<Chosen> {
    let lines = lines(store, &candidates)?;
    let at = ask::number(&lines, &mut io::stdin().lock(), &mut output::stderr())?;
    Ok(store.chosen(candidates.swap_remove(at).entry, "It was selected.")?)
}

/// Shows what can be selected.
fn list(
    args: &Args,
    store: &Store,
    candidates: &[Candidate],
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    if args.document || args.prompt {
        return Ok(());
    }
    for (candidate, line) in candidates.iter().zip(lines(store, candidates)?) {
        if global.json {
            output::json_line(out, candidate)?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Without a person to select one.
fn unselected(series: Series, candidates: &[Candidate]) -> Refusal {
    let safe = candidates.iter().find(|it| it.hurdles.is_empty()).or(candidates.first());
    match safe {
        Some(likely) => {
            let likely = likely.entry.id.clone();
            Refusal::Unselected { series, count: candidates.len(), likely }
        }
        None => Refusal::AllDamaged { series, count: 0 },
    }
}

fn lines(store: &Store, candidates: &[Candidate]) -> Result<Vec<String>> {
    let now = Timestamp::now();
    let id_length = output::id_length(store, candidates.iter().map(|it| &it.entry))?;
    Ok(candidates.iter().map(|it| line(it, id_length, now)).collect())
}

/// A candidate as one of a list.
fn line(candidate: &Candidate, id_length: usize, now: Timestamp) -> String {
    let Candidate { entry, standing, hurdles, .. } = candidate;
    let mut line = format!(
        "{}  {}  {}",
        output::short_id(&entry.id, id_length),
        output::ago(entry.created_at, now),
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
