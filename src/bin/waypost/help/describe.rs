//! The description of the commands for programs. Everything comes from one walk through clap's
//! tree.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use serde::Serialize;

use super::{groups, sections};
use crate::exit::Exit;

/// Commands, and the flags and exit codes that all of them share.
#[derive(Debug, Serialize)]
pub(crate) struct Manual {
    /// The release that has these commands.
    release: &'static str,
    commands: Vec<Page>,
    exit_codes: Vec<ExitCode>,
}

#[derive(Debug, Serialize)]
struct ExitCode {
    code: u8,
    meaning: &'static str,
}

/// A command.
#[derive(Debug, Serialize)]
struct Page {
    name: String,
    /// The words after `waypost`; none for the program itself.
    path: Vec<String>,
    group: Option<&'static str>,
    summary: String,
    /// The whole help text, if it is longer than the summary.
    description: Option<String>,
    usage: String,
    arguments: Vec<Argument>,
    flags: Vec<Flag>,
    /// Of each list at least one argument must be given.
    required_groups: Vec<Vec<String>>,
    /// The names of the commands below it.
    commands: Vec<String>,
    examples: Vec<sections::Example>,
}

#[derive(Debug, Serialize)]
struct Flag {
    long: Option<String>,
    short: Option<char>,
    #[serde(flatten)]
    argument: Argument,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member that programs look up")]
struct Argument {
    /// The name in `conflicts` and `required_groups`.
    name: String,
    summary: String,
    description: Option<String>,
    /// None for a switch.
    value_names: Vec<String>,
    /// True if the flag may be given without a value.
    value_optional: bool,
    possible_values: Vec<String>,
    defaults: Vec<String>,
    env: Option<String>,
    required: bool,
    repeatable: bool,
    global: bool,
    heading: Option<String>,
    conflicts: Vec<String>,
}

impl Manual {
    /// Describes a built command at `path`, and all its subcommands.
    pub(crate) fn of(command: &mut Command, path: &[String]) -> Self {
        let mut commands = Vec::new();
        walk(command, path, &mut commands);
        let exit_codes = Exit::meanings().map(|(code, meaning)| ExitCode { code, meaning });
        let release = env!("CARGO_PKG_VERSION");
        Self { release, commands, exit_codes: exit_codes.collect() }
    }
}

fn walk(command: &mut Command, path: &[String], pages: &mut Vec<Page>) {
    let usage = command.render_usage().to_string();
    pages.push(Page::of(command, path, usage.trim_start_matches("Usage: ")));
    for below in command.get_subcommands_mut() {
        let path = [path, &[below.get_name().to_owned()]].concat();
        walk(below, &path, pages);
    }
}

impl Page {
    fn of(command: &Command, path: &[String], usage: &str) -> Self {
        let flags = command.get_arguments().filter(|it| !it.is_positional());
        let names = command.get_subcommands().map(|below| below.get_name().to_owned());
        Self {
            name: command.get_name().to_owned(),
            path: path.to_vec(),
            group: path.first().map(|name| groups::of(name)),
            summary: text(command.get_about()),
            description: command.get_long_about().map(ToString::to_string),
            usage: usage.to_owned(),
            arguments: command.get_positionals().map(|it| Argument::of(it, command)).collect(),
            flags: flags.map(|it| Flag::of(it, command)).collect(),
            required_groups: required_groups(command),
            commands: names.collect(),
            examples: sections::examples(command),
        }
    }
}

impl Flag {
    fn of(arg: &Arg, command: &Command) -> Self {
        Self {
            long: arg.get_long().map(ToOwned::to_owned),
            short: arg.get_short(),
            argument: Argument::of(arg, command),
        }
    }
}

impl Argument {
    fn of(arg: &Arg, command: &Command) -> Self {
        let count = arg.get_num_args();
        let is_list = count.is_some_and(|count| count.max_values() > 1);
        let takes_values = arg.get_action().takes_values();
        let or_none = |values: Vec<String>| if takes_values { values } else { Vec::new() };
        let values = arg.get_possible_values();
        let defaults = arg.get_default_values().iter();
        Self {
            name: name(arg),
            summary: text(arg.get_help()),
            description: arg.get_long_help().map(ToString::to_string),
            value_names: or_none(value_names(arg)),
            value_optional: takes_values && count.is_some_and(|count| count.min_values() == 0),
            possible_values: or_none(values.iter().map(|it| it.get_name().to_owned()).collect()),
            defaults: or_none(defaults.map(|it| it.to_string_lossy().into_owned()).collect()),
            env: arg.get_env().map(|name| name.to_string_lossy().into_owned()),
            required: arg.is_required_set(),
            repeatable: is_list || matches!(arg.get_action(), ArgAction::Append | ArgAction::Count),
            global: arg.is_global_set(),
            heading: arg.get_help_heading().map(ToOwned::to_owned),
            conflicts: conflicts(arg, command),
        }
    }
}

fn text(help: Option<&StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}

fn value_names(arg: &Arg) -> Vec<String> {
    arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// A flag with its dashes, or the name of an argument in the usage.
fn name(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => value_names(arg).join(" "),
    }
}

/// The arguments that conflict with one, whichever of the two declares it.
fn conflicts(arg: &Arg, command: &Command) -> Vec<String> {
    let says = |one: &Arg, other: &Arg| {
        let declared = command.get_arg_conflicts_with(one);
        declared.iter().any(|it| it.get_id() == other.get_id()) || one.is_exclusive_set()
    };
    let others = command.get_arguments().filter(|other| other.get_id() != arg.get_id());
    let at_odds =
        others.filter(|it| says(arg, it) || says(it, arg) || is_one_of_both(arg, it, command));
    at_odds.map(name).collect()
}

/// True if both are in a group of which only one may be given.
fn is_one_of_both(one: &Arg, other: &Arg, command: &Command) -> bool {
    command.get_groups().any(|group| {
        let has = |arg: &Arg| group.get_args().any(|id| id == arg.get_id());
        has(one) && has(other) && !group.clone().is_multiple()
    })
}

fn required_groups(command: &Command) -> Vec<Vec<String>> {
    let groups = command.get_groups().filter(|group| group.is_required_set());
    let has = |group: &clap::ArgGroup, arg: &Arg| group.get_args().any(|id| id == arg.get_id());
    let members = |group| command.get_arguments().filter(move |arg| has(group, arg)).map(name);
    groups.map(|group| members(group).collect()).collect()
}
