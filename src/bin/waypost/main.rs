//! The `waypost` command: words in, library calls, words out.

mod about;
mod args;
mod command;
mod config;
mod confirm;
mod document;
mod exit;
mod filter;
mod help;
mod importing;
mod input;
mod interrupt;
mod keys;
mod name;
mod open;
mod output;
mod pager;
mod panics;
mod policy;
mod progress;
mod report;
mod survey;
// The file of the library, which does not export it.
#[path = "../../threads.rs"]
mod threads;
mod when;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;

use output::Shown;

fn main() -> ExitCode {
    let _witness = panics::hush_engine();
    interrupt::outlive_file_limit();
    let cli = match command::Cli::from_words() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    let is_terminal = io::stdout().is_terminal();
    let mut out = Shown::if_terminal(pager::paged(&cli.global, cli.is_long()), is_terminal);
    let ended = cli.run(&mut out);
    // Results from before an error are shown, too.
    let shown = out.flush();
    match ended.and_then(|()| shown.context("cannot write to standard output")) {
        Ok(()) => exit::Exit::Done.into(),
        Err(error) => report::report(&interrupt::or_else(error), &cli.global),
    }
}
