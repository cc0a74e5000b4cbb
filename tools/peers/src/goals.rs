//! The goals of Waypost that are about its rivals, by the figures of this run.

use crate::figures::{Figures, Metric};
use crate::peer::Kind;
use crate::workload::{Motion, Scenario};

/// A goal and what came of it.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) limit: Limit,
    /// How it was measured.
    pub(crate) from: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

// The goals name one SQLite; the faster of its forms is compared.
const SQLITE: [Kind; 2] = [Kind::SqliteJson, Kind::SqliteZstd];

impl Goal {
    pub(crate) fn is_met(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.measured <= limit,
            Limit::AtLeast(limit) => self.measured >= limit,
        }
    }

    pub(crate) fn verdict(&self) -> &'static str {
        if self.is_met() { "met" } else { "MISSED" }
    }
}

impl Limit {
    pub(crate) fn show(self) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {limit}"),
            Self::AtLeast(limit) => format!(">= {limit}"),
        }
    }
}

/// All goals for which this run has figures.
pub(crate) fn goals(all: &[Figures]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (kilobytes, own) in [(64, sizes_64 as fn(&View<'_>) -> Vec<Option<Goal>>), (16, sizes_16)] {
        if let Some(view) = View::find(all, kilobytes) {
            goals.extend(own(&view).into_iter().flatten());
        }
    }
    for view in [16, 64].into_iter().filter_map(|kilobytes| View::find(all, kilobytes)) {
        goals.extend(saving(&view).into_iter().chain(reading(&view)).flatten());
    }
    goals
}

/// The figures of one size, documents in a window.
struct View<'a> {
    figures: &'a Figures,
}

impl<'a> View<'a> {
    fn find(all: &'a [Figures], kilobytes: u32) -> Option<Self> {
        let wanted = Scenario { kilobytes, motion: Motion::Window };
        all.iter().find(|figures| figures.scenario == wanted).map(|figures| Self { figures })
    }

    fn own(&self, metric: Metric) -> Option<f64> {
        self.figures.get(metric, Kind::Waypost)
    }

    fn goal(&self, what: &str, measured: f64, limit: Limit, from: String) -> Goal {
        Goal {
            what: format!("{what}, {} KB", self.figures.scenario.kilobytes),
            measured,
            limit,
            from,
        }
    }

    /// Our figure itself.
    fn alone(&self, what: &str, metric: Metric, limit: Limit) -> Option<Goal> {
        let own = self.own(metric)?;
        Some(self.goal(what, own, limit, format!("waypost {}", metric.unit().show(own))))
    }

    /// By how much a rival's figure is larger than ours.
    fn theirs_by_ours(&self, what: &str, metric: Metric, kind: Kind, limit: f64) -> Option<Goal> {
        let (own, theirs) = (self.own(metric)?, self.figures.get(metric, kind)?);
        let from = versus(metric, (kind.name(), theirs), ("waypost", own));
        Some(self.goal(what, theirs / own, Limit::AtLeast(limit), from))
    }

    /// By how much our rate is larger than the best rate of some rivals.
    fn ours_by_best(
        &self,
        what: &str,
        metric: Metric,
        rivals: &[(Metric, Kind)],
        limit: f64,
    ) -> Option<Goal> {
        let own = self.own(metric)?;
        let rates = rivals
            .iter()
            .filter_map(|(metric, kind)| Some((kind.name(), self.figures.get(*metric, *kind)?)));
        let best = rates.max_by(|left, right| left.1.total_cmp(&right.1))?;
        let from = versus(metric, ("waypost", own), best);
        Some(self.goal(what, own / best.1, Limit::AtLeast(limit), from))
    }
}

fn sizes_64(view: &View<'_>) -> Vec<Option<Goal>> {
    vec![
        view.theirs_by_ours(
            "bytes, SQLite row / ours",
            Metric::BytesCompact,
            Kind::SqliteJson,
            40.0,
        ),
        view.theirs_by_ours("bytes, .json.gz / ours", Metric::BytesCompact, Kind::Legacy, 13.0),
        view.alone("bytes of a checkpoint", Metric::BytesCompact, Limit::AtMost(1024.0)),
        (view.figures.counts.delete >= 5_000)
            .then(|| view.alone("ms, delete 5,000", Metric::Delete, Limit::AtMost(150.0)))
            .flatten(),
        shrinking(view),
    ]
}

fn sizes_16(view: &View<'_>) -> Vec<Option<Goal>> {
    vec![
        view.theirs_by_ours(
            "bytes, SQLite row / ours",
            Metric::BytesCompact,
            Kind::SqliteJson,
            18.0,
        ),
        view.theirs_by_ours("bytes, .json.gz / ours", Metric::BytesCompact, Kind::Legacy, 7.0),
        view.alone("exported per second", Metric::Export, Limit::AtLeast(10_000.0)),
        view.ours_by_best(
            "export / SQLite zstd",
            Metric::Export,
            &[(Metric::Export, Kind::SqliteZstd)],
            3.0,
        ),
    ]
}

fn shrinking(view: &View<'_>) -> Option<Goal> {
    let (before, after) = (view.own(Metric::PrunedBefore)?, view.own(Metric::PrunedAfter)?);
    let from = versus(Metric::PrunedAfter, ("after", after), ("before", before));
    // Shorter at all is the goal; equal would be a miss.
    Some(view.goal("file after compact / before", after / before, Limit::AtMost(0.999), from))
}

fn saving(view: &View<'_>) -> Vec<Option<Goal>> {
    let sqlite = |metric: Metric| SQLITE.map(|kind| (metric, kind));
    let processor = if view.figures.scenario.kilobytes == 16 { 150.0 } else { 300.0 };
    let floor = view.own(Metric::DurableMedian).map(|own| {
        let floor = view.figures.floor_micros;
        let from = versus(Metric::DurableMedian, ("waypost", own), ("append", floor));
        view.goal("durable save / append, sync", own / floor, Limit::AtMost(1.3), from)
    });
    vec![
        fastest(view),
        view.theirs_by_ours("durable, .json.gz / ours", Metric::DurableMedian, Kind::Legacy, 2.5),
        floor,
        view.ours_by_best("64 threads / SQLite", Metric::Crowd, &sqlite(Metric::Crowd), 15.0),
        // Harder than what is promised: savers of one process can spare SQLite its sleeping.
        view.ours_by_best(
            "64 threads / SQLite, one lock",
            Metric::Crowd,
            &sqlite(Metric::CrowdInLine),
            15.0,
        ),
        view.ours_by_best(
            "relaxed / SQLite NORMAL",
            Metric::Relaxed,
            &sqlite(Metric::Relaxed),
            3.0,
        ),
        view.alone("us of processor, durable", Metric::DurableProcessor, Limit::AtMost(processor)),
        view.alone("us of processor, relaxed", Metric::RelaxedProcessor, Limit::AtMost(processor)),
    ]
}

/// Durable saves by the faster form of `SQLite`, medians.
fn fastest(view: &View<'_>) -> Option<Goal> {
    let of = |kind: &Kind| Some((view.figures.get(Metric::DurableMedian, *kind)?, *kind));
    let best = SQLITE.iter().filter_map(of).min_by(|left, right| left.0.total_cmp(&right.0))?;
    view.theirs_by_ours("durable, SQLite FULL / ours", Metric::DurableMedian, best.1, 1.0)
}

fn reading(view: &View<'_>) -> Vec<Option<Goal>> {
    vec![
        view.theirs_by_ours("latest, SQLite zstd / ours", Metric::Latest, Kind::SqliteZstd, 2.0),
        view.theirs_by_ours("get, SQLite zstd / ours", Metric::Get, Kind::SqliteZstd, 2.0),
    ]
}

fn versus(metric: Metric, left: (&str, f64), right: (&str, f64)) -> String {
    let show = |value| metric.unit().show(value);
    format!("{} {} by {} {}", left.0, show(left.1), right.0, show(right.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;

    #[test]
    fn a_goal_is_told_by_the_better_form_of_sqlite() {
        let scenario = Scenario { kilobytes: 16, motion: Motion::Window };
        let mut figures = Figures::new(scenario, Counts::of(scenario), Kind::all());
        for (kind, rate) in
            [(Kind::Waypost, 900.0), (Kind::SqliteJson, 100.0), (Kind::SqliteZstd, 450.0)]
        {
            figures.set(Metric::Relaxed, kind, rate);
        }
        let goals = goals(&[figures]);
        let [goal] = goals.as_slice() else { panic!("only one has its figures: {goals:?}") };
        assert!((goal.measured - 2.0).abs() < 1e-9);
        assert_eq!(goal.verdict(), "MISSED");
    }
}
