//! `waypost help`: what `--help` says, by the name of a command, and all of it in JSON.

use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::Style;
use clap::error::ErrorKind;

use super::Cli;
use crate::args::Global;
use crate::help::describe::Manual;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  waypost help save
  waypost help policy set
  waypost help save --json | jq '.commands[0].flags[].name'
  waypost help --json | jq -r '.commands[].usage'";

/// Show the help of a command, or of all of them as JSON
///
/// With --json it is one object for programs: of each command its summary, usage, arguments, flags
/// and examples, and then the exit codes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A command, such as `save` or `policy set`; all of them if not said
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let mut tree = Cli::tree();
    tree.build();
    let command = find(&mut tree, &args.path)?;
    if global.json {
        return Ok(output::json_line(out, &Manual::of(command, &args.path))?);
    }
    // clap chooses between the long and the short help only if the flag asks for it.
    let Err(help) = command.try_get_matches_from_mut(["waypost", "--help"]) else { return Ok(()) };
    let help = help.render();
    if global.style(&io::stdout(), Style::new().bold()).is_plain() {
        return Ok(write!(out, "{help}")?);
    }
    Ok(write!(out, "{}", help.ansi())?)
}

fn find<'a>(
    tree: &'a mut clap::Command,
    path: &[String],
) -> Result<&'a mut clap::Command, clap::Error> {
    let mut found = tree;
    for name in path {
        if found.find_subcommand(name).is_none() {
            return Err(unknown(found, name));
        }
        found = found.find_subcommand_mut(name).expect("it was found just now");
    }
    Ok(found)
}

/// The error of clap about an unknown command, with the likely one.
fn unknown(parent: &mut clap::Command, name: &str) -> clap::Error {
    match parent.clone().try_get_matches_from(["waypost", name]) {
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => error,
        // The parent has no subcommands, or the name looks like a flag.
        _ => {
            let message = format!("unrecognized subcommand '{name}'");
            parent.error(ErrorKind::InvalidSubcommand, message)
        }
    }
}
