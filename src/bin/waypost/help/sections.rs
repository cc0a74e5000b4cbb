//! The sections below the options in the help of a command, such as examples.

use clap::Command;
use serde::Serialize;

/// A heading, and the lines below it without their indent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) lines: Vec<String>,
}

/// A line for a shell.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Example {
    command: String,
    /// The comment after the command.
    note: Option<String>,
    /// The expected exit code.
    exit: u8,
}

/// The sections of a command, in their order.
pub(crate) fn of(command: &Command) -> Vec<Section> {
    let text = command.get_after_long_help().or(command.get_after_help());
    split(&text.map(ToString::to_string).unwrap_or_default())
}

/// The examples of a command.
pub(crate) fn examples(command: &Command) -> Vec<Example> {
    let sections = of(command).into_iter();
    let sections = sections.filter(|section| section.heading == "Examples");
    sections.flat_map(|section| section.lines).map(|line| Example::from(line.as_str())).collect()
}

fn split(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let (Some(line), Some(section)) = (line.strip_prefix("  "), sections.last_mut()) {
            section.lines.push(line.to_owned());
        } else {
            let heading = line.trim_end_matches(':').to_owned();
            sections.push(Section { heading, lines: Vec::new() });
        }
    }
    sections
}

impl From<&str> for Example {
    fn from(line: &str) -> Self {
        let (command, note) = match line.split_once(" # ") {
            Some((command, note)) => (command, Some(note.to_owned())),
            None => (line, None),
        };
        let exit = note.as_deref().and_then(exit).unwrap_or_default();
        Self { command: command.trim_end().to_owned(), note, exit }
    }
}

/// The exit code of a comment like `exit 1: something changed`.
fn exit(note: &str) -> Option<u8> {
    note.strip_prefix("exit ")?.split(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_goes_from_its_heading_to_the_next() {
        let sections = split("Examples:\n  a | b\n  c\n\nMore:\n  d\n    e");
        let section = |heading: &str, lines: &[&str]| Section {
            heading: heading.to_owned(),
            lines: lines.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(
            sections,
            [section("Examples", &["a | b", "c"]), section("More", &["d", "  e"])]
        );
    }

    #[test]
    fn the_comment_of_an_example_may_tell_its_exit_code() {
        let example = |line: &str| {
            let Example { command, note, exit } = Example::from(line);
            (command, note.unwrap_or_default(), exit)
        };
        let of = |command: &str, note: &str, exit| (command.to_owned(), note.to_owned(), exit);
        assert_eq!(example("waypost list"), of("waypost list", "", 0));
        assert_eq!(example("a '#1'   # all of it"), of("a '#1'", "all of it", 0));
        assert_eq!(example("a  # exit 1: it differs"), of("a", "exit 1: it differs", 1));
        assert_eq!(example("a  # exit soon"), of("a", "exit soon", 0));
    }
}
