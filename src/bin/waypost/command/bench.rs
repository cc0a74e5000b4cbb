//! `waypost bench`: what this machine does, beside what files would do on it.

mod document;
mod files;
mod random;
mod report;
mod run;
mod spread;
mod waypost;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;

use crate::args::{self, Global};
use crate::exit::Refusal;
use crate::output;
use document::Shape;

const EXAMPLES: &str = "\
Examples:
  waypost bench
  waypost bench --size 64k --change 5
  waypost bench --threads 64 --saves 10000
  waypost bench --durability relaxed --json | jq .waypost.saves_per_second";

// The store stays small if documents change little, but the gzip files beside it do not.
const FILES_BYTES_MAX: u64 = 8 << 30;

/// Measure this machine, beside gzip files
///
/// How many saves, reads and lists a second, and how many bytes a checkpoint takes.
///
/// Saves made-up documents of agent loops into a store of its own, which is removed in the end,
/// and the same documents as .json.gz files written with care: a temporary file, a sync, a rename
/// and a sync of the directory. In turns, since a disk is faster at one moment than at another.
/// If it is interrupted, what was saved until then is measured; if it is killed, a directory
/// .waypost-bench-* is left, which can be removed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Length of a document as JSON: bytes, or with k or m, as 64k or 64KiB
    #[arg(long, value_name = "BYTES", default_value = "16k", value_parser = bytes)]
    size: u32,

    /// How much of a document is new in each iteration, at least one step of its history
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    #[arg(value_parser = args::whole::<u8>(0..=100))]
    change: u8,

    /// Let documents grow instead of forgetting what is old
    #[arg(long)]
    grow: bool,

    /// Number of saves in all
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    #[arg(value_parser = args::whole::<u32>(1..=u32::MAX.into()))]
    saves: u32,

    /// Number of threads that save
    #[arg(long, value_name = "COUNT", default_value = "1")]
    #[arg(value_parser = args::whole::<u32>(1..=1000))]
    threads: u32,

    /// Number of loops, each a series of its own; by default as many as threads
    #[arg(long, value_name = "COUNT")]
    #[arg(value_parser = args::whole::<u32>(1..=100_000))]
    loops: Option<u32>,

    /// When a save is done
    #[arg(long, value_name = "WHEN", default_value = "immediate")]
    durability: Durability,

    /// Where to put what is measured; by default here
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Durability {
    /// Once it is on disk
    Immediate,
    /// Once it can be read; files are not synced either
    Relaxed,
}

/// The workload that is measured.
#[derive(Debug, Clone, Copy)]
struct Plan {
    shape: Shape,
    saves: u32,
    threads: u32,
    loops: u32,
    is_durable: bool,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let plan = args.plan()?;
    let (report, stopped) = run::run(&plan, &args.dir, global)?;
    match report {
        Some(report) if global.json => output::json_line(out, &report)?,
        Some(report) => report.write(out, global)?,
        None => {}
    }
    out.flush()?;
    stopped.map_or(Ok(()), |(signal, saves)| {
        let (saves, all) = (output::grouped(saves), output::grouped(plan.saves.into()));
        Err(signal.error(format!("{saves} of {all} saves measured")))
    })
}

impl Args {
    fn plan(&self) -> Result<Plan> {
        let (threads, loops) = (self.threads, self.loops.unwrap_or(self.threads));
        let (size, saves) = (self.size, self.saves);
        let refused = |reason: String| Err(Refusal::Usage(reason).into());
        if loops < threads {
            return refused(format!(
                "--loops {loops} is less than --threads {threads}: a thread needs a loop of its own"
            ));
        }
        if saves < loops {
            return refused(format!(
                "--saves {saves} is less than the number of loops, {loops}: some would save nothing"
            ));
        }
        if u64::from(size) * u64::from(saves) > FILES_BYTES_MAX {
            return refused(format!(
                "{saves} saves of {size} bytes are too much to keep; choose fewer or smaller ones"
            ));
        }
        let json_bytes = usize::try_from(size)?;
        let new_bytes = json_bytes / 100 * usize::from(self.change);
        let shape = Shape { new_bytes, grows: self.grow, ..Shape::of(json_bytes) };
        let is_durable = self.durability == Durability::Immediate;
        Ok(Plan { shape, saves, threads, loops, is_durable })
    }
}

fn bytes(text: &str) -> Result<u32, String> {
    let lower = text.to_ascii_lowercase();
    let units = [("kib", 1 << 10), ("k", 1 << 10), ("mib", 1 << 20), ("m", 1 << 20), ("", 1)];
    let with_unit = |(name, unit)| lower.strip_suffix(name).map(|number| (number, unit));
    let (number, unit) = units.into_iter().find_map(with_unit).unwrap_or((lower.as_str(), 1));
    let number: u32 = number.parse().map_err(|_| "not a number of bytes like 500, 16k or 1m")?;
    let bytes = number.checked_mul(unit).filter(|bytes| (1..=32 << 20).contains(bytes));
    bytes.ok_or_else(|| "must be between 1 byte and 32m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_may_have_a_unit() {
        assert_eq!(bytes("500"), Ok(500));
        assert_eq!(bytes("16k"), Ok(16 << 10));
        assert_eq!(bytes("64KiB"), Ok(64 << 10));
        assert_eq!(bytes("1M"), bytes("1MiB"));
        for wrong in ["", "k", "0", "-1", "1.5k", "33m", "9999999m", "16kb", "16ib"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
