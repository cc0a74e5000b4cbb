//! Flags that every command has, and the parsers that several flags share.

use std::env;
use std::fmt::Display;
use std::io::IsTerminal;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::ColorChoice;
use clap::builder::styling::Style;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use waypost::layouts::Form;
use waypost::{Layout, Status};

use crate::output::{json_line, plain, stderr};
use crate::{keys, progress};

/// A note for a program.
#[derive(Serialize)]
struct Note {
    note: String,
}

/// A warning for a program.
#[derive(Serialize)]
struct Warning {
    warning: String,
}

/// Flags that may stand before or after the command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The store; by default .waypost/store.redb, here or in the nearest parent that has one
    #[arg(long, global = true, value_name = "PATH", env = "WAYPOST_STORE")]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    store: Option<PathBuf>,

    /// A key of the store, if it is encrypted; may be given twice. `WAYPOST_KEY` may have it, too
    #[arg(long, global = true, value_name = "FILE", env = keys::FILE_VARIABLE)]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    key_file: Vec<PathBuf>,

    /// Print JSON: one object, or one object a line for lists
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print results and errors, but no notes or hints
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// When to use colours; `NO_COLOR` turns them off, `CLICOLOR_FORCE` on
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Do not show long results a screen at a time; else `WAYPOST_PAGER` or `PAGER` names the pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// How long to wait while another process has the store; reading rarely waits
    #[arg(long, global = true, value_name = "SECONDS", default_value = "5")]
    #[arg(value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) wait: Duration,
}

impl Global {
    /// The store that was named. An empty name counts as not given, as for most variables.
    pub(crate) fn store(&self) -> Option<&Path> {
        self.store.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// Files with keys. An empty name counts as not given.
    pub(crate) fn key_files(&self) -> impl Iterator<Item = &Path> {
        self.key_file.iter().map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
    }

    /// Prints a note to standard error.
    pub(crate) fn note(&self, text: impl Display) {
        let note = text.to_string();
        if self.json {
            self.note_fact(&Note { note });
        } else if !self.quiet {
            progress::say(plain(&note));
        }
    }

    /// Prints a note with fields, for a program.
    pub(crate) fn note_fact(&self, fact: &impl Serialize) {
        if !self.quiet {
            let _ = json_line(&mut stderr(), fact);
        }
    }

    /// Prints a warning, even with `--quiet`.
    pub(crate) fn warn(&self, text: impl Display) {
        let warning = text.to_string();
        if self.json {
            let _ = json_line(&mut stderr(), &Warning { warning });
        } else {
            progress::say(format_args!("warning: {}", plain(&warning)));
        }
    }

    /// `style` where `stream` shows colours, and no style elsewhere.
    pub(crate) fn style(&self, stream: &impl IsTerminal, style: Style) -> Style {
        if self.colours(stream) { style } else { Style::new() }
    }

    /// Whether `stream` shows colours.
    pub(crate) fn colours(&self, stream: &impl IsTerminal) -> bool {
        let has = |name| env::var_os(name).filter(|value| !value.is_empty());
        let is_forced = || has("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => has("NO_COLOR").is_none() && (is_forced() || stream.is_terminal()),
        }
    }
}

/// Parses a status; the help lists all of them.
pub(crate) fn status() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.map(Status::as_str)).try_map(|name| name.parse())
}

/// Parses a layout; the help lists all of them.
pub(crate) fn layout() -> impl TypedValueParser<Value = Layout> {
    PossibleValuesParser::new(Layout::ALL.map(Layout::as_str)).try_map(|name| name.parse())
}

/// Reads the form of files of a layout.
pub(crate) fn form() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(["documented", "reader"]).map(|name| match name.as_str() {
        "reader" => Form::Reader,
        _ => Form::Documented,
    })
}

/// Parses a whole number; the error names the allowed range.
pub(crate) fn whole<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let is_one = text.parse().is_ok_and(|number| range.contains(&number));
        text.parse().ok().filter(|_| is_one).ok_or_else(|| match (range.start(), range.end()) {
            (min, &u64::MAX) => format!("must be a whole number from {min} on"),
            (min, max) => format!("must be a whole number from {min} to {max}"),
        })
    }
}

/// Parses a number of seconds, fractions included.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|it| Duration::try_from_secs_f64(it).ok());
    seconds.ok_or_else(|| "must be a number of seconds, such as 0, 0.5 or 60".to_owned())
}
