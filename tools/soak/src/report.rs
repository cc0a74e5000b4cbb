//! What a run leaves behind: a page and a picture.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::arguments::Run;
use crate::chart::{Line, Panel, Scale, to_svg};
use crate::duration;
use crate::judge::{Unit, Verdict};
use crate::latency::Latency;
use crate::run::Outcome;
use crate::sample::Sample;
use crate::tally::Tally;

// A page is no log.
const ROWS_MAX: usize = 20;
const WRONG_MAX: usize = 50;

const SAMPLES: &str = "\
Times are the median, and what one call in a hundred exceeds: waiting for others to let go of the
store is part of them, but calls that were refused are left out. Memory is that of the largest
process that is never killed, and of the largest of the others. Load is how many processes of the
whole machine wanted a processor.

| at | on disk | checkpoints | deleted | memory | others | save | latest | list | load |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";
const REFUSALS: &str = "
*locked*: others had the store for longer than a call waits. *outdated*: others changed what a plan
was about. *gone*: others removed it since it was listed or deleted.
";

/// One line about a moment of the run, for the terminal.
pub(crate) fn line(sample: &Sample, tally: &Tally) -> String {
    let memory = sample.memory_bytes().map_or("-".to_owned(), |it| Unit::Bytes.show(it));
    format!(
        "{:>7}  disk {:>9}  memory {memory:>9}  save {:>18}  latest {:>18}  list {:>18}  \
         {} acknowledged, {} kills, {} wrong",
        clock(sample.at),
        Unit::Bytes.show(sample.disk_bytes()),
        pair(sample.save),
        pair(sample.latest),
        pair(sample.list),
        tally.acknowledged,
        tally.kills,
        tally.wrong.len(),
    )
}

