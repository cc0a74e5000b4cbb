//! The report of a measurement, for people and for programs.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::Plan;
use super::spread::Spread;
use crate::args::Global;
use crate::output;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) documents: Documents,
    /// Appending 4 KiB to a file and syncing it.
    pub(super) floor: Spread,
    pub(super) waypost: Measured,
    pub(super) files: Measured,
}

/// The documents that were saved.
#[derive(Debug, Serialize)]
pub(super) struct Documents {
    json_bytes: usize,
    new_bytes: usize,
    grow: bool,
    saves: u32,
    loops: u32,
    threads: u32,
    durability: &'static str,
}

/// The figures of one contender.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) saves_per_second: f64,
    pub(super) save: Spread,
    pub(super) newest: Spread,
    pub(super) get: Spread,
    pub(super) list: Spread,
    /// Bytes that this process wrote, where the system counts them.
    pub(super) written_bytes_per_save: Option<u64>,
    /// The store is compacted first; files count by length, without the unused rest of their last
    /// blocks.
    pub(super) bytes_per_checkpoint: u64,
}

impl Documents {
    pub(super) fn of(plan: &Plan, json_bytes: usize) -> Self {
        Self {
            json_bytes,
            new_bytes: plan.shape.new_bytes,
            grow: plan.shape.grows,
            saves: plan.saves,
            loops: plan.loops,
            threads: plan.threads,
            durability: if plan.is_durable { "immediate" } else { "relaxed" },
        }
    }
}

// Below this the first pages of a store are most of it.
const FEW_SAVES: u32 = 200;

/// A line of the table: its label, both figures, and how much better the first is.
struct Line {
    what: &'static str,
    values: [String; 2],
    better: f64,
}

impl Report {
    pub(super) fn write(&self, out: &mut dyn Write, global: &Global) -> Result<()> {
        let Documents { json_bytes, saves, loops, threads, durability, .. } = &self.documents;
        let size = output::size(*json_bytes as u64);
        writeln!(
            out,
            "{} of {size} on average, {durability}, by {}, {}",
            count(*saves, "save"),
            count(*threads, "thread"),
            count(*loops, "loop"),
        )?;
        writeln!(out)?;
        let bold = global.style(&std::io::stdout(), output::palette::TITLE);
        let header = format!("{:<22}{:>12}{:>14}", "", "waypost", ".json.gz");
        writeln!(out, "{bold}{header}{bold:#}")?;
        for Line { what, values: [waypost, files], better } in self.lines() {
            writeln!(out, "{what:<22}{waypost:>12}{files:>14}{:>15}", judged(better))?;
        }
        writeln!(out)?;
        let (floor, save) = (self.floor.median, self.waypost.save.median);
        write!(out, "appending 4 KiB to a file and syncing it: {} median", us(floor))?;
        // Many threads share a sync, and relaxed saves have none.
        if *threads == 1 && *durability == "immediate" {
            write!(out, "; a save takes {:.2} of that", save / floor)?;
        }
        writeln!(out)?;
        if *saves < FEW_SAVES {
            let hint = "so few checkpoints weigh little beside the store itself; try more --saves";
            global.note(hint);
        }
        Ok(())
    }

    fn lines(&self) -> Vec<Line> {
        let (ours, theirs) = (&self.waypost, &self.files);
        let time = |what, of: fn(&Measured) -> f64| Line {
            what,
            values: [us(of(ours)), us(of(theirs))],
            better: of(theirs) / of(ours),
        };
        let bytes = |what, ours, theirs| Line {
            what,
            values: [output::size(ours), output::size(theirs)],
            better: ratio(theirs, ours),
        };
        let rate = |measured: &Measured| format!("{:.0}", measured.saves_per_second);
        let mut lines = vec![
            Line {
                what: "saves per second",
                values: [rate(ours), rate(theirs)],
                better: ours.saves_per_second / theirs.saves_per_second,
            },
            time("save, median", |it| it.save.median),
            time("save, 99 of 100", |it| it.save.p99),
            time("save, slowest", |it| it.save.max),
            bytes("bytes per checkpoint", ours.bytes_per_checkpoint, theirs.bytes_per_checkpoint),
        ];
        let written = ours.written_bytes_per_save.zip(theirs.written_bytes_per_save);
        if let Some((ours, theirs)) = written {
            lines.push(bytes("written per save", ours, theirs));
        }
        lines.push(time("newest of a loop", |it| it.newest.median));
        lines.push(time("any checkpoint", |it| it.get.median));
        lines.push(time("list 20 of a loop", |it| it.list.median));
        lines
    }
}

fn count(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn us(micros: f64) -> String {
    match micros {
        micros if micros < 10.0 => format!("{micros:.1} us"),
        micros if micros < 10_000.0 => format!("{micros:.0} us"),
        micros => format!("{:.1} ms", micros / 1e3),
    }
}

/// The ratio in words: how much better or worse the first is.
fn judged(better: f64) -> String {
    if !better.is_finite() || better <= 0.0 {
        "-".to_owned()
    } else if better >= 1.0 {
        format!("{} better", times(better))
    } else {
        format!("{} worse", times(better.recip()))
    }
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") }
}

#[expect(clippy::cast_precision_loss, reason = "it is shown rounded")]
fn ratio(bytes: u64, by: u64) -> f64 {
    bytes as f64 / by as f64
}
