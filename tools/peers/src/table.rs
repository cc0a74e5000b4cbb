//! The figures as a table: rivals across, operations down, each with its ratio to Waypost.

use std::fmt::Write as _;

use crate::figures::{Figures, Metric, Unit};
use crate::peer::Kind;

/// Below each work: the processor time of one call of it.
const PROCESSOR: &str = "- its processor time";

/// Rows of cells; the first row is the head.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn of(figures: &Figures) -> Self {
        let names = figures.kinds.iter().map(|kind| kind.name().to_owned());
        let mut rows = vec![[figures.scenario.name()].into_iter().chain(names).collect()];
        for metric in Metric::ALL.into_iter().filter(|metric| figures.has(*metric)) {
            let cells = figures.kinds.iter().map(|kind| cell(figures, metric, *kind));
            rows.push([metric.label().to_owned()].into_iter().chain(cells).collect());
            rows.extend(processor_row(figures, metric));
        }
        Self { rows }
    }

    /// For a terminal: columns in line.
    pub(crate) fn to_text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let padded = match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
                text.push_str(&padded);
            }
            text.push('\n');
        }
        text
    }

    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let _ = writeln!(text, "| {} |", row.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|---|{}", "---:|".repeat(row.len() - 1));
            }
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| self.rows.iter().map(|row| row[column].len()).max();
        (0..columns).map(|column| width(column).unwrap_or_default()).collect()
    }
}

/// The processor time of one call beside the wall time or rate of a work, if it was taken.
fn processor_row(figures: &Figures, metric: Metric) -> Option<Vec<String>> {
    let (unit, by) = match metric.unit() {
        Unit::Millis => (Unit::Millis, 1e3),
        Unit::Micros | Unit::PerSecond | Unit::Bytes => (Unit::Micros, 1.0),
    };
    let time = |kind: Kind| figures.processor(metric, kind).map(|micros| micros / by);
    let times: Vec<Option<f64>> = figures.kinds.iter().map(|kind| time(*kind)).collect();
    times.iter().any(Option::is_some).then(|| {
        let own = time(Kind::Waypost);
        let cells = figures.kinds.iter().zip(times);
        let cells = cells.map(|(kind, time)| show(unit, *kind, time, own));
        [PROCESSOR.to_owned()].into_iter().chain(cells).collect()
    })
}

fn cell(figures: &Figures, metric: Metric, kind: Kind) -> String {
    let own = figures.get(metric, Kind::Waypost);
    show(metric.unit(), kind, figures.get(metric, kind), own)
}

fn show(unit: Unit, kind: Kind, value: Option<f64>, own: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let shown = unit.show(value);
    match own {
        Some(own) if kind != Kind::Waypost && own > 0.0 => {
            format!("{shown} ({})", ratio(value / own))
        }
        _ => shown,
    }
}

fn ratio(ratio: f64) -> String {
    match ratio {
        0.0..0.095 => format!("{ratio:.3}x"),
        0.0..9.5 => format!("{ratio:.2}x"),
        _ => format!("{ratio:.0}x"),
    }
}
