//! The groups of the commands in the overview, where clap has a flat list.

use std::fmt::Write as _;

use clap::Command;

/// Headings, and the commands below each.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Save and read", &["save", "show", "latest", "list", "find"]),
    ("Go on", &["resume", "restore", "fork", "rollback"]),
    ("Look", &["series", "log", "watch", "diff", "stats"]),
    ("Mark", &["tag", "complete", "fail", "archive", "reopen"]),
    ("Clean up", &["delete", "undelete", "prune", "policy"]),
    ("Move in and out", &["import", "export", "check"]),
    ("Care", &["init", "doctor", "verify", "repair", "backup", "compact", "key", "rekey", "bench"]),
    ("Shell", &["help", "completions", "man"]),
];

/// The heading above a command; a command in no group is listed below the last.
pub(crate) fn of(name: &str) -> &'static str {
    let (last, _) = GROUPS[GROUPS.len() - 1];
    let found = GROUPS.iter().find(|(_, names)| names.contains(&name));
    found.map_or(last, |(heading, _)| heading)
}

/// The names of all commands, group by group.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// The same command, with its overview in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let header = command.get_styles().get_header();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}",
        overview(&command)
    );
    command.help_template(template)
}

fn overview(command: &Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let length = |command: &Command| command.get_name().len();
    let width = command.get_subcommands().map(length).max().unwrap_or_default();
    let mut text = String::new();
    for (heading, _) in GROUPS {
        let _ = writeln!(text, "\n{header}{heading}:{header:#}");
        for command in below(command, heading) {
            let (name, about) = (command.get_name(), command.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {literal}{name}{literal:#}{:1$}  {about}",
                "",
                width - name.len()
            );
        }
    }
    text
}

/// The commands of a group, in the order of the table.
fn below<'a>(command: &'a Command, heading: &str) -> Vec<&'a Command> {
    let is_below = |command: &&Command| of(command.get_name()) == heading;
    let mut found: Vec<_> = command.get_subcommands().filter(is_below).collect();
    found.sort_by_key(|command| names().position(|name| name == command.get_name()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Cli;

    #[test]
    fn every_command_is_in_one_group_and_every_name_is_a_command() {
        let mut grouped: Vec<_> = names().collect();
        let tree = Cli::tree();
        let mut commands: Vec<_> = tree.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        commands.sort_unstable();
        assert_eq!(grouped, commands, "GROUPS of {} names each command once", file!());
    }

    /// clap would read braces in a heading as part of the template.
    #[test]
    fn no_summary_has_a_brace_in_it() {
        assert!(!overview(&Cli::tree()).contains(['{', '}']));
    }
}
