//! What can be said on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::duration::parse;

// Enough points for a chart, however long a run is.
const SAMPLES: u32 = 60;

/// Uses one store from several processes for a long time, kills some of them, and looks whether
/// everything is there, and whether size, memory and times stay as they were.
#[derive(Debug, Parser)]
#[command(about, long_about, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) run: Run,

    #[command(subcommand)]
    pub(crate) worker: Option<Worker>,
}

/// How a run is made.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// How long it runs.
    #[arg(long = "for", value_name = "DURATION", default_value = "10m", value_parser = parse)]
    pub(crate) time: Duration,

    /// How many processes use the store.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) processes: u32,

    /// How many of them are never killed: memory that grows shows only in these.
    #[arg(long, default_value_t = 2)]
    pub(crate) spare: u32,

    /// How often one of the others is killed.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse)]
    pub(crate) kill_every: Duration,

    /// How long each process rests between two calls, on average.
    #[arg(long, value_name = "DURATION", default_value = "2ms", value_parser = parse)]
    pub(crate) pause: Duration,

    /// How often everything is measured and checked; 60 times unless told otherwise.
    #[arg(long, value_name = "DURATION", value_parser = parse)]
    pub(crate) every: Option<Duration>,

    /// How many operations the log of the store has at the start. It holds 10,000, and until then
    /// every delete and every prune makes the file longer.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub(crate) operations: u32,

    /// Decides what is saved, and who does what.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// Writes `soak.md` and `soak.svg` into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Where the store is put: on the disk that is asked about. Beside this program unless told
    /// otherwise, as the directory of temporary files is often in memory.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

impl Run {
    /// How often everything is measured.
    pub(crate) fn interval(&self) -> Duration {
        self.every.unwrap_or(self.time / SAMPLES).max(Duration::from_millis(100))
    }
}

/// What this program starts itself for.
#[derive(Debug, Subcommand)]
pub(crate) enum Worker {
    /// Uses the store until its input ends.
    #[command(hide = true)]
    Worker(Orders),
}

/// The options of a worker.
#[derive(Debug, Clone, Args)]
pub(crate) struct Orders {
    #[arg(long)]
    pub(crate) store: PathBuf,
    /// Where it writes its notes.
    #[arg(long)]
    pub(crate) notes: PathBuf,
    /// Its number among the processes.
    #[arg(long)]
    pub(crate) worker: u32,
    /// How often it was started before.
    #[arg(long)]
    pub(crate) start: u64,
    #[arg(long)]
    pub(crate) processes: u32,
    #[arg(long)]
    pub(crate) seed: u64,
    #[arg(long, value_parser = parse)]
    pub(crate) pause: Duration,
    /// The highest number of each kind that was acknowledged.
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) highest: Vec<u64>,
}
