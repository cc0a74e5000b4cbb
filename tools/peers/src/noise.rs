//! How busy the rest of the machine is while something is measured.
//!
//! Figures change with the load of a shared machine, so the report shows the load.

use std::fs;
use std::time::Instant;

// What the kernel counts in, on every system that has these files.
const TICKS_PER_SECOND: f64 = 100.0;
// Of the numbers that follow the state of a process: its time in user and kernel.
const OWN_FIELDS: [usize; 2] = [10, 11];
// Of the line of all processors: idle, and waiting for a disk.
const IDLE_FIELDS: [usize; 2] = [3, 4];

/// A moment from which the work of others is counted.
#[derive(Debug)]
pub(crate) struct Noise {
    start: Instant,
    others: Option<f64>,
}

impl Noise {
    pub(crate) fn listen() -> Self {
        Self { start: Instant::now(), others: others() }
    }

    /// How many processors others have used since then, on average; `None` without `/proc`.
    pub(crate) fn processors(&self) -> Option<f64> {
        let ticks = others()? - self.others?;
        Some((ticks / TICKS_PER_SECOND / self.start.elapsed().as_secs_f64()).max(0.0))
    }
}

/// The ticks that all processes but this one have had since the system started.
fn others() -> Option<f64> {
    let all = fs::read_to_string("/proc/stat").ok()?;
    let all = numbers(all.lines().next()?.strip_prefix("cpu")?);
    let busy: f64 = all.iter().sum::<f64>() - pick(&all, IDLE_FIELDS)?;

    let own = fs::read_to_string("/proc/self/stat").ok()?;
    // The name stands in brackets and may contain anything.
    let (_, own) = own.rsplit_once(')')?;
    Some(busy - pick(&numbers(own), OWN_FIELDS)?)
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn pick(numbers: &[f64], fields: [usize; 2]) -> Option<f64> {
    Some(numbers.get(fields[0])? + numbers.get(fields[1])?)
}
