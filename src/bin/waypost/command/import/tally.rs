//! What became of the files of an import, counted and told.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::{Display, Write as _};

use serde::Serialize;
use waypost::layouts::Problem;
use waypost::{Layout, NewEntry, Series, Status};

use crate::args::Global;
use crate::exit::Refusal;
use crate::progress;

// The first say what is wrong; a list that grows with the tree would take its memory.
const LISTED_MAX: usize = 1000;
// Of one file; `waypost check` lists all.
const TOLD_MAX: usize = 4;

/// What became of an import.
#[derive(Debug, Default, Serialize)]
pub(in crate::command) struct Tally {
    /// Checkpoints that were not in the store.
    pub(in crate::command) imported: u64,
    /// Checkpoints that were.
    pub(super) known: u64,
    /// Checkpoints that were, and were deleted since.
    pub(super) deleted: u64,
    /// Those that were imported, by layout.
    layouts: BTreeMap<&'static str, u64>,
    /// Lines of JSON lines that were read.
    pub(super) lines: u64,
    /// Files and lines that could not be taken.
    pub(in crate::command) refused: u64,
    /// Of the lines that were imported or known, those that lack captured files.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) incomplete: u64,
    /// Of those that were imported or known, files that cannot be read.
    kept: u64,
    /// Files that are known to be no checkpoints: leftovers, locks, links.
    skipped: u64,
    /// Files that might have been checkpoints by their name, and are none.
    ignored: u64,
    /// Of those that were imported, documents that break rules of their system.
    invalid: u64,
    /// How often each rule is broken in them, by its name.
    rules: BTreeMap<String, u64>,
    /// Whether a list is longer than it is told.
    has_more: bool,
    refusals: Vec<Told>,
    skips: Vec<Told>,
    notes: Vec<Told>,
    /// What would be imported, of a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    would: Vec<Would>,
    #[serde(skip)]
    names_each: bool,
    #[serde(skip)]
    only_refusals: bool,
    /// What was told before and is not told again, if that is kept.
    #[serde(skip)]
    told: Option<HashSet<(String, String)>>,
    #[serde(skip)]
    unread: Vec<String>,
}

/// What would be imported.
#[derive(Debug, Serialize)]
struct Would {
    path: Option<String>,
    layout: Layout,
    series: String,
    trigger: String,
    status: Status,
    iteration: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Told {
    path: String,
    reason: String,
}

impl Tally {
    /// Tells of each file that is imported.
    pub(super) fn by_name() -> Self {
        Self { names_each: true, ..Self::default() }
    }

    /// Tells of nothing but what cannot be taken.
    pub(super) fn of_refusals() -> Self {
        Self { only_refusals: true, ..Self::default() }
    }

    /// Keeps to itself what was told before.
    pub(super) fn tells_once(&mut self, told: HashSet<(String, String)>) {
        self.told = Some(told);
    }

    /// All that was told, now and before.
    pub(super) fn into_told(self) -> HashSet<(String, String)> {
        self.told.unwrap_or_default()
    }

    /// Files that are worth another look.
    pub(super) fn unread_places(&self) -> &[String] {
        &self.unread
    }

    pub(super) fn imported(&mut self, path: &str, layout: Layout, global: &Global) {
        if self.names_each {
            say(global, format_args!("imported {path} ({layout})"));
        }
        self.count(layout);
    }

    fn count(&mut self, layout: Layout) {
        self.imported += 1;
        // Whatever lies where checkpoints do, of no layout that is known.
        let name = if layout == Layout::Native { "other" } else { layout.as_str() };
        *self.layouts.entry(name).or_default() += 1;
    }

    pub(super) fn of_lines(&mut self, lines: u64, imported: u64, refused: u64) {
        self.lines += lines;
        self.imported += imported;
        self.known += lines - refused - imported;
        self.refused += refused;
    }

    /// Counts what could not be read and is kept all the same.
    pub(super) fn kept(&mut self, path: &str, reason: &str, global: &Global) {
        self.kept += 1;
        say(global, format_args!("kept unread {}: {reason}", shown(path)));
        self.has_more |= !tell(&mut self.notes, path, reason);
    }

