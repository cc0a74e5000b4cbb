//! Imports for `waypost import` and `waypost init`: the words for what the library reports.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use waypost::Store;
use waypost::transfer::import::{
    ImportError, ImportEvent, ImportOptions, ImportRemark, Imported, Sources, Unfinished,
};

use crate::args::Global;
use crate::exit::Refusal;
use crate::interrupt::{self, Signal};
use crate::progress::{self, Progress};
use crate::{config, output};

/// Which events are reported while an import runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reported {
    /// All, without each file that is imported.
    Remarks,
    /// All.
    EachFile,
    /// Files that cannot be imported.
    Refusals,
}

/// Shows the events of an import, and stops it after an interrupt.
pub(crate) struct Listener<'a> {
    reported: Reported,
    progress: Progress,
    total: Option<u64>,
    global: &'a Global,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(reported: Reported, progress: Progress, global: &'a Global) -> Self {
        Self { reported, progress, total: None, global }
    }

    /// True if counting the files first is worth its time.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress.is_shown()
    }

    pub(crate) fn hear(&mut self, event: &ImportEvent<'_>) -> ControlFlow<()> {
        let tells_remarks = self.reported != Reported::Refusals;
        match *event {
            ImportEvent::Progress { done, total } => {
                if interrupt::signal().is_some() {
                    return ControlFlow::Break(());
                }
                self.show(done, total);
            }
            ImportEvent::Imported { path, layout } if self.reported == Reported::EachFile => {
                self.say(format_args!("imported {path} ({layout})"));
            }
            ImportEvent::KeptUnread { path, reason } => {
                self.say(format_args!("kept unread {}: {reason}", shown(path)));
            }
            ImportEvent::Skipped { path, reason } if tells_remarks => {
                self.say(format_args!("skipped {}: {reason}", shown(path)));
            }
            ImportEvent::Invalid { path, reason } | ImportEvent::Note { path, reason }
                if tells_remarks =>
            {
                self.say(format_args!("{}: {reason}", shown(path)));
            }
            // An error, which is shown with --quiet, too.
            ImportEvent::Refused { path, reason } if !self.global.json => {
                progress::say(format_args!("{}: {reason}", shown(path)));
            }
            ImportEvent::Line { input, number, reason } => {
                self.global.note(format_args!("{input}: line {number}: {reason}"));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn show(&mut self, done: u64, total: Option<u64>) {
        if total != self.total {
            self.total = total;
            self.progress.stage(STAGE, total);
        }
        if done > 0 {
            self.progress.show(done);
        }
    }

    /// Tells a person. With --json, the report has it.
    fn say(&self, text: impl Display) {
        if !self.global.json {
            self.global.note(text);
        }
    }
}

/// The label of the progress line.
pub(crate) const STAGE: &str = "importing";

/// Imports a directory, which must be an absolute path.
///
/// An interrupt ends it with an error that says how much was imported.
pub(crate) fn directory(directory: &Path, store: &Store, global: &Global) -> Result<Imported> {
    interrupt::listen()?;
    let mut sources = Sources::new(store.path(), config::location(store.path())?);
    sources.add(directory)?;
    let mut listener = Listener::new(Reported::Refusals, Progress::new(STAGE, global), global);
    let count_first = listener.shows_progress();
    let options = ImportOptions { count_first, ..ImportOptions::default() };
    let ended = store.import_with(sources, &options, &mut |event| listener.hear(&event));
    let (report, signal) = self::ended(ended)?;
    // From here on Ctrl-C answers the questions of `init`.
    interrupt::leave();
    match signal {
        None => Ok(report),
        Some(signal) => Err(stopped_after(report.imported, signal)),
    }
}

/// The report of an import, and the signal that stopped it, if one did.
pub(crate) fn ended(ended: Result<Imported, Unfinished>) -> Result<(Imported, Option<Signal>)> {
    match ended {
        Ok(report) => {
            let signal = interrupt::signal().filter(|_| report.is_stopped);
            Ok((report, signal))
        }
        Err(Unfinished { report, why, .. }) => {
            let signal = interrupt::caught::<()>(Err(error(why)))?.err();
            Ok((*report, signal))
        }
    }
}

/// The error to end with; the exit code depends on its cause.
pub(crate) fn error(why: ImportError) -> anyhow::Error {
    match why {
        ImportError::Store(error) => error.into(),
        ImportError::Lines { input, source } => {
            anyhow::Error::from(source).context(format!("cannot import {input}"))
        }
        ImportError::Unreadable { input, source } => {
            let error = anyhow::Error::from(source).context("cannot read");
            error.context(format!("cannot import {input}"))
        }
        why => why.into(),
    }
}

pub(crate) fn stopped_after(imported: u64, signal: Signal) -> anyhow::Error {
    signal.error(format!("{} imported; run it again to go on", output::grouped(imported)))
}

/// Fails if something could not be imported.
pub(crate) fn check_refused(report: &Imported) -> Result<(), Refusal> {
    if report.refused == 0 {
        return Ok(());
    }
    let (count, total) = (report.refused, report.total());
    let others = if count > 1 { " and the others" } else { "" };
    let hint = format!("mend {}{others}, then import again", first(&report.refusals));
    Err(Refusal::Skipped { what: "could not be imported", count, total, hint })
}

/// The place of the first remark, such as `line 3 of week.jsonl`.
pub(crate) fn first(remarks: &[ImportRemark]) -> String {
    let Some(ImportRemark { path, reason, .. }) = remarks.first() else { return "it".to_owned() };
    let number = reason.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    match number.filter(|(number, _)| number.bytes().all(|digit| digit.is_ascii_digit())) {
        Some((number, _)) => format!("line {number} of {path}"),
        None => path.clone(),
    }
}

/// Sums up the report; `done` is what was done to each checkpoint.
pub(crate) fn sum_up(report: &Imported, done: &str, global: &Global) {
    let names: Vec<String> =
        report.layouts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let mut text = format!("{done} {}", report.imported);
    if !names.is_empty() {
        let _ = write!(text, " ({})", names.join(", "));
    }
    let _ = write!(text, ", {} were there already", report.known);
    for (count, what) in [
        (report.deleted, "were deleted and stay so"),
        (report.kept, "kept unread"),
        (report.invalid, "invalid"),
        (report.skipped, "skipped"),
        (report.ignored, "that are no checkpoints passed over"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    global.note(text);
    let rules: Vec<String> =
        report.rules.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if !rules.is_empty() {
        let rules = rules.join(", ");
        global.note(format_args!("broken rules: {rules}; `waypost check PATH` lists them"));
    }
}

/// A path without control characters: a file name could look like several lines, or set colours.
fn shown(path: &str) -> Cow<'_, str> {
    let is_plain = !path.contains(char::is_control);
    if is_plain { path.into() } else { path.escape_debug().to_string().into() }
}
