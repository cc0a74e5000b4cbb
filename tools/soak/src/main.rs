//! Uses one store from several processes for a long time.
//!
//! `cargo run --release -- --for 10m --out results` in this directory; `--help` says the rest. The
//! exit code is 1 if anything was wrong or grew.

mod arguments;
mod chart;
mod check;
mod document;
mod duration;
mod fleet;
mod judge;
mod kind;
mod latency;
mod ledger;
mod note;
mod random;
mod report;
mod run;
mod sample;
mod tail;
mod tally;
mod worker;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

use arguments::{Arguments, Run, Worker};
use judge::Verdict;

fn main() -> Result<ExitCode> {
    let Arguments { run, worker } = Arguments::parse();
    match worker {
        Some(Worker::Worker(orders)) => worker::work(orders).map(|()| ExitCode::SUCCESS),
        None => soak(&run),
    }
}

fn soak(arguments: &Run) -> Result<ExitCode> {
    let outcome = run::run(arguments, &mut |sample, tally| {
        eprintln!("{}", report::line(sample, tally));
    })?;
    let verdicts = judge::judge(&outcome.samples);
    let page = report::page(arguments, &outcome, &verdicts);
    print!("{page}");
    if let Some(out) = &arguments.out {
        report::write(&page, &outcome.samples, out)?;
    }
    let is_good = outcome.tally.wrong.is_empty() && verdicts.iter().all(Verdict::is_flat);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