/// Writes `soak.md` and `soak.svg` into `directory`.
pub(crate) fn write(page: &str, samples: &[Sample], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    for (name, content) in [("soak.md", page), ("soak.svg", &to_svg(&panels(samples)))] {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Everything about a run as Markdown.
pub(crate) fn page(run: &Run, outcome: &Outcome, verdicts: &[Verdict]) -> String {
    let Outcome { samples, tally, closed_bytes, compacted_bytes } = outcome;
    let mut page = format!(
        "# A long run\n\n\
         `--for {} --processes {} --spare {} --kill-every {} --pause {} \
         --operations {} --seed {}`\n\n",
        duration::show(run.time),
        run.processes,
        run.spare,
        duration::show(run.kill_every),
        duration::show(run.pause),
        run.operations,
        run.seed,
    );
    let _ = writeln!(
        page,
        "{} saves were acknowledged, and {} processes killed. {} times, and once more when all\n\
         had ended, everything in the store was read and compared with what must be there:\n\
         {} documents. {}\n\n\
         The longest {}. The file had {} in the end, and {} compacted.\n\n![Over time](soak.svg)",
        tally.acknowledged,
        tally.kills,
        tally.checks.saturating_sub(1),
        tally.compared,
        wrong(tally),
        longest(samples),
        Unit::Bytes.show(*closed_bytes),
        Unit::Bytes.show(*compacted_bytes),
    );
    page.push_str(&verdict_table(verdicts));
    page.push_str(&sample_table(samples));
    page.push_str(&work_table(tally));
    page
}

fn wrong(tally: &Tally) -> String {
    if tally.wrong.is_empty() {
        return "Nothing was missing or different, and no call failed but as documented."
            .to_owned();
    }
    let first: Vec<String> =
        tally.wrong.iter().take(WRONG_MAX).map(|what| format!("- {what}")).collect();
    format!("**{} things were wrong:**\n\n{}", tally.wrong.len(), first.join("\n"))
}

/// The longest call of each kind that was measured.
fn longest(samples: &[Sample]) -> String {
    let of = |name, latency: fn(&Sample) -> Option<Latency>| {
        let max = samples.iter().filter_map(latency).map(|it| it.max).max()?;
        Some(format!("{name} took {}", Unit::Micros.show(max)))
    };
    let calls = [of("save", |it| it.save), of("latest", |it| it.latest), of("list", |it| it.list)];
    calls.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn verdict_table(verdicts: &[Verdict]) -> String {
    let mut text = String::from("\n## Flat?\n\n");
    if verdicts.is_empty() {
        text.push_str("The run was too short to tell.\n");
        return text;
    }
    text.push_str("The median of the last quarter by that of the second.\n\n");
    text.push_str("| | second quarter | last quarter | by | at most | |\n");
    text.push_str("|---|---:|---:|---:|---:|---|\n");
    for verdict in verdicts {
        let Verdict { what, before, after, unit, factor_max } = verdict;
        let (before, after) = (unit.show(*before), unit.show(*after));
        let answer = if verdict.is_flat() { "flat" } else { "**not flat**" };
        let _ = writeln!(
            text,
            "| {what} | {before} | {after} | {:.2} | {factor_max:.2} | {answer} |",
            verdict.factor()
        );
    }
    text
}

fn sample_table(samples: &[Sample]) -> String {
    let mut text = format!("\n## Over time\n\n{SAMPLES}\n");
    let step = samples.len().div_ceil(ROWS_MAX).max(1);
    // The last one is shown, whatever the step is.
    let shown = samples.iter().rev().step_by(step).collect::<Vec<_>>().into_iter().rev();
    for sample in shown {
        let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |it| Unit::Bytes.show(it));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            clock(sample.at),
            Unit::Bytes.show(sample.disk_bytes()),
            sample.checkpoints,
            sample.deleted,
            bytes(sample.memory_bytes()),
            bytes(sample.others_bytes.iter().copied().max()),
            pair(sample.save),
            pair(sample.latest),
            pair(sample.list),
            sample.load.map_or("-".to_owned(), |load| format!("{load:.1}")),
        );
    }
    text
}

fn work_table(tally: &Tally) -> String {
    let mut text =
        String::from("\n## What was done\n\n| call | done | refused |\n|---|---:|---|\n");
    for (work, count) in &tally.done {
        let refused = tally.refused.iter().filter(|((of, _), _)| of == work);
        let refused = refused.map(|((_, reason), count)| format!("{count} {}", reason.name()));
        let refused: Vec<String> = refused.collect();
        let _ = writeln!(text, "| {} | {count} | {} |", work.name(), refused.join(", "));
    }
    text.push_str(REFUSALS);
    text
}

fn panels(samples: &[Sample]) -> Vec<Panel> {
    let line = |name, unit: f64, value: fn(&Sample) -> Option<u64>| Line {
        name,
        points: samples
            .iter()
            .filter_map(|it| Some((it.at.as_secs_f64() / 60.0, as_float(value(it)?) / unit)))
            .collect(),
    };
    let bytes = |name, value| line(name, 1_048_576.0, value);
    let micros = |name, value| line(name, 1.0, value);
    let disk = vec![
        bytes("file", |it| Some(it.file_bytes)),
        bytes("and beside it", |it| Some(it.disk_bytes())),
    ];
    let memory = vec![
        bytes("never killed", Sample::memory_bytes),
        bytes("the others", |it| it.others_bytes.iter().copied().max()),
    ];
    let save =
        vec![micros("median", |it| Some(it.save?.median)), micros("p99", |it| Some(it.save?.p99))];
    let reads = vec![
        micros("latest, median", |it| Some(it.latest?.median)),
        micros("latest, p99", |it| Some(it.latest?.p99)),
        micros("list, median", |it| Some(it.list?.median)),
        micros("list, p99", |it| Some(it.list?.p99)),
    ];
    let in_mebibytes = |value: f64| format!("{value:.1} MiB");
    let in_millis = |micros: f64| format!("{} ms", micros / 1000.0);
    let panel = |title, scale, lines, show| Panel { title, scale, lines, show };
    vec![
        panel("On disk", Scale::Linear, disk, in_mebibytes as fn(f64) -> String),
        panel("Memory of the largest process", Scale::Linear, memory, in_mebibytes),
        panel("Durable save", Scale::Logarithmic, save, in_millis),
        panel("Reads", Scale::Logarithmic, reads, in_millis),
    ]
}

fn pair(latency: Option<Latency>) -> String {
    let show =
        |it: Latency| format!("{}, {}", Unit::Micros.show(it.median), Unit::Micros.show(it.p99));
    latency.map_or("-".to_owned(), show)
}

fn clock(at: Duration) -> String {
    format!("{}:{:02}", at.as_secs() / 60, at.as_secs() % 60)
}

#[expect(clippy::cast_precision_loss, reason = "a point of a picture need not be that exact")]
fn as_float(value: u64) -> f64 {
    value as f64
}
