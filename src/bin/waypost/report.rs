//! Errors in words: text for a person or JSON for a program, and the exit code that goes with them.

use std::borrow::Cow;
use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::args::Global;
use crate::exit::{Exit, Refusal, Verdict};
use crate::output::{is_hidden, json_line, palette, plain, stderr};

/// An error in words, for a person or a program.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    #[serde(skip)]
    exit: Exit,
    code: &'static str,
    pub(crate) message: String,
    hint: Option<Cow<'static, str>>,
}

/// A report under the key by which a program tells it from a result.
#[derive(Debug, Serialize)]
pub(crate) struct Reported<'a> {
    pub(crate) error: &'a Report,
}

impl From<&anyhow::Error> for Report {
    fn from(error: &anyhow::Error) -> Self {
        let Verdict { exit, code, hint } = Verdict::of(error);
        Self { exit, code, message: format!("{error:#}"), hint }
    }
}

/// Prints the error to standard error and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, global: &Global) -> ExitCode {
    if is_broken_pipe(error) {
        // The reader closed the pipe: no error.
        return Exit::Done.into();
    }
    if let Some(error) = error.downcast_ref() {
        return usage(error);
    }
    let report = Report::from(error);
    // The exit code tells the result, which was printed already.
    if matches!(
        error.downcast_ref(),
        Some(Refusal::Differs | Refusal::Fresh { .. } | Refusal::NotStarted { .. })
    ) {
        return report.exit.into();
    }
    let is_note = matches!(
        error.downcast_ref(),
        Some(
            Refusal::NoStore { .. }
                | Refusal::Nothing { .. }
                | Refusal::Empty
                | Refusal::NothingDeleted
                | Refusal::NoOperations
                | Refusal::Unfulfilled { .. }
                | Refusal::NoTarget { .. }
                | Refusal::Ended { .. }
        )
    );
    // Leaving a question is an answer, not an error.
    let is_left = matches!(error.downcast_ref(), Some(Refusal::Left));
    if !(is_left || is_note && global.quiet) {
        // With standard error closed, the exit code still tells.
        let _ = show(&report, global);
    }
    report.exit.into()
}

/// Reports wrong arguments; --json may not have been parsed yet.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = env::args_os().any(|arg| arg == "--json");
    if !error.use_stderr() || !wants_json {
        let text = error.render().to_string();
        // With standard error closed, the exit code still tells.
        let _ = if text.lines().any(|line| line.contains(is_hidden)) {
            write!(stderr(), "{text}")
        } else {
            error.print()
        };
        return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
    }
    let report = of_usage(&error.render().to_string());
    let _ = json_line(&mut stderr(), &Reported { error: &report });
    Exit::Usage.into()
}

/// The message of clap in one line, with its advice as the hint.
fn of_usage(text: &str) -> Report {
    let is_end = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more");
    let lines = text.lines().map(str::trim).take_while(|line| !is_end(line));
    let (tips, said): (Vec<&str>, Vec<&str>) =
        lines.filter(|line| !line.is_empty()).partition(|line| line.starts_with("tip: "));
    let message = said.join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let tips: Vec<&str> = tips.iter().map(|tip| tip.trim_start_matches("tip: ")).collect();
    let hint = if tips.is_empty() { "try --help".to_owned() } else { tips.join("; ") };
    Report { exit: Exit::Usage, code: "usage", message, hint: Some(hint.into()) }
}

fn show(report: &Report, global: &Global) -> io::Result<()> {
    let mut stderr = stderr();
    if global.json {
        return json_line(&mut stderr, &Reported { error: report });
    }
    let bad = global.style(&io::stderr(), palette::BAD);
    writeln!(stderr, "{bad}error:{bad:#} {}", plain(&report.message))?;
    if let Some(hint) = report.hint.as_ref().filter(|_| !global.quiet) {
        let good = global.style(&io::stderr(), palette::TITLE);
        writeln!(stderr, "{good}hint:{good:#} {hint}")?;
    }
    Ok(())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::command::Cli;

    fn told(args: &str) -> String {
        let error = Cli::try_parse_from(args.split(' ')).unwrap_err();
        let Report { message, hint, .. } = of_usage(&error.render().to_string());
        format!("{message}\n{}", hint.unwrap())
    }

    #[test]
    fn a_program_is_told_all_that_is_wrong_with_its_arguments() {
        insta::assert_snapshot!(told("waypost save --durability disk"), @"
        invalid value 'disk' for '--durability <WHEN>' [possible values: immediate, relaxed]
        try --help
        ");
        insta::assert_snapshot!(told("waypost lits"), @"
        unrecognized subcommand 'lits'
        some similar subcommands exist: 'latest', 'list'
        ");
        insta::assert_snapshot!(told("waypost complete"), @"
        the following required arguments were not provided: <ID|--series <SERIES>>
        try --help
        ");
        insta::assert_snapshot!(told("waypost undelete"), @"
        the following required arguments were not provided: <ID|--operation <N>>
        try --help
        ");
    }
}
