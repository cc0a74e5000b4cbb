//! One picture of size and speed: a panel for each question, a bar for each rival, on linear scales.

use crate::chart::{STYLE, rectangle, text};
use crate::figures::{Figures, Metric};
use crate::peer::Kind;
use crate::workload::Motion;

/// The size of documents it is about, if that was measured.
const KILOBYTES: u32 = 64;

/// What the panels ask, by column and row.
const PANELS: [(Metric, &str); 4] = [
    (Metric::BytesCompact, "bytes of a checkpoint on disk (less is better)"),
    (Metric::DurableRate, "durable saves a second, 1 thread (more is better)"),
    (Metric::Latest, "microseconds to read the newest of a loop (less)"),
    (Metric::Crowd, "durable saves a second, 64 threads (more)"),
];

const OWN: &str = "#0072b2";
const OTHER: &str = "#999999";

const WIDTH: f64 = 860.0;
const HEAD: f64 = 36.0;
const PANEL_WIDTH: f64 = WIDTH / 2.0;
const PANEL_HEAD: f64 = 28.0;
const PANEL_GAP: f64 = 18.0;
const ROW: f64 = 20.0;
const BAR: f64 = 13.0;
/// Room for the names of rivals, and for the value behind the longest bar.
const NAMES: f64 = 92.0;
const VALUES: f64 = 84.0;

/// The picture, if documents of that size were measured.
pub(crate) fn to_svg(all: &[Figures]) -> Option<String> {
    let is_shown = |figures: &&Figures| {
        figures.scenario.kilobytes == KILOBYTES && figures.scenario.motion == Motion::Window
    };
    let figures = all.iter().find(is_shown)?;
    let panel_height = PANEL_HEAD + ROW * rows(figures.kinds.len()) + PANEL_GAP;
    let height = HEAD + 2.0 * panel_height;
    let title =
        format!("Checkpoints of {KILOBYTES} KB, of which little changes from one to the next");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n<style>{STYLE}.own{{font-weight:bold}}</style>\n"
    );
    text(&mut svg, (0.0, 18.0, "start"), "head", &title);
    for (number, (metric, question)) in PANELS.into_iter().enumerate() {
        let at = (
            if number % 2 == 0 { 0.0 } else { PANEL_WIDTH },
            if number < 2 { HEAD } else { HEAD + panel_height },
        );
        panel(&mut svg, at, figures, (metric, question));
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

fn panel(svg: &mut String, at: (f64, f64), figures: &Figures, asked: (Metric, &str)) {
    let (left, top) = at;
    let (metric, question) = asked;
    text(svg, (left, top + 14.0, "start"), "", question);
    let values = figures.kinds.iter().filter_map(|kind| best(figures, metric, *kind));
    let longest = values.fold(f64::MIN_POSITIVE, f64::max);
    let room = PANEL_WIDTH - NAMES - VALUES;
    for (row, kind) in figures.kinds.iter().enumerate() {
        let Some(value) = best(figures, metric, *kind) else { continue };
        let (class, colour) = if *kind == Kind::Waypost { ("own", OWN) } else { ("", OTHER) };
        let y = top + PANEL_HEAD + ROW * rows(row);
        text(svg, (left + NAMES - 8.0, y + 11.0, "end"), class, kind.title());
        let length = (value / longest * room).max(1.0);
        rectangle(svg, (left + NAMES, y), (length, BAR), colour);
        let value = (left + NAMES + length + 5.0, metric.unit().show(value));
        text(svg, (value.0, y + 11.0, "start"), class, &value.1);
    }
}

/// Threads may save as each rival does it best: by a connection each, or behind one lock.
fn best(figures: &Figures, metric: Metric, kind: Kind) -> Option<f64> {
    let in_line = figures.get(Metric::CrowdInLine, kind).filter(|_| metric == Metric::Crowd);
    figures.get(metric, kind).map(|value| value.max(in_line.unwrap_or(value)))
}

#[expect(clippy::cast_precision_loss, reason = "rivals are few")]
fn rows(number: usize) -> f64 {
    number as f64
}
