//! Counts what an import does, and passes it on to the caller as events.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::event::{ImportEvent, Watch};
use super::failure::{Ended, Ending, Unfinished};
use super::report::Imported;
use crate::checkpoint::{Layout, NewEntry};
use crate::layouts::Problem;

// Of one file. `waypost check` lists all.
const PROBLEMS_LISTED_MAX: usize = 4;

/// Refusals by path and reason.
pub(super) type Refusals = HashSet<(String, String)>;

/// The report of a running import, and the caller who watches it.
pub(super) struct Tally<'a> {
    pub(super) report: Imported,
    /// Files to read again in the next pass.
    pub(super) unread: Vec<String>,
    /// Files that were refused and whose bytes were saved.
    pub(super) kept_refused: u64,
    /// Refusals that are not reported again. `None` outside of a series of passes.
    pub(super) reported: Option<Refusals>,
    watch: Watch<'a>,
    done: u64,
    total: Option<u64>,
    has_stopped: bool,
}

impl<'a> Tally<'a> {
    pub(super) fn new(watch: Watch<'a>) -> Self {
        Self {
            report: Imported::default(),
            unread: Vec::new(),
            kept_refused: 0,
            reported: None,
            watch,
            done: 0,
            total: None,
            has_stopped: false,
        }
    }

    /// Reports progress. Fails once the caller wants to stop.
    pub(super) fn step(&mut self) -> Ended {
        self.tell(ImportEvent::Progress { done: self.done, total: self.total });
        if self.has_stopped { Err(Ending::Stopped) } else { Ok(()) }
    }

    /// Sets the number of all files.
    pub(super) fn expect(&mut self, total: Option<u64>) {
        self.total = total;
    }

    /// Counts processed files or lines.
    pub(super) fn advance(&mut self, count: u64) {
        self.done += count;
    }

    /// The report, or the failure with it.
    pub(super) fn finish(mut self, ended: Ended) -> Result<Imported, Unfinished> {
        let ended = match ended {
            // The wait for the store may have been given up because the caller wants to stop.
            Err(Ending::Failed(error)) if error.is_locked() => {
                self.step().and(Err(Ending::Failed(error)))
            }
            ended => ended,
        };
        match ended {
            Ok(()) => Ok(self.report),
            Err(Ending::Stopped) => {
                self.report.is_stopped = true;
                Ok(self.report)
            }
            Err(Ending::Failed(why)) => Err(Unfinished { report: Box::new(self.report), why }),
        }
    }

    /// Counts a checkpoint that was saved.
    pub(super) fn imported(&mut self, path: &str, layout: Layout, problems: &[Problem]) {
        self.report.count(layout);
        self.tell(ImportEvent::Imported { path, layout });
        self.broken(path, layout, problems);
    }

    /// Counts a checkpoint that a dry run found.
    pub(super) fn would(&mut self, about: &NewEntry, problems: &[Problem], path: &str) {
        self.report.add_would(about);
        self.broken(path, about.layout, problems);
        self.tell(ImportEvent::WouldImport(about));
    }

    /// Counts a file that cannot be read and whose bytes are kept.
    pub(super) fn kept(&mut self, path: &str, reason: &str) {
        self.report.kept += 1;
        self.report.add_note(path, reason);
        self.tell(ImportEvent::KeptUnread { path, reason });
    }

    /// Counts the rules that an imported document breaks.
    fn broken(&mut self, path: &str, layout: Layout, problems: &[Problem]) {
        for problem in problems {
            *self.report.rules.entry(format!("{layout}/{}", problem.code)).or_default() += 1;
        }
        let mut errors = problems.iter().filter(|it| it.is_error());
        let listed: Vec<String> =
            errors.by_ref().take(PROBLEMS_LISTED_MAX).map(Problem::to_string).collect();
        if listed.is_empty() {
            return;
        }
        self.report.invalid += 1;
        let more = errors.count();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let reason = format!("invalid: {}{more}", listed.join("; "));
        self.report.add_note(path, &reason);
        self.tell(ImportEvent::Invalid { path, reason: &reason });
    }

    pub(super) fn refused(&mut self, path: &str, reason: &str) {
        let is_new =
            |reported: &mut Refusals| reported.insert((path.to_owned(), reason.to_owned()));
        if self.reported.as_mut().is_none_or(is_new) {
            self.report.add_refusal(path, reason);
            self.tell(ImportEvent::Refused { path, reason });
        }
    }

    /// As [`refused`](Self::refused), for a file that the next pass reads again.
    pub(super) fn unread(&mut self, path: &str, reason: &str) {
        self.unread.push(path.to_owned());
        self.refused(path, reason);
    }

    pub(super) fn skipped(&mut self, path: &str, reason: &str) {
        self.report.add_skip(path, reason);
        self.tell(ImportEvent::Skipped { path, reason });
    }

    pub(super) fn note(&mut self, path: &str, reason: &str) {
        self.report.add_note(path, reason);
        self.tell(ImportEvent::Note { path, reason });
    }

    /// Reports a line that is refused, without counting it.
    pub(super) fn refused_line(&mut self, input: &str, number: u64, reason: &str) {
        self.report.list_refusal(input, &format!("line {number}: {reason}"));
        self.tell(ImportEvent::Line { input, number, reason });
    }

    /// Reports what a line lacks.
    pub(super) fn incomplete_line(&mut self, input: &str, number: u64, reason: &str) {
        self.report.add_note(input, &format!("line {number}: {reason}"));
        self.tell(ImportEvent::Line { input, number, reason });
    }

    fn tell(&mut self, event: ImportEvent<'_>) {
        self.has_stopped |= (self.watch)(event) == ControlFlow::Break(());
    }
}
