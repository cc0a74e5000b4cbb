//! The filters that `list`, `latest`, `log`, `find`, `watch`, `prune` and `export` share.

use std::fmt::Display;
use std::str::FromStr;

use waypost::{Error, Issue, LoopId, Query, Series, Status, Timestamp, Trigger};

use crate::args;
use crate::exit::Refusal;
use crate::when::When;

/// The refusal if a query finds nothing; it repeats the query as flags.
pub(crate) fn nothing(query: &Query) -> Refusal {
    match asked(query) {
        asked if asked.is_empty() => Refusal::Empty,
        asked => Refusal::Nothing { asked },
    }
}

/// What a query asks for, as flags.
pub(crate) fn asked(query: &Query) -> String {
    fn flag(name: &str, value: Option<impl Display>) -> Option<String> {
        value.map(|value| format!("--{name} {value}"))
    }
    let triggers: Vec<&str> = query.triggers.iter().map(Trigger::as_str).collect();
    let end = |end: Option<u64>| end.map_or(String::new(), |end| end.to_string());
    let (min, max) = (query.iteration_min, query.iteration_max);
    let iterations = format!("{}..{}", end(min), end(max));
    let flags = [
        flag("issue", query.issue.as_ref()),
        flag("loop-id", query.loop_id.as_ref()),
        flag("series", query.series.as_ref()),
        flag("trigger", Some(triggers.join(",")).filter(|it| !it.is_empty())),
        flag("status", query.status),
        flag("phase", query.phase.as_ref()),
        flag("tag", query.tag.as_ref()),
        flag("since", query.since),
        flag("until", query.until),
        flag("iteration", min.or(max).map(|_| iterations)),
        flag("after", query.after),
    ];
    flags.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The names of all filters, for `conflicts_with_all`.
pub(crate) const FILTERS: [&str; 10] = [
    "issue",
    "loop_id",
    "series",
    "triggers",
    "status",
    "phase",
    "tag",
    "since",
    "until",
    "iteration",
];

/// The filters; a checkpoint must match all of them.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filter {
    /// Works on this issue
    #[arg(long)]
    issue: Option<Issue>,

    /// Written by this loop
    #[arg(long)]
    loop_id: Option<LoopId>,

    /// Of this series
    #[arg(long)]
    series: Option<Series>,

    /// Saved for one of these reasons (repeatable, or separated by commas)
    #[arg(long = "trigger", value_name = "TRIGGER", value_delimiter = ',')]
    triggers: Vec<Trigger>,

    /// Has this status
    #[arg(long, value_parser = args::status())]
    status: Option<Status>,

    /// In this phase
    #[arg(long)]
    phase: Option<String>,

    /// Has this tag
    #[arg(long)]
    tag: Option<String>,

    /// Saved then or later: 2026-01-25T15:00:00Z, or 90m, 2h, 7d back from now
    #[arg(long, value_name = "TIME")]
    since: Option<When>,

    /// Saved before then
    #[arg(long, value_name = "TIME")]
    until: Option<When>,

    /// Of this iteration, or from N to M inclusive: N, N..M, N.., ..M
    #[arg(long, value_name = "N..M")]
    iteration: Option<Iterations>,
}

impl Filter {
    /// The query to the store, with ages relative to `now`.
    pub(crate) fn query(&self, now: Timestamp) -> Query {
        let filter = self.clone();
        Query {
            issue: filter.issue,
            loop_id: filter.loop_id,
            series: filter.series,
            triggers: filter.triggers,
            status: filter.status,
            phase: filter.phase,
            tag: filter.tag,
            since: filter.since.map(|when| when.from(now)),
            until: filter.until.map(|when| when.from(now)),
            iteration_min: filter.iteration.and_then(|range| range.min),
            iteration_max: filter.iteration.and_then(|range| range.max),
            ..Query::default()
        }
    }
}

/// A range of iterations, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Iterations {
    min: Option<u64>,
    max: Option<u64>,
}

impl FromStr for Iterations {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let end = |text: &str| (!text.is_empty()).then(|| text.parse()).transpose();
        match (end(min), end(max)) {
            (Ok(None), Ok(None)) | (Err(_), _) | (_, Err(_)) => Err(invalid(text)),
            (Ok(Some(min)), Ok(Some(max))) if min > max => Err(swapped(text)),
            (Ok(min), Ok(max)) => Ok(Self { min, max }),
        }
    }
}

fn swapped(text: &str) -> Error {
    let reason = format!("{text:?} ends before it starts");
    Error::Invalid { what: "iteration".into(), reason }
}

fn invalid(text: &str) -> Error {
    let reason = format!("{text:?} is none of N, N..M, N.. and ..M");
    Error::Invalid { what: "iteration".into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_end_of_an_iteration_range_may_be_open() {
        for (text, min, max) in [
            ("7", Some(7), Some(7)),
            ("0..9", Some(0), Some(9)),
            ("3..", Some(3), None),
            ("..3", None, Some(3)),
        ] {
            assert_eq!(text.parse::<Iterations>().unwrap(), Iterations { min, max });
        }
    }

    #[test]
    fn a_range_without_an_end_or_with_ends_swapped_is_refused() {
        for wrong in ["", "..", "x", "-1", "1..x", "9..3", "1..2..3"] {
            assert!(wrong.parse::<Iterations>().is_err(), "{wrong:?}");
        }
    }
}
