//! One kind of documents, all rivals: what each operation takes.

mod filled;
mod saving;

use std::path::Path;

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
    eprintln!("{}: processor time of saves", scenario.name());
    saving::processor(&mut figures, directory)?;
    eprintln!("{}: {} checkpoints in each store", scenario.name(), counts.fill);
    filled::measure(&mut figures, directory)?;
    figures.noise = noise.processors();
    Ok(figures)
}