    /// Counts the rules that an imported document breaks, and tells if that makes it invalid.
    pub(super) fn broken(
        &mut self,
        path: &str,
        layout: Layout,
        problems: &[Problem],
        global: &Global,
    ) {
        for problem in problems {
            *self.rules.entry(format!("{layout}/{}", problem.code)).or_default() += 1;
        }
        let mut errors = problems.iter().filter(|it| it.is_error());
        let told: Vec<String> = errors.by_ref().take(TOLD_MAX).map(Problem::to_string).collect();
        if told.is_empty() {
            return;
        }
        self.invalid += 1;
        let more = errors.count();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let reason = format!("invalid: {}{more}", told.join("; "));
        if !self.only_refusals {
            say(global, format_args!("{}: {reason}", shown(path)));
        }
        self.has_more |= !tell(&mut self.notes, path, &reason);
    }

    /// Counts what would be imported.
    pub(super) fn would(&mut self, about: &NewEntry) {
        self.count(about.layout);
        if self.would.len() == LISTED_MAX {
            self.has_more = true;
        } else {
            self.would.push(Would {
                path: about.source_path.clone(),
                layout: about.layout,
                series: Series::of(about).to_string(),
                trigger: about.trigger.to_string(),
                status: about.status,
                iteration: about.iteration,
            });
        }
    }

    pub(super) fn ignored(&mut self) {
        self.ignored += 1;
    }

    pub(super) fn refused(&mut self, path: &str, reason: &str, global: &Global) {
        let is_new = |told: &mut HashSet<_>| told.insert((path.to_owned(), reason.to_owned()));
        if !self.told.as_mut().is_none_or(is_new) {
            return;
        }
        self.refused += 1;
        if !global.json {
            // An error like any other, which is told whatever else is not.
            progress::say(format_args!("{}: {reason}", shown(path)));
        }
        self.has_more |= !tell(&mut self.refusals, path, reason);
    }

    /// As [`refused`](Self::refused), but it is worth another look.
    pub(super) fn unread(&mut self, path: &str, reason: &str, global: &Global) {
        self.unread.push(path.to_owned());
        self.refused(path, reason, global);
    }

    pub(super) fn skipped(&mut self, path: &str, reason: &str, global: &Global) {
        self.skipped += 1;
        if !self.only_refusals {
            say(global, format_args!("skipped {}: {reason}", shown(path)));
        }
        self.has_more |= !tell(&mut self.skips, path, reason);
    }

    pub(super) fn note(&mut self, path: &str, reason: &str, global: &Global) {
        if !self.only_refusals {
            say(global, format_args!("{}: {reason}", shown(path)));
        }
        self.has_more |= !tell(&mut self.notes, path, reason);
    }

    /// Whether there was anything to import.
    pub(super) fn is_empty(&self) -> bool {
        self.imported + self.known + self.deleted + self.refused + self.lines == 0
    }

    /// All that was looked at and might have been taken.
    pub(super) fn total(&self) -> u64 {
        self.imported + self.known + self.refused
    }

    /// Refuses to call it done if something could not be taken.
    pub(in crate::command) fn check_refused(&self) -> Result<(), Refusal> {
        if self.refused == 0 {
            return Ok(());
        }
        let what = "could not be imported";
        Err(Refusal::Skipped { what, count: self.refused, total: self.total() })
    }

    /// Says in a sentence what was done.
    pub(super) fn tell(&self, done: &str, global: &Global) {
        let names: Vec<String> =
            self.layouts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let mut text = format!("{done} {}", self.imported);
        if !names.is_empty() {
            let _ = write!(text, " ({})", names.join(", "));
        }
        let _ = write!(text, ", {} were there already", self.known);
        for (count, what) in [
            (self.deleted, "were deleted and stay so"),
            (self.kept, "of them kept unread"),
            (self.invalid, "invalid"),
            (self.skipped, "skipped"),
            (self.ignored, "that are no checkpoints passed over"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {what}");
            }
        }
        global.note(text);
        let rules: Vec<String> =
            self.rules.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !rules.is_empty() {
            global.note(format_args!(
                "broken rules: {}; `waypost check PATH` lists them",
                rules.join(", ")
            ));
        }
    }
}

// As serde calls it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A name of a file could pretend to be several lines, or colours.
fn shown(path: &str) -> Cow<'_, str> {
    let is_plain = !path.contains(char::is_control);
    if is_plain { path.into() } else { path.escape_debug().to_string().into() }
}

/// Tells a person; a program finds it in the outcome.
fn say(global: &Global, text: impl Display) {
    if !global.json {
        global.note(text);
    }
}

/// Whether there was room for it.
fn tell(list: &mut Vec<Told>, path: &str, reason: &str) -> bool {
    let has_room = list.len() < LISTED_MAX;
    if has_room {
        list.push(Told { path: path.to_owned(), reason: reason.to_owned() });
    }
    has_room
}
