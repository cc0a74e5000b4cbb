//! A check and what came of it, for a person and for a program.

use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, plain};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    Warn,
    Bad,
}

impl Status {
    fn mark(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Ok => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default().bold(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// What was looked at, what was found, and what to do about it.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    status: Status,
    finding: String,
    advice: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, finding: finding.into(), advice: None }
    }

    pub(super) fn warn(name: &'static str, finding: impl Into<String>) -> Self {
        Self { status: Status::Warn, ..Self::ok(name, finding) }
    }

    pub(super) fn bad(name: &'static str, finding: impl Into<String>) -> Self {
        Self { status: Status::Bad, ..Self::ok(name, finding) }
    }

    /// With what to do.
    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// All checks.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) store: String,
    pub(super) checks: Vec<Check>,
    #[serde(rename = "damaged")]
    pub(super) is_damaged: bool,
}

impl Report {
    pub(super) fn write(&self, out: &mut dyn Write, global: &Global) -> Result<()> {
        if global.json {
            return Ok(output::json_line(out, self)?);
        }
        let width = self.checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
        for Check { name, status, finding, advice } in &self.checks {
            let style = global.style(&io::stdout(), status.style());
            let (mark, finding) = (status.mark(), plain(finding));
            writeln!(out, "{style}{mark:4}{style:#}  {name:width$}  {finding}")?;
            if let Some(advice) = advice.as_deref().filter(|_| !global.quiet) {
                writeln!(out, "      {:width$}  -> {}", "", plain(advice))?;
            }
        }
        Ok(())
    }

    /// Refuses to end well if anything is bad.
    pub(super) fn verdict(&self) -> Result<()> {
        let bad = self.checks.iter().filter(|check| check.status == Status::Bad).count();
        if bad == 0 {
            return Ok(());
        }
        let (total, is_damaged) = (self.checks.len(), self.is_damaged);
        Err(Refusal::Unwell { count: bad, total, is_damaged }.into())
    }
}
