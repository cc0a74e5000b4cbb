//! Errors in words: text for a person, or JSON for a program.

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::args::Global;
use crate::exit::{Exit, Refusal, Verdict};
use crate::output::{palette, plain};

/// An error in words, for a person or a program.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    #[serde(skip)]
    exit: Exit,
    code: &'static str,
    pub(crate) message: String,
    hint: Option<&'static str>,
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

/// Says on standard error what went wrong, and how to end.
pub(crate) fn report(error: &anyhow::Error, global: &Global) -> ExitCode {
    if is_broken_pipe(error) {
        // Whoever read the results has seen enough.
        return Exit::Done.into();
    }
    if let Some(error) = error.downcast_ref() {
        return usage(error);
    }
    let report = Report::from(error);
    // What was asked for is told by the exit code, and was told in words already.
    if matches!(
        error.downcast_ref(),
        Some(Refusal::Differs | Refusal::Fresh { .. } | Refusal::NotStarted { .. })
    ) {
        return report.exit.into();
    }
    let is_note = matches!(
        error.downcast_ref(),
        Some(Refusal::Nothing | Refusal::NoTarget { .. } | Refusal::Ended { .. })
    );
    if !(is_note && global.quiet) {
        // With standard error closed, the exit code still tells.
        let _ = show(&report, global);
    }
    report.exit.into()
}

/// Says what is wrong with the arguments, before it is known whether JSON was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = env::args_os().any(|arg| arg == "--json");
    if !error.use_stderr() || !wants_json {
        // With standard error closed, the exit code still tells.
        let _ = error.print();
        return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
    }
    let text = error.render().to_string();
    let text = text.lines().next().unwrap_or_default();
    let message = text.strip_prefix("error: ").unwrap_or(text).to_owned();
    let hint = Some("try --help");
    let report = Report { exit: Exit::Usage, code: "usage", message, hint };
    let _ = serde_json::to_string(&Reported { error: &report }).map(|text| eprintln!("{text}"));
    Exit::Usage.into()
}

fn show(report: &Report, global: &Global) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    if global.json {
        let text = serde_json::to_string(&Reported { error: report })?;
        return writeln!(stderr, "{text}");
    }
    let bad = global.style(&stderr, palette::BAD);
    writeln!(stderr, "{bad}error:{bad:#} {}", plain(&report.message))?;
    if let Some(hint) = report.hint.filter(|_| !global.quiet) {
        let good = global.style(&stderr, palette::TITLE);
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
