//! The commands, and what is common to all of them.

mod backup;
mod bench;
mod check;
mod compact;
mod completions;
mod delete;
mod diff;
mod doctor;
mod export;
mod find;
mod fork;
mod help;
mod import;
mod init;
mod key;
mod latest;
mod lifecycle;
mod list;
mod log;
mod man;
mod policy;
mod prune;
mod rekey;
mod repair;
mod restore;
mod resume;
mod save;
mod series;
mod show;
mod stats;
mod tag;
#[cfg(test)]
mod tests;
mod undelete;
mod verify;
mod watch;

use std::io::Write;

use anyhow::Result;
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::Global;
use crate::exit::Exit;
use crate::help::groups;

const EXAMPLES: &str = "\
Examples:
  waypost save state.json --issue 42 --trigger manual
  waypost latest --issue 42 --document
  waypost resume 42     # what to go on from, and whether it is still as it was";

/// Keeps checkpoints of agent workflows: one file, indexed, compressed, durable
#[derive(Debug, clap::Parser)]
#[command(name = "waypost", bin_name = "waypost", version)]
// `waypost help` replaces it and also answers in JSON.
#[command(disable_help_subcommand = true, subcommand_value_name = "COMMAND")]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", Exit::help()))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(init::Args),
    Save(Box<save::Args>),
    Show(show::Args),
    Latest(latest::Args),
    List(list::Args),
    Series(series::Args),
    Log(Box<log::Args>),
    Watch(Box<watch::Args>),
    Find(Box<find::Args>),
    Diff(diff::Args),
    Resume(resume::Args),
    Fork(Box<fork::ForkArgs>),
    Rollback(fork::RollbackArgs),
    Delete(delete::Args),
    Undelete(undelete::Args),
    Tag(tag::Args),
    /// Declare the work done, of checkpoints or of a series
    ///
    /// Of a series, what has not ended yet becomes `completed`. Then the policy may remove it, or
    /// all but its newest checkpoint; tags and fork points stay.
    #[command(after_help = lifecycle::COMPLETE_EXAMPLES)]
    Complete(lifecycle::CompleteArgs),
    /// Declare the work failed, of checkpoints or of a series
    ///
    /// Age counts from now: policies keep what has failed for some weeks.
    #[command(after_help = lifecycle::FAIL_EXAMPLES)]
    Fail(lifecycle::Args),
    /// Put checkpoints or a series aside, for the record
    ///
    /// All of a series, however it ended. Policies may keep what is archived for another time than
    /// the rest; a tag keeps it for good.
    #[command(after_help = lifecycle::ARCHIVE_EXAMPLES)]
    Archive(lifecycle::Args),
    /// Take back that checkpoints or a series have ended
    #[command(after_help = lifecycle::REOPEN_EXAMPLES)]
    Reopen(lifecycle::Args),
    Restore(restore::Args),
    Prune(Box<prune::Args>),
    Export(Box<export::Args>),
    Import(import::Args),
    Check(check::Args),
    Policy(policy::Args),
    Stats(stats::Args),
    Compact(compact::Args),
    Key(key::Args),
    Rekey(rekey::Args),
    Doctor(doctor::Args),
    Verify(verify::Args),
    Repair(repair::Args),
    Backup(backup::Args),
    Bench(bench::Args),
    Help(help::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Cli {
    /// True if results may be longer than a screen and a person reads them from the top.
    pub(crate) fn is_long(&self) -> bool {
        use Command::{Diff, Latest, Log, Show};
        matches!(self.command, Show(_) | Latest(_) | Diff(_) | Log(_))
    }

    /// All commands and flags, as clap knows them.
    pub(crate) fn tree() -> clap::Command {
        groups::grouped(Self::command())
    }

    /// Parses the arguments of this process.
    pub(crate) fn from_words() -> Result<Self, clap::Error> {
        let mut tree = Self::tree();
        let mut words = tree.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches_mut(&mut words).map_err(|error| error.format(&mut tree))
    }

    /// Runs the command; results go to `out`.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        match &self.command {
            Command::Init(args) => init::run(args, &self.global, out),
            Command::Save(args) => save::run(args, &self.global, out),
            Command::Show(args) => show::run(args, &self.global, out),
            Command::Latest(args) => latest::run(args, &self.global, out),
            Command::List(args) => list::run(args, &self.global, out),
            Command::Series(args) => series::run(args, &self.global, out),
            Command::Log(args) => log::run(args, &self.global, out),
            Command::Watch(args) => watch::run(args, &self.global, out),
            Command::Find(args) => find::run(args, &self.global, out),
            Command::Diff(args) => diff::run(args, &self.global, out),
            Command::Resume(args) => resume::run(args, &self.global, out),
            Command::Fork(args) => fork::fork(args, &self.global, out),
            Command::Rollback(args) => fork::rollback(args, &self.global, out),
            Command::Delete(args) => delete::run(args, &self.global, out),
            Command::Undelete(args) => undelete::run(args, &self.global, out),
            Command::Complete(args) => lifecycle::complete(args, &self.global, out),
            Command::Fail(args) => lifecycle::fail(args, &self.global, out),
            Command::Archive(args) => lifecycle::archive(args, &self.global, out),
            Command::Reopen(args) => lifecycle::reopen(args, &self.global, out),
            Command::Restore(args) => restore::run(args, &self.global, out),
            Command::Prune(args) => prune::run(args, &self.global, out),
            Command::Export(args) => export::run(args, &self.global, out),
            Command::Import(args) => import::run(args, &self.global, out),
            Command::Check(args) => check::run(args, &self.global, out),
            Command::Policy(args) => policy::run(args, &self.global, out),
            Command::Tag(args) => tag::run(args, &self.global, out),
            Command::Stats(args) => stats::run(args, &self.global, out),
            Command::Compact(args) => compact::run(args, &self.global, out),
            Command::Key(args) => key::run(args, &self.global, out),
            Command::Rekey(args) => rekey::run(args, &self.global, out),
            Command::Doctor(args) => doctor::run(args, &self.global, out),
            Command::Verify(args) => verify::run(args, &self.global, out),
            Command::Repair(args) => repair::run(args, &self.global, out),
            Command::Backup(args) => backup::run(args, &self.global, out),
            Command::Bench(args) => bench::run(args, &self.global, out),
            Command::Help(args) => help::run(args, &self.global, out),
            Command::Completions(args) => completions::run(args, &self.global, out),
            Command::Man(args) => man::run(args, &self.global, out),
        }
    }
}
