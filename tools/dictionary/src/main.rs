//! Trains and measures the dictionaries of the store format.
//!
//! A dictionary that was released is for ever: stores need it. A new one gets the next number.

#[expect(dead_code, reason = "documents are measured one by one, without their loop")]
#[path = "../../../src/bin/waypost/command/bench/document.rs"]
mod document;
mod look;
mod measure;
mod pack;
#[path = "../../../src/bin/waypost/command/bench/random.rs"]
mod random;
mod sample;
mod stored;
mod train;
mod vary;

use std::fs::{self, File};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

/// Trains and measures the dictionaries of the store format.
#[derive(Debug, Parser)]
struct Args {
    /// What to do; measures the newest dictionary if left out.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compares dictionaries of several lengths, on documents they were not trained on.
    Measure,
    /// Trains a dictionary: the same bytes from the same samples.
    Train {
        /// A new file, whose name is the number of the dictionary: 2.zdict.
        #[arg(long)]
        out: PathBuf,
        /// The most bytes that the dictionary may have.
        // The knee of the tables of `measure`; from 15.5 KB on, zstd takes parameters for longer
        // documents, which suit small ones less.
        #[arg(long, default_value_t = 12 << 10)]
        bytes: usize,
    },
}

fn main() -> Result<()> {
    let samples = sample::read_all()?;
    match Args::parse().command {
        None => {
            let path = newest()?;
            println!("{}", path.display());
            measure::one(&samples, &fs::read(&path)?, &mut stdout().lock())
        }
        Some(Command::Measure) => measure::compare(&samples, &mut stdout().lock()),
        Some(Command::Train { out, bytes }) => {
            let number = number(&out).context("the name of the file is not like 2.zdict")?;
            let dictionary = train::train(&train::material(&samples)?, bytes, number)?;
            // Never over one that stores may need.
            let mut file = File::create_new(&out).with_context(|| out.display().to_string())?;
            file.write_all(&dictionary).with_context(|| out.display().to_string())
        }
    }
}

/// The shipped dictionary with the highest number.
fn newest() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/codec/dictionary");
    let mut paths = Vec::new();
    for file in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        paths.push(file?.path());
    }
    paths.into_iter().max_by_key(|path| number(path)).context("there is no dictionary yet")
}

/// The number that a file of a dictionary is named after.
fn number(path: &Path) -> Option<u8> {
    path.file_name()?.to_str()?.strip_suffix(".zdict")?.parse().ok()
}
