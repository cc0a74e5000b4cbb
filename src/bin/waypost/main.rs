//! The `waypost` command: words in, library calls, words out.

mod about;
mod args;
mod command;
mod config;
mod confirm;
mod content;
mod exit;
mod filter;
mod gzip;
mod name;
mod open;
mod ordered;
mod output;
mod panics;
mod policy;
mod progress;
mod report;
mod scope;
mod when;
mod world;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let _witness = panics::hush_engine();
    let cli = match command::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    match cli.run(&mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => exit::Exit::Done.into(),
        Err(error) => report::report(&error, &cli.global),
    }
}
