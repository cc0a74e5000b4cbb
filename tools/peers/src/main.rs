//! Compares Waypost with other ways to keep checkpoints.
//!
//! `cargo run --release` in this directory measures everything in some ten minutes and prints a
//! table for each kind of documents; `--out DIR` writes a page and charts, `--quick` takes a
//! minute or two, and `--help` says the rest. `RocksDB` takes part with `--features rocksdb`;
//! `src/peer/ordered/rocksdb.rs` says what that needs.

mod arguments;
mod chart;
mod check;
mod cost;
mod counts;
#[path = "../../../src/bin/waypost/command/bench/document.rs"]
mod document;
mod figures;
mod goals;
mod measure;
mod noise;
mod overview;
mod peer;
mod place;
#[path = "../../../src/bin/waypost/command/bench/random.rs"]
mod random;
mod report;
mod rounds;
mod table;
#[cfg(test)]
mod tests;
mod workload;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::json;
use waypost::Series;

use arguments::Arguments;
use workload::Fleet;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(path) = &arguments.dump {
        return dump(&arguments, path);
    }
    let directory = match &arguments.dir {
        Some(directory) => directory.clone(),
        None => place::default_directory()?,
    };
    let kinds = arguments.kinds();
    for kind in &kinds {
        check::check(*kind, place::scratch(&directory)?.path())?;
    }
    let mut all = Vec::new();
    for scenario in arguments.scenarios() {
        let counts = arguments.counts(scenario);
        let figures = measure::measure(scenario, counts, &kinds, &directory)?;
        print!("{}", report::table(&figures));
        all.push(figures);
        // After each, so that a run that is stopped has left something.
        if let Some(out) = &arguments.out {
            report::write(&all, out)?;
        }
    }
    print!("{}", report::goal_list(&all));
    Ok(())
}

/// Writes documents for a rival that is not a Rust library.
fn dump(arguments: &Arguments, path: &Path) -> Result<()> {
    let scenario = *arguments.scenarios().first().context("no size or motion is left")?;
    let mut fleet = Fleet::new(scenario);
    let mut out = BufWriter::new(File::create(path)?);
    for _ in 0..arguments.counts(scenario).fill {
        let (about, state) = fleet.step()?;
        let line = json!({ "series": Series::of(&about).as_str(), "document": state });
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
