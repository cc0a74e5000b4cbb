//! The commands, and what is common to all of them.

mod bench;
mod compact;
mod delete;
mod latest;
mod list;
mod save;
mod show;
mod stats;
mod tag;

use std::io::Write;

use anyhow::Result;

use crate::args::Global;
use crate::exit::Exit;

/// Keeps checkpoints of agent workflows: one file, indexed, compressed, durable
#[derive(Debug, clap::Parser)]
#[command(name = "waypost", version, after_long_help = Exit::help())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Save(Box<save::Args>),
    Show(show::Args),
    Latest(latest::Args),
    List(list::Args),
    Delete(delete::Args),
    Tag(tag::Args),
    Stats(stats::Args),
    Compact(compact::Args),
    Bench(bench::Args),
}

impl Cli {
    /// Runs the command; results go to `out`.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        match &self.command {
            Command::Save(args) => save::run(args, &self.global, out),
            Command::Show(args) => show::run(args, &self.global, out),
            Command::Latest(args) => latest::run(args, &self.global, out),
            Command::List(args) => list::run(args, &self.global, out),
            Command::Delete(args) => delete::run(args, &self.global, out),
            Command::Tag(args) => tag::run(args, &self.global, out),
            Command::Stats(args) => stats::run(args, &self.global, out),
            Command::Compact(args) => compact::run(args, &self.global, out),
            Command::Bench(args) => bench::run(args, &self.global, out),
        }
    }
}
