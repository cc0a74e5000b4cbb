//! What can be said on the command line.

use std::path::PathBuf;

use clap::Parser;

use crate::counts::Counts;
use crate::peer::Kind;
use crate::workload::{Motion, Scenario};

/// Compares Waypost with other ways to keep checkpoints: the same documents, the same operations,
/// one run.
///
/// `RocksDB` is left out unless built with `--features rocksdb`, which needs libclang; the top of
/// `src/peer/ordered/rocksdb.rs` says how to come by it.
#[derive(Debug, Parser)]
#[command(about, long_about)]
pub(crate) struct Arguments {
    /// Sizes of documents, in KB.
    #[arg(long, value_delimiter = ',', default_values_t = [4, 16, 64, 256])]
    pub(crate) sizes: Vec<u32>,

    /// How documents change.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Motion::ALL)]
    pub(crate) motions: Vec<Motion>,

    /// Which rivals take part; all that were built in unless told otherwise.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) peers: Vec<Kind>,

    /// Checkpoints in the stores that are read and pruned, instead of a number for each size; at
    /// least 96, so that a list of one issue is full.
    #[arg(long, value_parser = clap::value_parser!(u32).range(96..))]
    pub(crate) count: Option<u32>,

    /// Rounds of each work, instead of nine: in each of them every rival has one turn, and the
    /// order rotates. Figures are medians of the rounds.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(crate) rounds: Option<u32>,

    /// Does everything a few times only: a minute or two, and rough figures.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Writes `peers.md` and charts into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Where the stores are put while they are measured: on the disk that is asked about. Beside
    /// this program unless told otherwise.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Writes the documents of the first size and motion to a file, one a line with its series,
    /// and measures nothing.
    #[arg(long, value_name = "FILE")]
    pub(crate) dump: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        if self.peers.is_empty() { Kind::all().to_vec() } else { self.peers.clone() }
    }

    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let of = |motion: &Motion| {
            let motion = *motion;
            self.sizes.iter().map(move |kilobytes| Scenario { kilobytes: *kilobytes, motion })
        };
        self.motions.iter().flat_map(of).collect()
    }

    pub(crate) fn counts(&self, scenario: Scenario) -> Counts {
        let counts = if self.quick { Counts::quick(scenario) } else { Counts::of(scenario) };
        let counts = self.rounds.map_or(counts, |rounds| counts.with_rounds(rounds));
        self.count.map_or(counts, |fill| counts.with_fill(fill))
    }
}
