//! What a run leaves behind: tables, goals and charts, on the terminal and in files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::chart::{Chart, Group};
use crate::figures::{Figures, Metric, Unit};
use crate::goals::{Goal, goals};
use crate::overview;
use crate::table::Table;
use crate::workload::Motion;

const INTRODUCTION: &str = "\
Every rival saved the same documents by the same loops in one run; in brackets is its figure by
that of Waypost. Durable is on disk when the call returns; `src/peer/` says what relaxed is to
each. Reads end with the document in memory, decompressed, from warm caches. Bytes are apparent
lengths of files unless they are said to be blocks.

Every figure is the median of rounds, in each of which every rival had one turn, in an order that
rotates; only deleting and giving space back were done once. Of durable saves by one thread, those
rounds count in which a bare append with a sync took at most 1.5 times what it took in the best.
Processor time is that of one call: user and system, of all threads of the process.
";

/// Who waits for a sync waits for a processor, too, once others keep one busy for so long.
const NOISE_MAX: f64 = 0.3;

/// The picture for those who look at one only.
const OVERVIEW: &str = "overview.svg";

/// The charts: file name, metric, title.
const CHARTS: [(&str, Metric, &str); 3] = [
    ("bytes", Metric::BytesCompact, "Bytes of a checkpoint on disk, compacted"),
    ("durable", Metric::DurableRate, "Durable saves per second, 1 thread"),
    ("crowd", Metric::Crowd, "Durable saves per second, 64 threads"),
];

/// The table of one kind of documents, for the terminal.
pub(crate) fn table(figures: &Figures) -> String {
    format!("\n{}{}\n", Table::of(figures).to_text(), floor(figures))
}

/// The goals, for the terminal.
pub(crate) fn goal_list(all: &[Figures]) -> String {
    let mut text = String::from("\n");
    for goal in goals(all) {
        let Goal { what, measured, limit, from } = &goal;
        let (limit, verdict) = (limit.show(), goal.verdict());
        let _ = writeln!(text, "{what:<36} {measured:>10.2} {limit:>9}  {verdict:<6}  {from}");
    }
    text
}

/// Writes `peers.md` and the charts into `directory`.
pub(crate) fn write(all: &[Figures], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let mut page = format!("# Waypost and its rivals\n\n{INTRODUCTION}");
    if let Some(svg) = overview::to_svg(all) {
        let path = directory.join(OVERVIEW);
        fs::write(&path, svg).with_context(|| path.display().to_string())?;
        let _ = writeln!(page, "\n![Size and speed, of 64 KB]({OVERVIEW})");
    }
    for motion in Motion::ALL {
        for (name, metric, title) in CHARTS {
            let Some(chart) = chart(all, motion, metric, title) else { continue };
            let file = format!("{name}-{}.svg", motion.name());
            let path = directory.join(&file);
            fs::write(&path, chart.to_svg()).with_context(|| path.display().to_string())?;
            let _ = writeln!(page, "\n![{}]({file})", chart.title);
        }
    }
    page.push_str(&goal_section(all));
    for figures in all {
        let table = Table::of(figures).to_markdown();
        let name = figures.scenario.name();
        let _ = write!(page, "\n## {name}\n\n{table}\n{}\n", floor(figures));
    }
    let path = directory.join("peers.md");
    fs::write(&path, page).with_context(|| path.display().to_string())
}

fn goal_section(all: &[Figures]) -> String {
    let goals = goals(all);
    let met = goals.iter().filter(|goal| goal.is_met()).count();
    let mut text = format!("\n## Goals\n\n{met} of {} met.\n\n", goals.len());
    text.push_str("| goal | measured | limit | | from |\n|---|---:|---:|---|---|\n");
    for goal in &goals {
        let Goal { what, measured, limit, from } = goal;
        let (limit, verdict) = (limit.show(), goal.verdict());
        let _ = writeln!(text, "| {what} | {measured:.2} | {limit} | {verdict} | {from} |");
    }
    text
}

fn floor(figures: &Figures) -> String {
    let floor = Unit::Micros.show(figures.floor_micros);
    let counts = figures.counts;
    let noise = figures.noise.map_or_else(String::new, |processors| {
        let warning = if processors > NOISE_MAX { ", so times tell little" } else { "" };
        format!("; meanwhile others used {processors:.1} processors{warning}")
    });
    format!(
        "append 4 KB + fdatasync: {floor}, {} of {} rounds quiet; {} checkpoints, {} of them \
         deleted{noise}\n",
        figures.quiet_rounds, counts.rounds, counts.fill, counts.delete
    )
}

fn chart(all: &[Figures], motion: Motion, metric: Metric, title: &str) -> Option<Chart> {
    let shown: Vec<&Figures> =
        all.iter().filter(|figures| figures.scenario.motion == motion).collect();
    let kinds = &shown.first()?.kinds;
    let group = |figures: &&Figures| Group {
        name: format!("{} KB", figures.scenario.kilobytes),
        values: kinds.iter().map(|kind| figures.get(metric, *kind)).collect(),
    };
    let groups = shown.iter().map(group).collect();
    let show = match metric.unit() {
        Unit::Bytes => |value| Unit::Bytes.show(value),
        Unit::PerSecond | Unit::Micros | Unit::Millis => |value: f64| format!("{value:.0}"),
    };
    let title = format!("{title} ({})", motion.name());
    Some(Chart { title, bars: kinds.iter().map(|kind| kind.name()).collect(), groups, show })
}
