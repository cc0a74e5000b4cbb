//! One kind of documents, all rivals: what each operation takes.

mod filled;
mod saving;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::counts::Counts;
use crate::figures::Figures;
use crate::noise::Noise;
use crate::peer::Kind;
use crate::workload::Scenario;

pub(crate) fn measure(
    scenario: Scenario,
    counts: Counts,
    kinds: &[Kind],
    directory: &Path,
) -> Result<Figures> {
    let noise = Noise::listen();
    let mut figures = Figures::new(scenario, counts, kinds);
    eprintln!("{}: durable saves in turns", scenario.name());
    saving::in_turns(&mut figures, directory)?;
    eprintln!("{}: crowds of savers", scenario.name());
    saving::crowds(&mut figures, directory)?;
    for kind in kinds {
        eprintln!("{}: {}, {} checkpoints", scenario.name(), kind.name(), counts.fill);
        saving::processor(&mut figures, *kind, directory)?;
        filled::measure(&mut figures, *kind, directory)?;
    }
    figures.noise = noise.processors();
    Ok(figures)
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn per_second(count: u32, duration: Duration) -> f64 {
    f64::from(count) / duration.as_secs_f64()
}
