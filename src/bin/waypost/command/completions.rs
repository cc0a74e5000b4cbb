//! `waypost completions`: scripts by which shells complete commands and flags.

use std::io::Write;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::Cli;
use crate::args::Global;
use crate::help::groups;

const EXAMPLES: &str = "\
Examples:
  waypost completions bash > ~/.local/share/bash-completion/completions/waypost
  waypost completions zsh > ~/.zfunc/_waypost     # with `fpath+=~/.zfunc` before `compinit`
  waypost completions fish > ~/.config/fish/completions/waypost.fish";

/// Print a script that completes commands and flags
///
/// The examples put it where each shell looks for it; the directory must be there. Shells that are
/// started then know it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The shell it is for
    #[arg(value_name = "bash|zsh|fish", hide_possible_values = true)]
    shell: Name,
}

/// The shells whose scripts are tested.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Name {
    Bash,
    Zsh,
    Fish,
}

pub(super) fn run(args: &Args, _: &Global, out: &mut dyn Write) -> Result<()> {
    // Set only here: as the value parser of the command it would make error messages worse.
    let named = |arg: clap::Arg| arg.value_parser(PossibleValuesParser::new(groups::names()));
    let mut tree = Cli::tree().mut_subcommand("help", |help| help.mut_arg("path", named));
    // The generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(Shell::from(args.shell), &mut tree, "waypost", &mut script);
    Ok(out.write_all(&script)?)
}

impl From<Name> for Shell {
    fn from(name: Name) -> Self {
        match name {
            Name::Bash => Self::Bash,
            Name::Zsh => Self::Zsh,
            Name::Fish => Self::Fish,
        }
    }
}
